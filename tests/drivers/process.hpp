#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace hypertape::testing {

struct Outcome {
  int code = -1;
  std::string output{};  // of both streams
  bool has(const std::string& words) const { return output.find(words) != std::string::npos; }
};

/// Runs a driver as a user would.
inline Outcome run_driver(const std::string& driver, const std::string& arguments) {
  const std::string command = std::string(HYPERTAPE_BIN) + "/" + driver + " " + arguments + " 2>&1";
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

/// A folder of its own for a test, gone afterwards.
struct Folder {
  explicit Folder(const std::string& name) : path(std::filesystem::temp_directory_path() / ("hypertape_" + name)) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
  std::string file(const std::string& name) const { return (path / name).string(); }
};

inline std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace hypertape::testing
