#include "hypertape/core/types.hpp"

#include <doctest/doctest.h>

#include <type_traits>

#include "hypertape/autodiff/vec_t.hpp"

using namespace hypertape;

// What tests/package does with programs of other flags rests on these.
template <class M>
constexpr bool assumes_no_alignment = (int{M::Options} & Eigen::DontAlign) != 0 &&
                                      int{Eigen::internal::evaluator<M>::Alignment} == 0;
static_assert(assumes_no_alignment<Vec>);
static_assert(assumes_no_alignment<Mat>);
static_assert(assumes_no_alignment<RowMat>);
static_assert(std::is_base_of_v<Vec, VecT<double>>);
static_assert(!assumes_no_alignment<Eigen::VectorXd>);

TEST_CASE("what Eigen's own types hold comes over, and goes back") {
  const auto sum = [](const Vec& v) { return v.sum(); };
  const Eigen::VectorXd own = Eigen::VectorXd::LinSpaced(5, 1, 5);
  CHECK(sum(own) == 15);
  CHECK(sum(2 * own.tail(2)) == 18);
  const Point point{.x = own, .y = own.head(2)};
  const Eigen::VectorXd back = point.x + own;
  CHECK(back == 2 * own);
  const Eigen::MatrixXd matrix = Eigen::MatrixXd::Random(3, 4);
  CHECK(Mat(matrix) == matrix);
  CHECK(RowMat(matrix) == matrix);
}
