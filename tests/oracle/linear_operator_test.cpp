#include "hypertape/oracle/linear_operator.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "hypertape/core/require.hpp"
#include "support/dense_operator.hpp"

using namespace hypertape;
using testing::DenseOperator;

namespace {

const Mat matrix{{2.0, 0.5, 0.0}, {0.5, 3.0, -1.0}, {0.0, -1.0, 4.0}};

/// It says that it has a diagonal, and does not give it.
class Forgetful final : public LinearOperator {
 public:
  Index dim() const override { return 2; }
  bool has_diagonal() const override { return true; }

 private:
  void do_apply(const Vec& v, Vec& out) override { out = v; }
};

}  // namespace

TEST_CASE("a product with several columns is one product for each, by default") {
  DenseOperator A(matrix);
  const std::vector<Vec> v{Vec{{1, 0, 5}}, Vec{{0, 1, 0}}, Vec{{-2, 3, 0.5}}};
  for (std::size_t columns = 0; columns <= v.size(); ++columns) {
    CAPTURE(columns);
    A.products = 0;
    std::vector<Vec> out(columns, Vec::Constant(7, 9.0));
    A.apply({v.data(), columns}, out);
    CHECK(A.products == static_cast<int>(columns));
    for (std::size_t k = 0; k < columns; ++k) CHECK(out[k] == A(v[k]));
  }
}

TEST_CASE("columns are looked at before any product is made") {
  DenseOperator A(matrix);
  std::vector<Vec> v(2, Vec::Ones(3)), out(2), one(1);
  CHECK_THROWS_WITH_AS(A.apply(v, one), "linear operator: 2 columns, but 1 results", std::invalid_argument);
  CHECK_THROWS_WITH_AS(A.apply(v, v), "linear operator: column 0 is one of the results, must be another vector",
                       std::invalid_argument);
  v[1].resize(2);
  CHECK_THROWS_WITH_AS(A.apply(v, out), "linear operator: column 1 has 2 entries, expected 3", std::invalid_argument);
  v[1] = Vec::Ones(3);
  v[1][2] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(A.apply(v, out), "linear operator: column 1[2] = inf, must be finite", NotFinite);
  CHECK(A.products == 0);
}

TEST_CASE("an operator has no diagonal unless it says so, and then it must give it") {
  DenseOperator A(matrix);
  Vec out{{7, 8}};
  CHECK_FALSE(A.has_diagonal());
  CHECK_FALSE(A.diagonal(out));
  CHECK(out == Vec{{7, 8}});
  Forgetful forgetful;
  CHECK_THROWS_WITH_AS(forgetful.diagonal(out), "this linear operator has no diagonal, but has_diagonal() is true",
                       std::logic_error);
}
