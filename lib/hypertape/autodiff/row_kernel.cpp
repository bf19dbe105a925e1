#include "hypertape/autodiff/row_kernel.hpp"

#include <algorithm>
#include <utility>

#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

/// Symbols go into this graph for a while.
class IntoGraph {
 public:
  explicit IntoGraph(Graph& graph) : outer_(std::exchange(Graph::current(), &graph)) {}
  ~IntoGraph() { Graph::current() = outer_; }
  IntoGraph(const IntoGraph&) = delete;
  IntoGraph& operator=(const IntoGraph&) = delete;

 private:
  Graph* outer_;
};

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

std::vector<Symbol> RowKernel::inputs(RowSource::Kind kind, int count) {
  std::vector<Symbol> symbols;
  for (int i = 0; i < count; ++i) {
    const RowSource source{kind, i};
    const auto known = std::find(sources_.begin(), sources_.end(), source);
    const int number = static_cast<int>(known - sources_.begin());
    if (known == sources_.end()) sources_.push_back(source);
    symbols.push_back(Symbol::of(graph_.input(number)));
  }
  return symbols;
}

RowKernel::RowKernel(const Recorded& phi, RowWidths widths, double weight) : widths_(widths), weight_(weight) {
  const IntoGraph into(graph_);
  const auto entry = slot_.enter();
  auto& [tape, point] = tape_.emplace();
  const auto a = inputs(RowSource::Kind::a, widths.a), b = inputs(RowSource::Kind::b, widths.b),
             d = inputs(RowSource::Kind::d, widths.d);
  CppAD::vector<Scalar> z(a.size() + b.size() + d.size()), result(1);
  point.resize(z.size());
  std::size_t k = 0;
  for (const auto* part : {&a, &b, &d})
    for (const Symbol& s : *part) z[k] = point[k] = s, ++k;

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
  require(CppAD::Variable(result[0]), "row function: does not depend on a, b or d (it returned a constant)");
  tape.Dependent(z, result);
  tape.check_for_nan(false);
}

RowKernel::~RowKernel() {
  const auto entry = slot_.enter();
  tape_.reset();
}

StagedProgram RowKernel::gradient(RowParts wanted, Fixed fixed) {
  const IntoGraph into(graph_);
  const auto entry = slot_.enter();
  auto& [tape, point] = *tape_;
  CppAD::vector<Symbol> weight(1);
  weight[0] = weight_;
  const Symbol value = tape.Forward(0, point)[0];
  const auto derivative = tape.Reverse(1, weight);
  std::vector<Symbol> outputs;
  if (wanted.value) outputs.push_back(Symbol(weight_) * value);
  for (int i = 0; i < widths_.a && wanted.a; ++i) outputs.push_back(derivative[static_cast<std::size_t>(i)]);
  for (int i = 0; i < widths_.b && wanted.b; ++i)
    outputs.push_back(derivative[static_cast<std::size_t>(widths_.a + i)]);
  return stage(outputs, fixed);
}

StagedProgram RowKernel::hessian_product(RowParts direction, RowParts wanted, Fixed fixed) {
  const IntoGraph into(graph_);
  const auto entry = slot_.enter();
  auto& [tape, point] = *tape_;
  const auto along_a = inputs(RowSource::Kind::direction_a, direction.a ? widths_.a : 0),
             along_b = inputs(RowSource::Kind::direction_b, direction.b ? widths_.b : 0);
  CppAD::vector<Symbol> along(point.size()), weight(1);
  for (std::size_t i = 0; i < along.size(); ++i) along[i] = 0.0;
  std::copy(along_a.begin(), along_a.end(), along.data());
  std::copy(along_b.begin(), along_b.end(), along.data() + widths_.a);
  weight[0] = weight_;
  tape.Forward(0, point);
  tape.Forward(1, along);
  const auto derivative = tape.Reverse(2, weight);  // as in CppadTape: the Hessian product stands at 2 j + 1
  std::vector<Symbol> outputs;
  for (int i = 0; i < widths_.a && wanted.a; ++i) outputs.push_back(derivative[static_cast<std::size_t>(2 * i + 1)]);
  for (int i = 0; i < widths_.b && wanted.b; ++i)
    outputs.push_back(derivative[static_cast<std::size_t>(2 * (widths_.a + i) + 1)]);
  return stage(outputs, fixed);
}

StagedProgram RowKernel::hessian_diagonal(Fixed fixed) {
  const IntoGraph into(graph_);
  const auto entry = slot_.enter();
  auto& [tape, point] = *tape_;
  const CppAD::vector<Symbol> none(point.size());  // zeros
  tape.Forward(0, point);
  std::vector<Symbol> outputs;
  for (int k = 0; k < widths_.a; ++k) {
    CppAD::vector<Symbol> along = none;
    along[static_cast<std::size_t>(k)] = 1.0;
    tape.Forward(1, along);
    outputs.push_back(Symbol(2 * weight_) * tape.Forward(2, none)[0]);  // phi(a + t e_k) = ... + t^2 phi_kk / 2 + ...
  }
  return stage(outputs, fixed);
}

StagedProgram RowKernel::stage(const std::vector<Symbol>& outputs, Fixed fixed) {
  const int last_fixed = fixed == Fixed::nothing ? -1 : fixed == Fixed::b ? 1 : 2;
  const auto at = [](auto& v, int i) -> auto& { return v[static_cast<std::size_t>(i)]; };
  std::vector<int> wanted;
  StagedProgram staged;
  for (const Symbol& s : outputs) {
    wanted.push_back(s.node());
    staged.is_zero = staged.is_zero && s.is(0);
  }

  std::vector<int> level(static_cast<std::size_t>(graph_.size()), -1);
  for (int n = 0; n < graph_.size(); ++n) {
    const auto& node = graph_[n];
    if (node.op == Op::input) at(level, n) = change_level(at(sources_, node.arguments[0]).kind);
    for (int k = 0; k < arity(node.op); ++k) at(level, n) = std::max(at(level, n), at(level, node.arguments[k]));
  }

  // The values that `run` reads: inputs, and what is fixed but read by something that is not.
  std::vector<char> needed(level.size(), 0);
  std::vector<int> stored, prepare_inputs, run_inputs;
  const auto is_fixed = [&](int n) { return at(level, n) >= 0 && at(level, n) <= last_fixed; };
  for (const int n : wanted) at(needed, n) = 1;
  for (int n = graph_.size() - 1; n >= 0; --n) {
    if (!at(needed, n)) continue;
    const bool is_input = graph_[n].op == Op::input;
    // At a fixed point a and b are stored as well, so that a product needs nothing but its direction.
    const bool at_hand = is_input && (fixed != Fixed::a_and_b || !is_fixed(n) ||
                                      at(sources_, graph_[n].arguments[0]).kind == RowSource::Kind::d);
    if (at_hand) {
      run_inputs.push_back(n);
      staged.run_sources.push_back(at(sources_, graph_[n].arguments[0]));
    } else if (is_fixed(n)) {
      run_inputs.push_back(n);
      staged.run_sources.push_back({RowSource::Kind::stored, static_cast<int>(stored.size())});
      stored.push_back(n);
    } else {
      for (int k = 0; k < arity(graph_[n].op); ++k) at(needed, graph_[n].arguments[k]) = 1;
    }
  }
  for (int n = 0; n < graph_.size() && !stored.empty(); ++n)
    if (graph_[n].op == Op::input && is_fixed(n)) {
      prepare_inputs.push_back(n);
      staged.prepare_sources.push_back(at(sources_, graph_[n].arguments[0]));
    }
  staged.stored = static_cast<int>(stored.size());
  staged.prepare = RowProgram(graph_, prepare_inputs, stored);
  staged.run = RowProgram(graph_, run_inputs, wanted);
  return staged;
}

}  // namespace hypertape
