#include "drivers/common/settings.hpp"

#include <iomanip>
#include <sstream>

#include "hypertape/core/require.hpp"
#include "shipped_settings.hpp"  // written by CMake: the content of every file in drivers/settings

namespace hypertape::drivers {

std::string exact(double value) {
  std::ostringstream out = text_stream();
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

SolverSettings parse_settings(const std::string& where, const std::string& content) {
  SolverSettings out;
  std::istringstream lines(content);
  const std::string begin = "set = ";
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    require(line.starts_with(begin), where, ": ", line, ", must be set = SOLVER.OPTION=VALUE");
    const Setting setting = parse_setting(line.substr(begin.size()));
    require(solver(setting.solver).has_option(setting.option), where, ": ", setting.solver, " has no option ",
            setting.option);
    out[setting.solver].emplace_back(setting.option, setting.value);
  }
  return out;
}

SolverSettings shipped_settings(const std::string& name, const std::map<std::string, double>& units) {
  const auto found = shipped.find(name);
  require(found != shipped.end(), "no settings are shipped for ", name);
  auto out = parse_settings("drivers/settings/" + name + ".cfg", found->second);
  for (auto& [solver, settings] : out)
    for (auto& [option, value] : settings)
      if (const auto unit = units.find(option); unit != units.end()) {
        const auto number = to_number<double>(value);
        require(number.has_value(), "drivers/settings/", name, ".cfg: ", solver, ".", option, " = ", value,
                ", must be a number");
        value = exact(*number * unit->second);
      }
  return out;
}

}  // namespace hypertape::drivers
