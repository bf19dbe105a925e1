#include "hypertape/autodiff/row_objective.hpp"

#include <algorithm>
#include <numeric>

#include "hypertape/autodiff/row_side.hpp"
#include "hypertape/core/parallel.hpp"
#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

constexpr Index preferred_tile = 4096;

// Waking threads takes some ten microseconds: not for less work than this many multiplications.
constexpr Index parallel_work = 200'000;

/// The part of `count` things that chunk c has.
struct Range {
  Index begin, end;
};
Range chunk_of(Index count, Index c) { return {c * count / row_chunks, (c + 1) * count / row_chunks}; }

RowParts wanted_of(RowPass pass) {
  switch (pass) {
    case RowPass::value:
      return {.value = true};
    case RowPass::gradient:
      return {.value = true, .a = true, .b = true};
    case RowPass::gradient_y:
    case RowPass::curvature:
    case RowPass::diagonal:
    case RowPass::adjoint_cross:
      return {.a = true};
    case RowPass::cross:
      return {.b = true};
    default:
      return {.a = true, .b = true};
  }
}

/// Argument k: y, x, the directions in y, the direction in x.
std::span<const Vec> vectors_of(const RowArguments& arguments, std::size_t k) {
  if (k == 2) return arguments.q;
  const Vec* const v = std::array{arguments.y, arguments.x, static_cast<const Vec*>(nullptr), arguments.p}[k];
  return {v, v != nullptr ? std::size_t{1} : 0};
}

StagedProgram derive(RowKernel& kernel, RowPass pass) {
  const RowParts wanted = wanted_of(pass);
  switch (pass) {
    case RowPass::value:
    case RowPass::gradient:
      return kernel.gradient(wanted, Fixed::nothing);
    case RowPass::gradient_y:
      return kernel.gradient(wanted, Fixed::b);
    case RowPass::curvature:
      return kernel.hessian_product({.a = true}, wanted, Fixed::a_and_b);
    case RowPass::diagonal:
      return kernel.hessian_diagonal(Fixed::nothing);
    case RowPass::cross:
      return kernel.hessian_product({.a = true}, wanted, Fixed::nothing);
    case RowPass::adjoint_cross:
      return kernel.hessian_product({.b = true}, wanted, Fixed::nothing);
    default:
      return kernel.hessian_product({.a = true, .b = true}, wanted, Fixed::nothing);
  }
}

}  // namespace

/// What one thread works with: images of the variables and of the results of a pack.
struct RowObjective::Worker {
  std::array<std::vector<double>, 4> images;  // by source: a, b, direction_a, direction_b
  std::vector<double> out_a, out_b;
  Pack value;
  bool finite = true;  // all that local views saw
};

class RowObjective::TermRun {
 public:
  TermRun(const Kernels& kernels, const Term& term, Dims dims)
      : kernels_(kernels),
        rows_(term.count(dims)),
        y_(kernels, term.rows.y, dims.y, rows_),
        x_(kernels, term.rows.x, dims.x, rows_),
        kernel_(term.taped,
                {static_cast<int>(y_.width()), static_cast<int>(x_.width()), static_cast<int>(term.rows.data.cols())},
                term.weight) {
    const Index d = term.rows.data.cols();
    data_.resize(static_cast<std::size_t>(packs() * d));
    for (Pack& pack : data_) std::fill_n(pack.lane, pack_lanes, 0.0);
    for (Index i = 0; i < rows_; ++i)
      for (Index j = 0; j < d; ++j)
        data_[static_cast<std::size_t>(i / pack_lanes * d + j)].lane[i % pack_lanes] = term.rows.data(i, j);
  }

  Index packs() const { return (rows_ + pack_lanes - 1) / pack_lanes; }
  Index work() const { return 20 * rows_ + y_.work() + x_.work(); }
  RowSide& y() { return y_; }
  RowSide& x() { return x_; }
  Index data_width() const { return kernel_.widths().d; }

  bool is_zero(RowPass pass, int threads) { return state(pass, threads).staged.is_zero; }
  /// Whether the pass reads every entry of argument k (y, x, q, p), each as it stands.
  bool reads_all(RowPass pass, std::size_t k, int threads) {
    return state(pass, threads).run_needs[k] && side(k).view().is_local();
  }

  bool has_prepare(RowPass pass, int threads) { return state(pass, threads).staged.stored > 0; }

  /// Lays out the arguments that the pass reads. `preparing` is for what comes before the pass.
  void bind(RowPass pass, const RowArguments& arguments, bool preparing, int threads) {
    PassState& s = state(pass, threads);
    const auto& needs = preparing ? s.prepare_needs : s.run_needs;
    for (std::size_t k = 0; k < 4; ++k)
      if (needs[k]) side(k).bind(vectors_of(arguments, k), operands_[k]);
    if (!preparing && wanted_of(pass).a)
      y_.start_adjoint(static_cast<Index>(arguments.out_y.size()), /*squared=*/pass == RowPass::diagonal);
    if (!preparing && wanted_of(pass).b) x_.start_adjoint(1, /*squared=*/false);
    if (preparing) s.stored.resize(static_cast<std::size_t>(packs() * s.staged.stored));
  }

  void prepare_pack(RowPass pass, Index pack, Worker& worker, std::size_t thread) {
    PassState& s = *states_[static_cast<std::size_t>(pass)];
    auto& scratch = s.prepare_scratch[thread];
    read(s.staged.prepare_sources, s.prepare_needs, s, pack, 0, worker, scratch.inputs());
    for (Index k = 0; k < s.staged.stored; ++k) scratch.outputs()[k] = stored(s, pack, k);
    s.staged.prepare.run(kernels_, scratch);
  }

  /// Returns the sum of the values of the rows, if the pass has one. `is_first`: what stands in the result is replaced.
  double run_pack(RowPass pass, Index pack, Index chunk, Worker& worker, std::size_t thread,
                  const RowArguments& arguments, bool is_first = false) {
    PassState& s = *states_[static_cast<std::size_t>(pass)];
    auto& scratch = s.run_scratch[thread];
    const RowParts wanted = wanted_of(pass);
    double* out_a = worker.out_a.data();
    for (Index c = 0; c < std::max<Index>(1, static_cast<Index>(arguments.q.size())); ++c) {
      read(s.staged.run_sources, s.run_needs, s, pack, c, worker, scratch.inputs());
      double** out = scratch.outputs();
      if (wanted.value) *out++ = worker.value.lane;
      for (Index j = 0; j < y_.width() && wanted.a; ++j, out_a += pack_lanes) *out++ = out_a;
      for (Index j = 0; j < x_.width() && wanted.b; ++j) *out++ = worker.out_b.data() + j * pack_lanes;
      s.staged.run.run(kernels_, scratch);
    }

    const Index first = pack * pack_lanes, n = count(pack);
    if (wanted.a) y_.add_adjoint(worker.out_a.data(), first, n, chunk, is_first, arguments.out_y);
    if (wanted.b && x_.width() > 0) x_.add_adjoint(worker.out_b.data(), first, n, chunk, false, {arguments.out_x, 1});
    double sum = 0;
    if (wanted.value)
      for (Index i = 0; i < n; ++i) sum += worker.value.lane[i];
    return sum;
  }

  /// Sums of values by chunk.
  std::array<double, row_chunks> values{};

  std::size_t bytes() const {
    std::size_t total = data_.capacity() * sizeof(Pack) + y_.bytes() + x_.bytes();
    for (const auto& operand : operands_) total += operand.copy.capacity() * sizeof(double);
    for (const auto& s : states_)
      if (s) total += s->stored.capacity() * sizeof(Pack);
    return total;
  }

 private:
  struct PassState {
    StagedProgram staged;
    std::vector<Pack> stored;
    std::vector<RowProgram::Scratch> prepare_scratch, run_scratch;  // by thread
    std::array<bool, 4> prepare_needs{}, run_needs{};
  };

  Index count(Index pack) const { return std::min<Index>(pack_lanes, rows_ - pack * pack_lanes); }

  static int operand_of(RowSource::Kind kind) {
    switch (kind) {
      case RowSource::Kind::a:
        return 0;
      case RowSource::Kind::b:
        return 1;
      case RowSource::Kind::direction_a:
        return 2;
      case RowSource::Kind::direction_b:
        return 3;
      default:
        return -1;
    }
  }

  PassState& state(RowPass pass, int threads) {
    auto& slot = states_[static_cast<std::size_t>(pass)];
    if (slot) return *slot;
    slot = std::make_unique<PassState>();
    slot->staged = derive(kernel_, pass);
    for (int t = 0; t < threads; ++t) {
      slot->prepare_scratch.emplace_back(slot->staged.prepare);
      slot->run_scratch.emplace_back(slot->staged.run);
    }
    const auto needs = [](const std::vector<RowSource>& sources, std::array<bool, 4>& out) {
      for (const RowSource& source : sources)
        if (operand_of(source.kind) >= 0) out[static_cast<std::size_t>(operand_of(source.kind))] = true;
    };
    needs(slot->staged.prepare_sources, slot->prepare_needs);
    needs(slot->staged.run_sources, slot->run_needs);
    return *slot;
  }

  const RowSide& side(std::size_t k) const { return k % 2 == 0 ? y_ : x_; }

  double* stored(PassState& s, Index pack, Index k) {
    return s.stored[static_cast<std::size_t>(pack * s.staged.stored + k)].lane;
  }

  /// Where the inputs of a program are read for a pack of rows: of the directions in y, number c.
  void read(const std::vector<RowSource>& sources, const std::array<bool, 4>& needs, PassState& s, Index pack, Index c,
            Worker& worker, const double** inputs) {
    std::array<const double*, 4> seen{};
    const Index first = pack * pack_lanes, n = count(pack);
    for (std::size_t k = 0; k < 4; ++k)
      if (needs[k])
        seen[k] = side(k).see(operands_[k], k == 2 ? c : 0, first, n, worker.images[k].data(), worker.finite);
    for (const RowSource& source : sources) {
      const int k = operand_of(source.kind);
      if (k >= 0)
        *inputs++ = seen[static_cast<std::size_t>(k)] + source.index * pack_lanes;
      else if (source.kind == RowSource::Kind::d)
        *inputs++ = data_[static_cast<std::size_t>(pack * data_width() + source.index)].lane;
      else
        *inputs++ = stored(s, pack, source.index);
    }
  }

  const Kernels& kernels_;
  Index rows_;
  RowSide y_, x_;
  RowKernel kernel_;
  std::vector<Pack> data_;  // by pack, then by component
  std::array<RowSide::Operand, 4> operands_;
  std::array<std::unique_ptr<PassState>, static_cast<std::size_t>(RowPass::count)> states_;
};

RowObjective::RowObjective(Dims dims, const Objective& terms, int threads, const Kernels& kernels)
    : dims_(dims), threads_(threads) {
  workers_.resize(static_cast<std::size_t>(threads));
  Index width_x = 1, unit = 1;
  for (const Term& term : terms) {
    terms_.push_back(std::make_unique<TermRun>(kernels, term, dims));
    TermRun& run = *terms_.back();
    width_y_ = std::max(width_y_, run.y().width());
    width_x = std::max(width_x, run.x().width());
    // Tiles end where packs of local terms end, and between the columns of products.
    if (run.y().view().is_local()) unit = std::lcm(unit, pack_lanes * run.y().width());
    if (run.y().view().is_product()) unit = std::lcm(unit, run.y().width());
  }
  tile_ = (preferred_tile + unit - 1) / unit * unit;
  for (Worker& worker : workers_) {
    for (std::size_t k = 0; k < 4; ++k)
      worker.images[k].assign(static_cast<std::size_t>((k % 2 == 0 ? width_y_ : width_x) * pack_lanes), 0.0);
    worker.out_a.assign(static_cast<std::size_t>(width_y_ * pack_lanes), 0.0);
    worker.out_b.assign(static_cast<std::size_t>(width_x * pack_lanes), 0.0);
  }
}

RowObjective::~RowObjective() = default;

template <class F>
void RowObjective::for_chunks(Index work, const F& f) {
  for_each_chunk(row_chunks, work > parallel_work ? threads_ : 1,
                 [&f](Index c, int worker) { f(c, static_cast<std::size_t>(worker)); });
}

void RowObjective::require_finite(RowPass pass, const RowArguments& arguments, std::size_t k) const {
  const bool whole = pass == RowPass::hessian;
  const std::array names{"y", "x", whole ? "q" : "v", whole ? "p" : "u"};
  const std::span<const Vec> vectors = vectors_of(arguments, k);
  for (const Vec& v : vectors)
    require_vector(arguments.where, vectors.size() == 1 ? names[k] : "a column", v, k % 2 == 0 ? dims_.y : dims_.x,
                   threads_);
}

void RowObjective::require_finite_before(RowPass pass, const RowArguments& arguments) {
  for (Worker& worker : workers_) worker.finite = true;
  for (std::size_t k = 0; k < 4; ++k) {
    const auto reads_it = [&](TermRun* term) { return term->reads_all(pass, k, threads_); };
    if (std::none_of(active_.begin(), active_.end(), reads_it)) require_finite(pass, arguments, k);
  }
}

void RowObjective::prepare(RowPass pass, const RowArguments& arguments) {
  for (std::size_t k = 0; k < 4; ++k) require_finite(pass, arguments, k);
  for (auto& term : terms_) {
    if (!term->has_prepare(pass, threads_)) continue;
    term->bind(pass, arguments, /*preparing=*/true, threads_);
    for_chunks(term->work(), [&](Index c, std::size_t thread) {
      const Range range = chunk_of(term->packs(), c);
      for (Index k = range.begin; k < range.end; ++k) term->prepare_pack(pass, k, workers_[thread], thread);
    });
  }
}

void RowObjective::run(RowPass pass, const RowArguments& arguments) {
  const RowParts wanted = wanted_of(pass);
  if (wanted.b) arguments.out_x->setZero();
  // Terms that touch only y, each row its own entries, are computed tile by tile with the adjoints of the others, while
  // the tile of the result is in cache. With results in x as well, two terms could meet there: then one after the
  // other.
  const auto in_tiles = [&](TermRun& term) { return wanted.a && !wanted.b && term.y().view().is_local(); };
  const auto run_rows = [&](TermRun& term) {
    term.values.fill(0);
    for_chunks(term.work(), [&](Index c, std::size_t thread) {
      const Range range = chunk_of(term.packs(), c);
      double sum = 0;
      for (Index k = range.begin; k < range.end; ++k)
        sum += term.run_pack(pass, k, c, workers_[thread], thread, arguments);
      term.values[static_cast<std::size_t>(c)] = sum;
    });
  };

  const std::size_t room = arguments.q.size() * static_cast<std::size_t>(width_y_ * pack_lanes);
  for (Worker& worker : workers_)
    for (auto* packs : {&worker.images[2], &worker.out_a})
      if (packs->size() < room) packs->resize(room);

  std::vector<TermRun*>& active = active_;
  active.clear();
  for (auto& term : terms_)
    if (!term->is_zero(pass, threads_)) active.push_back(term.get());
  require_finite_before(pass, arguments);
  for (TermRun* term : active) {
    term->bind(pass, arguments, /*preparing=*/false, threads_);
    if (!term->y().view().is_local() || !wanted.a) run_rows(*term);
  }
  if (wanted.a) {
    const Index tiles = (dims_.y + tile_ - 1) / tile_;
    Index work = dims_.y;
    for (TermRun* term : active)
      if (term->y().view().kind() == LinearView::Kind::sparse || in_tiles(*term)) work += term->work();
    for_chunks(work, [&](Index c, std::size_t thread) {
      const Range range = chunk_of(tiles, c);
      for (Index t = range.begin; t < range.end; ++t) {
        const Index begin = t * tile_, end = std::min(dims_.y, begin + tile_);
        bool is_first = true;  // rows that have all entries of the tile for themselves write it before others add
        for (TermRun* term : active) {
          if (!in_tiles(*term)) continue;
          const Index per_pack = pack_lanes * term->y().width();
          for (Index k = begin / per_pack; k * per_pack < end; ++k)
            term->run_pack(pass, k, c, workers_[thread], thread, arguments, is_first);
          is_first = false;
        }
        for (Index column = 0; column < static_cast<Index>(arguments.out_y.size()); ++column) {
          Vec& out = arguments.out_y[static_cast<std::size_t>(column)];
          if (is_first) std::fill(out.data() + begin, out.data() + end, 0.0);
          for (TermRun* term : active)
            if (!term->y().view().is_local()) term->y().finish_adjoint(begin, end, column, out);
        }
      }
    });
    for (TermRun* term : active)
      if (term->y().view().is_local() && !in_tiles(*term)) run_rows(*term);
  }
  if (wanted.b)
    for (TermRun* term : active)
      if (term->x().width() > 0) term->x().finish_adjoint(0, dims_.x, 0, *arguments.out_x);
  if (wanted.value) {
    double sum = 0;
    for (TermRun* term : active) sum = std::accumulate(term->values.begin(), term->values.end(), sum);
    *arguments.value = sum;
  }
  for (const Worker& worker : workers_)
    if (!worker.finite)
      for (std::size_t k = 0; k < 4; ++k) require_finite(pass, arguments, k);
}

bool RowObjective::may_share_rows() const {
  const auto has = [this](LinearView::Kind kind) {
    return std::any_of(terms_.begin(), terms_.end(), [&](const auto& term) { return term->y().view().kind() == kind; });
  };
  return has(LinearView::Kind::dense) && !has(LinearView::Kind::sparse);
}

std::size_t RowObjective::bytes() const {
  std::size_t total = 0;
  for (const auto& term : terms_) total += term->bytes();
  return total;
}

}  // namespace hypertape
