// Running rows: where packs are read and results go, and how threads share them.

#include <algorithm>

#include "hypertape/core/parallel.hpp"
#include "hypertape/tape/at.hpp"
#include "hypertape/tape/found_rows.hpp"

namespace hypertape {

using detail::at;
namespace {

// Waking threads takes some ten microseconds: not for fewer operations on rows than this, which take some fifty.
constexpr std::ptrdiff_t parallel_work = 500'000;

std::size_t array_number(LeafKind kind) { return kind == LeafKind::x ? 0 : kind == LeafKind::y ? 1 : 2; }

}  // namespace

const FoundRows::Column& FoundRows::column(const RowSource& source) const {
  const bool of_a = source.kind == RowSource::Kind::a || source.kind == RowSource::Kind::direction_a;
  return at(of_a ? a_ : b_, source.index);
}

Index FoundRows::array_size(LeafKind kind) const {
  return kind == LeafKind::x ? dims_.x : kind == LeafKind::y ? dims_.y : slots_;
}

namespace {

const double* array_of(const PartArrays& arrays, LeafKind kind) {
  return kind == LeafKind::x ? arrays.x : kind == LeafKind::y ? arrays.y : arrays.inner;
}

}  // namespace

/// The array that an input of a program is read from.
const double* FoundRows::source_array(const RowSource& source, const FoundArguments& arguments) const {
  const bool moves = source.kind == RowSource::Kind::direction_a || source.kind == RowSource::Kind::direction_b;
  const bool own = !weight_ && source.kind != RowSource::Kind::b && source.kind != RowSource::Kind::direction_b &&
                   static_cast<std::size_t>(source.index) + 1 == a_.size();
  if (own) return moves ? arguments.adjoint_tangents : arguments.adjoints;
  return array_of(moves ? arguments.direction : arguments.point, column(source).kind);
}

void FoundRows::set_numbers(const std::vector<RowSource>& sources, const FoundArguments& arguments,
                            const double** inputs) const {
  for (const RowSource& source : sources) {
    const bool leaf = source.kind != RowSource::Kind::d && source.kind != RowSource::Kind::stored;
    if (leaf && column(source).uniform) *inputs = source_array(source, arguments) + column(source).places[0];
    ++inputs;
  }
}

std::vector<FoundRows::Input> FoundRows::inputs_of(const std::vector<RowSource>& sources) const {
  std::vector<Input> inputs;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const bool leaf = sources[k].kind != RowSource::Kind::d && sources[k].kind != RowSource::Kind::stored;
    const Column* const c = leaf ? &column(sources[k]) : nullptr;
    if (c == nullptr || !c->uniform) inputs.push_back({static_cast<int>(k), sources[k], c});
  }
  return inputs;
}

/// Where a pack of a column stands: in place where it can be, or copied into the buffer.
const double* FoundRows::read(const Column& column, const double* from, std::size_t pack, double* buffer) const {
  const PackRange& range = packs_[pack];
  const auto length = static_cast<std::size_t>(padded(range.rows));
  const auto [place, stride] = column.at[pack];
  if (stride == 1 && place + static_cast<Index>(length) <= array_size(column.kind)) return from + place;
  const auto rows = static_cast<std::size_t>(range.rows);
  if (stride == gathered) {
    const int* const index = column.places.data() + range.row;
    for (std::size_t i = 0; i < rows; ++i) buffer[i] = from[index[i]];
  } else if (stride == 0) {
    std::fill(buffer, buffer + rows, from[place]);
  } else {
    const double* next = from + place;
    for (std::size_t i = 0; i < rows; ++i, next += stride) buffer[i] = *next;
  }
  std::fill(buffer + rows, buffer + length, buffer[rows - 1]);
  return buffer;
}

void FoundRows::set_packs(const std::vector<Input>& packs, const FoundArguments& arguments, const Compiled& compiled,
                          std::size_t pack, double* buffer, const double** inputs) const {
  const PackRange& range = packs_[pack];
  const std::ptrdiff_t length = padded(range.rows);
  const double* const data = data_.data() + range.lanes * static_cast<std::size_t>(data_columns_);
  const double* const stored = compiled.stored.data() + range.lanes * static_cast<std::size_t>(compiled.staged.stored);
  for (const Input& input : packs) {
    if (input.column == nullptr) {
      inputs[input.number] = (input.source.kind == RowSource::Kind::d ? data : stored) + input.source.index * length;
    } else {
      inputs[input.number] = read(*input.column, source_array(input.source, arguments), pack, buffer);
      buffer += lanes_ + 8;
    }
  }
}

/// The places of x, y and the values between that outputs of these packs are added to.
std::array<FoundRows::Plan::Range, 3> FoundRows::written_by(const Compiled& compiled, Plan::Range packs) const {
  std::array<Plan::Range, 3> written{};
  for (const int k : compiled.varying_outputs) {
    const RowSource& source = at(compiled.staged.outputs, k);
    if (is_value(source)) continue;
    const Column& c = column(source);
    Plan::Range& range = at(written, array_number(c.kind));
    const auto include = [&](Index place) {
      if (range.end == 0) range = {place, place + 1};
      range = {std::min(range.begin, place), std::max(range.end, place + 1)};
    };
    for (Index p = packs.begin; p < packs.end; ++p) {
      const auto [place, stride] = at(c.at, p);
      const int rows = at(packs_, p).rows;
      if (stride == gathered) {
        for (int i = 0; i < rows; ++i) include(at(c.places, at(packs_, p).row + i));
      } else {
        include(place);
        include(place + static_cast<Index>(stride) * (rows - 1));
      }
    }
  }
  return written;
}

FoundRows::Plan::Range FoundRows::packs_of(const Plan& plan, int chunk) const {
  const auto packs = static_cast<Index>(packs_.size());
  return {chunk * packs / plan.chunks, (chunk + 1) * packs / plan.chunks};
}

FoundRows::Plan FoundRows::plan_of(const Compiled& compiled) const {
  Plan plan;
  if (static_cast<std::ptrdiff_t>(rows_) * compiled.staged.run.instructions() < parallel_work) return plan;
  const auto disjoint = [](const auto& a, const auto& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
      if (a[k].end > b[k].begin && b[k].end > a[k].begin) return false;
    return true;
  };
  const auto chunks_written = [&](int chunks) {
    plan.chunks = static_cast<int>(std::min<std::size_t>(packs_.size(), static_cast<std::size_t>(chunks)));
    std::vector<std::array<Plan::Range, 3>> written;
    for (int c = 0; c < plan.chunks; ++c) written.push_back(written_by(compiled, packs_of(plan, c)));
    return written;
  };
  // Two turns, so twice the chunks.
  const auto turns = chunks_written(2 * max_threads);
  plan.takes_turns = true;
  for (std::size_t a = 0; a < turns.size(); ++a)
    for (std::size_t b = a + 2; b < turns.size(); b += 2)
      plan.takes_turns = plan.takes_turns && disjoint(turns[a], turns[b]);
  if (!plan.takes_turns) {
    for (const auto& written : chunks_written(max_threads))
      for (std::size_t k = 0; k < written.size(); ++k) {
        Plan::Range& all = plan.copied[k];
        if (written[k].end == 0) continue;
        all = all.end == 0 ? written[k]
                           : Plan::Range{std::min(all.begin, written[k].begin), std::max(all.end, written[k].end)};
      }
    for (const Plan::Range& all : plan.copied) plan.copy_size += static_cast<std::size_t>(all.end - all.begin);
    // Copies that take longer to add up than the rows to run are no help.
    if (plan.copy_size * static_cast<std::size_t>(plan.chunks) > static_cast<std::size_t>(rows_)) return {};
    plan.copies.resize(plan.copy_size * static_cast<std::size_t>(plan.chunks));
  }
  for (std::size_t k = 0; k < compiled.staged.outputs.size(); ++k) {
    const RowSource& source = compiled.staged.outputs[k];
    if (is_value(source) ? adds_ : column(source).uniform) plan.sums.push_back(static_cast<int>(k));
  }
  plan.partials.resize(plan.sums.size() * static_cast<std::size_t>(plan.chunks));
  return plan;
}

void FoundRows::prepare(FoundPass pass, const FoundArguments& arguments) {
  Compiled& c = compiled(pass);
  if (c.staged.is_zero || c.staged.stored == 0) return;
  const int threads = c.plan.chunks > 1 ? arguments.threads : 1;
  for (int t = 0; t < threads; ++t) {
    set_numbers(c.staged.prepare_sources, arguments, at(c.prepare_scratch, t).inputs());
    c.staged.prepare.begin(at(c.prepare_scratch, t));
  }
  for_each_chunk(c.plan.chunks, threads, [&](Index chunk, int thread) {
    Worker& worker = at(workers_, thread);
    RowProgram::Scratch& scratch = at(c.prepare_scratch, thread);
    const auto [begin, end] = packs_of(c.plan, static_cast<int>(chunk));
    for (Index p = begin; p < end; ++p) {
      const PackRange& range = at(packs_, p);
      set_packs(c.prepare_inputs, arguments, c, static_cast<std::size_t>(p), worker.buffers.data(), scratch.inputs());
      double* to = c.stored.data() + range.lanes * static_cast<std::size_t>(c.staged.stored);
      for (int k = 0; k < c.staged.stored; ++k, to += padded(range.rows)) at(worker.outputs, k) = {to};
      c.staged.prepare.run_rows(kernels_, scratch, worker.outputs.data(), range.rows);
    }
  });
}

void FoundRows::run_chunk(Compiled& c, const FoundArguments& arguments, int chunk, std::size_t thread) {
  Worker& worker = workers_[thread];
  RowProgram::Scratch& scratch = c.run_scratch[thread];
  Plan& plan = c.plan;
  FoundArguments into = arguments;
  std::array<Cleared, 2> copies;
  if (plan.copy_size > 0) {  // places are counted from where the arrays would begin
    double* copy = plan.copies.data() + static_cast<std::size_t>(chunk) * plan.copy_size;
    std::fill_n(copy, plan.copy_size, 0.0);
    const auto next = [&](std::size_t k) {
      double* const from = copy - plan.copied[k].begin;
      copy += plan.copied[k].end - plan.copied[k].begin;
      return from;
    };
    copies[0] = Cleared::at_hand(next(0));
    copies[1] = Cleared::at_hand(next(1));
    into.out_x = &copies[0];
    into.out_y = &copies[1];
    into.out_inner = next(2);
  }
  for (std::size_t k = 0; k < c.staged.outputs.size(); ++k)
    worker.outputs[k] = output(c.staged.outputs[k], arguments, 0);
  double* partial = plan.partials.data() + static_cast<std::size_t>(chunk) * plan.sums.size();
  for (const int k : plan.sums) {
    *partial = 0;
    at(worker.outputs, k) = {partial++, 0};
  }
  const auto [begin, end] = packs_of(plan, chunk);
  for (Index p = begin; p < end; ++p) {
    const auto pack = static_cast<std::size_t>(p);
    set_packs(c.run_inputs, arguments, c, pack, worker.buffers.data(), scratch.inputs());
    for (const int k : c.varying_outputs) at(worker.outputs, k) = output(at(c.staged.outputs, k), into, pack);
    c.staged.run.run_rows(kernels_, scratch, worker.outputs.data(), packs_[pack].rows);
  }
}

void FoundRows::run(FoundPass pass, const FoundArguments& arguments) {
  Compiled& c = compiled(pass);
  if (c.staged.is_zero) return;
  if (pass == FoundPass::gradient_y && (arguments.new_x || !c.prepared)) {
    prepare(pass, arguments);
    c.prepared = true;
  }
  Plan& plan = c.plan;
  const int threads = plan.chunks > 1 ? arguments.threads : 1;
  for (int t = 0; t < threads; ++t) {
    set_numbers(c.staged.run_sources, arguments, at(c.run_scratch, t).inputs());
    c.staged.run.begin(at(c.run_scratch, t));
  }
  if (plan.chunks == 1) {
    run_chunk(c, arguments, 0, 0);
    return;
  }
  for (Cleared* out : {arguments.out_x, arguments.out_y})
    if (out != nullptr) out->reach_all();
  const int turns = plan.takes_turns ? 2 : 1;
  for (int turn = 0; turn < turns; ++turn)
    for_each_chunk((plan.chunks - turn + turns - 1) / turns, threads, [&](Index k, int thread) {
      run_chunk(c, arguments, turn + turns * static_cast<int>(k), static_cast<std::size_t>(thread));
    });
  const double* partial = plan.partials.data();
  const double* copy = plan.copies.data();
  const std::array<double*, 3> arrays{arguments.out_x != nullptr ? arguments.out_x->data() : nullptr,
                                      arguments.out_y != nullptr ? arguments.out_y->data() : nullptr,
                                      arguments.out_inner};
  for (int chunk = 0; chunk < plan.chunks; ++chunk) {
    for (const int k : plan.sums) *output(at(c.staged.outputs, k), arguments, 0).to += *partial++;
    for (std::size_t a = 0; a < arrays.size() && plan.copy_size > 0; ++a)
      for (Index i = plan.copied[a].begin; i < plan.copied[a].end; ++i) arrays[a][i] += *copy++;
  }
}

/// Whether an output is the rows' value (or its tangent) rather than an adjoint of leaves.
bool FoundRows::is_value(const RowSource& source) const {
  return source == value_source ||
         (!weight_ && source.kind == RowSource::Kind::a && static_cast<std::size_t>(source.index) + 1 == a_.size());
}

RowOutput FoundRows::output(const RowSource& source, const FoundArguments& arguments, std::size_t pack) const {
  if (is_value(source)) return {arguments.out_value + target_ + (adds_ ? 0 : packs_[pack].row)};
  const Column& c = column(source);
  Cleared* const result = c.kind == LeafKind::x ? arguments.out_x : c.kind == LeafKind::y ? arguments.out_y : nullptr;
  double* const to = result != nullptr ? result->data() : arguments.out_inner;
  const PackRange& range = packs_[pack];
  if (c.uniform) {
    if (result != nullptr) result->reach(c.places[0] + 1);
    return {to + c.places[0], 0};
  }
  const auto [place, stride] = c.at[pack];
  if (stride == gathered) {
    if (result != nullptr) result->reach_all();
    return {to, 1, c.places.data() + range.row};
  }
  if (result != nullptr) result->reach(place + std::max(0, stride) * (range.rows - 1) + 1);
  return {to + place, stride};
}

}  // namespace hypertape
