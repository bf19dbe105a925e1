#include "drivers/common/command_line.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <typeinfo>

#include "hypertape/core/require.hpp"

namespace hypertape::drivers {

namespace po = boost::program_options;

namespace {

/// Boost reads -1 as the largest number of an unsigned type.
void refuse_negative_counts(const po::parsed_options& parsed) {
  for (const auto& given : parsed.options) {
    const auto* option = parsed.description->find_nothrow(given.string_key, false);
    const auto* typed = option ? dynamic_cast<const po::typed_value_base*>(option->semantic().get()) : nullptr;
    if (!typed || typed->value_type() != typeid(std::uint64_t)) continue;
    for (const std::string& value : given.value)
      require(!value.starts_with('-'), "--", given.string_key, " ", value, ", must not be negative");
  }
}

/// Refuses what does not begin with a dash: Boost does too, but does not say what it was.
po::parsed_options parse(int argc, char** argv, const po::options_description& options) {
  po::options_description all;
  all.add(options).add_options()("stray", po::value<std::vector<std::string>>());
  auto parsed = po::command_line_parser(argc, argv)
                    .options(all)
                    .positional(po::positional_options_description().add("stray", -1))
                    .run();
  for (const auto& given : parsed.options)
    if (given.position_key >= 0) throw po::error(text(given.value.front(), ": options begin with --"));
  parsed.description = &options;
  return parsed;
}

/// Adds what a config file says. Of options that may be given more than once, those of the file come first, so that the
/// command line has the last word.
void read_config(const std::string& file, const po::options_description& options, po::variables_map& given) {
  if (std::filesystem::is_directory(file)) throw std::runtime_error(file + ": is a folder, expected a file");
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": cannot be opened");
  std::map<std::string, std::vector<std::string>> from_command_line;
  for (const auto& [name, value] : given)
    if (const auto* list = boost::any_cast<std::vector<std::string>>(&value.value())) from_command_line[name] = *list;
  for (const auto& [name, list] : from_command_line) given.erase(name);
  try {
    const auto parsed = po::parse_config_file(in, options);
    refuse_negative_counts(parsed);
    po::store(parsed, given);
  } catch (const std::logic_error& bad) {  // po::error is one
    throw std::runtime_error(file + ": " + bad.what());
  }
  if (in.bad()) throw std::runtime_error(file + ": cannot be read");
  for (const auto& [name, list] : from_command_line) {
    if (given.count(name) == 0) given.insert({name, po::variable_value(std::vector<std::string>{}, false)});
    auto& all = given.find(name)->second.as<std::vector<std::string>>();
    all.insert(all.end(), list.begin(), list.end());
  }
}

}  // namespace

int run_driver(int argc, char** argv, CommandLine command_line,
               const std::function<int(const po::variables_map&)>& run) {
  auto& options = command_line.options;
  try {
    options.add_options()("config", po::value<std::string>()->value_name("FILE"),
                          "read further options from FILE, lines `name = value`; the command line goes first")(
        "help,h", "show this help");
    po::variables_map given;
    const auto parsed = parse(argc, argv, options);
    refuse_negative_counts(parsed);
    po::store(parsed, given);
    int code = 0;
    if (given.count("help") > 0) {
      std::cout << command_line.name << ": " << command_line.purpose << "\n\n" << options;
      if (!command_line.examples.empty()) std::cout << "\nExamples:\n" << command_line.examples;
    } else {
      if (given.count("config") > 0) read_config(given["config"].as<std::string>(), options, given);
      po::notify(given);
      code = run(given);
    }
    if (!std::cout.flush()) throw std::runtime_error("standard output cannot be written, and what was said is lost");
    return code;
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
  for (std::string item; std::getline(in, item, ',');) {
    const auto begin = item.find_first_not_of(' '), end = item.find_last_not_of(' ');
    out.push_back(begin == std::string::npos ? "" : item.substr(begin, end - begin + 1));
  }
  return out;
}

std::vector<double> numbers(const po::variables_map& given, const std::string& option) {
  const auto list = given[option].as<std::string>();
  std::vector<double> out;
  for (const std::string& item : split(list)) {
    const auto number = to_number<double>(item);
    require(number.has_value(), "--", option, " ", list, ", must be numbers, separated by commas");
    out.push_back(*number);
  }
  return out;
}

}  // namespace hypertape::drivers
