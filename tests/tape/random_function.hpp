#pragma once

#include <cmath>
#include <vector>

#include "hypertape/autodiff/safe_math.hpp"
#include "hypertape/autodiff/vec_t.hpp"
#include "hypertape/core/random.hpp"

namespace hypertape::testing {

/// A function made at random: loops over rows of random shapes, whose results are summed or kept for later rows, and
/// operations between. Leaves of rows are fixed, strided or anywhere; constants of rows are equal or not. The numbers
/// that decide all that are drawn again, in the same order, at every evaluation.
class RandomFunction {
 public:
  explicit RandomFunction(std::uint64_t seed) : seed_(seed) {
    Random random(seed);
    dims_ = {1 + static_cast<Index>(random.below(12)), 1 + static_cast<Index>(random.below(40))};
    with_branches_ = random.below(8) == 0;
  }

  Dims dims() const { return dims_; }

  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    Random random(seed_ + 1000003);
    const auto below = [&](int n) { return static_cast<int>(random.below(static_cast<std::uint64_t>(n))); };
    const auto number = [&] { return 0.25 * static_cast<double>(below(17)) - 2; };
    std::vector<S> x_values, y_values, values{S(0.5 + number())}, totals;
    for (Index i = 0; i < x.size(); ++i) x_values.push_back(x[i]);
    for (Index i = 0; i < y.size(); ++i) y_values.push_back(y[i]);
    values.push_back(y[0]);

    const int blocks = 1 + below(5);
    for (int block = 0; block < blocks; ++block) {
      if (below(3) == 0) {
        for (int k = below(6); k >= 0; --k) {
          const std::size_t a = static_cast<std::size_t>(below(static_cast<int>(values.size()))),
                            b = static_cast<std::size_t>(below(static_cast<int>(values.size())));
          values.push_back(apply(below(operations), values[a], values[b], S(number())));
        }
        continue;
      }
      // A loop. Its shape is drawn once: leaves, operations, results.
      struct Leaf {
        int from, base, stride;
        bool anywhere;
      };
      struct Step {
        int operation, a, b;
      };
      const int rows = 1 + below(60), leaf_count = 1 + below(4), constant_count = below(3), steps = 1 + below(7);
      std::vector<Leaf> leaves;
      for (int k = 0; k < leaf_count; ++k) leaves.push_back({below(4), below(50), below(4) - 1, below(4) == 0});
      std::vector<char> constants_vary;
      std::vector<double> constants;
      for (int k = 0; k < constant_count; ++k) {
        constants_vary.push_back(below(3) != 0);
        constants.push_back(number());
      }
      std::vector<Step> shape;
      for (int k = 0; k < steps; ++k) {
        const int known = leaf_count + constant_count + k;
        shape.push_back({below(operations), below(known), below(known)});
      }
      const int results = below(4) == 0 ? 2 : 1;
      const bool keeps = below(3) == 0, subtracts = below(4) == 0, is_mean = below(3) == 0;
      S sum = below(2) == 0 ? S(0.0) : S(number());
      std::vector<S> kept;
      for (int row = 0; row < rows; ++row) {
        std::vector<S> local;
        for (const Leaf& leaf : leaves) {
          const std::vector<S>& from = leaf.from == 0 ? x_values : leaf.from == 1 ? values : y_values;
          const int n = static_cast<int>(from.size());
          const int at = leaf.anywhere ? below(n) : ((leaf.base + row * leaf.stride) % n + n) % n;
          local.push_back(from[static_cast<std::size_t>(at)]);
        }
        for (int k = 0; k < constant_count; ++k)
          local.push_back(
              S(constants_vary[static_cast<std::size_t>(k)] ? number() : constants[static_cast<std::size_t>(k)]));
        for (const Step& s : shape)
          local.push_back(
              apply(s.operation, local[static_cast<std::size_t>(s.a)], local[static_cast<std::size_t>(s.b)], S(0.5)));
        for (int r = 0; r < results; ++r) {
          const S& result = local[local.size() - 1 - static_cast<std::size_t>(r % steps)];
          if (keeps)
            kept.push_back(result);
          else if (subtracts)
            sum -= result;
          else
            sum += result;
        }
      }
      if (keeps)
        values.insert(values.end(), kept.begin(), kept.end());
      else
        totals.push_back(is_mean ? sum / static_cast<double>(rows) : sum);
      if (!keeps && below(3) == 0) values.push_back(tanh(totals.back()));
    }
    S result = 0.125 * y[0] * y[0] + 0.5 * values.back();
    for (const S& total : totals) {
      const int how = below(5);
      if (how == 0)
        result -= total;
      else if (how == 1)
        result = result + 0.5 * total;
      else if (how == 2)
        result += tanh(0.1 * total) * values.front();
      else
        result += total;
    }
    return below(4) == 0 ? -result : result;
  }

  /// Whether it compares values, so that a recording may not be the function elsewhere.
  bool with_branches() const { return with_branches_; }

 private:
  static constexpr int operations = 36;

  /// One operation whose result is of the order of one, and has derivatives, wherever its arguments are.
  template <class S>
  S apply(int operation, const S& a, const S& b, const S& c) const {
    using std::exp, std::log, std::log1p, std::expm1, std::sqrt, std::sin, std::cos, std::tan, std::asin, std::acos,
        std::atan, std::atan2, std::sinh, std::cosh, std::tanh, std::asinh, std::acosh, std::atanh, std::pow, std::erf,
        std::erfc, std::abs;
    switch (operation) {
      case 0:
      case 1:
        return 0.5 * (a + b);
      case 2:
        return a - 0.5 * b;
      case 3:
      case 4:
        return 0.5 * (sin(a) * b);
      case 5:
        return a / (1.5 + b * b);
      case 6:
        return -a;
      case 7:
        return exp(0.5 * sin(a)) - c;
      case 8:
        return expm1(0.3 * tanh(a));
      case 9:
        return log(1.0 + a * a);
      case 10:
        return log1p(0.5 * sin(a)) + b;
      case 11:
        return sqrt(0.25 + a * a);
      case 12:
        return sin(a) + c * cos(b);
      case 13:
        return tan(0.7 * sin(a));
      case 14:
        return asin(0.8 * sin(a));
      case 15:
        return acos(0.8 * cos(a));
      case 16:
        return atan(a - b);
      case 17:
        return atan2(a + 0.3, b - 0.2);
      case 18:
        return sinh(tanh(a));
      case 19:
        return cosh(tanh(a));
      case 20:
        return tanh(a * c);
      case 21:
        return asinh(a);
      case 22:
        return acosh(2.0 + a * a);
      case 23:
        return atanh(0.5 * sin(a));
      case 24:
        return pow(1.5 + sin(a), b);
      case 25:
        return pow(1.5 + sin(a), 2.5) - pow(0.5 * a, 2);
      case 26:
        return pow(1.5, sin(a));
      case 27:
        return erf(a) + erfc(b);
      case 28:
        return abs(a);
      case 29:
        return max(a, b);
      case 30:
        return min(a, c);
      case 31:
        return clamp(a, -1.0, 1.0);
      case 32:
        return select(less(a, c), a * a, b);
      case 33:
        return sigmoid(a) * log1p_exp(b);
      case 34:
        return a - detach(a) * b;
      default:
        if (with_branches_ && a > c) return 1.5 * a;
        return a * c + b;
    }
  }

  std::uint64_t seed_;
  Dims dims_;
  bool with_branches_ = false;
};

}  // namespace hypertape::testing
