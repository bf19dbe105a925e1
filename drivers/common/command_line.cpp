#include "drivers/common/command_line.hpp"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "hypertape/core/require.hpp"

namespace hypertape::drivers {

namespace po = boost::program_options;

int run_driver(int argc, char** argv, CommandLine command_line,
               const std::function<int(const po::variables_map&)>& run) {
  auto& options = command_line.options;
  try {
    options.add_options()("config", po::value<std::string>()->value_name("FILE"),
                          "read further options from FILE, lines `name = value`; the command line goes first")(
        "help,h", "show this help");
    po::variables_map given;
    po::store(po::command_line_parser(argc, argv).options(options).positional({}).run(), given);
    if (given.count("help") > 0) {
      std::cout << command_line.name << ": " << command_line.purpose << "\n\n" << options;
      if (!command_line.examples.empty()) std::cout << "\nExamples:\n" << command_line.examples;
      return 0;
    }
    if (given.count("config") > 0) {
      const auto file = given["config"].as<std::string>();
      std::ifstream in(file);
      if (!in) throw std::runtime_error(file + ": cannot be opened");
      // Of options that may be given more than once, those of the file come first, so that the command line has the
      // last word.
      std::map<std::string, std::vector<std::string>> from_command_line;
      for (const auto& [name, value] : given)
        if (const auto* list = boost::any_cast<std::vector<std::string>>(&value.value()))
          from_command_line[name] = *list;
      for (const auto& [name, list] : from_command_line) given.erase(name);
      try {
        po::store(po::parse_config_file(in, options), given);
      } catch (const po::error& bad) {
        throw std::runtime_error(file + ": " + bad.what());
      }
      for (const auto& [name, list] : from_command_line) {
        if (given.count(name) == 0) given.insert({name, po::variable_value(std::vector<std::string>{}, false)});
        auto& all = given.find(name)->second.as<std::vector<std::string>>();
        all.insert(all.end(), list.begin(), list.end());
      }
    }
    po::notify(given);
    return run(given);
  } catch (const po::error& misuse) {
    std::cerr << command_line.name << ": " << misuse.what() << " (--help shows the options)\n";
  } catch (const std::exception& failure) {
    std::cerr << command_line.name << ": " << failure.what() << "\n";
  }
  return 2;
}

std::vector<std::pair<std::string, std::string>> given_options(const po::variables_map& given) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, value] : given) {
    std::string shown;
    const boost::any& any = value.value();
    const auto show = [&]<class T>(const T*) {
      if (const auto* typed = boost::any_cast<T>(&any)) shown = text(*typed);
    };
    show(static_cast<std::string*>(nullptr));
    show(static_cast<double*>(nullptr));
    show(static_cast<int*>(nullptr));
    show(static_cast<std::int64_t*>(nullptr));
    show(static_cast<std::uint64_t*>(nullptr));
    show(static_cast<bool*>(nullptr));
    if (const auto* list = boost::any_cast<std::vector<std::string>>(&any))
      for (const std::string& one : *list) shown += (shown.empty() ? "" : " ") + one;
    out.emplace_back("--" + name, shown);
  }
  return out;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) out.push_back(item);
  return out;
}

std::vector<double> numbers(const po::variables_map& given, const std::string& option) {
  const auto list = given[option].as<std::string>();
  std::vector<double> out;
  for (const std::string& item : split(list)) {
    char* end = nullptr;
    out.push_back(std::strtod(item.c_str(), &end));
    require(!item.empty() && *end == '\0', "--", option, " ", list, ", must be numbers, separated by commas");
  }
  return out;
}

}  // namespace hypertape::drivers
