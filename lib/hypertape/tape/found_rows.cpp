#include "hypertape/tape/found_rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "hypertape/tape/replay.hpp"

namespace hypertape {
namespace {

// Rows of a pack. Reading an instruction and finding its packs costs as much as some ten lanes, so packs are long: 256
// rows, or half as many where a row has more columns than this. Rows of 200 columns (ridge in bench_tapes) take 1.3
// times as long in packs of 64, and 1.75 times in packs of 32, though fewer of those would stay in the first cache.
constexpr int long_pack = 256, short_pack = 128, many_columns = 32;
// A pack is cut where a stride changes unless it would become shorter than this: then its leaves are gathered.
constexpr int shortest_cut = 16;

auto& at(auto& v, auto n) { return v[static_cast<std::size_t>(n)]; }

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

FoundRows::FoundRows(RowGroup group, Dims dims, int slots, std::optional<double> weight, const Kernels& kernels)
    : kernels_(kernels),
      dims_(dims),
      slots_(slots),
      rows_(group.rows),
      target_(group.target),
      adds_(group.adds),
      depends_on_x_(group.depends_on_x),
      depends_on_y_(group.depends_on_y),
      weight_(weight) {
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

  const int column_count = static_cast<int>(varying.size()) + data_columns_;
  const int preferred = column_count <= many_columns ? long_pack : short_pack;
  const int count = std::max(1, (rows_ + preferred / 2) / preferred);
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
  place->prepare_scratch = RowProgram::Scratch(place->staged.prepare, lanes_);
  place->run_scratch = RowProgram::Scratch(place->staged.run, lanes_);
  place->prepare_inputs = inputs_of(place->staged.prepare_sources);
  place->run_inputs = inputs_of(place->staged.run_sources);
  for (std::size_t k = 0; k < place->staged.outputs.size(); ++k) {
    const RowSource& source = place->staged.outputs[k];
    const bool varies = is_value(source) ? !adds_ : !column(source).uniform;
    if (varies) place->varying_outputs.push_back(static_cast<int>(k));
  }
  const std::size_t inputs = std::max(place->staged.run_sources.size(), place->staged.prepare_sources.size());
  const std::size_t room = inputs * static_cast<std::size_t>(lanes_ + 8);
  if (buffers_.size() < room) buffers_.resize(room);
  const auto outputs = std::max(place->staged.outputs.size(), static_cast<std::size_t>(place->staged.stored));
  if (outputs_.size() < outputs) outputs_.resize(outputs);
  return *place;
}

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
                          std::size_t pack, const double** inputs) {
  const PackRange& range = packs_[pack];
  const std::ptrdiff_t length = padded(range.rows);
  const double* const data = data_.data() + range.lanes * static_cast<std::size_t>(data_columns_);
  const double* const stored = compiled.stored.data() + range.lanes * static_cast<std::size_t>(compiled.staged.stored);
  double* buffer = buffers_.data();
  for (const Input& input : packs) {
    if (input.column == nullptr) {
      inputs[input.number] = (input.source.kind == RowSource::Kind::d ? data : stored) + input.source.index * length;
    } else {
      inputs[input.number] = read(*input.column, source_array(input.source, arguments), pack, buffer);
      buffer += lanes_ + 8;
    }
  }
}

void FoundRows::prepare(FoundPass pass, const FoundArguments& arguments) {
  Compiled& c = compiled(pass);
  if (c.staged.is_zero || c.staged.stored == 0) return;
  set_numbers(c.staged.prepare_sources, arguments, c.prepare_scratch.inputs());
  c.staged.prepare.begin(c.prepare_scratch);
  for (std::size_t p = 0; p < packs_.size(); ++p) {
    set_packs(c.prepare_inputs, arguments, c, p, c.prepare_scratch.inputs());
    const auto length = static_cast<std::size_t>(padded(packs_[p].rows));
    double* to = c.stored.data() + packs_[p].lanes * static_cast<std::size_t>(c.staged.stored);
    for (int k = 0; k < c.staged.stored; ++k, to += length) at(outputs_, k) = {to};
    c.staged.prepare.run_rows(kernels_, c.prepare_scratch, outputs_.data(), packs_[p].rows);
  }
}

void FoundRows::run(FoundPass pass, const FoundArguments& arguments) {
  Compiled& c = compiled(pass);
  if (c.staged.is_zero) return;
  if (pass == FoundPass::gradient_y && (arguments.new_x || !c.prepared)) {
    prepare(pass, arguments);
    c.prepared = true;
  }
  set_numbers(c.staged.run_sources, arguments, c.run_scratch.inputs());
  c.staged.run.begin(c.run_scratch);
  for (std::size_t k = 0; k < c.staged.outputs.size(); ++k) outputs_[k] = output(c.staged.outputs[k], arguments, 0);
  for (std::size_t p = 0; p < packs_.size(); ++p) {
    set_packs(c.run_inputs, arguments, c, p, c.run_scratch.inputs());
    for (std::size_t k = 0; k < c.staged.outputs.size(); ++k) outputs_[k] = output(c.staged.outputs[k], arguments, p);
    c.staged.run.run_rows(kernels_, c.run_scratch, outputs_.data(), packs_[p].rows);
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

std::size_t FoundRows::bytes() const {
  std::size_t total = sizeof(*this) + data_.capacity() * sizeof(double) + packs_.capacity() * sizeof(PackRange) +
                      buffers_.capacity() * sizeof(double);
  for (const auto* columns : {&a_, &b_})
    for (const Column& c : *columns)
      total += sizeof(c) + c.places.capacity() * sizeof(int) + c.at.capacity() * sizeof(Column::At);
  for (const auto& c : compiled_)
    if (c) total += c->stored.capacity() * sizeof(double) + c->staged.run.bytes() + c->staged.prepare.bytes();
  return total;
}

}  // namespace hypertape
