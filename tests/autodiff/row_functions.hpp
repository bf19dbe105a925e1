#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "hypertape/autodiff/row_kernel.hpp"
#include "hypertape/autodiff/safe_math.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/tape/taped_problem.hpp"

// Row functions of every kind, as kernels and as plain tapes, and packs of rows to run them on.

namespace hypertape::testing {

inline constexpr double weight = -1.75;
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

inline const std::vector<RowFunction>& row_functions() {
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

inline void run_program(const RowProgram& program, const std::vector<RowSource>& sources, const Batch& batch,
                        const Packs& stored, Packs& out) {
  REQUIRE(program.inputs() == static_cast<int>(sources.size()));
  RowProgram::Scratch scratch(program);
  out.resize(static_cast<std::size_t>(program.outputs()));
  for (std::size_t i = 0; i < sources.size(); ++i) scratch.inputs()[i] = batch.source(sources[i], stored);
  for (std::size_t o = 0; o < out.size(); ++o) scratch.outputs()[o] = out[o].lane;
  program.run(kernels(), scratch);
}

inline Packs run_staged(const StagedProgram& staged, const Batch& batch) {
  Packs stored, out;
  run_program(staged.prepare, staged.prepare_sources, batch, {}, stored);
  REQUIRE(static_cast<int>(stored.size()) == staged.stored);
  run_program(staged.run, staged.run_sources, batch, stored, out);
  return out;
}

inline bool reads(const std::vector<RowSource>& sources, RowSource::Kind kind) {
  for (const RowSource& s : sources)
    if (s.kind == kind) return true;
  return false;
}

/// The largest error of a row, relative to the row's largest entry in the full derivative.
inline double worst_row(const Packs& out, const std::vector<Vec>& expected, const std::vector<double>& scale) {
  double worst = 0;
  for (int l = 0; l < pack_lanes; ++l) {
    const auto row = static_cast<std::size_t>(l);
    if (expected[row].size() != static_cast<Index>(out.size())) return 1e9;
    const double error = out.empty() ? 0 : (Batch::row(out, l) - expected[row]).norm();
    worst = error <= 1e300 ? std::max(worst, error / scale[row]) : 1e9;
  }
  return worst;
}

inline Vec joined(bool with_value, double value, bool with_a, const Vec& a, bool with_b, const Vec& b) {
  Vec out((with_value ? 1 : 0) + (with_a ? a.size() : 0) + (with_b ? b.size() : 0));
  Index k = 0;
  if (with_value) out[k++] = value;
  for (Index i = 0; i < a.size() && with_a; ++i) out[k++] = a[i];
  for (Index i = 0; i < b.size() && with_b; ++i) out[k++] = b[i];
  return out;
}

inline constexpr Fixed all_fixed[] = {Fixed::nothing, Fixed::b, Fixed::a_and_b};

inline RowKernel::Recorded recorded(
    const std::function<RowKernel::Scalar(const VecT<RowKernel::Scalar>&, const VecT<RowKernel::Scalar>&,
                                          const VecT<RowKernel::Scalar>&)>& phi) {
  return phi;
}

}  // namespace hypertape::testing
