#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "support/contains.hpp"
#include "support/temporary_folder.hpp"

namespace hypertape::testing {

struct Outcome {
  int code = -1;
  std::string output{};  // of both streams
  bool has(const std::string& words) const { return contains(output, words); }
};

/// Runs a driver as a user would; `redirections` say what becomes of its streams.
inline Outcome run_driver(const std::string& driver, const std::string& arguments,
                          const std::string& redirections = "2>&1") {
  const std::string command = std::string(HYPERTAPE_BIN) + "/" + driver + " " + arguments + " " + redirections;
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  return outcome;
}

}  // namespace hypertape::testing
