#include "hypertape/inner/limited_memory.hpp"

#include <doctest/doctest.h>

#include "hypertape/core/random.hpp"

using namespace hypertape;

namespace {

Mat positive_definite(Index n, Random& random) {
  Mat A(n, n);
  for (Index i = 0; i < n; ++i) A.col(i) = random.normal(n);
  return A * A.transpose() + Mat::Identity(n, n);
}

}  // namespace

TEST_CASE("with conjugate pairs for every dimension it is the inverse, and more pairs do no harm") {
  Random random(1);
  constexpr Index n = 7;
  const Mat A = positive_definite(n, random);
  LimitedMemory memory(n + 3);
  std::vector<Vec> directions;
  for (Index i = 0; i < n; ++i) {  // conjugate by Gram and Schmidt
    Vec p = random.normal(n);
    for (const Vec& d : directions) p -= d.dot(A * p) / d.dot(A * d) * d;
    directions.push_back(p);
    CHECK(memory.add(p, A * p));
  }
  const Vec b = random.normal(n);
  Vec out;
  memory.apply(b, out);
  CHECK((A * out - b).norm() <= 1e-9 * b.norm());
  for (int i = 0; i < 20; ++i) {  // older pairs make room, in order
    const Vec p = random.normal(n);
    memory.add(p, A * p);
    memory.apply(A * p, out);
    CHECK((out - p).norm() <= 1e-9 * p.norm());  // the newest pair is met exactly
    memory.apply(b, out);
    CHECK(b.dot(out) > 0);
  }
}

TEST_CASE("pairs without curvature are refused, an empty memory is the identity") {
  LimitedMemory memory(3), none(0);
  const Vec s{{1, 2}}, b{{3, -1}};
  CHECK_FALSE(memory.add(s, -s));
  CHECK_FALSE(memory.add(s, Vec{{2, -1}}));
  CHECK_FALSE(memory.add(s, Vec::Zero(2)));
  CHECK_FALSE(none.add(s, s));
  Vec out;
  memory.apply(b, out);
  CHECK(out == b);
  CHECK(memory.add(s, 4 * s));
  memory.apply(b, out);
  CHECK((out - b / 4).norm() < 1e-15);
  memory.clear();
  CHECK(memory.empty());
}
