#include "hypertape/core/text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "hypertape/core/options.hpp"
#include "support/comma_locale.hpp"

using namespace hypertape;

TEST_CASE("numbers are written and read with a point, whatever the locale") {
  const testing::CommaLocale locale;
  std::ostringstream other;
  other << 1234.5;
  REQUIRE(other.str() == "1.234,5");  // the locale is there
  CHECK(text("n = ", 1234567, ", eta = ", 0.25) == "n = 1234567, eta = 0.25");
  CHECK(to_number<double>("1234.5") == 1234.5);
  CHECK_FALSE(to_number<double>("1234,5"));
  double eta = 1234.5;
  OptionList list;
  list.add("eta", &eta, "step");
  CHECK(to_string(list.options()[0].field) == "1234.5");
  list.set("eta", "0.125");
  CHECK(eta == 0.125);
}

TEST_CASE("a number is all of the text, and in range") {
  CHECK(to_number<double>("-1e-3") == -1e-3);
  CHECK(to_number<double>("inf") == INFINITY);
  CHECK(to_number<std::uint64_t>("7") == 7u);
  for (const char* none : {"", "x", "1x", " 1", "1 ", "+1", "1e999"}) {
    CAPTURE(none);
    CHECK_FALSE(to_number<double>(none));
  }
  CHECK_FALSE(to_number<std::uint64_t>("-1"));
  CHECK_FALSE(to_number<int>("1.5"));
}
