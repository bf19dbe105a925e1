#pragma once

#include <charconv>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace hypertape {

/// A stream that writes numbers as C++ source has them, 1234.5, whatever the locale of the program. All text that this
/// project makes of numbers comes from here or from std::to_chars.
inline std::ostringstream text_stream() {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  return out;
}

/// The pieces, printed one after the other: numbers with 6 digits.
template <class... Pieces>
std::string text(const Pieces&... pieces) {
  std::ostringstream out = text_stream();
  (out << ... << pieces);
  return out.str();
}

/// The number that `text` is, all of it, written as in C++ source whatever the locale; nothing if it is none, or out of
/// range.
template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace hypertape
