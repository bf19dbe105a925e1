#include "hypertape/autodiff/row_program.hpp"

#include <algorithm>

namespace hypertape {
namespace {

template <class F>
void for_lanes(double* out, const F& value) {
  for (int l = 0; l < pack_lanes; l += simd_lanes) store(out + l, value(l));
}

/// Operations that are worth vectorising by hand; false for the others.
bool run_fast(Op op, double* out, const double* a, const double* b, const double* c, const double* d) {
  switch (op) {
    case Op::add:
      for_lanes(out, [&](int l) { return load(a + l) + load(b + l); });
      return true;
    case Op::sub:
      for_lanes(out, [&](int l) { return load(a + l) - load(b + l); });
      return true;
    case Op::mul:
      for_lanes(out, [&](int l) { return load(a + l) * load(b + l); });
      return true;
    case Op::div:
      for_lanes(out, [&](int l) { return load(a + l) / load(b + l); });
      return true;
    case Op::neg:
      for_lanes(out, [&](int l) { return -load(a + l); });
      return true;
    case Op::exp:
      for_lanes(out, [&](int l) { return simd_exp(load(a + l)); });
      return true;
    case Op::log:
      for_lanes(out, [&](int l) { return simd_log(load(a + l)); });
      return true;
    case Op::select_less:
      for_lanes(out, [&](int l) { return load(a + l) < load(b + l) ? load(c + l) : load(d + l); });
      return true;
    case Op::select_less_equal:
      for_lanes(out, [&](int l) { return load(a + l) <= load(b + l) ? load(c + l) : load(d + l); });
      return true;
    case Op::select_equal:
      for_lanes(out, [&](int l) { return load(a + l) == load(b + l) ? load(c + l) : load(d + l); });
      return true;
    case Op::select_greater_equal:
      for_lanes(out, [&](int l) { return load(a + l) >= load(b + l) ? load(c + l) : load(d + l); });
      return true;
    case Op::select_greater:
      for_lanes(out, [&](int l) { return load(a + l) > load(b + l) ? load(c + l) : load(d + l); });
      return true;
    case Op::sqrt:
      for (int l = 0; l < pack_lanes; ++l) out[l] = __builtin_sqrt(a[l]);
      return true;
    default:
      return false;
  }
}

}  // namespace

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
      return std::find(i.arguments.begin(), i.arguments.end(), from) != i.arguments.end();
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

void RowProgram::run(Scratch& scratch) const {
  const double* const* const table = scratch.table_.data();
  for (const Instruction& i : code_) {
    // Temporaries are written through the same table; they live in the scratch, which is not const.
    double* const out =
        i.target < 0 ? scratch.outputs_[static_cast<std::size_t>(-1 - i.target)] : const_cast<double*>(table[i.target]);
    const double *const a = table[i.arguments[0]], *const b = table[i.arguments[1]], *const c = table[i.arguments[2]],
                        *const d = table[i.arguments[3]];
    switch (i.code) {
      case Code::copy:
        for_lanes(out, [&](int l) { return load(a + l); });
        break;
      case Code::multiply_add:
        for_lanes(out, [&](int l) { return load(a + l) * load(b + l) + load(c + l); });
        break;
      case Code::negative_multiply_add:
        for_lanes(out, [&](int l) { return load(c + l) - load(a + l) * load(b + l); });
        break;
      case Code::operation:
        if (!run_fast(i.op, out, a, b, c, d))
          for (int l = 0; l < pack_lanes; ++l) out[l] = evaluate(i.op, {a[l], b[l], c[l], d[l]});
        break;
    }
  }
}

}  // namespace hypertape
