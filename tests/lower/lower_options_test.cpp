#include "hypertape/lower/lower_options.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

namespace hypertape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view unread[] = {"beta", "most"};

void check(const LowerOptions& options) { options.check("test"); }

}  // namespace

TEST_CASE("every option can be set by its name, and be left open") {
  LowerOptions options;
  OptionList list;
  options.describe(list);
  double value = 1;
  for (const char* name : {"mu", "l", "alpha", "beta", "steps", "products", "most", "cross", "c_y"})
    list.set(name, std::to_string(static_cast<int>(value++)));
  CHECK(list.options().size() == 9);
  CHECK(options.mu == 1);
  CHECK(options.l == 2);
  CHECK(options.alpha == 3);
  CHECK(options.beta == 4);
  CHECK(options.steps == 5);
  CHECK(options.products == 6);
  CHECK(options.most == 7);
  CHECK(options.cross == 8);
  CHECK(options.c_y == 9);
  for (const auto& option : list.options()) {
    list.set(option.name, "auto");
    CHECK(to_string(option.field) == "auto");
  }
}

TEST_CASE("options that a solver does not read are neither listed nor taken") {
  LowerOptions options;
  OptionList list;
  options.describe(list, unread);
  CHECK(list.options().size() == 7);
  CHECK_THROWS_AS(list.set("beta", "0.5"), std::invalid_argument);
  CHECK_NOTHROW(options.check("test", unread));
  options.most = 7;
  CHECK_NOTHROW(options.check("test"));
  CHECK_THROWS_WITH_AS(options.check("test", unread), "test: most = 7, which test has no use for",
                       std::invalid_argument);
}

TEST_CASE("misuse is refused with solver, option and value") {
  CHECK_NOTHROW(check({}));
  CHECK_NOTHROW(check({.mu = 1, .l = 1, .alpha = 5, .beta = 0, .steps = 1, .cross = 0, .c_y = 0}));
  CHECK_THROWS_WITH_AS(check({.mu = 0}), "test: mu = 0, must be positive, or auto", std::invalid_argument);
  CHECK_THROWS_WITH_AS(check({.mu = 2, .l = 1}), "test: l = 1, must be at least mu = 2", std::invalid_argument);
  CHECK_THROWS_WITH_AS(check({.alpha = -0.5}), "test: alpha = -0.5, must be positive, or auto", std::invalid_argument);
  CHECK_THROWS_WITH_AS(check({.beta = 1}), "test: beta = 1, must satisfy 0 <= beta < 1", std::invalid_argument);
  CHECK_THROWS_WITH_AS(check({.steps = 0}), "test: steps = 0, must be positive, or auto", std::invalid_argument);
  CHECK_THROWS_WITH_AS(check({.products = -3}), "test: products = -3, must be positive, or auto",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(check({.most = 0}), "test: most = 0, must be positive, or auto", std::invalid_argument);
  CHECK_THROWS_WITH_AS(check({.cross = -1}), "test: cross = -1, must not be negative", std::invalid_argument);
  for (const LowerOptions& bad : {LowerOptions{.mu = nan}, LowerOptions{.l = nan}, LowerOptions{.alpha = nan},
                                  LowerOptions{.beta = nan}, LowerOptions{.cross = nan}, LowerOptions{.c_y = -1}})
    CHECK_THROWS_AS(check(bad), std::invalid_argument);
}

}  // namespace hypertape
