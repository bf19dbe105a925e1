#include "hypertape/autodiff/row_program.hpp"

#include <algorithm>
#include <iterator>

namespace hypertape {

using Code = Instruction::Code;

RowProgram::RowProgram(const Graph& graph, const std::vector<int>& inputs, const std::vector<int>& outputs)
    : inputs_(static_cast<int>(inputs.size())), outputs_(static_cast<int>(outputs.size())) {
  constexpr int unknown = -1;
  const auto at = [](auto& v, int i) -> auto& { return v[static_cast<std::size_t>(i)]; };
  std::vector<int> slot(static_cast<std::size_t>(graph.size()), unknown), uses(slot.size(), 0);
  for (int i = 0; i < inputs_; ++i) at(slot, inputs[static_cast<std::size_t>(i)]) = i;

  // Arguments stand before their node, so one sweep back finds what is needed, and one forward computes it.
  std::vector<char> needed(slot.size(), 0);
  for (const int o : outputs) {
    at(needed, o) = 1;
    ++at(uses, o);
  }
  for (int n = graph.size() - 1; n >= 0; --n) {
    if (!at(needed, n) || at(slot, n) != unknown) continue;
    for (int k = 0; k < arity(graph[n].op); ++k) {
      at(needed, graph[n].arguments[static_cast<std::size_t>(k)]) = 1;
      ++at(uses, graph[n].arguments[static_cast<std::size_t>(k)]);
    }
  }
  for (int n = 0; n < graph.size(); ++n)
    if (at(needed, n) && at(slot, n) == unknown && graph[n].op == Op::constant) {
      at(slot, n) = inputs_ + static_cast<int>(constants_.size());
      constants_.push_back(graph[n].constant);
    }
  const int first_temporary = inputs_ + static_cast<int>(constants_.size());

  // A product that is used once, in a sum, becomes part of it.
  std::vector<char> fused(slot.size(), 0);
  const auto fusible = [&](int n) {
    return graph[n].op == Op::mul && at(uses, n) == 1 && at(slot, n) == unknown &&
           std::find(outputs.begin(), outputs.end(), n) == outputs.end();
  };
  for (int n = 0; n < graph.size(); ++n) {
    if (!at(needed, n) || at(slot, n) != unknown) continue;
    const auto& [a, b, c, d] = graph[n].arguments;
    if (graph[n].op == Op::add && fusible(a))
      at(fused, a) = 1;
    else if ((graph[n].op == Op::add || graph[n].op == Op::sub) && fusible(b))
      at(fused, b) = 1;
  }

  // When a temporary was used for the last time its place is free for the next one, so all of them stay in cache.
  std::vector<int> free_places;
  const auto release = [&](int n) {
    if (--at(uses, n) == 0 && at(slot, n) >= first_temporary) free_places.push_back(at(slot, n));
  };
  for (int n = 0; n < graph.size(); ++n) {
    if (!at(needed, n) || at(slot, n) != unknown || at(fused, n)) continue;
    const Graph::Node& node = graph[n];
    Instruction instruction{Code::operation, node.op, 0, {}};
    std::array<int, 4> read{unknown, unknown, unknown, unknown};
    const int a = node.arguments[0], b = node.arguments[1];
    if (node.op == Op::add && at(fused, a) && fusible(a)) {
      instruction.code = Code::multiply_add;
      read = {graph[a].arguments[0], graph[a].arguments[1], b, unknown};
    } else if ((node.op == Op::add || node.op == Op::sub) && at(fused, b) && fusible(b)) {
      instruction.code = node.op == Op::add ? Code::multiply_add : Code::negative_multiply_add;
      read = {graph[b].arguments[0], graph[b].arguments[1], a, unknown};
    } else {
      std::copy_n(node.arguments.begin(), arity(node.op), read.begin());
    }
    for (std::size_t k = 0; k < 4 && read[k] != unknown; ++k) instruction.arguments[k] = at(slot, read[k]);
    for (std::size_t k = 0; k < 4 && read[k] != unknown; ++k) release(read[k]);
    if (free_places.empty()) {
      at(slot, n) = first_temporary + temporaries_++;
    } else {
      at(slot, n) = free_places.back();
      free_places.pop_back();
    }
    instruction.target = at(slot, n);
    code_.push_back(instruction);
  }
  for (int o = 0; o < outputs_; ++o)
    code_.push_back({Code::copy, Op::input, -1 - o, {at(slot, outputs[static_cast<std::size_t>(o)])}});

  // Write results straight to their output where nothing else reads them.
  for (int o = 0; o < outputs_; ++o) {
    const auto copy =
        std::find_if(code_.begin(), code_.end(), [o](const Instruction& i) { return i.target == -1 - o; });
    const int from = copy->arguments[0];
    if (from < first_temporary) continue;
    const auto maker = std::find_if(std::make_reverse_iterator(copy), code_.rend(),
                                    [from](const Instruction& i) { return i.target == from; });
    const auto reads = [from](const Instruction& i) {
      return std::find(std::begin(i.arguments), std::end(i.arguments), from) != std::end(i.arguments);
    };
    if (std::any_of(maker.base(), copy, reads) || std::any_of(copy + 1, code_.end(), reads)) continue;
    maker->target = -1 - o;
    code_.erase(copy);
  }
}

RowProgram::Scratch::Scratch(const RowProgram& program)
    : table_(static_cast<std::size_t>(program.inputs_) + program.constants_.size() +
             static_cast<std::size_t>(program.temporaries_)),
      outputs_(static_cast<std::size_t>(program.outputs_)),
      packs_(new Pack[program.constants_.size() + static_cast<std::size_t>(program.temporaries_)]) {
  for (std::size_t k = 0; k < table_.size() - static_cast<std::size_t>(program.inputs_); ++k) {
    table_[static_cast<std::size_t>(program.inputs_) + k] = packs_[k].lane;
    if (k < program.constants_.size()) std::fill_n(packs_[k].lane, pack_lanes, program.constants_[k]);
  }
}

}  // namespace hypertape
