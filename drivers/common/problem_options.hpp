#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "problems/registry.hpp"

namespace hypertape::drivers {

/// --seed, --instance, --kappa: what a command line says of a problem.
void add_problem_options(boost::program_options::options_description& options);
problems::ProblemArguments problem_arguments(const boost::program_options::variables_map& given);

/// One line for each problem, for --help.
std::string known_problems();

}  // namespace hypertape::drivers
