#include "hypertape/autodiff/row_kernel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "hypertape/autodiff/safe_math.hpp"
#include "hypertape/autodiff/taped_problem.hpp"
#include "hypertape/core/random.hpp"

using namespace hypertape;

namespace {

constexpr double weight = -1.75;
using Packs = std::vector<Pack>;

/// A row function, as a kernel and as plain tapes of one row: y is a, x is b followed by d.
struct RowFunction {
  std::string name;
  RowWidths widths;
  RowKernel::Recorded taped;
  std::function<double(const VecT<double>&, const VecT<double>&, const VecT<double>&)> plain;
  std::function<TapedProblem()> make_reference;
};

template <class Phi>
RowFunction row_function(std::string name, RowWidths widths, Phi phi) {
  const auto of_row = [phi, widths]<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    VecT<S> b("b", widths.b), d("d", widths.d);
    for (Index i = 0; i < b.size(); ++i) b[i] = x[i];
    for (Index i = 0; i < d.size(); ++i) d[i] = x[widths.b + i];
    return weight * phi(y, b, d);
  };
  return {std::move(name), widths,
          [phi](const auto& a, const auto& b, const auto& d) -> RowKernel::Scalar { return phi(a, b, d); },
          [phi](const auto& a, const auto& b, const auto& d) -> double { return phi(a, b, d); },
          [of_row, widths] {
            return make_bilevel({widths.b + widths.d, widths.a}, of_row, of_row);
          }};
}

struct Polynomial {
  template <class S>
  S operator()(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) const {
    return d[0] * a[0] * a[0] * a[1] + b[0] * a[0] * b[1] - 3.0 * a[1] * a[1] * a[1] * b[1] + 2.0 * a[0] +
           b[0] * b[0] * d[1] - 5.0 * a[2] / 4.0;
  }
};

/// The row function of hypercleaning.
struct WeightedCrossEntropy {
  template <class S>
  S operator()(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) const {
    return sigmoid(b[0]) * softmax_cross_entropy(a, floor_of(d[0]));
  }
  /// A label 0, 1, 2 from a number that is not one.
  template <class S>
  static S floor_of(const S& t) {
    return select(less(t, -0.4), 0.0, select(less(t, 0.4), S(1.0), S(2.0)));
  }
};

struct Network {
  template <class S>
  S operator()(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) const {
    using std::tanh;
    const S error = a[0] * tanh(a[1] * b[0] + d[0]) + b[1] * tanh(a[0] - b[0]) - d[1];
    return 0.5 * error * error;
  }
};

struct Roots {
  template <class S>
  S operator()(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) const {
    using std::sqrt;
    return sqrt(1.0 + a[0] * a[0] + 2.0 * b[0] * b[0]) + d[0] * sqrt(exp_of(a[1])) * b[0];
  }
  template <class S>
  static S exp_of(const S& t) {
    using std::exp;
    return exp(t);
  }
};

struct Branches {
  template <class S>
  S operator()(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) const {
    using std::abs;
    const S positive = hypertape::max(a[1], 0.0);
    S s = select(less(a[0], b[0]), a[0] * a[0] * b[0], 3.0 * a[0] * b[0] * b[0]);
    s += positive * positive * b[1] + hypertape::min(a[0], d[0]) * a[1];
    s += select(greater_equal(d[1], 0.0), a[0] * b[1], -2.0 * a[1] * a[1]);
    s += select(less_equal(b[0], d[0]), 7.0 * a[0] * a[1], 11.0 * b[0] * a[1]);
    s += select(greater(a[1], b[1]), a[1] * b[1] * a[0], S(0.0)) + select(equal(a[0], b[0]), S(1.0), a[0] * a[0]);
    return s + abs(a[0] - b[1]) * a[0] + hypertape::clamp(a[1], -0.5, 0.75) * b[0] * a[1];
  }
};

struct Powers {
  template <class S>
  S operator()(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) const {
    using std::pow;
    return pow(a[0], 3) + pow(a[1], 2) * b[0] + pow(2.0 + a[0], -2) + pow(1.0 + a[0] * a[0], S(1.7)) +
           pow(1.5 + a[1] * a[1], b[0]) + pow(2.0, a[0] * b[0]) + pow(2.0 + d[0] * d[0], a[1]);
  }
};

struct Divisions {
  template <class S>
  S operator()(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) const {
    return a[0] / (2.0 + b[0] * b[0]) + 1.0 / (3.0 + a[1] * a[1]) + d[0] / (1.0 + a[0] * a[0]) -
           b[0] / (1.5 + a[1] * a[1] * b[0] * b[0]);
  }
};

struct Functions {
  template <class S>
  S operator()(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) const {
    using std::exp, std::expm1, std::log, std::log1p, std::log10, std::sin, std::cos, std::tan, std::asin, std::acos,
        std::atan, std::sinh, std::cosh, std::tanh, std::asinh, std::acosh, std::atanh, std::erf, std::erfc;
    const S t = a[0] * b[0], small = 0.9 * tanh(t), above = 1.5 + a[1] * a[1];
    return exp(0.5 * t) + expm1(a[1]) * b[0] + log(above) + log1p(a[0] * a[0]) + log10(above + b[0] * b[0]) + sin(t) +
           cos(a[0]) * b[0] + tan(small) + asin(small) + acos(small * 0.5) + atan(t) + sinh(a[1]) + cosh(a[1] * 0.5) +
           asinh(t) + acosh(above) * b[0] + atanh(small) + erf(t) * d[0] + erfc(a[1]);
  }
};

const std::vector<RowFunction>& row_functions() {
  static const std::vector<RowFunction> all{
      row_function("polynomial", {3, 2, 2}, Polynomial()),
      row_function("weighted cross-entropy", {4, 1, 1}, WeightedCrossEntropy()),
      row_function("network", {2, 2, 2}, Network()),
      row_function("roots", {2, 1, 1}, Roots()),
      row_function("branches", {2, 2, 2}, Branches()),
      row_function("powers", {2, 1, 1}, Powers()),
      row_function("divisions", {2, 1, 1}, Divisions()),
      row_function("functions", {2, 1, 1}, Functions()),
  };
  return all;
}

/// A pack of rows and of directions, by component.
struct Batch {
  Packs a, b, d, direction_a, direction_b;

  Batch(RowWidths widths, Random& random) {
    const auto fill = [&](Packs& packs, int count) {
      packs.resize(static_cast<std::size_t>(count));
      for (Pack& pack : packs)
        for (double& t : pack.lane) t = 0.8 * random.normal();
    };
    fill(a, widths.a);
    fill(b, widths.b);
    fill(d, widths.d);
    fill(direction_a, widths.a);
    fill(direction_b, widths.b);
  }

  const double* source(const RowSource& s, const Packs& stored) const {
    const Packs& packs = s.kind == RowSource::Kind::a             ? a
                         : s.kind == RowSource::Kind::b           ? b
                         : s.kind == RowSource::Kind::d           ? d
                         : s.kind == RowSource::Kind::direction_a ? direction_a
                         : s.kind == RowSource::Kind::direction_b ? direction_b
                                                                  : stored;
    return packs.at(static_cast<std::size_t>(s.index)).lane;
  }

  /// Lane l of some packs.
  static Vec row(const Packs& packs, int l) {
    Vec out(static_cast<Index>(packs.size()));
    for (Index i = 0; i < out.size(); ++i) out[i] = packs[static_cast<std::size_t>(i)].lane[l];
    return out;
  }
  static Vec rows(const Packs& first, const Packs& second, int l) {
    Vec out(static_cast<Index>(first.size() + second.size()));
    out << row(first, l), row(second, l);
    return out;
  }
};

void run_program(const RowProgram& program, const std::vector<RowSource>& sources, const Batch& batch,
                 const Packs& stored, Packs& out) {
  REQUIRE(program.inputs() == static_cast<int>(sources.size()));
  RowProgram::Scratch scratch(program);
  out.resize(static_cast<std::size_t>(program.outputs()));
  for (std::size_t i = 0; i < sources.size(); ++i) scratch.inputs()[i] = batch.source(sources[i], stored);
  for (std::size_t o = 0; o < out.size(); ++o) scratch.outputs()[o] = out[o].lane;
  program.run(scratch);
}

Packs run_staged(const StagedProgram& staged, const Batch& batch) {
  Packs stored, out;
  run_program(staged.prepare, staged.prepare_sources, batch, {}, stored);
  REQUIRE(static_cast<int>(stored.size()) == staged.stored);
  run_program(staged.run, staged.run_sources, batch, stored, out);
  return out;
}

bool reads(const std::vector<RowSource>& sources, RowSource::Kind kind) {
  for (const RowSource& s : sources)
    if (s.kind == kind) return true;
  return false;
}

/// The largest error of a row, relative to the row's largest entry in the full derivative.
double worst_row(const Packs& out, const std::vector<Vec>& expected, const std::vector<double>& scale) {
  double worst = 0;
  for (int l = 0; l < pack_lanes; ++l) {
    const auto row = static_cast<std::size_t>(l);
    if (expected[row].size() != static_cast<Index>(out.size())) return 1e9;
    const double error = out.empty() ? 0 : (Batch::row(out, l) - expected[row]).norm();
    worst = error <= 1e300 ? std::max(worst, error / scale[row]) : 1e9;
  }
  return worst;
}

Vec joined(bool with_value, double value, bool with_a, const Vec& a, bool with_b, const Vec& b) {
  Vec out((with_value ? 1 : 0) + (with_a ? a.size() : 0) + (with_b ? b.size() : 0));
  Index k = 0;
  if (with_value) out[k++] = value;
  for (Index i = 0; i < a.size() && with_a; ++i) out[k++] = a[i];
  for (Index i = 0; i < b.size() && with_b; ++i) out[k++] = b[i];
  return out;
}

constexpr Fixed all_fixed[] = {Fixed::nothing, Fixed::b, Fixed::a_and_b};

RowKernel::Recorded recorded(
    const std::function<RowKernel::Scalar(const VecT<RowKernel::Scalar>&, const VecT<RowKernel::Scalar>&,
                                          const VecT<RowKernel::Scalar>&)>& phi) {
  return phi;
}

}  // namespace

TEST_CASE("values and gradients of a row are those of a plain tape, whatever is wanted and whatever is fixed") {
  for (const RowFunction& f : row_functions()) {
    CAPTURE(f.name);
    RowKernel kernel(f.taped, f.widths, weight);
    CHECK(kernel.widths().a == f.widths.a);
    CHECK(kernel.widths().b == f.widths.b);
    CHECK(kernel.widths().d == f.widths.d);
    TapedProblem reference = f.make_reference();
    Random random(1);
    const Batch batch(f.widths, random);
    std::vector<Gradient> gradients;
    std::vector<double> scale;
    for (int l = 0; l < pack_lanes; ++l) {
      gradients.push_back(reference.grad_g(Batch::rows(batch.b, batch.d, l), Batch::row(batch.a, l)));
      Gradient& g = gradients.back();
      g.x.conservativeResize(f.widths.b);
      scale.push_back(std::abs(g.value) + g.x.lpNorm<1>() + g.y.lpNorm<1>());
    }
    for (int parts = 1; parts < 8; ++parts)
      for (const Fixed fixed : all_fixed) {
        CAPTURE(parts);
        CAPTURE(static_cast<int>(fixed));
        const RowParts wanted{(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0};
        const StagedProgram staged = kernel.gradient(wanted, fixed);
        std::vector<Vec> expected;
        for (const Gradient& g : gradients)
          expected.push_back(joined(wanted.value, g.value, wanted.a, g.y, wanted.b, g.x));
        CHECK(worst_row(run_staged(staged, batch), expected, scale) < 1e-12);
        CHECK_FALSE(staged.is_zero);
        if (fixed == Fixed::nothing) CHECK(staged.stored == 0);
        CHECK_FALSE(reads(staged.prepare_sources, RowSource::Kind::stored));
        if (fixed == Fixed::b) CHECK_FALSE(reads(staged.prepare_sources, RowSource::Kind::a));
      }
  }
}

TEST_CASE("Hessian products of a row are those of a plain tape, in every part and along every direction") {
  for (const RowFunction& f : row_functions()) {
    CAPTURE(f.name);
    RowKernel kernel(f.taped, f.widths, weight);
    TapedProblem reference = f.make_reference();
    Random random(2);
    const Batch batch(f.widths, random);
    const Packs no_d(static_cast<std::size_t>(f.widths.d), Pack{});
    for (int along = 1; along < 4; ++along) {
      CAPTURE(along);
      const RowParts direction{false, (along & 1) != 0, (along & 2) != 0};
      std::vector<HessianProduct> products;
      std::vector<double> scale;
      for (int l = 0; l < pack_lanes; ++l) {
        const Vec p = Batch::rows(batch.direction_b, no_d, l) * (direction.b ? 1 : 0);
        const Vec q = Batch::row(batch.direction_a, l) * (direction.a ? 1 : 0);
        const Vec x = Batch::rows(batch.b, batch.d, l), y = Batch::row(batch.a, l);
        products.push_back(reference.hess_g(x, y, p, q));
        products.back().x.conservativeResize(f.widths.b);
        scale.push_back(1e-3 + products.back().x.lpNorm<1>() + products.back().y.lpNorm<1>());
      }
      for (int parts = 1; parts < 4; ++parts)
        for (const Fixed fixed : all_fixed) {
          CAPTURE(parts);
          CAPTURE(static_cast<int>(fixed));
          const RowParts wanted{false, (parts & 1) != 0, (parts & 2) != 0};
          const StagedProgram staged = kernel.hessian_product(direction, wanted, fixed);
          std::vector<Vec> expected;
          for (const auto& h : products) expected.push_back(joined(false, 0, wanted.a, h.y, wanted.b, h.x));
          CHECK(worst_row(run_staged(staged, batch), expected, scale) < 1e-12);
          CHECK_FALSE(staged.is_zero);
          for (const auto* sources : {&staged.prepare_sources, &staged.run_sources}) {
            if (!direction.a) CHECK_FALSE(reads(*sources, RowSource::Kind::direction_a));
            if (!direction.b) CHECK_FALSE(reads(*sources, RowSource::Kind::direction_b));
          }
          // At a fixed point a product reads its direction, what was stored, and data; nothing of the point.
          if (fixed == Fixed::a_and_b) {
            CHECK_FALSE(reads(staged.run_sources, RowSource::Kind::a));
            CHECK_FALSE(reads(staged.run_sources, RowSource::Kind::b));
          }
          CHECK_FALSE(reads(staged.prepare_sources, RowSource::Kind::direction_a));
          CHECK_FALSE(reads(staged.prepare_sources, RowSource::Kind::direction_b));
        }
    }
  }
}

TEST_CASE("gradients of a row agree with differences of its values") {
  // Not relative to another tape: a mistake of CppAD, or in how it is used twice the same way, would show here.
  for (const RowFunction& f : row_functions()) {
    CAPTURE(f.name);
    RowKernel kernel(f.taped, f.widths, weight);
    Random random(3);
    const Batch batch(f.widths, random);
    const Packs gradient = run_staged(kernel.gradient({false, true, true}, Fixed::nothing), batch);
    double worst = 0;
    for (int l = 0; l < pack_lanes; ++l)
      for (int j = 0; j < f.widths.a + f.widths.b; ++j) {
        const double h = 1e-5;
        const auto value_at = [&](double step) {
          VecT<double> a("a", Batch::row(batch.a, l)), b("b", Batch::row(batch.b, l)), d("d", Batch::row(batch.d, l));
          (j < f.widths.a ? a[j] : b[j - f.widths.a]) += step;
          return weight * f.plain(a, b, d);
        };
        const double difference = (value_at(h) - value_at(-h)) / (2 * h);
        const double derivative = gradient[static_cast<std::size_t>(j)].lane[l];
        worst = std::max(worst, std::abs(derivative - difference) / (1 + std::abs(difference)));
      }
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("what depends on b and data alone is computed in advance, and read again rather than computed") {
  RowKernel kernel(row_functions()[1].taped, row_functions()[1].widths, 1);
  const StagedProgram at_once = kernel.gradient({.a = true}, Fixed::nothing);
  const StagedProgram staged = kernel.gradient({.a = true}, Fixed::b);
  CHECK(staged.stored > 0);
  CHECK(staged.prepare.instructions() > 0);
  CHECK(staged.run.instructions() < at_once.run.instructions());
  CHECK_FALSE(reads(staged.run_sources, RowSource::Kind::b));  // sigmoid(b) is stored, b itself not read again
  CHECK(reads(staged.prepare_sources, RowSource::Kind::b));

  const StagedProgram product = kernel.hessian_product({.a = true}, {.a = true}, Fixed::nothing);
  const StagedProgram linearised = kernel.hessian_product({.a = true}, {.a = true}, Fixed::a_and_b);
  CHECK(linearised.stored > 0);
  CHECK(linearised.run.instructions() < product.run.instructions());
}

TEST_CASE("derivatives that vanish for every row are known to be zero") {
  RowKernel linear(recorded([](const auto& a, const auto& b, const auto& d) { return d[0] * a[0] + b[0] * b[0]; }),
                   {2, 2, 1}, 1);
  CHECK(linear.hessian_product({.a = true}, {.a = true}, Fixed::nothing).is_zero);
  CHECK(linear.hessian_product({.a = true}, {.b = true}, Fixed::nothing).is_zero);
  CHECK(linear.hessian_product({.b = true}, {.a = true}, Fixed::b).is_zero);
  CHECK_FALSE(linear.hessian_product({.b = true}, {.b = true}, Fixed::nothing).is_zero);
  CHECK_FALSE(linear.gradient({.a = true}, Fixed::nothing).is_zero);
  RowKernel of_b(recorded([](const auto&, const auto& b, const auto&) { return b[0] * b[1]; }), {1, 2, 0}, 1);
  CHECK(of_b.gradient({.a = true}, Fixed::nothing).is_zero);
  CHECK_FALSE(of_b.gradient({.value = true, .a = true}, Fixed::nothing).is_zero);
  RowKernel weightless(row_functions()[0].taped, row_functions()[0].widths, 0);
  CHECK(weightless.gradient({true, true, true}, Fixed::nothing).is_zero);
  CHECK(linear.gradient({}, Fixed::nothing).is_zero);
}

TEST_CASE("constant derivatives, and those that are an argument or a datum, come out on every lane") {
  // d/da = (d0, 3), d/db = (b0's partner, 0): outputs that are inputs and constants.
  const auto phi = [](const auto& a, const auto& b, const auto& d) { return d[0] * a[0] + 3.0 * a[1] + b[0] * b[1]; };
  RowKernel kernel(recorded(phi), {2, 3, 1}, 1);
  Random random(4);
  const Batch batch({2, 3, 1}, random);
  for (const Fixed fixed : all_fixed) {
    const Packs out = run_staged(kernel.gradient({false, true, true}, fixed), batch);
    int wrong = 0;
    for (int l = 0; l < pack_lanes; ++l)
      wrong += out[0].lane[l] != batch.d[0].lane[l] || out[1].lane[l] != 3 || out[2].lane[l] != batch.b[1].lane[l] ||
               out[3].lane[l] != batch.b[0].lane[l] || out[4].lane[l] != 0;
    CHECK(wrong == 0);
  }
}

TEST_CASE("an alternative of a row that is not finite and not selected harms nothing") {
  const auto phi = []<class S>(const VecT<S>& a, const VecT<S>& b, const VecT<S>&) -> S {
    using std::sqrt, std::log;
    return select(greater(a[0], 0.0), sqrt(a[0]) + log(a[0]), a[0] * a[0]) + b[0] * a[0];
  };
  RowKernel kernel(recorded(phi), {1, 1, 0}, 1);
  Random random(5);
  Batch batch({1, 1, 0}, random);
  for (int l = 0; l < pack_lanes; ++l) {
    batch.a[0].lane[l] = l % 2 == 0 ? -1.0 - l : l == 1 ? 0.0 : l;
    batch.direction_a[0].lane[l] = 1;
  }
  for (const Fixed fixed : all_fixed) {
    CAPTURE(static_cast<int>(fixed));
    const Packs gradient = run_staged(kernel.gradient({true, true, true}, fixed), batch);
    const Packs product = run_staged(kernel.hessian_product({.a = true}, {.a = true, .b = true}, fixed), batch);
    double worst_value = 0, worst_gradient = 0, worst_product = 0;
    bool finite = true;
    for (int l = 0; l < pack_lanes; ++l) {
      const double t = batch.a[0].lane[l], b = batch.b[0].lane[l];
      const double value = t > 0 ? std::sqrt(t) + std::log(t) : t * t;
      const double slope = t > 0 ? 0.5 / std::sqrt(t) + 1 / t : 2 * t;
      const double curvature = t > 0 ? -0.25 / (t * std::sqrt(t)) - 1 / (t * t) : 2;
      for (const Packs* packs : {&gradient, &product})
        for (const Pack& pack : *packs) finite = finite && std::isfinite(pack.lane[l]);
      worst_value = std::max(worst_value, std::abs(gradient[0].lane[l] - value - b * t));
      worst_gradient = std::max(worst_gradient, std::abs(gradient[1].lane[l] - slope - b));
      worst_product = std::max(worst_product, std::abs(product[0].lane[l] - curvature));
      CHECK(gradient[2].lane[l] == t);
      CHECK(product[1].lane[l] == 1);
    }
    CHECK(finite);
    CHECK(worst_value < 1e-12);
    CHECK(worst_gradient < 1e-12);
    CHECK(worst_product < 1e-12);
  }
}

TEST_CASE("a function that reads outside its vectors is refused, with the vector and the place") {
  const RowWidths widths{2, 1, 3};
  CHECK_THROWS_WITH_AS(
      RowKernel(recorded([](const auto& a, const auto&, const auto&) { return a[2] * a[0]; }), widths, 1),
      "row function: reads a[2], but a has 2 entries", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      RowKernel(recorded([](const auto& a, const auto& b, const auto&) { return a[0] * b[1]; }), widths, 1),
      "row function: reads b[1], but b has 1 entries", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      RowKernel(recorded([](const auto& a, const auto&, const auto& d) { return a[0] * d[-1]; }), widths, 1),
      "row function: reads d[-1], but d has 3 entries", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      RowKernel(recorded([](const auto& a, const auto&, const auto&) -> RowKernel::Scalar { return a.head(3).sum(); }),
                widths, 1),
      "row function: reads entries 0 to 2 of a, which has 2 entries", std::invalid_argument);
}

TEST_CASE("a function that returns a constant or compares values is refused, and the next one is unharmed") {
  const RowWidths widths{1, 1, 1};
  CHECK_THROWS_WITH_AS(
      RowKernel(recorded([](const auto&, const auto&, const auto&) { return RowKernel::Scalar(2.0); }), widths, 1),
      "row function: does not depend on a, b or d (it returned a constant)", std::invalid_argument);
  const auto message_of = [&](const RowKernel::Recorded& phi) -> std::string {
    try {
      RowKernel kernel(phi, widths, 1);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  const auto branch = [](const auto& a, const auto& b, const auto&) -> RowKernel::Scalar {
    if (a[0] > b[0]) return a[0];
    return b[0];
  };
  const auto standard_max = [](const auto& a, const auto& b, const auto&) -> RowKernel::Scalar {
    return a[0] * std::max(a[0], b[0]);
  };
  const auto of_data = [](const auto& a, const auto&, const auto& d) -> RowKernel::Scalar {
    return d[0] == 1.0 ? a[0] : a[0] * a[0];
  };
  for (const auto& phi : {recorded(branch), recorded(standard_max), recorded(of_data)}) {
    const std::string message = message_of(phi);
    CAPTURE(message);
    CHECK(message.find("compares values") != std::string::npos);
    CHECK(message.find("select") != std::string::npos);
  }
  const auto throws = [](const auto&, const auto&, const auto&) -> RowKernel::Scalar {
    throw std::runtime_error("no data");
  };
  CHECK_THROWS_WITH_AS(RowKernel(recorded(throws), widths, 1), "no data", std::runtime_error);
  CHECK(Graph::current() == nullptr);

  RowKernel kernel(recorded([](const auto& a, const auto& b, const auto& d) { return a[0] * a[0] * b[0] * d[0]; }),
                   widths, 0.5);
  Random random(6);
  const Batch batch(widths, random);
  const Packs out = run_staged(kernel.gradient({.a = true}, Fixed::nothing), batch);
  for (int l = 0; l < pack_lanes; ++l)
    CHECK(out[0].lane[l] ==
          doctest::Approx(batch.a[0].lane[l] * batch.b[0].lane[l] * batch.d[0].lane[l]).epsilon(1e-14));
  CHECK(Graph::current() == nullptr);
}

TEST_CASE("kernels may be derived from in any order, again and again, with the same results") {
  const RowFunction& f = row_functions()[2];
  RowKernel kernel(f.taped, f.widths, weight), fresh(f.taped, f.widths, weight);
  Random random(7);
  const Batch batch(f.widths, random);
  const auto same = [](const Packs& a, const Packs& b) {
    bool equal = a.size() == b.size();
    for (std::size_t k = 0; k < a.size() && equal; ++k)
      for (int l = 0; l < pack_lanes; ++l) equal = equal && a[k].lane[l] == b[k].lane[l];
    return equal;
  };
  const StagedProgram gradient = kernel.gradient({true, true, true}, Fixed::b);
  const StagedProgram product = kernel.hessian_product({.a = true, .b = true}, {.a = true, .b = true}, Fixed::a_and_b);
  kernel.gradient({.value = true}, Fixed::nothing);
  kernel.hessian_product({.b = true}, {.a = true}, Fixed::nothing);
  const Packs first = run_staged(gradient, batch);
  CHECK(same(first, run_staged(kernel.gradient({true, true, true}, Fixed::b), batch)));
  CHECK(same(run_staged(product, batch),
             run_staged(fresh.hessian_product({.a = true, .b = true}, {.a = true, .b = true}, Fixed::a_and_b), batch)));
  CHECK(same(run_staged(fresh.gradient({true, true, true}, Fixed::b), batch), first));
  CHECK_FALSE(same(first, run_staged(gradient, Batch(f.widths, random))));
}
