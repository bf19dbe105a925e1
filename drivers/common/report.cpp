#include "drivers/common/report.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <sstream>
#include <thread>

#include "drivers/common/figure.hpp"
#include "drivers/common/output.hpp"
#include "hypertape/autodiff/cppad.hpp"
#include "hypertape/core/text.hpp"

#ifndef HYPERTAPE_VERSION
#define HYPERTAPE_VERSION "unknown"
#endif

namespace hypertape::drivers {
namespace {

// Its first line marks the file as ours. The policy lets a browser run and load nothing.
constexpr const char* head = R"(<!DOCTYPE html><!-- A report by Hypertape -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; --text: #1a1a1a; --faint: #595959; --line: #c8c8c8; --page: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e6e6; --faint: #a6a6a6; --line: #4a4a4a; --page: #161616; }
  figure svg { filter: invert(0.914) hue-rotate(180deg); }
}
body { margin: 0 auto; padding: 0.5rem max(0.75rem, 1.5vw) 3rem; max-width: 84rem; font: 1rem/1.5 system-ui, sans-serif;
  color: var(--text); background: var(--page); }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem; }
p { max-width: 45rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 1.25rem 0 0.4rem; }
th, td { padding: 0.25rem 0.75rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { padding-left: 0; }
thead th { border-bottom: 2px solid var(--faint); vertical-align: bottom; }
tbody th { font-weight: normal; }
.results th, .results td { white-space: nowrap; }
.number { text-align: right; }
.figures { display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); }
figure { margin: 0; min-width: 0; break-inside: avoid; }
figure svg { display: block; width: 100%; min-width: 20rem; max-width: 48rem; height: auto; }
figcaption { color: var(--faint); font-size: 0.875rem; overflow-wrap: anywhere; }
.facts { color: var(--faint); font-size: 0.875rem; }
.facts td { overflow-wrap: anywhere; white-space: pre-wrap; }
@media print {
  :root { color-scheme: light; --text: #000000; --faint: #404040; --line: #a0a0a0; --page: #ffffff; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2 { break-after: avoid; }
  th, td { padding: 0.15rem 0.35rem; }
  .scroll { overflow: visible; }
  .results { font-size: 8.5pt; }
  .results th:not(.number) { white-space: normal; }
  .figures { display: block; }
  figure { margin-bottom: 1rem; }
  figure svg { min-width: 0; max-width: 12cm; filter: none; }
  tr { break-inside: avoid; }
}
</style>
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '\0':
        break;  // HTML has no such character
      default:
        out += c;
    }
  return out;
}

std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> out(1);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty())
      out.back() += line + "\n";
    else if (!out.back().empty())
      out.emplace_back();
  if (out.back().empty()) out.pop_back();
  return out;
}

/// 3, -1.5e-7, inf, 1.39 +- 0.02, 12 %; not "20 Newsgroups".
bool is_number(const std::string& cell) {
  double number = 0;
  const char* const end = cell.data() + cell.size();
  const auto [behind, error] = std::from_chars(cell.data(), end, number);
  const bool letters =
      std::any_of(behind, end, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
  return error != std::errc::invalid_argument && !letters;
}

/// A column whose every cell is a number or a dash or nothing, and one of them a number.
bool is_numeric(const Table& table, std::size_t column) {
  bool any = false;
  for (const auto& row : table.rows) {
    if (column >= row.size() || row[column].empty() || row[column] == "-") continue;
    if (!is_number(row[column])) return false;
    any = true;
  }
  return any;
}

std::string to_html(const Table& table) {
  std::size_t columns = table.header.size();
  for (const auto& row : table.rows) columns = std::max(columns, row.size());
  std::ostringstream out = text_stream();
  out << "<div class=\"scroll\" role=\"region\" aria-label=\"" << escaped(table.title)
      << "\" tabindex=\"0\"><table class=\"results\">\n<caption>" << escaped(table.title) << "</caption>\n";
  const auto write_row = [&](const std::vector<std::string>& cells, bool header) {
    out << "<tr>";
    for (std::size_t c = 0; c < columns; ++c) {
      const bool names = header || c == 0;
      out << (header  ? "<th scope=\"col\""
              : names ? "<th scope=\"row\""
                      : "<td")
          << (is_numeric(table, c) ? " class=\"number\">" : ">") << (c < cells.size() ? escaped(cells[c]) : "")
          << (names ? "</th>" : "</td>");
    }
    out << "</tr>\n";
  };
  out << "<thead>\n";
  write_row(table.header, true);
  out << "</thead>\n<tbody>\n";
  for (const auto& row : table.rows) write_row(row, false);
  out << "</tbody>\n</table></div>\n";
  return out.str();
}

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t i = 0; (i = text.find(what, i)) != std::string::npos; i += by.size())
    text.replace(i, what.size(), by);
}

/// The <svg> element of a file as part of a page: named for those who do not see it, without what browsers would show
/// as a tooltip, and with `prefix` before the names of its parts, which are the same in every file. Empty if there is
/// no whole <svg>.
std::string inline_svg(const std::string& file, const std::string& label, const std::string& prefix) {
  const auto begin = file.find("<svg"), end = file.rfind("</svg>");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  std::string out = "<svg role=\"img\" aria-label=\"" + escaped(label) + "\"";
  std::size_t i = begin + 4;
  bool in_tag = true;
  while (i < end) {
    const auto next = std::min(end, file.find(in_tag ? '>' : '<', i));  // gnuplot writes no '>' inside a tag
    std::string piece = file.substr(i, next - i);
    if (in_tag)
      for (const char* reference : {" id=\"", " id='", "href=\"#", "href='#", "url(#"})
        replace_all(piece, reference, reference + prefix);
    out += piece;
    i = next;
    in_tag = !in_tag;
  }
  for (const std::string element : {"title", "desc"}) {
    const auto from = out.find("<" + element + ">"), to = out.find("</" + element + ">");
    if (from < to && to != std::string::npos) out.erase(from, to + element.size() + 3 - from);
  }
  return out + "</svg>";
}

std::string to_html(const std::string& figure, std::size_t number, const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder) / figure;
  std::istringstream script(content(path.string() + ".gnuplot"));
  std::string caption;
  std::getline(script, caption);
  std::getline(script, caption);  // draw() has it in the second line, after "# "
  caption = caption.starts_with("# ") ? caption.substr(2) : figure;
  const std::string svg = inline_svg(content(path.string() + ".svg"), caption, "f" + std::to_string(number) + "-");
  return "<figure>\n" +
         (svg.empty() ? "<p>This figure was not drawn.</p>" : "<div class=\"scroll\">" + svg + "</div>") +
         "\n<figcaption>Figure " + std::to_string(number) + ". " + escaped(caption) + " (" + escaped(figure) +
         ".svg)</figcaption>\n</figure>\n";
}

/// What stands after "key : " in a file of such lines; empty if there is none.
std::string value_of(const std::string& path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (const auto colon = line.find(": "); line.starts_with(key) && colon != std::string::npos)
      return line.substr(colon + 2);
  return {};
}

std::string processor() {
  std::string out = value_of("/proc/cpuinfo", "model name");
  utsname machine{};
  if (out.empty() && uname(&machine) == 0) out = machine.machine;
  return out.empty() ? "unknown" : out;
}

std::string memory() {
  const double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::ostringstream out = text_stream();
  out.precision(3);
  out << bytes / (1 << 30) << " GiB";
  return bytes > 0 ? out.str() : "unknown";
}

std::string compiler() {
#if defined(__clang__)
  return "clang++ " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

std::string eigen() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 40> buffer;
  return {buffer.data(), std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

}  // namespace

void print(const Table& table) {
  std::vector<std::size_t> widths;
  for (const auto& name : table.header) widths.push_back(name.size());
  for (const auto& row : table.rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c)
      std::cout << (c == 0 || (c == 1 && !is_numeric(table, c)) ? std::left : std::right) << "  "
                << std::setw(static_cast<int>(widths[c])) << cells[c];
    std::cout << "\n";
  };
  line(table.header);
  for (const auto& row : table.rows) line(row);
}

void write_report(const Report& report, const std::string& folder) {
  std::ostringstream out = text_stream();
  out << head << "<title>" << escaped(report.title) << "</title>\n</head>\n<body>\n<main>\n<h1>"
      << escaped(report.title) << "</h1>\n";
  for (const auto& paragraph : paragraphs(report.summary)) out << "<p>" << escaped(paragraph) << "</p>\n";
  if (!report.tables.empty()) out << "<section>\n<h2>Results</h2>\n";
  for (const Table& table : report.tables) out << to_html(table);
  if (!report.tables.empty()) out << "</section>\n";
  if (!report.figures.empty()) out << "<section>\n<h2>Figures</h2>\n<div class=\"figures\">\n";
  for (std::size_t i = 0; i < report.figures.size(); ++i) out << to_html(report.figures[i], i + 1, folder);
  if (!report.figures.empty()) out << "</div>\n</section>\n";
  if (!report.facts.empty()) out << "<section>\n<h2>How it was made</h2>\n<table class=\"facts\">\n<tbody>\n";
  for (const auto& [name, value] : report.facts)
    out << "<tr><th scope=\"row\">" << escaped(name) << "</th><td>" << escaped(value) << "</td></tr>\n";
  if (!report.facts.empty()) out << "</tbody>\n</table>\n</section>\n";
  out << "</main>\n</body>\n</html>\n";
  const std::string page = out.str();
  write_text((std::filesystem::path(folder) / "report.html").string(), page, page.substr(0, page.find('\n')));
}

std::vector<std::pair<std::string, std::string>> machine_facts() {
  return {{"processor", processor()},
          {"cores", std::to_string(std::thread::hardware_concurrency())},
          {"memory", memory()},
          {"compiler", compiler()},
          {"Hypertape", HYPERTAPE_VERSION},
          {"Eigen", eigen()},
#ifdef CPPAD_PACKAGE_STRING
          {"CppAD", CPPAD_PACKAGE_STRING},
#endif
          {"date", now()}};
}

}  // namespace hypertape::drivers
