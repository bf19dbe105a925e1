#include "drivers/common/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>

namespace hypertape::drivers {
namespace {

constexpr double interval = 0.2;              // seconds
constexpr const char* new_line = "\r\033[K";  // to the begin of the line, which is emptied

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Whatever the locale; %f, %e and %g are fixed, scientific and general.
std::string digits(double value, std::chars_format format, int precision) {
  std::array<char, 400> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, precision).ptr};
}

/// :05, :42
std::string two_digits(int value) { return (value < 10 ? ":0" : ":") + std::to_string(value); }

/// 4.2 s, 1:05, 2:00:00, 5 days.
std::string duration(double seconds) {
  if (!(seconds < 1000 * 86400.0)) return "years";
  if (seconds < 9.95) return digits(seconds, std::chars_format::fixed, 1) + " s";
  const int whole = static_cast<int>(std::lround(seconds));
  if (whole < 3600) return std::to_string(whole / 60) + two_digits(whole % 60);
  if (whole < 2 * 86400) return std::to_string(whole / 3600) + two_digits(whole / 60 % 60) + two_digits(whole % 60);
  return std::to_string(whole / 86400) + " days";
}

/// How much of the nearest budget is used, 0 to 1.
double used(const Iterate& i, const StopRule& budget) {
  const auto part = [](double spent, double limit) { return limit > 0 ? spent / limit : 1.0; };
  const double most = std::max({part(i.iteration, budget.max_iterations), part(i.seconds, budget.max_seconds),
                                part(static_cast<double>(i.counts.total()), static_cast<double>(budget.max_calls))});
  return std::clamp(most, 0.0, 1.0);
}

/// Ends where the next piece would not fit whole: half a number is a wrong number.
std::string line(const std::string& solver, const Iterate& i, const StopRule& budget, std::size_t width) {
  std::string out = solver.substr(0, std::min<std::size_t>(24, width));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  const double share = used(i, budget);
  for (const std::string& piece :
       {": it " + std::to_string(i.iteration), ", Phi " + digits(i.phi, std::chars_format::general, 5),
        ", |u| " + digits(i.gradient_norm, std::chars_format::scientific, 1),
        ", " + std::to_string(i.counts.total()) + " calls", ", " + duration(i.seconds),
        share > 0 ? ", <= " + duration(i.seconds * (1 - share) / share) + " left" : ""}) {
    if (out.size() + piece.size() > width) break;
    out += piece;
  }
  return out;
}

}  // namespace

Observer with_progress(Observer inner, const std::string& solver, const StopRule& budget, std::ostream& out,
                       bool terminal) {
  if (!inner) inner = [](const Iterate&) { return true; };
  if (!terminal) return inner;
  return [inner = std::move(inner), solver, budget, &out, shown = 0.0](const Iterate& i) mutable {
    if (i.seconds - shown >= interval) {
      shown = i.seconds;
      out << new_line << line(solver, i, budget, terminal_width() - 1) << std::flush;  // the last column may wrap
    }
    return inner(i);
  };
}

void clear_progress(std::ostream& out, bool terminal) {
  if (terminal) out << new_line << std::flush;
}

}  // namespace hypertape::drivers
