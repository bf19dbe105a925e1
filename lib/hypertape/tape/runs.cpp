#include "hypertape/tape/runs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "hypertape/autodiff/tape_slot.hpp"
#include "hypertape/tape/replay.hpp"

namespace hypertape {
namespace {

using SymbolScalar = CppAD::AD<Symbol>;

/// The function and its derivatives as nodes of a graph, whose inputs are x, y and the directions p, q.
struct Derivatives {
  Graph graph;
  int value = 0;
  std::vector<int> comparisons, gradient, product;
};

Derivatives derive(const Recording& recorded, Independent independent) {
  Derivatives out;
  const TapeSlot slot;
  const auto entry = slot.enter();
  const IntoGraph into(out.graph);
  const auto nx = static_cast<std::size_t>(recorded.dims.x), n = static_cast<std::size_t>(recorded.inputs());
  const std::size_t begin = independent == Independent::both ? 0 : nx;
  const auto input = [&](std::size_t k) { return Symbol::of(out.graph.input(static_cast<int>(k))); };

  CppAD::vector<Symbol> point(n - begin), along(n - begin), weight(1);
  for (std::size_t k = 0; k < n; ++k) input(k);  // in this order, whatever is used first
  for (std::size_t k = begin; k < n; ++k) {
    point[k - begin] = input(k);
    along[k - begin] = input(n + k);
  }
  weight[0] = 1.0;

  CppAD::ADFun<Symbol> tape;
  {
    const AbortRecording<SymbolScalar> on_exception;
    CppAD::vector<SymbolScalar> z(point.size()), result(1);
    std::copy_n(point.data(), point.size(), z.data());
    CppAD::Independent(z);
    std::vector<SymbolScalar> inputs;
    for (std::size_t k = 0; k < begin; ++k) inputs.push_back(input(k));
    inputs.insert(inputs.end(), z.data(), z.data() + z.size());
    const auto symbol_of = [](const SymbolScalar& s) { return CppAD::Value(CppAD::Var2Par(s)); };
    result[0] = replay(recorded, std::move(inputs), [&](Op op, const std::array<SymbolScalar, 4>& arguments) {
      const auto [left, right, if_true, if_false] = arguments;
      out.comparisons.push_back(
          Symbol::select(op, symbol_of(left), symbol_of(right), symbol_of(if_true), symbol_of(if_false)).node());
    });
    tape.Dependent(z, result);
  }
  tape.check_for_nan(false);
  out.value = tape.Forward(0, point)[0].node();
  const auto first = tape.Reverse(1, weight);
  for (std::size_t k = 0; k < point.size(); ++k) out.gradient.push_back(first[k].node());
  tape.Forward(1, along);
  const auto second = tape.Reverse(2, weight);  // the Hessian product stands at 2 j + 1, the gradient at 2 j
  for (std::size_t k = 0; k < point.size(); ++k) out.product.push_back(second[2 * k + 1].node());
  return out;
}

}  // namespace

/// Puts the nodes of the graph into stages, and orders each of them.
class Runs::Compiler {
  template <class V>
  static auto& at(V& v, int i) {
    return v[static_cast<std::size_t>(i)];
  }

 public:
  Compiler(Runs& runs, const Derivatives& derivatives)
      : runs_(runs),
        graph_(derivatives.graph),
        stage_(static_cast<std::size_t>(graph_.size()), -1),
        users_(stage_.size(), 0),
        fused_(stage_.size(), 0),
        place_(stage_.size(), -1) {
    choose_stages(derivatives);
    choose_products();
    place_inputs();
    for (int stage = 0; stage < stages; ++stage) order(static_cast<Stage>(stage));
  }

  int place(int node) const { return at(place_, node); }

 private:
  /// What is computed for a node: an operation, or one with a product in it.
  struct Task {
    ScalarRun::Code code;
    Op op;
    int width;
    std::array<int, 4> arguments;
    auto kind() const { return std::pair(code, op); }
  };

  bool is_operation(int n) const { return arity(graph_[n].op) > 0; }

  void choose_stages(const Derivatives& d) {
    // Of inputs and what is computed from them: whether it changes with y, and with the direction.
    const int x_end = static_cast<int>(runs_.dims_.x), y_end = x_end + static_cast<int>(runs_.dims_.y);
    std::vector<Stage> changes(stage_.size(), given_x);
    for (int n = 0; n < graph_.size(); ++n) {
      const auto& node = graph_[n];
      if (node.op == Op::input)
        at(changes, n) = node.arguments[0] < x_end ? given_x : node.arguments[0] < y_end ? primal : product;
      for (int k = 0; k < arity(node.op); ++k)
        at(changes, n) = std::max(at(changes, n), at(changes, node.arguments[k]));
    }
    const auto need = [&](const std::vector<int>& wanted, Stage stage) {
      std::vector<char> is_new(stage_.size(), 0);
      const auto visit = [&](int n) {
        ++at(users_, n);
        if (at(stage_, n) >= 0) return;
        const bool x_alone = stage < linearisation && at(changes, n) == given_x;
        at(stage_, n) = x_alone ? given_x : at(changes, n) == product ? product : stage;
        at(is_new, n) = 1;
      };
      for (const int n : wanted) visit(n);
      for (int n = graph_.size() - 1; n >= 0; --n)  // arguments stand before their nodes
        for (int k = 0; k < arity(graph_[n].op) && at(is_new, n); ++k) visit(graph_[n].arguments[k]);
    };
    need({d.value}, primal);
    need(d.comparisons, primal);
    need(d.gradient, adjoint);
    need(d.product, linearisation);
  }

  /// A product that one sum or difference needs, and nothing else, is computed with it.
  void choose_products() {
    const auto is_free = [&](int n, int user) {
      return graph_[n].op == Op::mul && at(users_, n) == 1 && at(stage_, n) == at(stage_, user);
    };
    for (int n = 0; n < graph_.size(); ++n) {
      const auto& node = graph_[n];
      if (at(stage_, n) < 0 || (node.op != Op::add && node.op != Op::sub)) continue;
      for (const int k : {1, 0})
        if (is_free(node.arguments[static_cast<std::size_t>(k)], n)) {
          at(fused_, node.arguments[static_cast<std::size_t>(k)]) = 1;
          break;
        }
    }
  }

  Task task(int n) const {
    const auto& node = graph_[n];
    const auto [a, b, c, d] = node.arguments;
    if ((node.op == Op::add || node.op == Op::sub) && (at(fused_, a) || at(fused_, b))) {
      const bool second = at(fused_, b);
      const auto& factors = graph_[second ? b : a].arguments;
      const ScalarRun::Code code = node.op == Op::add ? ScalarRun::Code::multiply_add
                                   : second           ? ScalarRun::Code::negative_multiply_add
                                                      : ScalarRun::Code::multiply_subtract;
      return {code, Op::mul, 3, {factors[0], factors[1], second ? a : b, 0}};
    }
    return {ScalarRun::Code::operation, node.op, arity(node.op), node.arguments};
  }

  void place_inputs() {
    runs_.places_ = 2 * static_cast<int>(runs_.dims_.x + runs_.dims_.y);
    runs_.initial_.assign(static_cast<std::size_t>(runs_.places_), 0);
    for (int n = 0; n < graph_.size(); ++n) {
      if (graph_[n].op == Op::input) at(place_, n) = graph_[n].arguments[0];
      if (graph_[n].op != Op::constant || at(stage_, n) < 0) continue;
      at(place_, n) = runs_.places_++;
      runs_.initial_.push_back(graph_[n].constant);
    }
  }

  void order(Stage stage) {
    std::vector<int> waits_for(stage_.size(), 0), next, user, head(stage_.size(), -1);  // lists of users of a node
    std::map<std::pair<ScalarRun::Code, Op>, std::vector<int>> ready;
    for (int n = 0; n < graph_.size(); ++n) {
      if (at(stage_, n) != stage || !is_operation(n) || at(fused_, n)) continue;
      const Task t = task(n);
      for (int k = 0; k < t.width; ++k) {
        const int argument = at(t.arguments, k);
        if (at(place_, argument) >= 0) continue;
        ++at(waits_for, n);
        next.push_back(std::exchange(at(head, argument), static_cast<int>(user.size())));
        user.push_back(n);
      }
      if (at(waits_for, n) == 0) ready[t.kind()].push_back(n);
    }
    Program& program = at(runs_.programs_, stage);
    program.first = runs_.places_;
    const auto longer = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
    while (!ready.empty()) {
      const auto commonest = std::max_element(ready.begin(), ready.end(), longer);
      const std::vector<int> now = std::move(commonest->second);
      program.runs.push_back({commonest->first.first, commonest->first.second, static_cast<int>(now.size())});
      ready.erase(commonest);
      for (const int n : now) {
        const Task t = task(n);
        for (int k = 0; k < t.width; ++k) program.operands.push_back(at(place_, at(t.arguments, k)));
        at(place_, n) = runs_.places_++;
      }
      for (const int n : now)
        for (int u = at(head, n); u >= 0; u = at(next, u))
          if (--at(waits_for, at(user, u)) == 0) ready[task(at(user, u)).kind()].push_back(at(user, u));
    }
    program.runs.shrink_to_fit();
    program.operands.shrink_to_fit();
    runs_.places_ += 7;  // a function may write that far behind its results
  }

  Runs& runs_;
  const Graph& graph_;
  std::vector<int> stage_, users_;
  std::vector<char> fused_;
  std::vector<int> place_;
};

Runs::Runs(const Recording& recorded, Independent independent) : dims_(recorded.dims), independent_(independent) {
  const Derivatives derivatives = derive(recorded, independent);
  const Compiler compiler(*this, derivatives);
  const auto places = [&](const std::vector<int>& nodes) {
    std::vector<int> out;
    for (const int n : nodes) out.push_back(compiler.place(n));
    return out;
  };
  value_ = compiler.place(derivatives.value);
  comparisons_ = places(derivatives.comparisons);
  gradient_ = places(derivatives.gradient);
  product_ = places(derivatives.product);
}

Runs::Memory Runs::memory() const {
  Memory memory;
  memory.numbers_.resize(static_cast<std::size_t>(places_));
  std::copy(initial_.begin(), initial_.end(), memory.numbers_.begin());
  return memory;
}

void Runs::run(const Kernels& kernels, Memory& memory, Stage stage) const {
  const Program& program = programs_[stage];
  kernels.run_runs(program.runs.data(), program.runs.size(), program.operands.data(), memory.numbers_.data(),
                   program.first);
}

void Runs::move_to(const Kernels& kernels, Memory& memory, const Vec& x, const Vec& y) const {
  double* const numbers = memory.numbers_.data();
  const bool same_x = memory.stages_ > given_x && std::equal(x.data(), x.data() + x.size(), numbers);
  std::copy_n(x.data(), x.size(), numbers);
  std::copy_n(y.data(), y.size(), numbers + x.size());
  memory.stages_ = same_x ? primal : given_x;
  compute(kernels, memory, adjoint);
  double changed = 0;
  for (const int c : comparisons_) changed += numbers[c];
  memory.changed_comparisons_ = static_cast<int>(changed);
}

void Runs::compute(const Kernels& kernels, Memory& memory, int end) const {
  for (; memory.stages_ < end; ++memory.stages_) run(kernels, memory, static_cast<Stage>(memory.stages_));
}

double Runs::value(const Kernels& kernels, Memory& memory, const Vec& x, const Vec& y) const {
  move_to(kernels, memory, x, y);
  return memory.numbers_[static_cast<std::size_t>(value_)];
}

namespace {

void copy_from(const double* numbers, const int* places, Vec& out) {
  for (Index k = 0; k < out.size(); ++k) out[k] = numbers[places[k]];
}

}  // namespace

double Runs::gradient(const Kernels& kernels, Memory& memory, const Vec& x, const Vec& y, Vec* gradient_x,
                      Vec& gradient_y) const {
  const double result = value(kernels, memory, x, y);
  compute(kernels, memory, linearisation);
  const Index nx = independent_ == Independent::both ? dims_.x : 0;
  if (gradient_x != nullptr) copy_from(memory.numbers_.data(), gradient_.data(), *gradient_x);
  copy_from(memory.numbers_.data(), gradient_.data() + nx, gradient_y);
  return result;
}

void Runs::hessian_product(const Kernels& kernels, Memory& memory, const Vec* p, const Vec* q, Vec* out_x,
                           Vec* out_y) const {
  compute(kernels, memory, product);
  double* const direction = memory.numbers_.data() + dims_.x + dims_.y;
  const auto fill = [](const Vec* from, Index size, double* to) {
    if (from != nullptr)
      std::copy_n(from->data(), size, to);
    else
      std::fill_n(to, size, 0.0);
  };
  fill(p, dims_.x, direction);
  fill(q, dims_.y, direction + dims_.x);
  run(kernels, memory, product);
  const Index nx = independent_ == Independent::both ? dims_.x : 0;
  if (out_x != nullptr) copy_from(memory.numbers_.data(), product_.data(), *out_x);
  if (out_y != nullptr) copy_from(memory.numbers_.data(), product_.data() + nx, *out_y);
}

std::size_t Runs::operations() const {
  std::size_t count = 0;
  for (const Program& program : programs_)
    for (const ScalarRun& r : program.runs) count += static_cast<std::size_t>(r.count);
  return count;
}

std::size_t Runs::bytes() const {
  std::size_t bytes = initial_.capacity() * sizeof(double) +
                      (comparisons_.capacity() + gradient_.capacity() + product_.capacity()) * sizeof(int);
  for (const Program& program : programs_)
    bytes += program.runs.capacity() * sizeof(ScalarRun) + program.operands.capacity() * sizeof(int);
  return bytes;
}

}  // namespace hypertape
