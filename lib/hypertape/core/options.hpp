#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hypertape {

/// The fields of an options struct by name, so that command lines, files and reports can read and write all of them
/// from the one place that lists them, the struct's `describe`.
class OptionList {
 public:
  /// An optional field that holds nothing is found out by whoever reads it, and is called "auto".
  using Field =
      std::variant<double*, int*, std::int64_t*, std::uint64_t*, bool*, std::optional<double>*, std::optional<int>*>;
  struct Option {
    std::string name;
    std::string help;
    Field field;
  };

  /// `who` is named in messages, if there is one.
  explicit OptionList(std::string who = {}) : who_(std::move(who)) {}

  void add(std::string_view name, Field field, std::string_view help);

  const std::vector<Option>& options() const { return options_; }

  /// Sets a field from text; an unknown name, or text that is no such value, throws std::invalid_argument.
  void set(std::string_view name, const std::string& value);

 private:
  std::string who_;
  std::vector<Option> options_;
};

/// The value of a field, with all its digits.
std::string to_string(const OptionList::Field& field);

}  // namespace hypertape
