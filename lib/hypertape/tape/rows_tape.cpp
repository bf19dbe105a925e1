#include "hypertape/tape/rows_tape.hpp"

#include <algorithm>

#include "hypertape/tape/at.hpp"
#include "hypertape/tape/loose_operations.hpp"

namespace hypertape {

using detail::at;

RowsTape::RowsTape(Partition partition, Dims dims, const Kernels& kernels, int threads)
    : dims_(dims),
      threads_(threads),
      inputs_(partition.inputs),
      slots_(partition.slots),
      result_(partition.result),
      operations_(partition.operations),
      operations_in_rows_(partition.operations_in_rows),
      loose_(std::move(partition.loose)),
      steps_(std::move(partition.steps)),
      sums_(std::move(partition.sums)) {
  std::vector<char> read(static_cast<std::size_t>(inputs_), 0);
  const auto reads = [&](int slot) {
    if (slot < inputs_) at(read, slot) = 1;
  };
  reads(result_);
  for (const LooseOperation& o : loose_)
    for (int k = 0; k < arity(o.op); ++k) reads(at(o.operands, k));
  for (int i = 0; i < inputs_; ++i)
    if (at(read, i)) loose_inputs_.push_back(i);

  for (State* state : {&point_, &linearised_}) {
    state->values.assign(static_cast<std::size_t>(slots_), 0.0);
    state->adjoints.assign(static_cast<std::size_t>(slots_), 0.0);
    for (const auto& [slot, constant] : partition.constants) at(state->values, slot) = constant;
  }
  tangents_.assign(static_cast<std::size_t>(slots_), 0.0);
  adjoint_tangents_.assign(static_cast<std::size_t>(slots_), 0.0);

  std::vector<char> known;
  std::vector<double> weights;
  find_weights(partition, known, weights);
  groups_.reserve(partition.groups.size());
  for (RowGroup& group : partition.groups) {
    const bool has_weight = group.adds && at(known, group.target);
    const std::optional<double> weight = has_weight ? std::optional(at(weights, group.target)) : std::nullopt;
    groups_.emplace_back(std::move(group), dims_, slots_, weight, kernels, threads);
  }
  has_inner_ = std::any_of(groups_.begin(), groups_.end(), [](const FoundRows& g) { return !g.has_weight(); }) ||
               !loose_.empty();
}

/// The derivative of the result by a sum is a constant where the way from one to the other is additions and factors
/// that are constants, and the sum has no other use.
void RowsTape::find_weights(const Partition& partition, std::vector<char>& known, std::vector<double>& weights) const {
  std::vector<int> uses(static_cast<std::size_t>(slots_), 0);
  std::vector<char> is_constant(uses.size(), 0);
  for (const auto& [slot, constant] : partition.constants) at(is_constant, slot) = 1;
  for (const LooseOperation& o : loose_)
    for (int k = o.accumulates ? 1 : 0; k < arity(o.op); ++k) ++at(uses, at(o.operands, k));
  for (const RowGroup& group : partition.groups)
    for (const RowGroup::Leaf& leaf : group.leaves)
      for (const int slot : leaf.slots) ++at(uses, slot);
  known.assign(uses.size(), 0);
  weights.assign(uses.size(), 0.0);
  at(known, result_) = at(uses, result_) == 0;
  at(weights, result_) = 1;
  const auto pass_on = [&](int slot, double weight) {
    if (at(uses, slot) != 1) return;
    at(known, slot) = 1;
    at(weights, slot) = weight;
  };
  for (auto next = loose_.rbegin(); next != loose_.rend(); ++next) {
    const LooseOperation& o = *next;
    if (!at(known, o.target)) continue;
    const double weight = at(weights, o.target);
    const auto [a, b, c, d] = o.operands;
    const auto value = [&](int slot) { return at(point_.values, slot); };
    switch (o.op) {
      case Op::add:
      case Op::sub:
        if (!o.accumulates) pass_on(a, weight);
        pass_on(b, o.op == Op::add ? weight : -weight);
        break;
      case Op::neg:
        pass_on(a, -weight);
        break;
      case Op::mul:
        if (at(is_constant, b)) pass_on(a, weight * value(b));
        if (at(is_constant, a)) pass_on(b, weight * value(a));
        break;
      case Op::div:
        if (at(is_constant, b)) pass_on(a, weight / value(b));
        break;
      default:
        break;
    }
  }
}

std::span<const LooseOperation> RowsTape::loose(const Partition::Step& step) const {
  return {loose_.data() + step.begin, loose_.data() + step.end};
}

void RowsTape::read_loose_inputs(const Vec* x, const Vec* y, double* into) const {
  for (const int i : loose_inputs_) {
    if (i < dims_.x)
      into[i] = x != nullptr ? (*x)[i] : 0;
    else
      into[i] = y != nullptr ? (*y)[i - dims_.x] : 0;
  }
}

void RowsTape::add_loose_inputs(const double* adjoints, Cleared& out_x, Cleared& out_y) const {
  out_x.reach_all();
  out_y.reach_all();
  for (const int i : loose_inputs_) {
    if (i < dims_.x && out_x.data() != nullptr) out_x.data()[i] += adjoints[i];
    if (i >= dims_.x && out_y.data() != nullptr) out_y.data()[i - dims_.x] += adjoints[i];
  }
}

/// Zeros for what is between; most inputs are never read here.
void RowsTape::clear(std::vector<double>& by_slot) const {
  for (const int i : loose_inputs_) at(by_slot, i) = 0;
  std::fill(by_slot.begin() + inputs_, by_slot.end(), 0.0);
}

void RowsTape::start_sums(double* values, bool all) const {
  for (const Partition::Sum& sum : sums_)
    if (all || sum.depends_on_y) values[sum.slot] = sum.bias;
}

/// Steps in their order; `all`, or those that depend on y.
template <class Rows, class Loose>
void RowsTape::forward(bool all, const Rows& rows, const Loose& loose_operations) {
  for (const Partition::Step& step : steps_) {
    if (step.group >= 0) {
      FoundRows& group = at(groups_, step.group);
      if (all || group.depends_on_y()) rows(group);
    } else {
      loose_operations(loose(step));
    }
  }
}

template <class Rows, class Loose>
void RowsTape::backward(const Rows& rows, const Loose& loose_operations) {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    if (step->group >= 0)
      rows(at(groups_, step->group));
    else
      loose_operations(loose(*step));
  }
}

namespace {

FoundArguments at_point(const Vec& x, const Vec& y, const std::vector<double>& values, int threads) {
  FoundArguments arguments;
  arguments.threads = threads;
  arguments.point = {x.data(), y.data(), values.data()};
  return arguments;
}

}  // namespace

/// Values of all slots; for derivatives, those of sums with a known weight are not needed.
void RowsTape::run_values(State& state, const Vec& x, const Vec& y, bool derivatives_only) {
  state.has_x = false;
  read_loose_inputs(&x, &y, state.values.data());
  start_sums(state.values.data(), true);
  FoundArguments arguments = at_point(x, y, state.values, threads_);
  arguments.out_value = state.values.data();
  forward(
      true,
      [&](FoundRows& rows) {
        if (!derivatives_only || !rows.has_weight()) rows.run(FoundPass::value, arguments);
      },
      [&](auto operations) { run_forward(operations, state.values.data()); });
}

/// Adjoints of the values between, after run_values.
void RowsTape::run_adjoints(State& state, const Vec& x, const Vec& y) {
  clear(state.adjoints);
  at(state.adjoints, result_) = 1;
  FoundArguments arguments = at_point(x, y, state.values, threads_);
  arguments.adjoints = arguments.out_inner = state.adjoints.data();
  backward([&](FoundRows& rows) { rows.run(FoundPass::adjoints, arguments); },
           [&](auto operations) { run_reverse(operations, state.values.data(), state.adjoints.data()); });
}

double RowsTape::value(const Vec& x, const Vec& y) {
  run_values(point_, x, y, false);
  return at(point_.values, result_);
}

double RowsTape::gradient(const Vec& x, const Vec& y, Vec& gradient_x, Vec& gradient_y) {
  State& s = point_;
  s.has_x = false;
  Cleared out_x(gradient_x), out_y(gradient_y);
  read_loose_inputs(&x, &y, s.values.data());
  start_sums(s.values.data(), true);
  clear(s.adjoints);
  FoundArguments arguments = at_point(x, y, s.values, threads_);
  arguments.out_value = s.values.data();
  arguments.adjoints = arguments.out_inner = s.adjoints.data();
  arguments.out_x = &out_x;
  arguments.out_y = &out_y;
  forward(
      true, [&](FoundRows& rows) { rows.run(rows.has_weight() ? FoundPass::gradient : FoundPass::value, arguments); },
      [&](auto operations) { run_forward(operations, s.values.data()); });
  at(s.adjoints, result_) += 1;
  if (has_inner_)
    backward(
        [&](FoundRows& rows) {
          if (!rows.has_weight()) rows.run(FoundPass::gradient, arguments);
        },
        [&](auto operations) { run_reverse(operations, s.values.data(), s.adjoints.data()); });
  add_loose_inputs(s.adjoints.data(), out_x, out_y);
  return at(s.values, result_);
}

void RowsTape::gradient_y(const Vec& x, const Vec& y, Vec& out) {
  State& s = point_;
  const bool new_x = !s.has_x || s.x != x;
  Cleared none, out_y(out);
  read_loose_inputs(&x, &y, s.values.data());
  start_sums(s.values.data(), new_x);
  clear(s.adjoints);
  FoundArguments arguments = at_point(x, y, s.values, threads_);
  arguments.out_value = s.values.data();
  arguments.adjoints = arguments.out_inner = s.adjoints.data();
  arguments.out_y = &out_y;
  arguments.new_x = new_x;
  forward(
      new_x,
      [&](FoundRows& rows) {
        if (rows.has_weight() && rows.depends_on_y())
          rows.run(FoundPass::gradient_y, arguments);
        else if (!rows.has_weight())
          rows.run(FoundPass::value, arguments);
      },
      [&](auto operations) { run_forward(operations, s.values.data(), new_x); });
  at(s.adjoints, result_) += 1;
  if (has_inner_)
    backward(
        [&](FoundRows& rows) {
          if (!rows.has_weight() && rows.depends_on_y()) rows.run(FoundPass::gradient_y, arguments);
        },
        [&](auto operations) { run_reverse(operations, s.values.data(), s.adjoints.data()); });
  add_loose_inputs(s.adjoints.data(), none, out_y);
  s.x = x;
  s.has_x = true;
}

void RowsTape::linearise(const Vec& x, const Vec& y) {
  linearised_x_ = x;
  linearised_y_ = y;
  if (has_inner_) {
    run_values(linearised_, linearised_x_, linearised_y_, true);
    run_adjoints(linearised_, linearised_x_, linearised_y_);
  }
  FoundArguments arguments = at_point(linearised_x_, linearised_y_, linearised_.values, threads_);
  arguments.adjoints = linearised_.adjoints.data();
  for (FoundRows& rows : groups_) {
    if (!rows.depends_on_y()) continue;
    if (!rows.has_weight()) rows.prepare(FoundPass::curvature_tangents, arguments);
    rows.prepare(FoundPass::curvature, arguments);
  }
}

/// The product with a part of the Hessian, at a point whose values and adjoints are there.
void RowsTape::product(State& state, FoundPass pass, FoundPass tangents, const Vec& x, const Vec& y, const Vec* p,
                       const Vec* q, Vec* out_x, Vec* out_y) {
  Cleared to_x = out_x != nullptr ? Cleared(*out_x) : Cleared(), to_y = out_y != nullptr ? Cleared(*out_y) : Cleared();
  FoundArguments arguments = at_point(x, y, state.values, threads_);
  arguments.direction = {p != nullptr ? p->data() : nullptr, q != nullptr ? q->data() : nullptr, tangents_.data()};
  arguments.adjoints = state.adjoints.data();
  arguments.adjoint_tangents = arguments.out_inner = adjoint_tangents_.data();
  arguments.out_value = tangents_.data();
  arguments.out_x = &to_x;
  arguments.out_y = &to_y;
  const auto depends = [&](const FoundRows& rows) {
    return (p != nullptr && rows.depends_on_x()) || (q != nullptr && rows.depends_on_y());
  };
  if (has_inner_) {
    clear(tangents_);
    clear(adjoint_tangents_);
    read_loose_inputs(p, q, tangents_.data());
    forward(
        true,
        [&](FoundRows& rows) {
          if (!rows.has_weight() && depends(rows)) rows.run(tangents, arguments);
        },
        [&](auto operations) { run_tangents(operations, state.values.data(), tangents_.data()); });
  }
  backward([&](FoundRows& rows) { rows.run(pass, arguments); },
           [&](auto operations) {
             run_second_reverse(operations, state.values.data(), state.adjoints.data(), tangents_.data(),
                                adjoint_tangents_.data());
           });
  add_loose_inputs(adjoint_tangents_.data(), to_x, to_y);
}

void RowsTape::curvature(const Vec& v, Vec& out) {
  product(linearised_, FoundPass::curvature, FoundPass::curvature_tangents, linearised_x_, linearised_y_, nullptr, &v,
          nullptr, &out);
}

void RowsTape::cross(const Vec& x, const Vec& y, const Vec& v, Vec& out_x) {
  prepare_product(x, y);
  product(point_, FoundPass::cross, FoundPass::cross_tangents, x, y, nullptr, &v, &out_x, nullptr);
}

void RowsTape::adjoint_cross(const Vec& x, const Vec& y, const Vec& u, Vec& out_y) {
  prepare_product(x, y);
  product(point_, FoundPass::adjoint_cross, FoundPass::adjoint_cross_tangents, x, y, &u, nullptr, nullptr, &out_y);
}

void RowsTape::hessian(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  prepare_product(x, y);
  product(point_, FoundPass::hessian, FoundPass::hessian_tangents, x, y, &p, &q, &out_x, &out_y);
}

void RowsTape::prepare_product(const Vec& x, const Vec& y) {
  if (!has_inner_) return;
  run_values(point_, x, y, true);
  run_adjoints(point_, x, y);
}

std::size_t RowsTape::bytes() const {
  std::size_t total = sizeof(*this) + loose_.capacity() * sizeof(LooseOperation) +
                      steps_.capacity() * sizeof(Partition::Step) + loose_inputs_.capacity() * sizeof(int) +
                      static_cast<std::size_t>(2 * slots_) * 3 * sizeof(double);
  total += static_cast<std::size_t>(point_.x.size() + linearised_x_.size() + linearised_y_.size()) * sizeof(double);
  for (const FoundRows& rows : groups_) total += rows.bytes();
  return total;
}

}  // namespace hypertape
