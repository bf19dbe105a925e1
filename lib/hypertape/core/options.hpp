#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hypertape {

/// The fields of an options struct by name, so that command lines, files and reports can read and write all of them
/// from the one place that lists them, the struct's `describe`.
class OptionList {
 public:
  using Field = std::variant<double*, int*, std::int64_t*, std::uint64_t*, bool*>;
  struct Option {
    std::string name;
    std::string help;
    Field field;
  };

  void add(std::string_view name, Field field, std::string_view help);

  const std::vector<Option>& options() const { return options_; }

  /// Sets a field from text; an unknown name, or text that is no such value, throws std::invalid_argument.
  void set(std::string_view name, const std::string& value);

 private:
  std::vector<Option> options_;
};

/// The value of a field, with all its digits.
std::string to_string(const OptionList::Field& field);

}  // namespace hypertape
