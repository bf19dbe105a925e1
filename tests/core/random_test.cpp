#include "hypertape/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

using namespace hypertape;

namespace {

constexpr int draws = 20000;
const double ks_threshold = 1.95 / std::sqrt(draws);  // exceeded once in a thousand by a sample that is uniform

/// Kolmogorov-Smirnov: the largest distance of the empirical distribution from the uniform one on [0, 1].
double distance_from_uniform(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i)
    distance = std::max({distance, static_cast<double>(i + 1) / n - sample[i], sample[i] - static_cast<double>(i) / n});
  return distance;
}

/// The distance for `draws` numbers that `next` makes.
template <class Next>
double distance_of(Next next) {
  std::vector<double> sample(draws);
  for (double& entry : sample) entry = next();
  return distance_from_uniform(std::move(sample));
}

}  // namespace

TEST_CASE("a direction is a normal vector of length 1") {
  Random a(7), b(7);
  const Vec direction = a.direction(9), normal = b.normal(9);
  CHECK(direction.norm() == doctest::Approx(1).epsilon(1e-15));
  CHECK((direction * normal.norm() - normal).norm() <= 1e-15 * normal.norm());
  CHECK(a.direction(0).size() == 0);
}

TEST_CASE("the same seed gives the same numbers, another seed others") {
  Random a(7), b(7), c(8);
  const Vec va = a.normal(100), vb = b.normal(100), vc = c.normal(100);
  CHECK(va == vb);
  CHECK(va != vc);
}

TEST_CASE("the stream is fixed for all machines") {
  Random random(1);
  CHECK(random.uniform() == doctest::Approx(0.13387664401253274).epsilon(1e-15));
}

TEST_CASE("normal numbers have the moments of the normal distribution") {
  Random random(3);
  const Vec v = random.normal(100000);
  // Four standard errors of each moment.
  CHECK(std::abs(v.mean()) < 4 / std::sqrt(1e5));
  CHECK(std::abs(v.array().square().mean() - 1) < 4 * std::sqrt(2 / 1e5));
  CHECK(std::abs(v.array().cube().mean()) < 4 * std::sqrt(15 / 1e5));
  CHECK(std::abs(v.array().pow(4).mean() - 3) < 4 * std::sqrt(96 / 1e5));
}

TEST_CASE("below(n) meets every number about equally often") {
  Random random(5);
  std::array<int, 7> hits{};
  for (int k = 0; k < 70000; ++k) ++hits[random.below(7)];
  for (int h : hits) CHECK(std::abs(h - 10000) < 5 * std::sqrt(10000.0));
}

TEST_CASE("the distance from uniform is what it is by hand") {
  CHECK(distance_from_uniform({0.5}) == 0.5);
  CHECK(distance_from_uniform({0.75, 0.25}) == 0.25);
  CHECK(distance_from_uniform({0.5, 0.5, 0.5, 0.5}) == 0.5);
  CHECK(distance_from_uniform({0.9, 1.0}) == doctest::Approx(0.9));
}

TEST_CASE("ball: never outside, and the same numbers for the same seed") {
  for (const double radius : {0.0, 1e-3, 1.0, 250.0})
    for (const Index d : {1, 2, 3, 10, 500}) {
      CAPTURE(radius);
      CAPTURE(d);
      Random random(11), again(11);
      Vec xi(d), same(d);
      double largest = 0;
      bool equal = true;
      for (int k = 0; k < 500; ++k) {
        random.ball(radius, xi);
        again.ball(radius, same);
        largest = std::max(largest, xi.norm());
        equal = equal && xi == same;
      }
      CHECK(largest <= radius * (1 + 1e-15));  // rounding of |xi|
      CHECK(largest >= 0.9 * radius);          // and all of it is used
      CHECK(equal);
    }
}

TEST_CASE("ball: as much of the sample in every shell as of the volume, centred") {
  const double radius = 2.5;
  for (const Index d : {1, 2, 3, 10}) {
    CAPTURE(d);
    const double power = static_cast<double>(d);
    Random random(12);
    Vec xi(d), sum = Vec::Zero(d);
    const auto share = [&] { return std::pow(xi.norm() / radius, power); };
    CHECK(distance_of([&] {
            random.ball(radius, xi);
            sum += xi;
            return share();
          }) < ks_threshold);
    // Four standard errors: a coordinate has the variance radius^2 / (d + 2).
    CHECK(sum.cwiseAbs().maxCoeff() / draws < 4 * radius / std::sqrt((power + 2) * draws));

    // The test has teeth: points on the sphere fail it, and so do uniform radii where they are not the same (d > 1).
    CHECK(distance_of([&] {
            xi = radius * random.normal(d).normalized();
            return share();
          }) > ks_threshold);
    const double uniform_radius = distance_of([&] {
      xi = radius * random.uniform() * random.normal(d).normalized();
      return share();
    });
    if (d == 1)
      CHECK(uniform_radius < ks_threshold);
    else
      CHECK(uniform_radius > ks_threshold);
  }
}

TEST_CASE("ball: every direction alike") {
  Random random(13);
  // In the plane the angle is uniform. In space, by Archimedes, each coordinate of the direction is.
  const auto angle = [](const Vec& xi) { return std::atan2(xi[1], xi[0]) / (2 * std::numbers::pi) + 0.5; };
  Vec plane(2), space(3);
  CHECK(distance_of([&] {
          random.ball(3, plane);
          return angle(plane);
        }) < ks_threshold);
  for (Index i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(distance_of([&] {
            random.ball(3, space);
            return 0.5 + 0.5 * space[i] / space.norm();
          }) < ks_threshold);
  }
  // Directions of points of the cube, which are not those of the ball.
  CHECK(distance_of([&] {
          for (double& entry : plane) entry = 2 * random.uniform() - 1;
          return angle(plane);
        }) > ks_threshold);
  CHECK(distance_of([&] {
          for (double& entry : space) entry = 2 * random.uniform() - 1;
          return 0.5 + 0.5 * space[0] / space.norm();
        }) > ks_threshold);
}
