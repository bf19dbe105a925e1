#include "drivers/common/figure.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "drivers/common/output.hpp"
#include "hypertape/core/text.hpp"

namespace hypertape::drivers {
namespace {

namespace fs = std::filesystem;

constexpr const char* figure_mark =
    "# A figure by Hypertape. To draw it again, run gnuplot on this file, in its folder.";

// Sizes in pixels of the SVG; the PNG has twice as many.
constexpr int plot_width = 560, plot_height = 290;

// Told apart by each of colour, dashes and symbol alone; the colours also by lightness, and by the colour-blind.
struct Look {
  const char *colour, *dashes;
  int symbol;
};
constexpr std::array<Look, 8> looks{{{"#000000", "solid", 7},
                                     {"#d55e00", "(12,4)", 4},
                                     {"#1f4e9c", "(3,3)", 9},
                                     {"#b8860b", "(12,4,3,4)", 12},
                                     {"#7a1f4f", "(24,5)", 6},
                                     {"#2f9bd8", "(12,3,3,3,3,3)", 5},
                                     {"#00785a", "(6,3)", 10},
                                     {"#c4659b", "(3,6)", 13}}};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// How many characters the UTF-8 text shows.
int length(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

/// On one line, and UTF-8: control characters become blanks, what is not UTF-8 question marks.
std::string clean(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t size = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : 4;
    const bool complete =
        i + size <= text.size() && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                               text.begin() + static_cast<std::ptrdiff_t>(i + size), is_continuation);
    if (c < 0x20 || c == 0x7F)
      out += ' ', ++i;
    else if (!complete || (c >= 0x80 && c < 0xC2) || c > 0xF4)
      out += '?', ++i;
    else
      out += text.substr(i, size), i += size;
  }
  return out;
}

/// The first `most` characters of a UTF-8 text, in bytes.
std::size_t bytes_of(const std::string& text, int most) {
  std::size_t i = 0;
  for (; i < text.size(); ++i)
    if (!is_continuation(text[i]) && most-- == 0) break;
  return i;
}

std::string shorten(const std::string& text, int most) {
  return length(text) <= most ? text : text.substr(0, bytes_of(text, most - 3)) + "...";
}

/// Lines of at most `most` characters, broken between words where possible.
std::vector<std::string> wrap(std::string text, int most) {
  std::vector<std::string> lines;
  while (length(text) > most) {
    const std::size_t whole = bytes_of(text, most);
    const std::size_t blank = text.rfind(' ', whole);
    const bool between = blank != std::string::npos && blank > 0;
    lines.push_back(text.substr(0, between ? blank : whole));
    text.erase(0, between ? blank + 1 : whole);
  }
  if (!text.empty()) lines.push_back(text);
  return lines;
}

/// A string of gnuplot in which nothing has a meaning. Between single quotes only these have one, so they stand apart,
/// as a number: doubled, as the manual says, they fail at the begin of a string, and any other way @ is taken for a
/// macro.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'.\"\\047\".'" : std::string(1, c);
  return out + "'";
}

std::string quoted(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) out += (out.empty() ? "" : ".\"\\n\".") + quoted(line);
  return out.empty() ? "''" : out;
}

/// Shortest digits that give the number again, whatever the locale.
std::string digits(double value) {
  std::array<char, 40> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

bool can_be_drawn(double value, bool log) {
  return std::abs(value) <= 1e250 && (!log || value >= 1e-250);  // false for NaN; gnuplot wants some room beyond
}

/// The figure with what can be drawn only; the note tells what is missing.
Figure drawable(const Figure& figure) {
  Figure out = figure;
  out.series.clear();
  for (const Series& all : figure.series) {
    Series kept{shorten(clean(all.label), 44), {}, {}};
    for (std::size_t i = 0; i < all.x.size(); ++i)
      if (can_be_drawn(all.x[i], figure.log_x) && can_be_drawn(all.y[i], figure.log_y)) {
        kept.x.push_back(all.x[i]);
        kept.y.push_back(all.y[i]);
      }
    const std::size_t missing = all.x.size() - kept.x.size();
    if (missing > 0 || kept.x.empty())
      out.note += (out.note.empty() ? "" : "; ") + kept.label + ": " +
                  (kept.x.empty() ? "no value" : std::to_string(missing) + " of " + std::to_string(all.x.size())) +
                  (kept.x.empty() ? " that can be drawn here" : " values cannot be drawn here and are left out");
    if (!kept.x.empty()) out.series.push_back(std::move(kept));
  }
  return out;
}

/// Where gnuplot's own choice, powers of ten, would give a short logarithmic axis too few numbers or none.
std::vector<double> tics(double low, double high) {
  std::vector<double> out;
  if (high < 4 * low) {
    const double rough = (high - low) / 5, power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
    for (double k = std::ceil(low / step); k * step <= high; ++k) out.push_back(k * step);
  } else {
    for (int k = static_cast<int>(std::floor(std::log10(low))); k <= std::log10(high); ++k)
      for (const double digit : {1, 2, 5})
        if (const double value = digit * std::pow(10, k); value >= low && value <= high) out.push_back(value);
  }
  return out;
}

/// Commands for axis 'x' or 'y' with these values.
std::string log_axis(char axis, const std::vector<Series>& series, std::vector<double> Series::*values) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const Series& one : series)
    for (const double value : one.*values) low = std::min(low, value), high = std::max(high, value);
  const double room = std::max(1.02, std::exp(0.03 * (std::log(high) - std::log(low))));
  low /= room, high *= room;
  std::ostringstream out = text_stream();
  out << "set logscale " << axis << "\nset " << axis << "range [" << digits(low) << ":" << digits(high) << "]\n";
  if (high >= 1000 * low) {
    out << "set format " << axis << " '10^{%L}'\n";
  } else {
    std::string list;
    for (const double tic : tics(low, high)) list += (list.empty() ? "" : ", ") + digits(tic);
    out << "set " << axis << "tics (" << list << ")\n";
  }
  return out.str();
}

std::string script(const Figure& figure) {
  const auto title = wrap(clean(figure.title), 60), note = wrap(clean(figure.note), 88);
  const int count = static_cast<int>(figure.series.size());
  int longest = 0;
  for (const Series& one : figure.series) longest = std::max(longest, length(one.label));
  // gnuplot takes letters for wider than most are, and makes fewer columns of the key than would fit.
  const int narrower = longest / 8;
  const int columns = std::clamp(10 * plot_width / (92 * (longest - narrower) + 800), 1, count),
            rows = (count + columns - 1) / columns;
  const int above_key = 16 + 20 * static_cast<int>(title.size()), top = above_key + 20 * rows + 14;
  const int note_height = 14 * static_cast<int>(note.size()), bottom = 56 + note_height + (note.empty() ? 0 : 8);
  const int height = top + plot_height + bottom;
  const auto from_top = [&](int pixels) { return "screen " + digits(1 - static_cast<double>(pixels) / height); };

  std::ostringstream out = text_stream();
  out << figure_mark << "\n# " << clean(figure.title) << ": " << clean(figure.y_label) << " against "
      << clean(figure.x_label) << "\nreset\nset encoding utf8\n";
  for (int i = 0; i < count; ++i) {
    const Series& one = figure.series[static_cast<std::size_t>(i)];
    out << "$series" << i + 1 << " << END\n";
    for (std::size_t k = 0; k < one.x.size(); ++k) out << digits(one.x[k]) << ' ' << digits(one.y[k]) << '\n';
    out << "END\n";
  }
  out << "set label 1 " << quoted(title) << " at screen 0.5, " << from_top(20) << " center font ',15' noenhanced\n"
      << "set label 2 " << quoted(note) << " at screen 0.015, " << from_top(height - note_height)
      << " left font ',10' textcolor rgb '#505050' noenhanced\n"
      << "set key at screen 0.5, " << from_top(above_key) << " top center horizontal maxcols " << columns
      << " Left reverse samplen 5 width " << -narrower << " noenhanced\n"
      << "set xlabel " << quoted(shorten(clean(figure.x_label), 60)) << " offset 0,0.5 noenhanced\n"
      << "set ylabel " << quoted(shorten(clean(figure.y_label), 38)) << " noenhanced\n"
      << "set tmargin at " << from_top(top) << "\nset bmargin at " << from_top(top + plot_height)
      << "\nset rmargin at screen 0.955\nset border 3 linecolor rgb '#404040'\nset tics nomirror\n"
      << "set grid linecolor rgb '#d8d8d8' linetype 1 linewidth 0.7\nset format '%g'\n";
  if (figure.log_x) out << log_axis('x', figure.series, &Series::x);
  if (figure.log_y) out << log_axis('y', figure.series, &Series::y);
  std::string curves;
  for (int i = 0; i < count; ++i) {
    const Series& one = figure.series[static_cast<std::size_t>(i)];
    const Look& look = looks[static_cast<std::size_t>(i) % looks.size()];
    const Look& dashed = looks[static_cast<std::size_t>(i) * (looks.size() + 1) / looks.size() % looks.size()];
    // Different intervals keep the symbols of curves that coincide apart.
    const auto interval = std::max<std::size_t>(1, one.x.size() / (9 + static_cast<std::size_t>(i) % 7));
    out << "set linetype " << i + 1 << " linecolor rgb '" << look.colour << "' linewidth 1.6 dashtype " << dashed.dashes
        << " pointtype " << look.symbol << " pointsize 0.7 pointinterval " << interval << "\n";
    curves += (i == 0 ? "" : ", \\\n  ") + ("$series" + std::to_string(i + 1)) +
              " using 1:2 with linespoints linetype " + std::to_string(i + 1) + " title " + quoted(one.label);
  }
  out << "set terminal svg size " << plot_width << "," << height << " font 'sans-serif,13' background 'white'\n"
      << "set output '" << figure.name << ".svg'\nplot " << curves << "\nset output\n"
      << "if (strstrt(GPVAL_TERMINALS.' ', ' pngcairo ')) {\n"
      << "  set terminal pngcairo size " << 2 * plot_width << "," << 2 * height
      << " font 'sans-serif,13' fontscale 1.5 linewidth 2 pointscale 2 background 'white'\n} else {\n"
      << "  set terminal png truecolor size " << 2 * plot_width << "," << 2 * height
      << " font 'sans-serif,20' linewidth 2 background 'white'\n}\n"
      << "set output '" << figure.name << ".png'\nreplot\nset output\n";
  return out.str();
}

/// Runs `gnuplot -d file` in the folder: no shell, no settings of the user's. Returns what went wrong.
std::string run_gnuplot(const std::string& folder, const std::string& file) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::string("gnuplot is not run: ") + std::strerror(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::string program = "gnuplot", defaults = "-d", argument = file;
  const std::array<char*, 4> arguments{program.data(), defaults.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string said;
  std::array<char, 4096> buffer;
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) != 0;) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0) said.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  if (failed == ENOENT) return "gnuplot is not installed";
  if (failed != 0) return std::string("gnuplot is not run: ") + std::strerror(failed);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return "gnuplot failed: " + said;
}

bool is_name(const std::string& name) {
  return !name.empty() && name.front() != '-' && name.front() != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
             std::string::npos;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Whether something other than an empty file is there.
bool is_something(const std::string& path) {
  return fs::exists(path) && !(fs::is_regular_file(path) && fs::file_size(path) == 0);
}

[[noreturn]] void refuse(const std::string& path) {
  throw std::runtime_error(path + ": there is already something of another kind, it is left alone");
}

/// Throws if something goes wrong.
void draw_checked(const Figure& figure, const std::string& folder) {
  if (!is_name(figure.name)) throw std::runtime_error("'" + figure.name + "' is no name for the files of a figure");
  for (const Series& one : figure.series)
    if (one.x.size() != one.y.size())
      throw std::runtime_error(figure.name + ": " + one.label + " has " + std::to_string(one.x.size()) + " x and " +
                               std::to_string(one.y.size()) + " y");
  const Figure shown = drawable(figure);
  if (shown.series.empty()) throw std::runtime_error(figure.name + ": nothing to draw; " + shown.note);

  const std::string path = (fs::path(folder) / figure.name).string();
  const std::array<std::string, 2> images{path + ".svg", path + ".png"};
  const bool new_here = !is_something(path + ".gnuplot");
  for (const auto& image : images)
    if (is_something(image) && (new_here || !fs::is_regular_file(image))) refuse(image);
  const std::string commands = script(shown);
  write_text(path + ".gnuplot", commands, first_line(commands));
  for (const auto& image : images) fs::remove(image);
  std::string trouble = run_gnuplot(folder, figure.name + ".gnuplot");
  for (const auto& image : images)
    if (trouble.empty() && !is_something(image)) trouble = "gnuplot wrote no " + image;
  if (trouble.empty()) return;
  for (const auto& image : images) fs::remove(image);  // what is there is not whole
  throw std::runtime_error(path + ".gnuplot: " + trouble);
}

}  // namespace

std::string draw(const Figure& figure, const std::string& folder) {
  try {
    draw_checked(figure, folder);
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace hypertape::drivers
