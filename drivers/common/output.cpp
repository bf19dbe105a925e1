#include "drivers/common/output.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace hypertape::drivers {
namespace {

bool is_ours(const std::string& path, const std::string& mark) {
  std::ifstream in(path);
  auto document = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (document.is_array() && !document.empty()) document = nlohmann::json(document.front());
  return document.is_object() && document.contains(mark);
}

}  // namespace

void write_json(const std::string& path, const std::string& json, const std::string& mark) {
  namespace fs = std::filesystem;
  // A device or a pipe is written as it is; a file is written beside its place and then moved there.
  const bool special = fs::exists(path) && !fs::is_regular_file(path);
  if (fs::is_directory(path)) throw std::runtime_error(path + ": is a folder, expected a file name");
  if (fs::is_regular_file(path) && fs::file_size(path) > 0 && !is_ours(path, mark))
    throw std::runtime_error(path + ": there is already a file of another kind, it is left alone; give another name");
  const std::string place = special ? path : path + ".part";
  std::ofstream out(place);
  out << json;
  out.close();
  if (!out) throw std::runtime_error(place + ": cannot be written");
  if (!special) fs::rename(place, path);
}

}  // namespace hypertape::drivers
