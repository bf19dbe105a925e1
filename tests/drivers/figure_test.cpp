#include "drivers/common/figure.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "support/comma_locale.hpp"
#include "support/contains.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace hypertape::drivers;
using hypertape::testing::contains;
using hypertape::testing::content;
using hypertape::testing::TemporaryFolder;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinite = std::numeric_limits<double>::infinity();

/// Another PATH for the while.
struct Path {
  std::string old = std::getenv("PATH");
  explicit Path(const std::string& path) { setenv("PATH", path.c_str(), 1); }
  ~Path() { setenv("PATH", old.c_str(), 1); }
};

/// Draws; where gnuplot is missing, the script must be there all the same and the rest of the test is skipped.
bool drawn(const Figure& figure, const TemporaryFolder& folder) {
  const std::string trouble = draw(figure, folder.path());
  CHECK(fs::exists(folder.file(figure.name + ".gnuplot")));
  if (contains(trouble, "not installed")) {
    MESSAGE("no gnuplot: drawing is not tested");
    return false;
  }
  CHECK(trouble == "");
  return trouble.empty();
}

Figure two_curves() {
  return {"phi",
          "Phi by calls",
          "calls",
          "Phi",
          false,
          true,
          {{"rahgd", {1, 2, 3}, {1, 0.5, 0.125}},  //
           {"aid", {1, 2, 3}, {1, 0.75, 0.5}}},
          "seed 7"};
}

}  // namespace

TEST_CASE("a figure is a script with its data, and the drawings made of it") {
  const TemporaryFolder folder;
  const bool all = drawn(two_curves(), folder);
  const std::string script = content(folder.file("phi.gnuplot"));
  CHECK(contains(script, "$series1 << END\n1 1\n2 0.5\n3 0.125\nEND\n"));
  CHECK(contains(script, "$series2 << END\n1 1\n2 0.75\n3 0.5\nEND\n"));
  CHECK(contains(script, "set logscale y"));
  CHECK_FALSE(contains(script, "set logscale x"));
  CHECK_FALSE(contains(script, folder.path()));  // the folder may be moved
  CHECK_FALSE(fs::exists(folder.file("phi.gnuplot.part")));
  if (!all) return;
  const std::string svg = content(folder.file("phi.svg"));
  for (const char* words : {">rahgd<", ">aid<", ">Phi by calls<", ">calls<", ">Phi<", ">seed 7<"}) {
    CAPTURE(words);
    CHECK(contains(svg, words));
  }
  CHECK(content(folder.file("phi.png")).starts_with("\x89PNG"));
  fs::remove(folder.file("phi.svg"));
  REQUIRE(std::system(("cd '" + folder.path() + "' && gnuplot phi.gnuplot").c_str()) == 0);
  CHECK(content(folder.file("phi.svg")) == svg);
}

TEST_CASE("curves differ in dashes and symbols, not only in colour, and symbols are few") {
  const TemporaryFolder folder;
  Figure figure{"many", "", "x", "y", false, false, {}, ""};
  for (int s = 0; s < 8; ++s) {
    figure.series.push_back({"solver " + std::to_string(s), {}, {}});
    for (int i = 0; i < 300; ++i) {
      figure.series.back().x.push_back(i);
      figure.series.back().y.push_back(s + std::sin(i));
    }
  }
  drawn(figure, folder);
  std::ifstream script(folder.file("many.gnuplot"));
  std::vector<std::string> colours, dashes, symbols;
  for (std::string line; std::getline(script, line);) {
    if (!line.starts_with("set linetype")) continue;
    const auto value = [&](const std::string& key) {
      const auto begin = line.find(key) + key.size();
      return line.substr(begin, line.find(' ', begin) - begin);
    };
    colours.push_back(value("linecolor rgb "));
    dashes.push_back(value("dashtype "));
    symbols.push_back(value("pointtype "));
    CHECK(std::stoi(value("pointinterval ")) >= 300 / 16);
  }
  for (auto* looks : {&colours, &dashes, &symbols}) {
    CHECK(looks->size() == 8);
    std::sort(looks->begin(), looks->end());
    CHECK(std::unique(looks->begin(), looks->end()) == looks->end());
  }
}

TEST_CASE("labels are data, whatever they say") {
  const TemporaryFolder folder;
  const std::string touched = folder.file("touched");
  const std::string hostile = "it's \"a\" `touch " + touched + "` $(touch " + touched + ") {/Bold b}_c^d @e %d \\";
  const std::string inject = "'; system('touch " + touched + "'); plot '";
  const Figure figure{"hostile",
                      hostile + "\nEND\nsystem 'touch " + touched + "'",
                      inject,
                      "\xff\"\x01<script>",
                      false,
                      false,
                      {{inject.substr(0, 20), {1, 2}, {1, 2}},
                       {"<script>alert(1)</script>", {1}, {1}},
                       {"it's {/Bold b}_c^d @GPVAL_TERM %d `date`", {1}, {1}}},
                      inject};
  const bool all = drawn(figure, folder);
  CHECK_FALSE(fs::exists(touched));
  std::ifstream script(folder.file("hostile.gnuplot"));
  for (std::string line; std::getline(script, line);) CHECK_FALSE(line.starts_with("system"));
  if (!all) return;
  const std::string svg = content(folder.file("hostile.svg"));
  CHECK_FALSE(contains(svg, "<script"));
  CHECK(contains(svg, "&lt;script>alert(1)&lt;/script>"));
  CHECK(contains(svg, "?\" &lt;script>"));  // bytes that are not UTF-8, or no characters
  CHECK(contains(svg, ">it's {/Bold b}_c^d @GPVAL_TERM %d `date`<"));
  CHECK(contains(svg, ">" + inject.substr(0, 20) + "<"));
}

TEST_CASE("what an axis cannot show is left out, and said") {
  const TemporaryFolder folder;
  Figure figure{"log", "", "x", "y", true, true, {}, "seed 1"};
  figure.series = {{"some", {1, 2, 3, 4, 5, 0, -1}, {not_a_number, infinite, -3, 0, 0.25, 7, 8}},
                   {"none", {1, 2}, {-1, 0}},
                   {"all", {10, 20}, {3, 4}}};
  drawn(figure, folder);
  const std::string script = content(folder.file("log.gnuplot"));
  CHECK(contains(script, "$series1 << END\n5 0.25\nEND\n"));
  CHECK(contains(script, "$series2 << END\n10 3\n20 4\nEND\n"));
  CHECK_FALSE(contains(script, "$series3"));
  CHECK(contains(script, "seed 1; some: 6 of 7 values cannot be drawn here and are left out"));
  CHECK(contains(script, "none: no value"));
  CHECK_FALSE(contains(script, "all:"));

  figure.log_x = figure.log_y = false;
  drawn(figure, folder);
  CHECK(contains(content(folder.file("log.gnuplot")), "$series1 << END\n3 -3\n4 0\n5 0.25\n0 7\n-1 8\nEND\n"));
}

TEST_CASE("short, long and degenerate axes have numbers") {
  const TemporaryFolder folder;
  const auto script = [&](std::vector<double> y) {
    drawn({"axis", "", "x", "y", false, true, {{"a", std::vector<double>(y.size(), 1.0), y}}, ""}, folder);
    return content(folder.file("axis.gnuplot"));
  };
  CHECK(contains(script({1, 30}), "set ytics (1, 2, 5, 10, 20)"));
  CHECK(contains(script({1.01, 1.19}), "1.05, 1.1"));
  CHECK(contains(script({5, 5}), "set ytics (4.9"));
  CHECK(contains(script({1e-12, 1}), "10^{%L}"));
  script({1e-249, 1e249});
  script({1e-310, 1, 1e305});
}

TEST_CASE("figures that make no sense are refused with a message, and nothing is written") {
  const TemporaryFolder folder;
  const auto refused = [&](Figure figure, const std::string& words) {
    const std::string trouble = draw(figure, folder.path());
    CAPTURE(trouble);
    CHECK(contains(trouble, words));
    CHECK(fs::is_empty(folder.path()));
  };
  Figure figure = two_curves();
  figure.series.clear();
  refused(figure, "phi: nothing to draw");
  figure.series = {{"a", {}, {}}, {"b", {1}, {not_a_number}}};
  refused(figure, "nothing to draw");
  figure.series = {{"a", {1, 2}, {1}}};
  refused(figure, "phi: a has 2 x and 1 y");
  figure = two_curves();
  for (const char* name : {"", "../phi", "a b", "-e", ".hidden", "a'b", "$(ls)", "a\nb"}) {
    figure.name = name;
    refused(figure, "no name");
  }
  CHECK(draw(two_curves(), folder.file("none")) != "");
}

TEST_CASE("files of other kinds are left alone") {
  for (const std::string name : {"phi.gnuplot", "phi.svg", "phi.png"}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    std::ofstream(folder.file(name)) << "years of work\n";
    CHECK(contains(draw(two_curves(), folder.path()), std::string(name) + ": there is already"));
    CHECK(content(folder.file(name)) == "years of work\n");
    fs::remove(folder.file(name));
    fs::create_directory(folder.file(name));
    const std::string said = draw(two_curves(), folder.path());
    CHECK((contains(said, "there is already") || contains(said, "is a folder")));
    CHECK(fs::is_directory(folder.file(name)));
  }
  const TemporaryFolder folder;
  drawn(two_curves(), folder);
  drawn(two_curves(), folder);  // its own are replaced
}

TEST_CASE("without gnuplot there is a message, the script, and no drawing of an older run") {
  const TemporaryFolder folder;
  drawn(two_curves(), folder);
  std::ofstream(folder.file("phi.svg")) << "of an older run";
  const Path none("/nonexistent");
  CHECK(contains(draw(two_curves(), folder.path()), "phi.gnuplot: gnuplot is not installed"));
  CHECK(fs::exists(folder.file("phi.gnuplot")));
  CHECK_FALSE(fs::exists(folder.file("phi.svg")));
}

TEST_CASE("gnuplot is run in the folder without a shell, and what it complains of is passed on") {
  const TemporaryFolder programs, above;
  const std::string folder = above.file("figure $(exit) 'test' ");
  fs::create_directory(folder);
  std::ofstream(programs.file("gnuplot")) << "#!/bin/sh\necho \"$# $1 $2\"; pwd; echo 'no such terminal' >&2; exit 3\n";
  chmod(programs.file("gnuplot").c_str(), 0700);
  const Path path(programs.path() + ":" + std::getenv("PATH"));
  const std::string trouble = draw(two_curves(), folder);
  CAPTURE(trouble);
  CHECK(contains(trouble, "gnuplot failed"));
  CHECK(contains(trouble, "2 -d phi.gnuplot\n"));
  CHECK(contains(trouble, fs::path(folder).filename().string() + "\n"));
  CHECK(contains(trouble, "no such terminal"));

  std::ofstream(programs.file("gnuplot")) << "#!/bin/sh\nexit 0\n";
  for (const char* name : {"phi.svg", "phi.png"}) std::ofstream(folder + "/" + name) << "of an older run";
  CHECK(contains(draw(two_curves(), folder), "gnuplot wrote no "));
  std::ofstream(programs.file("gnuplot")) << "#!/bin/sh\necho half > phi.svg\nkill -9 $$\n";
  CHECK(contains(draw(two_curves(), folder), "gnuplot failed"));
  CHECK_FALSE(fs::exists(folder + "/phi.svg"));
}

TEST_CASE("the script is the same in a locale with commas") {
  const TemporaryFolder folder, other;
  Figure figure = two_curves();
  figure.series[0].y = {1234.5, 0.5, 0.125};
  draw(figure, folder.path());
  const hypertape::testing::CommaLocale locale;
  draw(figure, other.path());
  CHECK(content(folder.file("phi.gnuplot")) != "");
  CHECK(content(folder.file("phi.gnuplot")) == content(other.file("phi.gnuplot")));
}
