#include "drivers/common/output.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace hypertape::drivers {
namespace {

bool is_json_with(const std::string& path, const std::string& mark) {
  std::ifstream in(path);
  auto document = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (document.is_array() && !document.empty()) document = nlohmann::json(document.front());
  return document.is_object() && document.contains(mark);
}

bool starts_with(const std::string& path, const std::string& beginning) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line.starts_with(beginning);
}

void write(const std::string& path, const std::string& text, const std::function<bool()>& is_ours) {
  namespace fs = std::filesystem;
  // A device or a pipe is written as it is; a file is written beside its place and then moved there.
  const bool special = fs::exists(path) && !fs::is_regular_file(path);
  if (fs::is_directory(path)) throw std::runtime_error(path + ": is a folder, expected a file name");
  if (fs::is_regular_file(path) && fs::file_size(path) > 0 && !is_ours())
    throw std::runtime_error(path + ": there is already a file of another kind, it is left alone; give another name");
  const std::string place = special ? path : path + ".part";
  std::ofstream out(place);
  out << text;
  out.close();
  if (!out) throw std::runtime_error(place + ": cannot be written");
  if (!special) fs::rename(place, path);
}

}  // namespace

void write_json(const std::string& path, const std::string& document, const std::string& mark) {
  write(path, document, [&] { return is_json_with(path, mark); });
}

void write_csv(const std::string& path, const std::string& table) {
  write_text(path, table, table.substr(0, table.find_first_of(",\n") + 1));
}

void write_text(const std::string& path, const std::string& text, const std::string& mark) {
  write(path, text, [&] { return starts_with(path, mark); });
}

}  // namespace hypertape::drivers
