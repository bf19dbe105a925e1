#include "hypertape/autodiff/row_program.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hypertape {

using Code = Instruction::Code;

class RowProgram::Compiler {
 public:
  Compiler(RowProgram& program, const Graph& graph, const std::vector<int>& inputs, const std::vector<int>& outputs,
           const RowLayout& layout)
      : p_(program), graph_(graph), inputs_(inputs), outputs_(outputs), layout_(layout) {}

  void run() {
    find_what_is_needed();
    find_numbers();
    fuse_products();
    find_output_products();
    emit();
    order_dots();
    place();
  }

 private:
  static constexpr int unknown = -1, no_slot = 1 << 30;
  // Until their number is known, slots behind the inputs are counted from these.
  static constexpr int constant_slots = 1 << 28, number_slots = 2 << 28, temporary_slots = 3 << 28;

  static auto& at(auto& v, int i) { return v[static_cast<std::size_t>(i)]; }
  bool is_input(int n) const { return at(input_, n) != unknown; }
  bool is_number(int n) const { return at(number_, n); }
  RowResult result_of(int output) const {
    return layout_.results.empty() ? RowResult::pack : at(layout_.results, output);
  }
  template <class F>
  void for_arguments(int n, const F& f) const {
    for (int k = 0; k < arity(graph_[n].op); ++k) f(at(graph_[n].arguments, k));
  }

  /// Arguments stand before their node, so one sweep back finds what is needed, and one forward computes it.
  void find_what_is_needed() {
    const auto size = static_cast<std::size_t>(graph_.size());
    input_.assign(size, unknown);
    uses_.assign(size, 0);
    needed_.assign(size, 0);
    outputs_of_.assign(size, {});
    for (std::size_t i = 0; i < inputs_.size(); ++i) at(input_, inputs_[i]) = static_cast<int>(i);
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      at(needed_, outputs_[o]) = 1;
      ++at(uses_, outputs_[o]);
      at(outputs_of_, outputs_[o]).push_back(static_cast<int>(o));
    }
    for (int n = graph_.size() - 1; n >= 0; --n)
      if (at(needed_, n) && !is_input(n))
        for_arguments(n, [&](int a) {
          at(needed_, a) = 1;
          ++at(uses_, a);
        });
  }

  /// What depends on uniform inputs and constants alone is computed once, before the packs.
  void find_numbers() {
    number_.assign(needed_.size(), 0);
    slot_of_number_.assign(needed_.size(), unknown);
    constant_pack_.assign(needed_.size(), unknown);
    for (int n = 0; n < graph_.size(); ++n) {
      if (!at(needed_, n)) continue;
      if (is_input(n)) {
        at(number_, n) = !layout_.uniform.empty() && at(layout_.uniform, at(input_, n));
      } else {
        bool all = true, any_input = graph_[n].op == Op::constant;
        for_arguments(n, [&](int a) {
          all = all && is_number(a);
          any_input = any_input || graph_[a].op != Op::constant;
        });
        at(number_, n) = all && any_input;  // what is made of constants alone was folded, as a rule
      }
    }
  }

  int number_slot(int n) {
    int& place = at(slot_of_number_, n);
    if (place != unknown) return place;
    if (is_input(n)) {
      place = p_.numbers_++;
      p_.number_inputs_.emplace_back(place, at(input_, n));
    } else if (graph_[n].op == Op::constant) {
      place = p_.numbers_++;
      p_.number_values_.emplace_back(place, graph_[n].constant);
    } else {
      NumberStep step{graph_[n].op, 0, {}};
      for (int k = 0; k < arity(step.op); ++k) at(step.arguments, k) = number_slot(at(graph_[n].arguments, k));
      place = step.target = p_.numbers_++;
      p_.number_steps_.push_back(step);
    }
    return place;
  }

  bool is_output(int n) const { return !at(outputs_of_, n).empty(); }
  bool fusible(int n) const {
    return graph_[n].op == Op::mul && at(uses_, n) == 1 && !is_input(n) && !is_number(n) && !is_output(n);
  }

  /// A product that is used once, in a sum, becomes part of it.
  void fuse_products() {
    fused_.assign(needed_.size(), 0);
    for (int n = 0; n < graph_.size(); ++n) {
      if (!at(needed_, n) || is_input(n) || is_number(n)) continue;
      const auto& [a, b, c, d] = graph_[n].arguments;
      if (graph_[n].op == Op::add && fusible(a))
        at(fused_, a) = 1;
      else if ((graph_[n].op == Op::add || graph_[n].op == Op::sub) && fusible(b))
        at(fused_, b) = 1;
    }
  }

  /// A product that is nothing but added somewhere is made there.
  void find_output_products() {
    output_product_.assign(needed_.size(), 0);
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const int n = outputs_[o];
      if (graph_[n].op != Op::mul || at(uses_, n) != 1 || is_input(n) || is_number(n)) continue;
      const bool varies = !is_number(graph_[n].arguments[0]) && !is_number(graph_[n].arguments[1]);
      const RowResult result = result_of(static_cast<int>(o));
      at(output_product_, n) = result == RowResult::accumulate || (result == RowResult::sum && varies);
    }
  }

  /// The slot of an argument. One number where packs are expected becomes a pack: a constant for good, others by a
  /// copy.
  int pack_slot(int n) {
    if (is_input(n) && !is_number(n)) return at(input_, n);
    if (!is_number(n)) return at(temporary_, n);
    if (graph_[n].op == Op::constant && !is_input(n)) {
      int& place = at(constant_pack_, n);
      if (place == unknown) {
        place = static_cast<int>(p_.constants_.size());
        p_.constants_.push_back(graph_[n].constant);
      }
      return constant_slots + place;
    }
    const int target = take();
    p_.code_.push_back({Code::copy, Op::input, target, {number_slots + number_slot(n)}, 1});
    copies_.push_back(target);
    return target;
  }

  int take() {
    if (free_.empty()) return temporary_slots + p_.temporaries_++;
    const int place = free_.back();
    free_.pop_back();
    return place;
  }

  /// When a temporary was used for the last time its place is free for the next one, so all of them stay in cache.
  void release(int n) {
    if (--at(uses_, n) == 0 && !is_number(n) && at(temporary_, n) != no_slot) free_.push_back(at(temporary_, n));
  }

  /// Reads the arguments into an instruction, numbers as such where `takes_numbers` says that it can.
  void read(Instruction& i, const std::array<int, 4>& nodes, unsigned takes_numbers) {
    for (int k = 0; k < 4 && at(nodes, k) != unknown; ++k) {
      const int n = at(nodes, k);
      if (is_number(n) && (takes_numbers >> k & 1)) {
        i.arguments[k] = number_slots + number_slot(n);
        i.uniform = static_cast<std::uint8_t>(i.uniform | 1u << k);
      } else {
        i.arguments[k] = pack_slot(n);
      }
    }
  }

  /// The factors of a product; of one with a number, that comes second.
  std::pair<int, int> factors(int n) const {
    const auto& [a, b, c, d] = graph_[n].arguments;
    return is_number(a) ? std::pair{b, a} : std::pair{a, b};
  }

  void emit() {
    temporary_.assign(needed_.size(), no_slot);
    for (int n = 0; n < graph_.size(); ++n) {
      if (!at(needed_, n) || at(fused_, n)) continue;
      if (!is_input(n) && !is_number(n) && !at(output_product_, n)) emit_node(n);
      for (const int o : at(outputs_of_, n)) emit_output(n, o);
    }
  }

  void emit_node(int n) {
    const Graph::Node& node = graph_[n];
    Instruction i{Code::operation, node.op, 0, {}};
    std::array<int, 4> nodes{unknown, unknown, unknown, unknown};
    const int a = node.arguments[0], b = node.arguments[1];
    const bool sum = node.op == Op::add || node.op == Op::sub;
    if (sum && (at(fused_, b) || at(fused_, a))) {
      const bool second = !at(fused_, a);
      const auto [p, q] = factors(second ? b : a);
      i.code = node.op == Op::add ? Code::multiply_add : Code::negative_multiply_add;
      nodes = {p, q, second ? a : b, unknown};
      read(i, nodes, 6);
    } else {
      std::copy_n(node.arguments.begin(), arity(node.op), nodes.begin());
      read(i, nodes, node.op >= Op::add && node.op <= Op::div ? 3 : 0);
    }
    for (int k = 0; k < 4 && at(nodes, k) != unknown; ++k) release(at(nodes, k));
    for (const int copy : std::exchange(copies_, {})) free_.push_back(copy);
    // Results go straight to their output where nothing else reads them.
    const auto& outputs = at(outputs_of_, n);
    const bool direct = outputs.size() == 1 && at(uses_, n) == 1 && result_of(outputs[0]) == RowResult::pack;
    i.target = direct ? -1 - outputs[0] : take();
    at(temporary_, n) = i.target;
    p_.code_.push_back(i);
  }

  void emit_output(int n, int output) {
    const RowResult result = result_of(output);
    if (result == RowResult::pack && at(temporary_, n) == -1 - output) return;
    Instruction i{Code::copy, Op::input, -1 - output, {}};
    if (at(output_product_, n)) {
      const auto [a, b] = factors(n);
      i.code = result == RowResult::sum ? Code::dot : Code::accumulate_product;
      read(i, {a, b, unknown, unknown}, 2);
      release(a);
      release(b);
    } else {
      switch (result) {
        case RowResult::pack:
          break;
        case RowResult::store:
          i.code = Code::store;
          break;
        case RowResult::accumulate:
          i.code = Code::accumulate;
          break;
        case RowResult::sum:
          i.code = Code::sum;
          break;
      }
      read(i, {n, unknown, unknown, unknown}, result == RowResult::pack ? 1 : 0);
      release(n);
    }
    p_.code_.push_back(i);
    for (const int copy : std::exchange(copies_, {})) free_.push_back(copy);
  }

  /// Scalar products next to each other that have a factor in common have it second: they are made together.
  void order_dots() {
    for (std::size_t k = 0; k + 1 < p_.code_.size(); ++k) {
      Instruction &i = p_.code_[k], &j = p_.code_[k + 1];
      if (i.code != Code::dot || j.code != Code::dot) continue;
      const auto has = [](const Instruction& dot, int slot) {
        return dot.arguments[0] == slot || dot.arguments[1] == slot;
      };
      if (k > 0 && p_.code_[k - 1].code == Code::dot && p_.code_[k - 1].arguments[1] == i.arguments[1] &&
          has(j, i.arguments[1])) {
        if (j.arguments[0] == i.arguments[1]) std::swap(j.arguments[0], j.arguments[1]);
        continue;
      }
      if (!has(j, i.arguments[1]) && has(j, i.arguments[0])) std::swap(i.arguments[0], i.arguments[1]);
      if (has(j, i.arguments[1]) && j.arguments[1] != i.arguments[1]) std::swap(j.arguments[0], j.arguments[1]);
    }
  }

  /// Slots as they stand in the table.
  void place() {
    const int constants = static_cast<int>(inputs_.size()),
              numbers = constants + static_cast<int>(p_.constants_.size());
    const auto final_slot = [&](int& slot) {
      if (slot >= temporary_slots)
        slot += numbers + p_.numbers_ - temporary_slots;
      else if (slot >= number_slots)
        slot += numbers - number_slots;
      else if (slot >= constant_slots)
        slot += constants - constant_slots;
    };
    for (Instruction& i : p_.code_) {
      if (i.target >= 0) final_slot(i.target);
      for (int& slot : i.arguments) final_slot(slot);
    }
  }

  RowProgram& p_;
  const Graph& graph_;
  const std::vector<int>&inputs_, &outputs_;
  const RowLayout& layout_;
  std::vector<int> input_, uses_, temporary_, slot_of_number_, constant_pack_;
  std::vector<char> needed_, number_, fused_, output_product_;
  std::vector<std::vector<int>> outputs_of_;
  std::vector<int> free_, copies_;
};

RowProgram::RowProgram(const Graph& graph, const std::vector<int>& inputs, const std::vector<int>& outputs,
                       const RowLayout& layout)
    : inputs_(static_cast<int>(inputs.size())), outputs_(static_cast<int>(outputs.size())) {
  Compiler(*this, graph, inputs, outputs, layout).run();
}

void RowProgram::begin(Scratch& scratch) const {
  for (const auto& [number, input] : number_inputs_)
    scratch.numbers_[static_cast<std::size_t>(number)] = *scratch.table_[static_cast<std::size_t>(input)];
  for (const NumberStep& step : number_steps_) {
    std::array<double, 4> arguments{};
    for (std::size_t k = 0; k < static_cast<std::size_t>(arity(step.op)); ++k)
      arguments[k] = scratch.numbers_[static_cast<std::size_t>(step.arguments[k])];
    scratch.numbers_[static_cast<std::size_t>(step.target)] = evaluate(step.op, arguments);
  }
}

RowProgram::Scratch::Scratch(const RowProgram& program, int lanes)
    : outputs_(static_cast<std::size_t>(program.outputs_)), numbers_(static_cast<std::size_t>(program.numbers_)) {
  // Long packs do not stand at powers of two, where they would meet in one set of the cache.
  const auto packs_of = [](int length) { return static_cast<std::size_t>((length + pack_lanes - 1) / pack_lanes); };
  const int stride = lanes <= pack_lanes ? pack_lanes : lanes + 8;
  const std::size_t constants = program.constants_.size();
  packs_ = std::unique_ptr<Pack[]>(new Pack[constants * packs_of(lanes) + packs_of(stride * program.temporaries_)]);
  double* to = packs_[0].lane;
  table_.resize(static_cast<std::size_t>(program.inputs_));
  for (const double constant : program.constants_) {
    table_.push_back(to);
    to = std::fill_n(to, packs_of(lanes) * pack_lanes, constant);
  }
  for (const double& number : numbers_) table_.push_back(&number);
  for (const auto& [number, value] : program.number_values_) numbers_[static_cast<std::size_t>(number)] = value;
  for (int t = 0; t < program.temporaries_; ++t, to += stride) table_.push_back(to);
}

}  // namespace hypertape
