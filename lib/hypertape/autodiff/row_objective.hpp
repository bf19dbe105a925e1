#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "hypertape/autodiff/row_terms.hpp"

namespace hypertape {

/// The derivatives of an objective that oracles are made of.
enum class RowPass {
  value,          ///< the value
  gradient_y,     ///< grad_y, with all that depends on x alone computed once for each x
  gradient,       ///< the value, grad_x and grad_y
  curvature,      ///< d2/dy2 times q, linearised once
  diagonal,       ///< the diagonal of d2/dy2
  cross,          ///< d2/dxdy times q
  adjoint_cross,  ///< d2/dydx times p
  hessian,        ///< the whole Hessian times (p, q)
  count
};

/// Points and directions a pass reads, and where its results go; null or empty where a pass has no use for one.
struct RowArguments {
  const char* where;  ///< in messages
  const Vec* x = nullptr;
  const Vec* y = nullptr;
  const Vec* p = nullptr;    ///< direction in x
  std::span<const Vec> q{};  ///< directions in y: one; for `curvature` there may be several, if may_share_rows()
  double* value = nullptr;
  Vec* out_x = nullptr;
  std::span<Vec> out_y{};  ///< one, or one for each direction
};

/// A sum of row terms, ready to be evaluated: for each pack of rows the linear views are formed, the kernel's program
/// is run, and the adjoints of the views are applied, while the rows are in cache. Allocates nothing once each pass has
/// run. Throws NotFinite where an argument has an entry that is not finite; results are then undefined.
class RowObjective {
 public:
  RowObjective(Dims dims, const Objective& terms, int threads, const Kernels& kernels);
  ~RowObjective();

  /// Computes what later runs of the pass may rely on: gradient_y at this x, curvature at this point.
  void prepare(RowPass pass, const RowArguments& arguments);

  void run(RowPass pass, const RowArguments& arguments);

  /// Whether products with several directions may be made in one run, which reads X once for all: some rows are dense,
  /// none are sparse. Results are the same to the last bit. What it is worth: docs/architecture.md, "Row terms".
  bool may_share_rows() const;

  std::size_t bytes() const;

 private:
  class TermRun;
  struct Worker;

  /// Looks at the arguments that no local view will look at while it reads them.
  void require_finite_before(RowPass pass, const RowArguments& arguments);

  void require_finite(RowPass pass, const RowArguments& arguments, std::size_t k) const;

  /// f(chunk, thread) for every chunk, on several threads if there is enough work.
  template <class F>
  void for_chunks(Index work, const F& f);

  Dims dims_;
  int threads_;
  std::vector<std::unique_ptr<TermRun>> terms_;
  std::vector<TermRun*> active_;  // terms that contribute to the pass that is run
  std::vector<Worker> workers_;
  Index width_y_ = 1;  // the largest of all terms
  Index tile_ = 0;     // entries of y that are finished together
};

}  // namespace hypertape
