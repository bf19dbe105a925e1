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

template <class Number>
bool parse(const std::string& text, std::optional<Number>& number) {
  if (text == "auto") return number.reset(), true;
  return parse(text, number.emplace());
}

const char* expected(const OptionList::Field& field) {
  if (std::holds_alternative<bool*>(field)) return "true or false";
  if (std::holds_alternative<std::optional<double>*>(field)) return "a number or auto";
  if (std::holds_alternative<std::optional<int>*>(field)) return "a whole number or auto";
  return std::holds_alternative<double*>(field) ? "a number" : "a whole number";
}

std::string print(bool flag) { return flag ? "true" : "false"; }

template <class Number>
std::string print(Number number) {
  char digits[64];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

template <class Number>
std::string print(const std::optional<Number>& number) {
  return number ? print(*number) : "auto";
}

}  // namespace

void OptionList::add(std::string_view name, Field field, std::string_view help) {
  options_.push_back({std::string(name), std::string(help), field});
}

void OptionList::set(std::string_view name, const std::string& value) {
  const std::string who = who_.empty() ? "" : who_ + ": ";
  for (const Option& option : options_)
    if (option.name == name) {
      const auto assign = [&](auto* field) {
        auto parsed = *field;
        if (!parse(value, parsed)) return false;
        *field = parsed;
        return true;
      };
      require(std::visit(assign, option.field), who, "option ", name, " = ", value, ", must be ",
              expected(option.field));
      return;
    }
  std::string known;
  for (const Option& option : options_) known += (known.empty() ? "" : ", ") + option.name;
  require(false, who, "option ", name, " is unknown; known are ", known);
}

std::string to_string(const OptionList::Field& field) {
  return std::visit([](const auto* value) { return print(*value); }, field);
}

}  // namespace hypertape
