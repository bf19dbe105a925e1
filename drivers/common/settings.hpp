#pragma once

#include <map>
#include <string>

#include "hypertape/outer/registry.hpp"

namespace hypertape::drivers {

/// What is set for each solver, by its name.
using SolverSettings = std::map<std::string, Settings>;

/// One `--set`: an option of one solver, `rahgd.eta=0.1`, or of all that are run, `eta=0.1`.
struct Setting {
  std::string solver, option, value;
};

Setting parse_setting(const std::string& given);

/// All digits of a number.
std::string exact(double value);

/// drivers/settings/NAME.cfg, as it was when this was built.
SolverSettings shipped_settings(const std::string& name);

}  // namespace hypertape::drivers
