#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace hypertape::testing {

/// A folder of its own for the time of a test, in memory where the system has a place for that.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code none;
    const bool in_memory = std::filesystem::is_directory(memory, none);
    path_ = ((in_memory ? memory : std::filesystem::temp_directory_path()) / "hypertape_XXXXXX").string();
    if (!mkdtemp(path_.data())) throw std::runtime_error(path_ + ": cannot be made");
  }
  ~TemporaryFolder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

  /// The path of a file in it, whether it is there or not.
  std::string file(const std::string& name) const { return path_ + "/" + name; }

  /// Writes a file, and the folders above it; returns its path.
  std::string write(const std::string& name, const std::string& content) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) throw std::runtime_error(file.string() + ": cannot be written");
    return file.string();
  }

 private:
  std::string path_;
};

/// What stands in a file; empty if there is none.
inline std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace hypertape::testing
