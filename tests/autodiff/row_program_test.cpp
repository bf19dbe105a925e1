#include "hypertape/autodiff/row_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>
#include <vector>

#include "hypertape/core/random.hpp"
#include "support/every_set.hpp"

using namespace hypertape;
using testing::every_set;

namespace {

/// Of the test case that runs.
InstructionSet set_in_use = InstructionSet::baseline;

constexpr double guard = -12345.5;
constexpr int guards = 4;
using Packs = std::vector<std::vector<double>>;  // by input or output, then by lane

Packs random_packs(int count, Random& random) {
  Packs packs(static_cast<std::size_t>(count), std::vector<double>(pack_lanes));
  for (auto& pack : packs)
    for (double& t : pack) t = 1.5 * random.normal();
  return packs;
}

Packs integer_packs(int count, Random& random) {
  Packs packs(static_cast<std::size_t>(count), std::vector<double>(pack_lanes));
  for (auto& pack : packs)
    for (double& t : pack) t = static_cast<double>(random.below(5)) - 2;
  return packs;
}

/// Runs the program; what stands around the outputs must stay.
Packs run(const RowProgram& program, RowProgram::Scratch& scratch, const Packs& inputs) {
  REQUIRE(program.inputs() == static_cast<int>(inputs.size()));
  Packs out(static_cast<std::size_t>(program.outputs()), std::vector<double>(pack_lanes + 2 * guards, guard));
  for (std::size_t i = 0; i < inputs.size(); ++i) scratch.inputs()[i] = inputs[i].data();
  for (std::size_t o = 0; o < out.size(); ++o) scratch.outputs()[o] = out[o].data() + guards;
  program.run(kernels(set_in_use), scratch);
  for (auto& pack : out) {
    bool kept = true;
    for (int k = 0; k < guards; ++k)
      kept = kept && pack[static_cast<std::size_t>(k)] == guard && pack[pack.size() - 1 - k] == guard;
    CHECK(kept);
    pack = std::vector<double>(pack.begin() + guards, pack.end() - guards);
  }
  return out;
}

Packs run(const RowProgram& program, const Packs& inputs) {
  RowProgram::Scratch scratch(program);
  return run(program, scratch, inputs);
}

/// All nodes of a graph on one lane, one after the other.
std::vector<double> evaluate_nodes(const Graph& graph, const Packs& inputs, std::size_t lane) {
  std::vector<double> values;
  for (int n = 0; n < graph.size(); ++n) {
    const auto& node = graph[n];
    std::array<double, 4> arguments{};
    for (std::size_t k = 0; k < static_cast<std::size_t>(arity(node.op)); ++k)
      arguments[k] = values[static_cast<std::size_t>(node.arguments[k])];
    values.push_back(node.op == Op::constant ? node.constant
                     : node.op == Op::input  ? inputs[static_cast<std::size_t>(node.arguments[0])][lane]
                                             : evaluate(node.op, arguments));
  }
  return values;
}

std::vector<int> make_inputs(Graph& graph, int count) {
  std::vector<int> inputs;
  for (int i = 0; i < count; ++i) inputs.push_back(graph.input(i));
  return inputs;
}

int node_of(Graph& graph, Op op, int a, int b = 0, int c = 0, int d = 0) {
  std::array<int, 4> arguments{a, b, c, d};
  for (std::size_t k = static_cast<std::size_t>(arity(op)); k < 4; ++k) arguments[k] = 0;
  return graph.insert({op, arguments, 0});
}

bool close(double a, double b, double tolerance) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * std::abs(b);
}

/// How far an operation may be from <cmath>'s. Functions have errors of 1.5 ulp at most (tests/simd), those of <cmath>
/// of 3 ulp; everything else is rounded once.
double tolerance_of(Op op) {
  const bool rounded_once =
      op < Op::pow || op == Op::neg || op == Op::abs || op == Op::sign || op == Op::sqrt || op >= Op::select_less;
  return rounded_once ? 0 : 1e-15;
}

int any_of(Random& random, int size) { return static_cast<int>(random.below(static_cast<std::uint64_t>(size))); }

/// How many lanes of the outputs are not exactly the nodes they stand for.
int wrong_lanes(const Graph& graph, const Packs& inputs, const std::vector<int>& outputs, const Packs& results) {
  int wrong = 0;
  for (std::size_t lane = 0; lane < pack_lanes; ++lane) {
    const auto values = evaluate_nodes(graph, inputs, lane);
    for (std::size_t o = 0; o < outputs.size(); ++o)
      wrong += results[o][lane] != values[static_cast<std::size_t>(outputs[o])];
  }
  return wrong;
}

}  // namespace

TEST_CASE("every operation works on every lane, on special values as well") {
  set_in_use = every_set();
  for (int code = static_cast<int>(Op::add); code <= static_cast<int>(Op::select_greater); ++code) {
    const Op op = static_cast<Op>(code);
    CAPTURE(code);
    Graph graph;
    const auto inputs = make_inputs(graph, 4);
    const int node = node_of(graph, op, inputs[0], inputs[1], inputs[2], inputs[3]);
    const RowProgram program(graph, inputs, {node});
    CHECK(program.instructions() == 1);
    Random random(static_cast<std::uint64_t>(code));
    for (int round = 0; round < 4; ++round) {
      Packs packs = random_packs(4, random);
      if (round == 0)
        for (std::size_t k = 0; k < pack_lanes; k += 3) packs[1][k] = packs[0][k];  // equal sides of comparisons
      if (round == 1) {
        const double specials[] = {0.0,
                                   -0.0,
                                   1e308,
                                   -1e308,
                                   5e-324,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::nan("")};
        for (std::size_t k = 0; k < pack_lanes; ++k) packs[0][k] = specials[k % 8], packs[1][k] = specials[k / 4];
      }
      const Packs out = run(program, packs);
      int wrong = 0;
      for (std::size_t l = 0; l < pack_lanes; ++l)
        wrong +=
            !close(out[0][l], evaluate(op, {packs[0][l], packs[1][l], packs[2][l], packs[3][l]}), tolerance_of(op));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("arguments may be the same node, in every position") {
  Graph graph;
  const auto inputs = make_inputs(graph, 2);
  const int x = inputs[0], y = inputs[1];
  const int square = node_of(graph, Op::mul, x, x);
  const std::vector<int> outputs{node_of(graph, Op::add, x, x),
                                 node_of(graph, Op::sub, x, x),
                                 node_of(graph, Op::add, square, square),
                                 node_of(graph, Op::sub, square, square),
                                 node_of(graph, Op::select_less, x, y, y, x),
                                 node_of(graph, Op::select_less, x, y, x, y),
                                 node_of(graph, Op::mul, square, square)};
  Random random(11);
  const Packs packs = integer_packs(2, random);
  CHECK(wrong_lanes(graph, packs, outputs, run(RowProgram(graph, inputs, outputs), packs)) == 0);
}

TEST_CASE("each node of a random graph of all operations is its operation on its arguments") {
  set_in_use = every_set();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Graph graph;
    const auto inputs = make_inputs(graph, 5);
    for (const double constant : {0.5, -1.25, 3.0}) graph.constant(constant);
    while (graph.size() < 160) {
      const Op op = static_cast<Op>(static_cast<int>(Op::add) + any_of(random, 33));
      const int size = graph.size();
      node_of(graph, op, any_of(random, size), any_of(random, size), any_of(random, size), any_of(random, size));
    }
    CHECK(static_cast<int>(Op::add) + 32 == static_cast<int>(Op::select_greater));
    std::vector<int> all;
    for (int n = 0; n < graph.size(); ++n) all.push_back(n);
    const Packs packs = random_packs(5, random), out = run(RowProgram(graph, inputs, all), packs);
    int wrong = 0;
    for (std::size_t l = 0; l < pack_lanes; ++l)
      for (int n = 0; n < graph.size(); ++n) {
        const auto& node = graph[n];
        std::array<double, 4> arguments{};
        for (std::size_t k = 0; k < static_cast<std::size_t>(arity(node.op)); ++k)
          arguments[k] = out[static_cast<std::size_t>(node.arguments[k])][l];
        const double expected = node.op == Op::constant ? node.constant
                                : node.op == Op::input  ? packs[static_cast<std::size_t>(node.arguments[0])][l]
                                                        : evaluate(node.op, arguments);
        wrong += !close(out[static_cast<std::size_t>(n)][l], expected, tolerance_of(node.op));
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("random graphs with few outputs, so that places are used again and products fused, are exact on integers") {
  set_in_use = every_set();
  const Op exact[] = {Op::add,           Op::sub,
                      Op::mul,           Op::neg,
                      Op::abs,           Op::sign,
                      Op::select_less,   Op::select_less_equal,
                      Op::select_equal,  Op::select_greater_equal,
                      Op::select_greater};
  int fused = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    Random random(1000 + seed);
    Graph graph;
    const auto inputs = make_inputs(graph, 1 + any_of(random, 6));
    const Packs packs = integer_packs(static_cast<int>(inputs.size()), random);
    for (const double constant : {2.0, -3.0}) graph.constant(constant);
    const int nodes = 10 + any_of(random, 120);
    std::vector<double> size_of;  // a bound for each node: everything stays an exact integer
    for (int n = 0; n < graph.size(); ++n) size_of.push_back(3);
    while (graph.size() < nodes) {
      const int kind = any_of(random, 16);
      Op op = kind < 11 ? exact[kind] : kind < 13 ? Op::mul : kind < 15 ? Op::add : Op::sub;
      // Mostly near the end of the graph: long chains, and values that die early.
      const auto pick = [&] {
        const int back = any_of(random, random.below(3) == 0 ? graph.size() : std::min(graph.size(), 8));
        return graph.size() - 1 - back;
      };
      const int a = pick(), b = pick(), c = pick(), d = pick();
      const auto bound = [&](int n) { return size_of[static_cast<std::size_t>(n)]; };
      if (op == Op::mul && bound(a) * bound(b) > 0x1p45) op = Op::select_less;
      if ((op == Op::add || op == Op::sub) && bound(a) + bound(b) > 0x1p45) op = Op::sign;
      const double new_bound = op == Op::mul                    ? bound(a) * bound(b)
                               : op == Op::add || op == Op::sub ? bound(a) + bound(b)
                               : op == Op::sign                 ? 1
                               : arity(op) == 1                 ? bound(a)
                                                                : std::max(bound(c), bound(d));
      if (node_of(graph, op, a, b, c, d) == static_cast<int>(size_of.size())) size_of.push_back(new_bound);
    }
    std::vector<int> outputs{graph.size() - 1};
    for (int k = any_of(random, 5); k > 0; --k) outputs.push_back(any_of(random, graph.size()));
    if (seed % 3 == 0) outputs.push_back(outputs[0]);
    const RowProgram program(graph, inputs, outputs);
    CHECK(wrong_lanes(graph, packs, outputs, run(program, packs)) == 0);

    // Needed operations that are no instruction were fused into another.
    std::vector<char> needed(static_cast<std::size_t>(graph.size()), 0);
    for (const int o : outputs) needed[static_cast<std::size_t>(o)] = 1;
    int operations = 0;
    for (int n = graph.size() - 1; n >= 0; --n) {
      if (!needed[static_cast<std::size_t>(n)] || arity(graph[n].op) == 0) continue;
      ++operations;
      for (std::size_t k = 0; k < static_cast<std::size_t>(arity(graph[n].op)); ++k)
        needed[static_cast<std::size_t>(graph[n].arguments[k])] = 1;
    }
    CHECK(program.instructions() <= operations + static_cast<int>(outputs.size()));
    fused += operations > program.instructions();
  }
  CHECK(fused > 10);
}

TEST_CASE("a product that is used once, in a sum or taken away, is one instruction with it") {
  Graph graph;
  const auto inputs = make_inputs(graph, 4);
  const int a = inputs[0], b = inputs[1], c = inputs[2], d = inputs[3];
  const int ab = node_of(graph, Op::mul, a, b), cd = node_of(graph, Op::mul, c, d);
  Random random(3);
  const Packs packs = integer_packs(4, random);
  const auto instructions = [&](const std::vector<int>& outputs) {
    const RowProgram program(graph, inputs, outputs);
    CHECK(wrong_lanes(graph, packs, outputs, run(program, packs)) == 0);
    return program.instructions();
  };
  CHECK(instructions({node_of(graph, Op::add, ab, c)}) == 1);      // a b + c
  CHECK(instructions({node_of(graph, Op::add, c, ab)}) == 1);      // c + a b
  CHECK(instructions({node_of(graph, Op::sub, c, ab)}) == 1);      // c - a b
  CHECK(instructions({node_of(graph, Op::sub, ab, c)}) == 2);      // a b - c is no such form
  CHECK(instructions({node_of(graph, Op::add, ab, cd)}) == 2);     // a b + c d
  CHECK(instructions({node_of(graph, Op::sub, ab, cd)}) == 2);     // a b - c d
  CHECK(instructions({node_of(graph, Op::add, ab, ab)}) == 2);     // used twice
  CHECK(instructions({node_of(graph, Op::add, ab, c), ab}) == 3);  // an output too: a product, a sum, a copy
  CHECK(instructions({ab, node_of(graph, Op::add, ab, c)}) == 3);
  CHECK(instructions({node_of(graph, Op::add, ab, c), node_of(graph, Op::add, ab, d)}) == 3);
  const int chain = node_of(graph, Op::add, node_of(graph, Op::mul, node_of(graph, Op::add, ab, c), d), a);
  CHECK(instructions({chain}) == 2);  // (a b + c) d + a
  CHECK(instructions({node_of(graph, Op::neg, ab)}) == 2);
}

TEST_CASE("outputs may be inputs, constants, each other, or what other outputs are made of") {
  Graph graph;
  const auto inputs = make_inputs(graph, 3);
  const int constant = graph.constant(2.5);
  const int sum = node_of(graph, Op::add, inputs[0], inputs[1]),
            doubled = node_of(graph, Op::mul, sum, graph.constant(2));
  const int last = node_of(graph, Op::sub, doubled, sum);
  Random random(4);
  const Packs packs = integer_packs(3, random);
  const std::vector<std::vector<int>> choices{
      {inputs[1]},
      {inputs[2], inputs[2], inputs[0]},
      {constant},
      {constant, inputs[0], constant},
      {sum, sum},
      {sum, doubled, last},
      {last, doubled, sum},
      {doubled, sum, doubled, inputs[1], last, constant, sum, last},
      {last},
  };
  for (std::size_t k = 0; k < choices.size(); ++k) {
    CAPTURE(k);
    const RowProgram program(graph, inputs, choices[k]);
    CHECK(program.outputs() == static_cast<int>(choices[k].size()));
    CHECK(wrong_lanes(graph, packs, choices[k], run(program, packs)) == 0);
  }
}

TEST_CASE("any node may be given as an input, and what stands behind it is not computed") {
  Graph graph;
  const int x = graph.input(0), y = graph.input(1);
  const int costly = node_of(graph, Op::exp, node_of(graph, Op::mul, x, x));
  const int result = node_of(graph, Op::add, node_of(graph, Op::mul, costly, y), costly);
  const RowProgram program(graph, {costly, y}, {result, costly});
  CHECK(program.inputs() == 2);
  CHECK(program.instructions() == 2);  // a multiply-add and a copy
  Random random(5);
  const Packs packs = integer_packs(2, random), out = run(program, packs);
  for (std::size_t l = 0; l < pack_lanes; ++l) {
    CHECK(out[0][l] == packs[0][l] * packs[1][l] + packs[0][l]);
    CHECK(out[1][l] == packs[0][l]);
  }
  // A product that is an input is read, not fused away.
  const int product = node_of(graph, Op::mul, x, y), sum = node_of(graph, Op::add, product, x);
  const Packs sums = run(RowProgram(graph, {product, x}, {sum}), packs);
  for (std::size_t l = 0; l < pack_lanes; ++l) CHECK(sums[0][l] == packs[0][l] + packs[1][l]);
}

TEST_CASE("inputs are known by their place in the list, not by their number in the graph") {
  Graph graph;
  const auto inputs = make_inputs(graph, 3);
  const int difference = node_of(graph, Op::sub, inputs[0], inputs[2]);
  Random random(6);
  const Packs packs = integer_packs(3, random);
  const Packs out = run(RowProgram(graph, {inputs[2], inputs[1], inputs[0]}, {difference}), packs);
  for (std::size_t l = 0; l < pack_lanes; ++l) CHECK(out[0][l] == packs[2][l] - packs[0][l]);
}

TEST_CASE("a program without outputs does nothing, and one of constants needs no input") {
  Graph graph;
  const int constant = graph.constant(7);
  const RowProgram none(graph, {}, {}), only_constant(graph, {}, {constant});
  CHECK(none.instructions() == 0);
  CHECK(run(none, {}).empty());
  CHECK(run(only_constant, {})[0] == std::vector<double>(pack_lanes, 7));
  CHECK(RowProgram().outputs() == 0);
  CHECK(RowProgram().instructions() == 0);
}

TEST_CASE("a program keeps nothing from one run to the next, and two scratches do not meet") {
  Random random(7);
  Graph graph;
  const auto inputs = make_inputs(graph, 3);
  int last = inputs[0];
  for (int k = 0; k < 40; ++k) {
    const Op op = k % 3 == 0 ? Op::tanh : k % 3 == 1 ? Op::add : Op::mul;
    last = node_of(graph, op, last, inputs[static_cast<std::size_t>(k % 3)]);
  }
  const RowProgram program(graph, inputs, {last, inputs[1]});
  const Packs first = random_packs(3, random), second = random_packs(3, random);
  const Packs expected_first = run(program, first), expected_second = run(program, second);
  CHECK(expected_first != expected_second);

  RowProgram::Scratch one(program), two(program);
  Packs out_one(2, std::vector<double>(pack_lanes)), out_two = out_one;
  for (std::size_t k = 0; k < 3; ++k) one.inputs()[k] = first[k].data(), two.inputs()[k] = second[k].data();
  for (std::size_t k = 0; k < 2; ++k) one.outputs()[k] = out_one[k].data(), two.outputs()[k] = out_two[k].data();
  for (int round = 0; round < 3; ++round) {
    program.run(kernels(), one);
    program.run(kernels(), two);
    CHECK(out_one == expected_first);
    CHECK(out_two == expected_second);
  }
  CHECK(run(program, one, second) == expected_second);  // the same scratch on other rows
  CHECK(run(program, one, first) == expected_first);

  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      RowProgram::Scratch scratch(program);
      Packs out(2, std::vector<double>(pack_lanes));
      const Packs& in = t % 2 == 0 ? first : second;
      for (std::size_t k = 0; k < 3; ++k) scratch.inputs()[k] = in[k].data();
      for (std::size_t k = 0; k < 2; ++k) scratch.outputs()[k] = out[k].data();
      for (int round = 0; round < 50; ++round) {
        program.run(kernels(), scratch);
        wrong[t] += out != (t % 2 == 0 ? expected_first : expected_second);
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

namespace {

/// A program on packs of so many rows, some inputs one number, with every kind of result; against one row at a time.
int wrong_results(Random& random, int rows) {
  Graph graph;
  const int input_count = 6;
  const auto inputs = make_inputs(graph, input_count);
  for (const double constant : {2.0, -1.0, 3.0}) graph.constant(constant);
  const Op exact[] = {Op::add, Op::sub, Op::mul, Op::mul, Op::neg, Op::abs, Op::select_less, Op::select_greater_equal};
  while (graph.size() < 40) {
    const int size = graph.size(), recent = std::min(size, 12);
    const auto any = [&] { return size - 1 - any_of(random, recent); };
    node_of(graph, exact[any_of(random, 8)], any(), any(), any(), any());
  }
  std::vector<int> outputs;
  RowLayout layout;
  for (int i = 0; i < input_count; ++i) layout.uniform.push_back(static_cast<char>(random.below(2)));
  for (int o = 0; o < 12; ++o) {
    outputs.push_back(any_of(random, graph.size()));
    layout.results.push_back(static_cast<RowResult>(o % 4));
  }
  const RowProgram program(graph, inputs, outputs, layout);
  const auto lanes = static_cast<std::size_t>(padded(rows)), count = static_cast<std::size_t>(rows);
  RowProgram::Scratch scratch(program, static_cast<int>(lanes));
  Packs packs(input_count, std::vector<double>(lanes));
  for (std::size_t i = 0; i < packs.size(); ++i) {
    for (double& t : packs[i]) t = static_cast<double>(random.below(3)) - 1;
    if (layout.uniform[i]) std::fill(packs[i].begin(), packs[i].end(), packs[i][0]);
    scratch.inputs()[i] = packs[i].data();
  }
  // Accumulated outputs take turns: in place, with a stride, anywhere, all to one place.
  Packs out(outputs.size(), std::vector<double>(3 * lanes + 8, guard));
  std::vector<std::vector<int>> indices(outputs.size());
  std::vector<RowOutput> to;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    RowOutput output{out[o].data() + 4};
    if (layout.results[o] == RowResult::sum) output.stride = 0;
    if (layout.results[o] == RowResult::accumulate) {
      output.stride = std::array{1, 3, 0}[o / 4];
      if (o / 4 == 2 && random.below(2) == 0) {
        for (int i = 0; i < rows; ++i) indices[o].push_back(any_of(random, rows));
        output.index = indices[o].data();
      }
    }
    to.push_back(output);
  }
  program.begin(scratch);
  program.run_rows(kernels(set_in_use), scratch, to.data(), rows);

  Packs expected(outputs.size(), std::vector<double>(3 * lanes + 8, guard));
  for (std::size_t i = 0; i < count; ++i) {
    const auto values = evaluate_nodes(graph, packs, i);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const double value = values[static_cast<std::size_t>(outputs[o])];
      const RowOutput& output = to[o];
      const std::size_t at = 4 + (output.index != nullptr ? static_cast<std::size_t>(output.index[i])
                                                          : i * static_cast<std::size_t>(output.stride));
      const bool replaces = layout.results[o] == RowResult::pack || layout.results[o] == RowResult::store;
      expected[o][at] = replaces ? value : expected[o][at] + value;
    }
  }
  int wrong = 0;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (layout.results[o] == RowResult::pack)  // written in whole registers
      std::fill(out[o].begin() + 4 + rows, out[o].begin() + 4 + static_cast<std::ptrdiff_t>(lanes), guard);
    for (std::size_t k = 0; k < out[o].size(); ++k) wrong += !close(out[o][k], expected[o][k], 1e-9);
  }
  return wrong;
}

}  // namespace

TEST_CASE("packs of any length, with numbers for operands, give every kind of result") {
  set_in_use = every_set();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed + 1000);
    for (const int rows : {1, 2, 7, 8, 9, 31, 32, 40, 100, 256}) {
      CAPTURE(seed);
      CAPTURE(rows);
      CHECK(wrong_results(random, rows) == 0);
    }
  }
}
