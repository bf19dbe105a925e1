#include "hypertape/tape/taped_problem.hpp"

#include <unistd.h>

#include <utility>

#include "hypertape/core/parallel.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/tape/cppad_engine.hpp"
#include "hypertape/tape/rows_engine.hpp"
#include "hypertape/tape/runs_engine.hpp"

namespace hypertape {
namespace {

std::size_t default_limit() {
  const auto pages = sysconf(_SC_PHYS_PAGES);
  const auto page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 2 : 0;
}

std::string gigabytes(std::size_t bytes) { return text(static_cast<double>(bytes) / 1e9, " GB"); }

void require_room(const ProblemSize& size, std::size_t limit) {
  if (limit == 0) limit = default_limit();
  require(limit == 0 || size.bytes() <= limit, "taping f and g would take ", size.f.operations, " and ",
          size.g.operations, " operations and about ", gigabytes(size.bytes()),
          ", more than TapeOptions::max_bytes = ", gigabytes(limit),
          ". A sum over data belongs in row terms, which tape one row only (docs/tutorial.md)");
}

}  // namespace

ProblemSize predict_problem(Dims dims, const Function& f, const Function& g, const TapeOptions& options) {
  require(dims.x > 0, "dims.x = ", dims.x, ", must be positive");
  require(dims.y > 0, "dims.y = ", dims.y, ", must be positive");
  const TapeSize g_y = g.predict_size(dims, Independent::y, options);
  return {f.predict_size(dims, Independent::both, options), g_y, g_y,
          g.predict_size(dims, Independent::both, options), {},  {}};
}

namespace {

// Rows pay where most operations are in them; below a thousand operations the time goes into calls either way.
constexpr std::size_t fewest_operations = 1000;

// Runs derive the whole function symbolically: with this many operations that takes two seconds and 200 MB. Beyond it
// CppAD's tapes, which are slower to sweep, are the better bargain.
constexpr std::size_t most_in_runs = 100'000;

std::unique_ptr<TapeEngine> make_engine(const Function& function, Dims dims, bool inner, const TapeOptions& options) {
  Recording recording = function.record(dims, inner ? Independent::y : Independent::both, options);
  const bool frozen = options.allow_frozen_branches;
  if (options.engine == Engine::automatic || options.engine == Engine::rows) {
    Partition cut = partition(recording);
    const bool pays = cut.operations >= fewest_operations && 2 * cut.operations_in_rows >= cut.operations;
    if (pays || options.engine == Engine::rows)
      return std::make_unique<RowsEngine>(std::move(recording), std::move(cut), function.name(), frozen,
                                          usable_threads(options.threads));
  }
  const bool short_enough = static_cast<std::size_t>(recording.size()) <= most_in_runs;
  if (options.engine == Engine::runs || (options.engine != Engine::cppad && short_enough))
    return std::make_unique<RunsEngine>(recording, function.name(), inner, frozen);
  return std::make_unique<CppadEngine>(recording, function.name(), inner, frozen);
}

}  // namespace

struct TapedProblem::Impl final : LinearOperator {
  Dims dims;
  Function f_function, g_function;
  std::unique_ptr<TapeEngine> f, g;

  Impl(Dims d, Function of_f, Function of_g, const TapeOptions& options)
      : dims(d), f_function(std::move(of_f)), g_function(std::move(of_g)) {
    require(options.threads >= 0, "TapeOptions: threads = ", options.threads, ", must not be negative");
    require_room(predict_problem(dims, f_function, g_function, options), options.max_bytes);
    f = make_engine(f_function, dims, /*inner=*/false, options);
    g = make_engine(g_function, dims, /*inner=*/true, options);
  }

  Index dim() const override { return dims.y; }

 private:
  void do_apply(const Vec& v, Vec& out) override { g->curvature(v, out); }
};

TapedProblem::TapedProblem(Dims dims, Function f, Function g, const TapeOptions& options)
    : impl_(std::make_unique<Impl>(dims, std::move(f), std::move(g), options)) {}
TapedProblem::TapedProblem(TapedProblem&&) noexcept = default;
TapedProblem& TapedProblem::operator=(TapedProblem&&) noexcept = default;
TapedProblem::~TapedProblem() = default;

Dims TapedProblem::dims() const {
  require_not_moved_from();
  return impl_->dims;
}

PlainFunctions TapedProblem::plain() const {
  require_not_moved_from();
  const auto plain = [](const Function& function) {
    return [function](const Vec& x, const Vec& y) { return function(x, y); };
  };
  return {plain(impl_->f_function), plain(impl_->g_function)};
}

ProblemSize TapedProblem::size() const {
  require_not_moved_from();
  ProblemSize size;
  size.f_engine = impl_->f->size();
  size.g_engine = impl_->g->size();
  size.f = {size.f_engine.operations, size.f_engine.bytes};
  size.g = {size.g_engine.operations, size.g_engine.bytes};
  if (const auto* tapes = dynamic_cast<const CppadEngine*>(impl_->g.get())) {
    size.g = tapes->whole();
    size.g_y = tapes->in_y();
    size.curvature = tapes->curvature_tape();
  }
  return size;
}

double TapedProblem::do_f(const Vec& x, const Vec& y) { return impl_->f->value(x, y); }

double TapedProblem::do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  return impl_->f->gradient(x, y, gx, gy);
}

void TapedProblem::do_grad_y_g(const Vec& x, const Vec& y, Vec& out) { impl_->g->gradient_y(x, y, out); }

LinearOperator& TapedProblem::do_curvature_at(const Vec& x, const Vec& y) {
  impl_->g->linearise(x, y);
  return *impl_;
}

void TapedProblem::do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) {
  impl_->g->cross(x, y, v, out);
}

double TapedProblem::do_g(const Vec& x, const Vec& y) { return impl_->g->value(x, y); }

double TapedProblem::do_grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  return impl_->g->gradient(x, y, gx, gy);
}

void TapedProblem::do_adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out) {
  impl_->g->adjoint_cross(x, y, u, out);
}

void TapedProblem::do_hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  impl_->f->hessian(x, y, p, q, out_x, out_y);
}

void TapedProblem::do_hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  impl_->g->hessian(x, y, p, q, out_x, out_y);
}

}  // namespace hypertape
