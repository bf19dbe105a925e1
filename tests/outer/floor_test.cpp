#include "hypertape/outer/floor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "hypertape/theory/parameters.hpp"

using namespace hypertape;

namespace {

/// Points of Phi as a function of one variable, without errors.
template <class Phi, class Slope>
class Line {
 public:
  Line(Phi phi, Slope slope) : phi_(phi), slope_(slope) {}

  Visited at(double x) const {
    Visited v{Vec::Constant(1, x), {}, 0};
    complete(v);
    return v;
  }
  void complete(Visited& v) const {
    v.h.u = Vec::Constant(1, slope_(v.x[0]));
    v.h.norm = v.h.u.norm();
    v.h.phi = phi_(v.x[0]);
    v.h.error_estimate = 0;
  }

 private:
  Phi phi_;
  Slope slope_;
};

const Line cube([](double x) { return x * x * x; }, [](double x) { return 3 * x * x; });
const Line parabola([](double x) { return 2 * x * x; }, [](double x) { return 4 * x; });
const Line wave([](double x) { return 1 - std::cos(x); }, [](double x) { return std::sin(x); });

}  // namespace

TEST_CASE("L and rho are the largest that two points show: of a cube rho is the third derivative") {
  Floor floor;
  CHECK(floor.due(1, 10) == 0);
  floor.learn(cube.at(1), cube.at(1.5));
  CHECK(floor.L() == doctest::Approx(3 * (1.5 * 1.5 - 1) / 0.5));
  CHECK(floor.rho() == doctest::Approx(6));
  floor.learn(cube.at(0), cube.at(0.1));
  CHECK(floor.L() == doctest::Approx(7.5));
  floor.learn(cube.at(2), cube.at(2));
  CHECK(floor.rho() == doctest::Approx(6));
}

TEST_CASE("what may be errors does not count") {
  Floor floor;
  Visited a = cube.at(1), b = cube.at(1.5);
  a.h.error_estimate = 0.4;  // a tenth of the change, 3.75, and more
  floor.learn(a, b);
  CHECK(floor.L() == 0);
  a.h.error_estimate = 0.3;
  floor.learn(a, b);
  CHECK(floor.L() == doctest::Approx((3.75 - 0.3) / 0.5));
  CHECK(floor.rho() == 0);  // 5 * 0.5 * 0.3 is more than 6 * 0.5^3 / 12
  a.h.error_estimate = 0;
  a.phi_error = 1;
  floor.learn(a, b);
  CHECK(floor.rho() == 0);
}

TEST_CASE("a tenth is due of what plain descent brings, or of an epoch where that is more") {
  Floor floor;
  floor.learn(parabola.at(0), parabola.at(1));
  CHECK(floor.L() == doctest::Approx(4));
  CHECK(floor.due(0.5, 10) == doctest::Approx(0.1 * 10 * 0.25 / (2 * 4)));
  CHECK(floor.due(0, 10) == 0);

  // rho so small that an epoch of nearly a thousand steps brings more.
  Floor curved;
  const Line bent([](double x) { return 2 * x * x + 1e-9 * x * x * x; }, [](double x) { return 4 * x + 3e-9 * x * x; });
  curved.learn(bent.at(0), bent.at(1));
  Visited a{Vec::Zero(1), {}, 0}, b{Vec::Ones(1), {}, 0};
  a.h.u = b.h.u = Vec::Zero(1);
  a.h.error_estimate = b.h.error_estimate = 0;
  b.h.phi = 1e-9 / 12;  // the fall of a function with rho = 1e-9, and nothing else
  curved.learn(a, b);
  CHECK(curved.rho() == doctest::Approx(1e-9).epsilon(1e-2));
  const double epsilon = 0.5 / 82;
  const theory::PhiConstants constants{curved.L(), curved.rho()};
  const auto p = theory::rahgd_parameters(constants, epsilon);
  REQUIRE(p.K > 100);
  REQUIRE(p.K <= 1000);
  const double epoch = theory::epoch_decrease(constants, p) * std::min(1.0, 2000.0 / p.K);
  CHECK(curved.due(0.5, 2000) == doctest::Approx(0.1 * std::max(epoch, 2000 * 0.25 / (2 * curved.L()))));
}

TEST_CASE("an epoch goes down, whatever is known of L at first, and ends at the level of rounding") {
  for (const double guess : {0.0, 1e-3, 1e3}) {
    CAPTURE(guess);
    Floor floor;
    if (guess > 0) {
      Visited a = wave.at(0), b = wave.at(1);
      b.h.u = Vec::Constant(1, guess);
      floor.learn(a, b);
    }
    Visited here = wave.at(1.2);
    int looks = 0, rounds = 0;
    while (here.h.norm > 1e-6 && rounds < 200) {
      ++rounds;
      const auto end = floor.descend(
          here,
          [&](Visited& v, double sigma) {
            ++looks;
            CHECK(sigma > 0);
            wave.complete(v);
          },
          [] {});
      REQUIRE(end);
      CHECK(end->h.phi < here.h.phi);
      here = *end;
    }
    CHECK(std::abs(here.x[0]) < 1e-6);
    CHECK(floor.L() >= std::min(0.5, guess));
    CHECK(looks < (guess > 1 ? 100'000 : 300));
    CHECK_FALSE(floor.descend(
        wave.at(1e-9), [&](Visited& v, double) { wave.complete(v); }, [] {}));
  }
}

TEST_CASE("an epoch that falls short is tried again, more carefully, from where it began") {
  // A wall at 0.5, which steps of 1/L find with the first of their looks.
  const Line wall([](double x) { return x < 0.5 ? -x : 100 * (x - 0.5) - 0.5; },
                  [](double x) { return x < 0.5 ? -1.0 : 100.0; });
  Floor floor;
  int retries = 0;
  const auto end = floor.descend(
      wall.at(0), [&](Visited& v, double) { wall.complete(v); }, [&] { ++retries; });
  REQUIRE(end);
  CHECK(end->h.phi < 0);
  CHECK(retries > 0);
  CHECK(floor.L() > 10);

  // One whose looks all fail gives up.
  int failed = 0;
  CHECK_FALSE(floor.descend(
      wall.at(0), [&](Visited& v, double) { v.h.status = Status::indefinite, ++failed; }, [] {}));
  CHECK(failed == 20);
}
