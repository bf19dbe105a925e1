#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hypertape::drivers {

/// A command line: its options, each of which may stand in a config file too (`--config FILE`, lines `name = value`).
struct CommandLine {
  std::string name;
  std::string purpose;  ///< a sentence or two at the top of --help
  std::string examples;
  boost::program_options::options_description options{"Options"};
};

/// Parses, then calls `run` with what was given, and returns the exit code: that of `run`; 0 after --help; 2 after
/// misuse or a failure, with one line on standard error. An unknown option is misuse, on the command line and in a
/// file. That standard output could not be written is a failure too, whatever `run` returned.
int run_driver(int argc, char** argv, CommandLine command_line,
               const std::function<int(const boost::program_options::variables_map&)>& run);

/// What was given, defaults included, by name.
std::vector<std::pair<std::string, std::string>> given_options(const boost::program_options::variables_map& given);

/// The items of a list, `a,b,c`, without blanks around them.
std::vector<std::string> split(const std::string& list);

/// The numbers of an option that is a list, `1,2.5,1e-3`; throws std::invalid_argument if it is none.
std::vector<double> numbers(const boost::program_options::variables_map& given, const std::string& option);

}  // namespace hypertape::drivers
