#include "hypertape/tape/found_rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "hypertape/tape/at.hpp"
#include "hypertape/tape/replay.hpp"

namespace hypertape {

using detail::at;
namespace {

// Rows of a pack. Reading an instruction and finding its packs costs as much as some ten lanes, so packs are long, even
// where the columns of one do not stay in the first cache: rows of 200 columns (ridge in bench_tapes) take 1.25 times
// as long in packs of 32.
constexpr int long_pack = 256;
// A pack is cut where a stride changes unless it would become shorter than this: then its leaves are gathered.
constexpr int shortest_cut = 16;

/// The row function from its shape, for CppAD. Inputs of every occurrence are given.
using Scalar = RowKernel::Scalar;
Scalar row_value(const RowShape& shape, const std::vector<Scalar>& leaves, const std::vector<Scalar>& constants) {
  std::vector<Scalar> values;
  std::size_t leaf = 0, constant = 0;
  const auto operand = [&](int code) {
    if (code >= 0) return at(values, code);
    return code == RowShape::constant ? at(constants, constant++) : at(leaves, leaf++);
  };
  for (std::size_t k = 0; k < shape.nodes.size();) {
    const Op op = static_cast<Op>(shape.nodes[k++]);
    std::array<Scalar, 4> arguments;
    for (std::size_t j = 0; j < static_cast<std::size_t>(arity(op)); ++j) arguments[j] = operand(shape.nodes[k++]);
    values.push_back(operation(op, arguments));
  }
  Scalar sum(0.0);
  for (const auto& [code, sign] : shape.results) sum += sign > 0 ? operand(code) : -operand(code);
  return sum;
}

Parts direction_of(FoundPass pass) {
  switch (pass) {
    case FoundPass::curvature:
    case FoundPass::cross:
    case FoundPass::curvature_tangents:
    case FoundPass::cross_tangents:
      return {.y = true};
    case FoundPass::adjoint_cross:
    case FoundPass::adjoint_cross_tangents:
      return {.x = true};
    default:
      return {.x = true, .y = true};
  }
}

Parts wanted_of(FoundPass pass) {
  switch (pass) {
    case FoundPass::gradient_y:
    case FoundPass::curvature:
    case FoundPass::adjoint_cross:
      return {.y = true};
    case FoundPass::cross:
      return {.x = true};
    default:
      return {.x = true, .y = true};
  }
}

}  // namespace

FoundRows::FoundRows(RowGroup group, Dims dims, int slots, std::optional<double> weight, const Kernels& kernels,
                     int threads)
    : kernels_(kernels),
      dims_(dims),
      slots_(slots),
      rows_(group.rows),
      target_(group.target),
      adds_(group.adds),
      depends_on_x_(group.depends_on_x),
      depends_on_y_(group.depends_on_y),
      weight_(weight),
      workers_(static_cast<std::size_t>(threads)) {
  make_columns(group);
}

/// Finds the distinct columns, makes the packs, and gives the kernel its row function.
void FoundRows::make_columns(RowGroup& group) {
  // By occurrence: whether its column is one of a_, and which.
  std::vector<std::pair<bool, int>> column_of;
  std::map<std::pair<LeafKind, std::vector<int>>, std::pair<bool, int>> known;
  for (RowGroup::Leaf& leaf : group.leaves) {
    const bool of_y = hypertape::depends_on_y(leaf.kind);
    std::vector<Column>& columns = of_y ? a_ : b_;
    const auto [place, is_new] = known.try_emplace({leaf.kind, leaf.slots}, of_y, static_cast<int>(columns.size()));
    column_of.push_back(place->second);
    if (!is_new) continue;
    Column column{leaf.kind, false, std::move(leaf.slots), {}};
    if (leaf.kind == LeafKind::y)
      for (int& p : column.places) p -= static_cast<int>(dims_.x);
    const int first = column.places[0];
    column.uniform = std::all_of(column.places.begin(), column.places.end(), [&](int p) { return p == first; });
    columns.push_back(std::move(column));
  }
  known.clear();
  if (!weight_) {  // the rows' own adjoint: a number if they add to a sum
    Column own{LeafKind::inner_both, adds_, std::vector<int>(static_cast<std::size_t>(rows_)), {}};
    for (int i = 0; i < rows_; ++i) at(own.places, i) = target_ + (adds_ ? 0 : i);
    a_.push_back(std::move(own));
  }

  // Constants: those that are the same in all rows are part of the function.
  std::vector<int> constant_of;
  make_constants(group, constant_of);
  const std::size_t own = weight_ ? 0 : 1;
  RowUse use;
  for (const Column& c : a_) {
    use.uniform_a.push_back(c.uniform);
    use.result_a.push_back(c.uniform ? RowResult::sum : RowResult::accumulate);
  }
  for (const Column& c : b_) {
    use.uniform_b.push_back(c.uniform);
    use.result_b.push_back(c.uniform ? RowResult::sum : RowResult::accumulate);
  }
  use.result_value = adds_ ? RowResult::sum : RowResult::store;
  if (own == 1) use.result_a.back() = use.result_value;

  const auto phi = [&](const auto& a, const auto& b, const auto& d) -> Scalar {
    std::vector<Scalar> leaves, constants;
    for (const auto& [of_y, index] : column_of) leaves.push_back(of_y ? a[index] : b[index]);
    for (std::size_t k = 0; k < constant_of.size(); ++k)
      constants.push_back(constant_of[k] >= 0 ? d[constant_of[k]] : Scalar(group.constants[k][0]));
    const Scalar value = row_value(group.shape, leaves, constants);
    return own == 1 ? a[a.size() - 1] * value : value;
  };
  const RowWidths widths{static_cast<int>(a_.size()), static_cast<int>(b_.size()), data_columns_};
  kernel_ = std::make_unique<RowKernel>(phi, widths, weight_.value_or(1), std::move(use));
}

void FoundRows::make_constants(RowGroup& group, std::vector<int>& constant_of) {
  std::map<std::vector<double>, int> known;
  std::vector<const std::vector<double>*> distinct;
  for (const std::vector<double>& c : group.constants) {
    if (std::all_of(c.begin(), c.end(), [&](double v) { return v == c[0]; })) {
      constant_of.push_back(-1);
      continue;
    }
    const auto [place, is_new] = known.try_emplace(c, data_columns_);
    constant_of.push_back(place->second);
    if (!is_new) continue;
    distinct.push_back(&place->first);
    ++data_columns_;
  }
  make_packs();
  const std::size_t lanes = packs_.back().lanes + static_cast<std::size_t>(padded(packs_.back().rows));
  data_.resize(lanes * static_cast<std::size_t>(data_columns_));
  for (const PackRange& pack : packs_) {
    const auto length = static_cast<std::size_t>(padded(pack.rows));
    double* to = data_.data() + pack.lanes * static_cast<std::size_t>(data_columns_);
    for (const std::vector<double>* const c : distinct)
      for (std::size_t l = 0; l < length; ++l) *to++ = at(*c, pack.row + std::min(static_cast<int>(l), pack.rows - 1));
  }
}

void FoundRows::make_packs() {
  std::vector<Column*> varying;
  for (auto* columns : {&a_, &b_})
    for (Column& c : *columns)
      if (!c.uniform) varying.push_back(&c);

  const int count = std::max(1, (rows_ + long_pack / 2) / long_pack);
  lanes_ = std::min(long_pack, static_cast<int>(padded((rows_ + count - 1) / count)));

  std::size_t lanes = 0;
  for (int row = 0; row < rows_;) {
    int length = std::min(lanes_, rows_ - row);
    int shortest = length;
    for (const Column* c : varying) {
      int end = std::min(2, length);
      while (end < length &&
             at(c->places, row + end) - at(c->places, row + end - 1) == at(c->places, row + 1) - at(c->places, row))
        ++end;
      shortest = std::min(shortest, end);
    }
    if (shortest >= shortest_cut) length = shortest;
    for (Column* c : varying) {
      int stride = length > 1 ? at(c->places, row + 1) - at(c->places, row) : 1;
      for (int i = 2; i < length; ++i)
        if (at(c->places, row + i) - at(c->places, row + i - 1) != stride) stride = gathered;
      c->at.push_back({at(c->places, row), stride});
    }
    packs_.push_back({row, length, lanes});
    lanes += static_cast<std::size_t>(padded(length));
    row += length;
  }
  for (auto* columns : {&a_, &b_})
    for (Column& c : *columns) {
      if (c.uniform) c.places.resize(1);
      if (!c.uniform && std::none_of(c.at.begin(), c.at.end(), [](Column::At p) { return p.stride == gathered; }))
        c.places.clear();
      c.places.shrink_to_fit();
    }
}

/// The leaves that depend on these parts; inputs among them only if wanted.
RowSelection FoundRows::select(Parts parts, bool inputs) const {
  RowSelection s;
  const auto takes = [&](const Column& c) {
    const bool is_input = c.kind == LeafKind::x || c.kind == LeafKind::y;
    return ((parts.x && hypertape::depends_on_x(c.kind)) || (parts.y && hypertape::depends_on_y(c.kind))) &&
           (inputs || !is_input);
  };
  for (const Column& c : a_) s.a.push_back(takes(c));
  for (const Column& c : b_) s.b.push_back(takes(c));
  if (!weight_) s.a.back() = 0;
  return s;
}

StagedProgram FoundRows::derive(FoundPass pass) {
  RowSelection own;  // what the rows' own adjoint multiplies is their value
  own.a.assign(a_.size(), 0);
  if (!weight_) own.a.back() = 1;
  const auto with_own = [&](RowSelection s) {
    if (!weight_) s.a.back() = 1;
    return s;
  };
  RowSelection wanted = select(wanted_of(pass), true);
  switch (pass) {
    case FoundPass::value:
      if (weight_) own.value = true;
      return kernel_->gradient_by(own, Fixed::nothing);
    case FoundPass::gradient:
      wanted.value = has_weight();
      return kernel_->gradient_by(wanted, Fixed::nothing);
    case FoundPass::gradient_y:
      return kernel_->gradient_by(wanted, Fixed::b);
    case FoundPass::adjoints:
      return kernel_->gradient_by(select({.x = true, .y = true}, false), Fixed::nothing);
    case FoundPass::curvature:
      return kernel_->hessian_product_by(with_own(select(direction_of(pass), true)), wanted, Fixed::a_and_b);
    case FoundPass::curvature_tangents:
      return kernel_->hessian_product_by(select(direction_of(pass), true), own, Fixed::a_and_b);
    case FoundPass::cross_tangents:
    case FoundPass::adjoint_cross_tangents:
    case FoundPass::hessian_tangents:
      return kernel_->hessian_product_by(select(direction_of(pass), true), own, Fixed::nothing);
    default:
      return kernel_->hessian_product_by(with_own(select(direction_of(pass), true)), wanted, Fixed::nothing);
  }
}

FoundRows::Compiled& FoundRows::compiled(FoundPass pass) {
  auto& place = at(compiled_, pass);
  if (place) return *place;
  place = std::make_unique<Compiled>();
  place->staged = derive(pass);
  if (place->staged.is_zero) return *place;
  const std::size_t lanes = packs_.back().lanes + static_cast<std::size_t>(padded(packs_.back().rows));
  place->stored.resize(lanes * static_cast<std::size_t>(place->staged.stored));
  for (std::size_t t = 0; t < workers_.size(); ++t) {
    place->prepare_scratch.emplace_back(place->staged.prepare, lanes_);
    place->run_scratch.emplace_back(place->staged.run, lanes_);
  }
  place->prepare_inputs = inputs_of(place->staged.prepare_sources);
  place->run_inputs = inputs_of(place->staged.run_sources);
  for (std::size_t k = 0; k < place->staged.outputs.size(); ++k) {
    const RowSource& source = place->staged.outputs[k];
    const bool varies = is_value(source) ? !adds_ : !column(source).uniform;
    if (varies) place->varying_outputs.push_back(static_cast<int>(k));
  }
  place->plan = plan_of(*place);
  const std::size_t inputs = std::max(place->run_inputs.size(), place->prepare_inputs.size());
  const auto outputs = std::max(place->staged.outputs.size(), static_cast<std::size_t>(place->staged.stored));
  for (Worker& worker : workers_) {
    worker.buffers.resize(std::max(worker.buffers.size(), inputs * static_cast<std::size_t>(lanes_ + 8)));
    worker.outputs.resize(std::max(worker.outputs.size(), outputs));
  }
  return *place;
}

std::size_t FoundRows::bytes() const {
  std::size_t total = sizeof(*this) + data_.capacity() * sizeof(double) + packs_.capacity() * sizeof(PackRange);
  for (const auto* columns : {&a_, &b_})
    for (const Column& c : *columns)
      total += sizeof(c) + c.places.capacity() * sizeof(int) + c.at.capacity() * sizeof(Column::At);
  for (const auto& c : compiled_)
    if (c)
      total += (c->stored.capacity() + c->plan.copies.capacity() + c->plan.partials.capacity()) * sizeof(double) +
               c->staged.run.bytes() + c->staged.prepare.bytes();
  return total;
}

}  // namespace hypertape
