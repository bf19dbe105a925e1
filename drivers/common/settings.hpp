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

/// What lines `set = SOLVER.OPTION=VALUE` say; empty lines and those that start with # say nothing, any other line, an
/// unknown solver and an option that it does not have throw std::invalid_argument with the name `where`.
SolverSettings parse_settings(const std::string& where, const std::string& content);

/// drivers/settings/NAME.cfg, as it was when this was built. `units` are what some options are multiplied with, so that
/// settings found on one data set fit others.
SolverSettings shipped_settings(const std::string& name, const std::map<std::string, double>& units = {});

}  // namespace hypertape::drivers
