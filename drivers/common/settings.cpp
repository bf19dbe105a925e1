#include "drivers/common/settings.hpp"

#include <iomanip>
#include <sstream>
#include <stdexcept>

#include "hypertape/core/require.hpp"
#include "shipped_settings.hpp"  // written by CMake: the content of every file in drivers/settings

namespace hypertape::drivers {

std::string exact(double value) {
  std::ostringstream out;
  out << std::setprecision(17) << value;
  return out.str();
}

Setting parse_setting(const std::string& given) {
  const auto equals = given.find('=');
  require(equals != std::string::npos && equals > 0, "--set ", given, ", must be OPTION=VALUE or SOLVER.OPTION=VALUE");
  const std::string name = given.substr(0, equals);
  const auto dot = name.find('.');
  if (dot == std::string::npos) return {{}, name, given.substr(equals + 1)};
  return {name.substr(0, dot), name.substr(dot + 1), given.substr(equals + 1)};
}

SolverSettings shipped_settings(const std::string& name) {
  const auto found = shipped.find(name);
  if (found == shipped.end()) throw std::logic_error("no settings are shipped for " + name);
  SolverSettings out;
  std::istringstream lines(found->second);
  const std::string begin = "set = ";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(begin)) continue;
    const Setting setting = parse_setting(line.substr(begin.size()));
    out[setting.solver].emplace_back(setting.option, setting.value);
  }
  return out;
}

}  // namespace hypertape::drivers
