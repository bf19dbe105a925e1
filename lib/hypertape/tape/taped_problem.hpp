#pragma once

#include <memory>

#include "hypertape/oracle/bilevel_oracle.hpp"
#include "hypertape/tape/function.hpp"

namespace hypertape {

/// What the tapes of a problem take. `f` and `g` are in (x, y). Engines other than CppAD's have one tape for all
/// derivatives of a function; CppAD's sweeps have two more for g.
struct ProblemSize {
  TapeSize f;          ///< f in (x, y)
  TapeSize g_y;        ///< g in y, with x as parameters: the inner loop
  TapeSize curvature;  ///< the same again, for the linearisation that products go on using
  TapeSize g;          ///< g in (x, y): the products that involve x

  EngineSize f_engine, g_engine;  ///< of a problem that was made: what was chosen for each function

  std::size_t bytes() const { return f.bytes + g_y.bytes + curvature.bytes + g.bytes; }
};

/// The tapes that a problem would record, from the functions alone; nothing is recorded. Bytes are those needed while
/// recording.
ProblemSize predict_problem(Dims dims, const Function& f, const Function& g, const TapeOptions& options);

/// A bilevel problem from two plain functions: each is recorded when the problem is made, then every derivative, at any
/// point, is exact to rounding.
class TapedProblem final : public BilevelOracle {
 public:
  TapedProblem(Dims dims, Function f, Function g, const TapeOptions& options = {});
  TapedProblem(TapedProblem&&) noexcept;
  TapedProblem& operator=(TapedProblem&&) noexcept;
  ~TapedProblem() override;

  Dims dims() const override;
  bool has_second_order() const override { return true; }

  /// The functions themselves, untaped.
  PlainFunctions plain() const;

  ProblemSize size() const;

 private:
  struct Impl;

  double do_f(const Vec& x, const Vec& y) override;
  double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override;
  void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override;
  LinearOperator& do_curvature_at(const Vec& x, const Vec& y) override;
  void do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) override;
  double do_g(const Vec& x, const Vec& y) override;
  double do_grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override;
  void do_adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out) override;
  void do_hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override;
  void do_hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override;

  std::unique_ptr<Impl> impl_;
};

/// min_x f(x, y*(x)),  y*(x) = argmin_y g(x, y).
template <PlainFunction F, PlainFunction G>
TapedProblem make_bilevel(Dims dims, F f, G g, const TapeOptions& options = {}) {
  return {dims, Function("f", std::move(f)), Function("g", std::move(g)), options};
}

/// min_x max_y f(x, y): the bilevel problem with g = -f.
template <PlainFunction F>
TapedProblem make_minimax(Dims dims, F f, const TapeOptions& options = {}) {
  auto minus_f = [f](const auto& x, const auto& y) { return -f(x, y); };
  return {dims, Function("f", f), Function("g = -f", minus_f), options};
}

/// The tapes that make_bilevel would record.
template <PlainFunction F, PlainFunction G>
ProblemSize predict_bilevel(Dims dims, F f, G g, const TapeOptions& options = {}) {
  return predict_problem(dims, Function("f", std::move(f)), Function("g", std::move(g)), options);
}

}  // namespace hypertape
