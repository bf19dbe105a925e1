#include "hypertape/core/options.hpp"

#include <charconv>

#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

template <class Number>
bool parse(const std::string& text, Number& number) {
  const auto parsed = to_number<Number>(text);
  if (parsed) number = *parsed;
  return parsed.has_value();
}

bool parse(const std::string& text, bool& flag) {
  flag = text == "true" || text == "yes" || text == "on" || text == "1";
  return flag || text == "false" || text == "no" || text == "off" || text == "0";
}

const char* expected(const OptionList::Field& field) {
  if (std::holds_alternative<bool*>(field)) return "true or false";
  return std::holds_alternative<double*>(field) ? "a number" : "a whole number";
}

}  // namespace

void OptionList::add(std::string_view name, Field field, std::string_view help) {
  options_.push_back({std::string(name), std::string(help), field});
}

void OptionList::set(std::string_view name, const std::string& value) {
  for (const Option& option : options_)
    if (option.name == name) {
      const auto assign = [&](auto* field) {
        auto parsed = *field;
        if (!parse(value, parsed)) return false;
        *field = parsed;
        return true;
      };
      require(std::visit(assign, option.field), "option ", name, " = ", value, ", must be ", expected(option.field));
      return;
    }
  std::string known;
  for (const Option& option : options_) known += (known.empty() ? "" : ", ") + option.name;
  require(false, "option ", name, " is unknown; known are ", known);
}

std::string to_string(const OptionList::Field& field) {
  const auto print = [](auto* value) {
    char digits[64];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, *value).ptr);
  };
  if (const auto* flag = std::get_if<bool*>(&field)) return **flag ? "true" : "false";
  if (const auto* number = std::get_if<double*>(&field)) return print(*number);
  if (const auto* whole = std::get_if<int*>(&field)) return print(*whole);
  if (const auto* big = std::get_if<std::int64_t*>(&field)) return print(*big);
  return print(std::get<std::uint64_t*>(field));
}

}  // namespace hypertape
