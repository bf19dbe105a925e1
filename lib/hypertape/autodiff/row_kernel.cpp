#include "hypertape/autodiff/row_kernel.hpp"

#include <algorithm>
#include <utility>

#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

struct AbortRecording {
  ~AbortRecording() { RowKernel::Scalar::abort_recording(); }
};

/// When an input changes: 0 with the data, 1 with x, 2 with y, 3 with the direction of a product.
int change_level(RowSource::Kind kind) {
  switch (kind) {
    case RowSource::Kind::d:
      return 0;
    case RowSource::Kind::b:
      return 1;
    case RowSource::Kind::a:
      return 2;
    default:
      return 3;
  }
}

}  // namespace

RowSelection RowKernel::all_of(RowParts parts) const {
  return {parts.value, std::vector<char>(static_cast<std::size_t>(parts.a ? widths_.a : 0), 1),
          std::vector<char>(static_cast<std::size_t>(parts.b ? widths_.b : 0), 1)};
}

Symbol RowKernel::input(RowSource source) {
  const auto [place, is_new] = numbers_.try_emplace(source, static_cast<int>(sources_.size()));
  if (is_new) sources_.push_back(source);
  return Symbol::of(graph_.input(place->second));
}

bool RowKernel::is_uniform(RowSource source) const {
  if (!use_) return false;
  const bool of_a = source.kind == RowSource::Kind::a || source.kind == RowSource::Kind::direction_a;
  const bool of_b = source.kind == RowSource::Kind::b || source.kind == RowSource::Kind::direction_b;
  return (of_a && use_->uniform_a[static_cast<std::size_t>(source.index)]) ||
         (of_b && use_->uniform_b[static_cast<std::size_t>(source.index)]);
}

RowResult RowKernel::result_of(RowSource source) const {
  if (!use_) return RowResult::pack;
  if (source == value_source) return use_->result_value;
  return (source.kind == RowSource::Kind::a ? use_->result_a : use_->result_b)[static_cast<std::size_t>(source.index)];
}

RowKernel::RowKernel(const Recorded& phi, RowWidths widths, double weight, std::optional<RowUse> use)
    : widths_(widths), weight_(weight), use_(std::move(use)) {
  const IntoGraph into(graph_);
  const auto entry = slot_.enter();
  tape_.emplace();
  auto& tape = tape_->function;
  auto& point = tape_->point;
  CppAD::vector<Scalar> z(static_cast<std::size_t>(widths.a + widths.b + widths.d)), result(1);
  point.resize(z.size());
  std::size_t k = 0;
  const auto add_inputs = [&](RowSource::Kind kind, int count) {
    for (int i = 0; i < count; ++i, ++k) z[k] = point[k] = input({kind, i});
  };
  add_inputs(RowSource::Kind::a, widths.a);
  add_inputs(RowSource::Kind::b, widths.b);
  add_inputs(RowSource::Kind::d, widths.d);

  const AbortRecording on_exception;
  CppAD::Independent(z);
  k = 0;
  VecT<Scalar> va("a", widths.a), vb("b", widths.b), vd("d", widths.d);
  for (auto* part : {&va, &vb, &vd})
    for (Index i = 0; i < part->size(); ++i) (*part)[i] = z[k++];
  try {
    result[0] = phi(va, vb, vd);
  } catch (const std::out_of_range& outside) {  // from VecT
    throw std::invalid_argument(text("row function: ", outside.what()));
  }
  require(use_ || CppAD::Variable(result[0]), "row function: does not depend on a, b or d (it returned a constant)");
  tape.Dependent(z, result);
  tape.check_for_nan(false);
}

RowKernel::~RowKernel() {
  const auto entry = slot_.enter();
  tape_.reset();
}

namespace {

/// f(source, place in z) for the selected components.
template <class F>
void for_selected(const RowSelection& selection, RowWidths widths, const F& f) {
  for (std::size_t i = 0; i < selection.a.size(); ++i)
    if (selection.a[i]) f(RowSource{RowSource::Kind::a, static_cast<int>(i)}, i);
  for (std::size_t i = 0; i < selection.b.size(); ++i)
    if (selection.b[i]) f(RowSource{RowSource::Kind::b, static_cast<int>(i)}, static_cast<std::size_t>(widths.a) + i);
}

RowSource direction_of(RowSource source) {
  return {source.kind == RowSource::Kind::a ? RowSource::Kind::direction_a : RowSource::Kind::direction_b,
          source.index};
}

/// What a product costs at a fixed point: reading what is stored for a row takes as long as two operations.
int cost(const StagedProgram& staged) { return staged.run.instructions() + 2 * staged.stored; }

}  // namespace

StagedProgram RowKernel::gradient_by(const RowSelection& wanted, Fixed fixed) {
  const IntoGraph into(graph_);
  const auto entry = slot_.enter();
  auto& [tape, point] = *tape_;
  CppAD::vector<Symbol> weight(1);
  weight[0] = weight_;
  const Symbol value = tape.Forward(0, point)[0];
  const auto derivative = tape.Reverse(1, weight);
  std::vector<Output> outputs;
  if (wanted.value) outputs.push_back({value_source, use_ ? value : Symbol(weight_) * value});
  for_selected(wanted, widths_, [&](RowSource source, std::size_t k) { outputs.push_back({source, derivative[k]}); });
  return stage(std::move(outputs), fixed);
}

std::vector<RowKernel::Output> RowKernel::product_by_tangent(const RowSelection& direction,
                                                             const RowSelection& wanted) {
  auto& tape = tape_->function;
  auto& point = tape_->point;
  CppAD::vector<Symbol> along(point.size()), weight(1);
  for (std::size_t i = 0; i < along.size(); ++i) along[i] = 0.0;
  for_selected(direction, widths_, [&](RowSource source, std::size_t k) { along[k] = input(direction_of(source)); });
  weight[0] = weight_;
  tape.Forward(0, point);
  tape.Forward(1, along);
  const auto derivative = tape.Reverse(2, weight);  // as in CppadTape: the Hessian product stands at 2 j + 1
  std::vector<Output> outputs;
  for_selected(wanted, widths_, [&](RowSource source, std::size_t k) {
    outputs.push_back({source, derivative[2 * k + 1]});
  });
  return outputs;
}

/// The entries of the Hessian times the components of the direction: where they are few, less may have to be stored for
/// a row than for the tangent of its gradient.
std::vector<RowKernel::Output> RowKernel::product_by_entries(const RowSelection& direction,
                                                             const RowSelection& wanted) {
  auto& tape = tape_->function;
  auto& point = tape_->point;
  CppAD::vector<Symbol> along(point.size()), weight(1);
  weight[0] = weight_;
  std::vector<Output> outputs;
  std::map<std::pair<std::size_t, std::size_t>, Symbol> entries;
  for_selected(wanted, widths_, [&](RowSource source, std::size_t) { outputs.push_back({source, Symbol(0)}); });
  tape.Forward(0, point);
  for_selected(direction, widths_, [&](RowSource source, std::size_t k) {
    for (std::size_t i = 0; i < along.size(); ++i) along[i] = i == k ? 1.0 : 0.0;
    tape.Forward(1, along);
    const auto derivative = tape.Reverse(2, weight);
    auto output = outputs.begin();
    for_selected(wanted, widths_, [&](RowSource, std::size_t j) {
      // The Hessian is symmetric: an entry is one expression, wherever it is used.
      const Symbol entry = entries.try_emplace({std::min(j, k), std::max(j, k)}, derivative[2 * j + 1]).first->second;
      output->symbol += entry * input(direction_of(source));
      ++output;
    });
  });
  return outputs;
}

StagedProgram RowKernel::hessian_product_by(const RowSelection& direction, const RowSelection& wanted, Fixed fixed) {
  const IntoGraph into(graph_);
  const auto entry = slot_.enter();
  StagedProgram by_tangent = stage(product_by_tangent(direction, wanted), fixed);
  const auto count = [](const RowSelection& s) {
    return std::count(s.a.begin(), s.a.end(), 1) + std::count(s.b.begin(), s.b.end(), 1);
  };
  // Entries grow with the square of the components: beyond three they have never been fewer than what a tangent needs.
  constexpr auto most_components = 3;
  if (!use_ || fixed != Fixed::a_and_b || count(direction) > most_components || count(wanted) > most_components)
    return by_tangent;
  StagedProgram by_entries = stage(product_by_entries(direction, wanted), fixed);
  return cost(by_entries) < cost(by_tangent) ? std::move(by_entries) : std::move(by_tangent);
}

StagedProgram RowKernel::hessian_diagonal(Fixed fixed) {
  const IntoGraph into(graph_);
  const auto entry = slot_.enter();
  auto& [tape, point] = *tape_;
  const CppAD::vector<Symbol> none(point.size());  // zeros
  tape.Forward(0, point);
  std::vector<Output> outputs;
  for (int k = 0; k < widths_.a; ++k) {
    CppAD::vector<Symbol> along = none;
    along[static_cast<std::size_t>(k)] = 1.0;
    tape.Forward(1, along);
    // phi(a + t e_k) = ... + t^2 phi_kk / 2 + ...
    outputs.push_back({{RowSource::Kind::a, k}, Symbol(2 * weight_) * tape.Forward(2, none)[0]});
  }
  return stage(std::move(outputs), fixed);
}

StagedProgram RowKernel::stage(std::vector<Output> outputs, Fixed fixed) {
  const int last_fixed = fixed == Fixed::nothing ? -1 : fixed == Fixed::b ? 1 : 2;
  const auto at = [](auto& v, int i) -> auto& { return v[static_cast<std::size_t>(i)]; };
  const auto source_of = [&](int n) -> RowSource { return at(sources_, graph_[n].arguments[0]); };
  std::vector<int> wanted;
  StagedProgram staged;
  RowLayout run_layout, prepare_layout;
  if (use_) std::erase_if(outputs, [](const Output& o) { return o.symbol.is(0); });
  for (const Output& o : outputs) {
    wanted.push_back(o.symbol.node());
    staged.outputs.push_back(o.source);
    if (use_) run_layout.results.push_back(result_of(o.source));
    staged.is_zero = staged.is_zero && o.symbol.is(0);
  }

  std::vector<int> level(static_cast<std::size_t>(graph_.size()), -1);
  std::vector<char> uniform(level.size(), 1);
  for (int n = 0; n < graph_.size(); ++n) {
    const auto& node = graph_[n];
    if (node.op == Op::input) {
      at(level, n) = change_level(source_of(n).kind);
      at(uniform, n) = is_uniform(source_of(n));
    }
    for (int k = 0; k < arity(node.op); ++k) {
      at(level, n) = std::max(at(level, n), at(level, node.arguments[k]));
      at(uniform, n) = at(uniform, n) && at(uniform, node.arguments[k]);
    }
  }

  // The values that `run` reads: inputs, and what is fixed but read by something that is not.
  std::vector<char> needed(level.size(), 0);
  std::vector<int> stored, prepare_inputs, run_inputs;
  // What is made of data alone is a sign or a factor of it where rows were found: as quickly made as read.
  const int first_fixed = use_ ? 1 : 0;
  const auto is_fixed = [&](int n) { return at(level, n) >= first_fixed && at(level, n) <= last_fixed; };
  for (const int n : wanted) at(needed, n) = 1;
  for (int n = graph_.size() - 1; n >= 0; --n) {
    if (!at(needed, n)) continue;
    const bool is_input = graph_[n].op == Op::input;
    // At a fixed point a and b are stored as well, so that a product needs nothing but its direction.
    const bool at_hand =
        is_input && (use_ || fixed != Fixed::a_and_b || !is_fixed(n) || source_of(n).kind == RowSource::Kind::d);
    if (at_hand) {
      run_inputs.push_back(n);
      staged.run_sources.push_back(source_of(n));
      run_layout.uniform.push_back(at(uniform, n));
    } else if (is_fixed(n) && !at(uniform, n)) {
      run_inputs.push_back(n);
      staged.run_sources.push_back({RowSource::Kind::stored, static_cast<int>(stored.size())});
      run_layout.uniform.push_back(0);
      stored.push_back(n);
    } else {
      for (int k = 0; k < arity(graph_[n].op); ++k) at(needed, graph_[n].arguments[k]) = 1;
    }
  }
  std::vector<char> prepared(level.size(), use_ ? 0 : 1);
  for (const int n : stored) at(prepared, n) = 1;
  for (int n = graph_.size() - 1; n >= 0; --n)
    for (int k = 0; k < arity(graph_[n].op) && at(prepared, n); ++k) at(prepared, graph_[n].arguments[k]) = 1;
  for (int n = 0; n < graph_.size() && !stored.empty(); ++n)
    if (graph_[n].op == Op::input && at(level, n) <= last_fixed && at(prepared, n)) {
      prepare_inputs.push_back(n);
      staged.prepare_sources.push_back(source_of(n));
      prepare_layout.uniform.push_back(at(uniform, n));
    }
  staged.stored = static_cast<int>(stored.size());
  staged.prepare = RowProgram(graph_, prepare_inputs, stored, prepare_layout);
  staged.run = RowProgram(graph_, run_inputs, wanted, run_layout);
  return staged;
}

}  // namespace hypertape
