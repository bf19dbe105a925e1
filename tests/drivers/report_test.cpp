#include "drivers/common/report.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "drivers/common/figure.hpp"
#include "support/contains.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace hypertape::drivers;
using hypertape::testing::contains;
using hypertape::testing::content;
using hypertape::testing::TemporaryFolder;

namespace {

int count(const std::string& text, const std::string& words) {
  int out = 0;
  for (std::size_t i = 0; (i = text.find(words, i)) != std::string::npos; ++i) ++out;
  return out;
}

std::string written(const Report& report, const TemporaryFolder& folder) {
  write_report(report, folder.path());
  CHECK_FALSE(fs::exists(folder.file("report.html.part")));
  return content(folder.file("report.html"));
}

/// Every tag that opens is closed, in order; what is wrong otherwise.
std::string unbalanced(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t i = 0; (i = html.find('<', i)) != std::string::npos;) {
    const auto end = html.find('>', i);
    if (end == std::string::npos) return "a tag does not end";
    const std::string tag = html.substr(i + 1, end - i - 1);
    i = end + 1;
    if (tag.starts_with("!") || tag.starts_with("meta") || tag.ends_with("/")) continue;
    const std::string name = tag.substr(0, tag.find_first_of(" \n\t"));
    if (!name.starts_with("/")) {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return "<" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

/// What stands between `before` and the next quote or bracket, everywhere inside tags.
std::vector<std::string> values(const std::string& html, const std::string& before) {
  std::vector<std::string> out;
  for (std::size_t i = 0; (i = html.find(before, i)) != std::string::npos;) {
    const auto tag = html.rfind('<', i), end = html.rfind('>', i);
    const bool in_tag = tag != std::string::npos && (end == std::string::npos || end < tag);
    i += before.size();
    if (in_tag) out.push_back(html.substr(i, html.find_first_of("\"')", i) - i));
  }
  return out;
}

void check_ids(const std::string& html) {
  std::set<std::string> ids;
  for (const char* before : {" id=\"", " id='"})
    for (const auto& id : values(html, before)) {
      CAPTURE(id);
      CHECK(ids.insert(id).second);
    }
  CHECK(ids.size() > 0);
  for (const char* before : {"href=\"#", "href='#", "url(#"})
    for (const auto& id : values(html, before)) {
      CAPTURE(id);
      CHECK(ids.count(id) == 1);
    }
}

const std::string hostile = "</td></p><script>alert('1')</script>\n\"q\" & `ls` $(ls) {%d} --> <!-- \xff";

}  // namespace

TEST_CASE("text is text, wherever it stands") {
  const TemporaryFolder folder;
  Report report{hostile, hostile + "\n\n" + hostile, {{hostile, {hostile, hostile}, {{hostile, hostile}}}}, {}, {}};
  report.facts = {{hostile, hostile}};
  const std::string html = written(report, folder);
  CHECK(unbalanced(html) == "");
  CHECK_FALSE(contains(html, "<script"));
  CHECK(count(html, "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;\n&quot;q&quot; &amp; `ls` $(ls) {%d}") == 12);
  CHECK(count(html, "<p>") == 2);
}

TEST_CASE("a report is one page of HTML that needs nothing else") {
  const TemporaryFolder folder;
  const std::string html = written({"A study", "It went well.", {}, {}, {{"seed", "7"}}}, folder);
  CHECK(html.starts_with("<!DOCTYPE html>"));
  for (const char* words : {"<html lang=\"en\">", "<meta charset=\"utf-8\">", "<title>A study</title>",
                            "<h1>A study</h1>", "<p>It went well.\n</p>", "prefers-color-scheme: dark", "@media print",
                            "name=\"viewport\"", "<th scope=\"row\">seed</th><td>7</td>"}) {
    CAPTURE(words);
    CHECK(contains(html, words));
  }
  for (const char* words : {"src=", "<link", "@import", "url(", "<script", "<h2>Figures", "<h2>Results"}) {
    CAPTURE(words);
    CHECK_FALSE(contains(html, words));
  }
  CHECK(unbalanced(written({}, folder)) == "");
}

TEST_CASE("tables have headers with a scope, numbers to the right, and as many cells in each row") {
  const TemporaryFolder folder;
  const Table table{"Runs",
                    {"solver", "Phi", "slope", "data", "bound"},
                    {{"rahgd", "-1.5e-7", "1.39 +- 0.02", "20 Newsgroups", "-"}, {"aid", "nan", "12 %"}}};
  const std::string html = written({"t", "", {table}, {}, {}}, folder);
  CHECK(contains(html, "<caption>Runs</caption>"));
  CHECK(contains(html,
                 "<tr><th scope=\"col\">solver</th><th scope=\"col\" class=\"number\">Phi</th>"
                 "<th scope=\"col\" class=\"number\">slope</th><th scope=\"col\">data</th>"
                 "<th scope=\"col\">bound</th></tr>"));
  CHECK(contains(html,
                 "<tr><th scope=\"row\">rahgd</th><td class=\"number\">-1.5e-7</td>"
                 "<td class=\"number\">1.39 +- 0.02</td><td>20 Newsgroups</td><td>-</td></tr>"));
  CHECK(contains(html, "<td class=\"number\">12 %</td><td></td><td></td></tr>"));
  CHECK(unbalanced(html) == "");
}

TEST_CASE("figures stand in the page, their ids told apart") {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    std::ofstream(folder.file(std::string(name) + ".gnuplot")) << "# mark\n# Title <of> " << name << "\n";
    std::ofstream(folder.file(std::string(name) + ".svg"))
        << "<?xml version=\"1.0\"?>\n<svg width=\"9\">\n<title>Gnuplot</title>\n<desc>Produced</desc>\n"
           "<g id=\"canvas\"><path id='p0'/><use xlink:href='#p0'/><g filter=\"url(#canvas)\"></g>"
           "<text>say id=\"p0\" or url(#p0) > 3</text></g></svg>\n";
  }
  const std::string html = written({"t", "", {}, {"a", "b"}, {}}, folder);
  CHECK(unbalanced(html) == "");
  check_ids(html);
  CHECK(count(html, "<text>say id=\"p0\" or url(#p0) > 3</text>") == 2);
  CHECK(contains(html, "aria-label=\"Title &lt;of&gt; a\""));
  CHECK(contains(html, "<figcaption>Figure 2. Title &lt;of&gt; b (b.svg)</figcaption>"));
  CHECK_FALSE(contains(html, "<?xml"));
  CHECK_FALSE(contains(html, "Gnuplot"));
}

TEST_CASE("what gnuplot draws stands in the page too") {
  const TemporaryFolder folder;
  Figure figure{"one", hostile, "x <i>", "y & id=\"gpPt0\"", false, true, {{hostile, {1, 2}, {1, 0.01}}}, hostile};
  const std::string trouble = draw(figure, folder.path());
  if (contains(trouble, "not installed")) {
    MESSAGE("no gnuplot: its figures are not tested");
    return;
  }
  REQUIRE(trouble == "");
  figure.name = "two";
  REQUIRE(draw(figure, folder.path()) == "");
  const std::string html = written({"t", "", {}, {"one", "two"}, {}}, folder);
  CHECK(unbalanced(html) == "");
  check_ids(html);
  CHECK(count(html, "<svg") == 2);
  CHECK_FALSE(contains(html, "<script"));
}

TEST_CASE("a figure that is not there, or not whole, is said to be missing") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("half.svg")) << "<svg width=\"9\"><g>";
  const std::string html = written({"t", "", {}, {"half", "none"}, {}}, folder);
  CHECK(count(html, "This figure was not drawn.") == 2);
  CHECK(contains(html, "Figure 2. none (none.svg)"));
  CHECK(unbalanced(html) == "");
}

TEST_CASE("a page of somebody else's is left alone, an older report is replaced") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("report.html")) << "<!DOCTYPE html>\n<p>years of work</p>\n";
  CHECK_THROWS_WITH_AS(write_report({}, folder.path()), doctest::Contains("left alone"), std::runtime_error);
  CHECK(content(folder.file("report.html")) == "<!DOCTYPE html>\n<p>years of work</p>\n");
  fs::remove(folder.file("report.html"));
  CHECK(contains(written({"the old one", "", {}, {}, {}}, folder), "the old one"));
  CHECK_FALSE(contains(written({"the new one", "", {}, {}, {}}, folder), "the old one"));
  CHECK_THROWS_AS(write_report({}, folder.file("none")), std::runtime_error);
}

TEST_CASE("the machine is described") {
  std::set<std::string> names;
  for (const auto& fact : machine_facts()) {
    const std::string &name = fact.first, &value = fact.second;
    CAPTURE(name);
    CHECK(value != "");
    CHECK(names.insert(name).second);
    if (name == "date") {
      CHECK(value.size() == std::string("2024-01-31 12:00:00 UTC").size());
      CHECK(value.ends_with(" UTC"));
    }
    if (name == "Eigen") CHECK(std::count(value.begin(), value.end(), '.') == 2);
  }
  for (const char* name : {"processor", "cores", "memory", "compiler", "Hypertape", "Eigen", "date"})
    CHECK(names.count(name) == 1);
}
