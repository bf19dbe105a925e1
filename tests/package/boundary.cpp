// Vectors and matrices that cross the boundary between a program and the library, in both directions: allocated on one
// side, resized, swapped, moved and freed on the other. The program is built with flags that the library was not built
// with; memory that is not handled alike ends it, with or without a sanitizer.
#include <cmath>
#include <cstdlib>
#include <hypertape/hypertape.hpp>
#include <iostream>
#include <utility>
#include <vector>

using namespace hypertape;

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::cout << "wrong: " << what << "\n";
  std::exit(1);
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(b)); }

/// f(x, y) = |y - d|^2 / 2,   g(x, y) = |y|^2 - <x, y>: y*(x) = x / 2. Its outputs are vectors of its own, moved in.
class ByHand final : public BilevelOracle {
 public:
  explicit ByHand(Vec d) : d_(std::move(d)) {}
  Dims dims() const override { return {.x = d_.size(), .y = d_.size()}; }
  PlainFunctions plain() const {
    return {[d = d_](const Vec&, const Vec& y) { return 0.5 * (y - d).squaredNorm(); },
            // Eigen's own type where a vector of the library comes in: a copy is made.
            [](const Eigen::VectorXd& x, const Eigen::VectorXd& y) { return y.squaredNorm() - x.dot(y); }};
  }

 private:
  struct Twice final : LinearOperator {
    Index size = 0;
    Index dim() const override { return size; }
    void do_apply(const Vec& v, Vec& out) override { out = Vec(2 * v); }
  };

  double do_f(const Vec&, const Vec& y) override { return 0.5 * (y - d_).squaredNorm(); }
  double do_grad_f(const Vec&, const Vec& y, Vec& gx, Vec& gy) override {
    Vec mine = y - d_, zero = Vec::Zero(d_.size());
    gx.swap(zero);
    gy = std::move(mine);
    return 0.5 * gy.squaredNorm();
  }
  void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override { out = Vec(2 * y - x); }
  LinearOperator& do_curvature_at(const Vec&, const Vec& y) override {
    twice_.size = y.size();
    return twice_;
  }
  void do_cross_product(const Vec&, const Vec&, const Vec& v, Vec& out) override { out = Vec(-v); }

  Vec d_;
  Twice twice_;
};

/// Every size, so that every alignment and every rest of a vector loop occurs.
void vectors() {
  Random random(1);
  for (Index n = 1; n <= 70; ++n) {
    ByHand oracle(random.normal(n));
    const Vec x = random.normal(n), y = random.direction(n);
    check(near(y.norm(), 1), "a direction has length 1");
    Vec out = Vec::Ones(2 * n + 1);  // the library gives it its size
    oracle.grad_y_g(x, y, out);
    double sum = 0, largest = out[0];
    for (const double entry : out) sum += entry, largest = std::max(largest, entry);
    check(near(out.sum(), sum) && out.maxCoeff() == largest, "sum and maximum of what the library made");
    check(near(out.tail(n - 1).sum(), sum - out[0]), "sum of a part");
    check(near(out.dot(y), (2 * y - x).dot(y)), "scalar product");
    out.conservativeResize(n + 3);
    Vec again = oracle.grad_y_g(x, y);
    again.swap(out);
    oracle.grad_y_g(x, y, again);
    check(again == out.head(n), "swapped, resized, and filled once more");
    out = std::move(again);
    again.resize(3 * n);

    Vec q = Vec::Zero(n);
    conjugate_gradient(oracle.curvature_at(x, y), out, q);
    check(near((2 * q - out).norm(), 0), "conjugate gradients");
    const RitzBounds ritz = lanczos(oracle.curvature_at(x, y), 5, 1);
    check(near(ritz.smallest, 2) && near(ritz.largest, 2), "Lanczos");

    Mat m = random.normal(n, 3);
    m.conservativeResize(n + 1, 4);
    m = Mat(random.normal(3, n));
    check(near((m * x)[0], m.row(0).dot(x)), "a matrix of the library's times a vector");
  }
}

/// Eigen's own types are taken wherever a vector or matrix is read, and made from those of the library.
void eigens_own() {
  ByHand oracle(Eigen::VectorXd::Ones(5));
  const Eigen::VectorXd x = Eigen::VectorXd::Constant(5, 0.5), y = Eigen::VectorXd::LinSpaced(5, 0, 1);
  Eigen::VectorXd gradient = oracle.grad_y_g(x, y);
  gradient = oracle.grad_y_g(x, Eigen::VectorXd::Zero(5));
  check(gradient == -x, "gradient in Eigen's own type");
  const Point point{.x = x, .y = y.head(5)};
  const Eigen::Ref<const Eigen::VectorXd> viewed = point.x;
  check(viewed.data() == point.x.data(), "a Ref of Eigen's own type looks at the vector itself");
  const Eigen::MatrixXd X = Eigen::MatrixXd::Identity(5, 3);
  check(product(X, 2).dense() == RowMat(X), "a matrix of Eigen's own type as a view");
}

void solvers_and_results() {
  ByHand oracle(Vec::LinSpaced(7, -1, 1));
  const Report report = verify(oracle, oracle.plain());
  check(report.passed, "verify, by hand");
  std::vector<Vec> seen;
  const Observer observer = [&](const Iterate& i) {
    Vec copy = i.u;
    copy.resize(i.x.size() + 1);
    seen.push_back(i.x);
    seen.push_back(std::move(copy));
    return true;
  };
  Result kept;
  for (const SolverEntry& entry : solvers()) {
    if (entry.minimax) continue;
    const Point start{.x = Vec::Zero(7), .y = Vec::Zero(7)};
    if (entry.name == "itd" || entry.name == "ba" || entry.name == "aid" || entry.name == "rahgd") {
      Result result = entry.solve(oracle, {{"max_iterations", "50"}}, start, observer);
      check(result.x.size() == 7 && result.y.size() == 7, "a solver's result");
      kept = std::move(result);
      result = kept;
      result.x.resize(100);
      kept.last.swap(result.y);
    }
  }
  check(seen.size() > 8 && seen[0].size() == 7 && seen[1].size() == 8, "what observers saw");
  Trace trace({{"distance", [](const Vec& x, const Vec&) { return x.norm(); }}});
  AidOptions options;
  options.outer.noise = {Vec::Ones(7), Vec::Zero(7)};
  aid(oracle, options, {.x = Vec::Zero(7), .y = Vec::Zero(7)}, trace.observer("aid"));
  check(!trace.rows().empty(), "a trace");
}

void taped() {
  const Mat A{{1, 2}, {3, 4}, {5, 7}};
  TapeOptions options{.record_x = Vec{{0.5}}, .record_y = Vec{{1, 1}}};
  auto problem = make_bilevel(
      {.x = 1, .y = 2}, [](const auto& x, const auto& y) { return x[0] * y.sum(); },
      [A](const auto& x, const auto& y) {
        const auto r = (A * y).eval();  // a temporary of Eigen's own type
        return r.squaredNorm() + exp(x[0]) * y.dot(y);
      },
      std::move(options));
  check(verify(problem).passed, "verify, taped");
  TapedProblem moved = std::move(problem);
  Gradient gradient = moved.grad_f(Vec{{2.0}}, Vec{{3.0, 4.0}});
  gradient.y.conservativeResize(3);
  check(gradient.x[0] == 7 && gradient.y[1] == 2, "a taped gradient");
}

void rows() {
  Random random(2);
  const auto square = [](const auto& a, const auto&, const auto& d) { return (a[0] - d[0]) * (a[0] - d[0]); };
  const auto weighted = [](const auto& a, const auto& b, const auto&) { return exp(b[0]) * a[0] * a[0]; };
  for (const Index p : {3, 40'000}) {  // the wide one is kept by columns too
    std::vector<Eigen::Triplet<double>> triplets;
    for (int i = 0; i < 37; ++i)
      for (int j = 0; j < 3; ++j) triplets.emplace_back(i, static_cast<int>((i * 7919 + j * 104'729) % p), 1.0 + i);
    SparseRows sparse(37, p);
    sparse.setFromTriplets(triplets.begin(), triplets.end());
    RowMat dense = sparse;
    Mat data = random.normal(37, 1);
    const auto problem = [&](LinearView view) {
      return RowProblem(
          {.x = p, .y = p}, {sum_rows(0.5, {.y = view, .data = data}, square)},
          {sum_rows(0.5, {.y = view, .data = data}, square), sum_rows(1, {.y = entries(), .x = entries()}, weighted)});
    };
    RowProblem by_rows = problem(product(std::move(dense), 1)), by_entries = problem(product(sparse, 1));
    sparse.setZero();
    const Vec x = random.normal(p), y = random.normal(p);
    Vec a, b;
    by_rows.grad_y_g(x, y, a);
    by_entries.grad_y_g(x, y, b);
    check(near((a - b).norm(), 0), "dense and sparse rows");
    RowProblem moved = std::move(by_entries);
    check((moved.curvature_at(x, y)(a) - by_rows.curvature_at(x, y)(a)).norm() <= 1e-9 * a.norm(), "products");
    if (p == 3) check(verify(moved).passed && verify(by_rows).passed, "verify, rows");
  }
}

}  // namespace

int main() {
  vectors();
  eigens_own();
  solvers_and_results();
  taped();
  rows();
  std::cout << "vectors of both sides get along\n";
}
