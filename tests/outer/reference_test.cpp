// Every method against iterates computed by two independent programs, on a quadratic instance and on the W-shaped
// minimax problem: the ends of those runs stand here, the whole runs in tests/data.

#include <doctest/doctest.h>

#include "hypertape/hypertape.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/synthetic_minimax/synthetic_minimax.hpp"
#include "support/reference.hpp"
#include "support/relative.hpp"

namespace hypertape {
namespace {

using testing::relative;
using testing::vec;
constexpr double infinity = std::numeric_limits<double>::infinity();

problems::Problem instance() {
  return problems::make_quadratic({
      .A = Mat{{4, 1, 0, 0}, {1, 3, 1, 0}, {0, 1, 2, 0.5}, {0, 0, 0.5, 1}},
      .C = Mat{{1, 0, 0.5}, {0, 1, 0}, {0.5, 0, 1}, {0, -0.5, 0.25}},
      .D = Vec{{0.1, 0.2, 0.3}}.asDiagonal(),
      .b = Vec{{1, -1, 0.5, 0.25}},
      .d = Vec{{0.5, -0.5, 1, -1}},
      .x0 = Vec{{1, -1, 0.5}},
  });
}

const std::vector<Vec> noise{Vec{{0.01, -0.02, 0.015}}, Vec{{-0.005, 0.01, 0.02}}, Vec{{0.02, 0, -0.01}},
                             Vec{{0.001, 0.002, 0.003}}, Vec{{0, 0.01, 0}}};

/// The iterates of a run.
struct Recorded {
  struct Entry {
    Vec x, point, y, u;
    OracleCounts counts;
  };
  std::vector<Entry> entries;
  Observer observer() {
    return [this](const Iterate& i) {
      entries.push_back({i.x, i.point, i.y, i.u, i.counts});
      return true;
    };
  }
};

void check_whole_run(const char* name, const Recorded& recorded) {
  const auto reference = testing::reference("quadratic");
  std::size_t k = 0;
  for (const auto& expected : reference.at(name).at("iterates")) {
    if (expected.contains("restart")) {
      CHECK(relative(recorded.entries.at(k - 1).x, vec(expected.at("x"))) < 1e-12);
      continue;
    }
    CAPTURE(k);
    const auto& entry = recorded.entries.at(k++);
    if (expected.contains("w")) CHECK(relative(entry.point, vec(expected.at("w"))) < 1e-12);
    CHECK(relative(entry.y, vec(expected.at("y"))) < 1e-12);
    CHECK(relative(entry.u, vec(expected.at("u"))) < 1e-12);
    const auto counts = expected.at("cnt").get<std::vector<std::int64_t>>();
    CHECK(entry.counts == OracleCounts{counts[0], counts[1], counts[2], counts[3]});
  }
  CHECK(k == recorded.entries.size());
}

StopRule after(int iterations) { return {.tolerance = 0, .max_iterations = iterations}; }

RahgdOptions rahgd_options(double B, int iterations) {
  return {.stop = after(iterations),
          .lower = {.alpha = 0.2, .beta = 0.4, .steps = 4, .products = 2},
          .outer = {.eta = 0.15, .theta = 0.2, .B = B}};
}

struct Expected {
  Vec x;
  OracleCounts counts;
  int restarts = 0;
};

void check_end(const Result& result, const Expected& expected) {
  CHECK(result.status == Status::iteration_limit);
  CHECK(relative(result.last, expected.x) < 1e-12);
  CHECK(result.counts == expected.counts);
  CHECK(result.restarts == expected.restarts);
}

}  // namespace

TEST_CASE("accelerated gradient descent") {
  auto problem = instance();
  Vec y = Vec::Zero(4);
  const auto gradient = [&](const Vec& z, Vec& out) { problem.oracle->grad_y_g(problem.start.x, z, out); };
  const auto solved = agd(gradient, y, {.step = 0.2, .momentum = 0.4, .max_iterations = 5});
  CHECK(solved.iterations == 5);
  CHECK(relative(y, Vec{{0.894609312, -1.352532968, 1.247529448, 0.398677276}}) < 1e-12);
}

TEST_CASE("conjugate gradients, cold and warm") {
  auto problem = instance();
  CountingOracle oracle(*problem.oracle);
  LinearOperator& A = oracle.curvature_at(problem.start.x, Vec::Zero(4));
  const Vec b{{-0.5, 0.5, -1, 1}};
  Vec q = Vec::Zero(4);
  conjugate_gradient(A, b, q, {.max_iterations = 2});
  CHECK(relative(q, Vec{{-0.3324607329842932, 0.7958115183246074, -1.2827225130890054, 1.43717277486911}}) < 1e-12);
  CHECK(oracle.counts().hv == 2);
  q = Vec{{1, -1, 0.5, 0}};
  oracle.reset_counts();
  conjugate_gradient(A, b, q, {.max_iterations = 2});
  CHECK(relative(q, Vec{{-0.2832229161016414, 0.763507109486427, -0.5981032978031661, 0.7214123169073969}}) < 1e-12);
  CHECK(oracle.counts().hv == 3);
}

TEST_CASE("rahgd") {
  auto problem = instance();
  Recorded recorded;
  const auto solve = [&](const RahgdOptions& options) {
    return rahgd(*problem.oracle, options, problem.start, recorded.observer());
  };
  SUBCASE("without restarts") {
    check_end(solve(rahgd_options(infinity, 5)),
              {Vec{{0.7095960008165314, 0.48690509653898734, -0.06052636744909653}}, {5, 20, 5, 14}, 0});
    check_whole_run("RAHGD_norestart", recorded);
  }
  SUBCASE("with warm restarts") {
    check_end(solve(rahgd_options(0.45, 6)),
              {Vec{{0.7640357535550263, 0.14664156114057814, 0.056904154273890194}}, {6, 24, 6, 17}, 2});
    check_whole_run("RAHGD_restart_warm", recorded);
  }
  SUBCASE("as printed: cold restarts, v from y") {
    RahgdOptions options = rahgd_options(0.45, 6);
    options.outer.cold_restart = true;
    options.outer.T_init = 6;
    options.v_from_y = true;
    check_end(solve(options), {Vec{{0.7338214344211744, 0.0778670013579661, 0.037217794533697064}}, {6, 42, 6, 18}, 2});
    check_whole_run("RAHGD_paper_literal", recorded);
  }
  SUBCASE("perturbed") {
    RahgdOptions options = rahgd_options(0.45, 6);
    options.outer.noise = noise;
    check_end(solve(options), {Vec{{0.7775774268991577, 0.14674663952980016, 0.05880376933394295}}, {6, 24, 6, 17}, 2});
    check_whole_run("PRAHGD_given_noise", recorded);
  }
  SUBCASE("ended by K, averaged output") {
    RahgdOptions options = rahgd_options(50, 100);
    options.outer.K = 6;
    options.outer.strict_paper = true;
    const Result result = solve(options);
    CHECK(result.status == Status::converged);
    CHECK(result.iterations == 6);
    CHECK(result.counts == OracleCounts{6, 24, 6, 17});
    CHECK(relative(result.average, Vec{{0.8046608124456203, -0.11223531916409929, 0.1271793599587864}}) < 1e-12);
    check_whole_run("RAHGD_terminate_K6", recorded);
  }
}

TEST_CASE("aid and paid") {
  auto problem = instance();
  Recorded recorded;
  AidOptions options{
      .stop = after(5), .lower = {.alpha = 0.2, .beta = 0, .steps = 3, .products = 2}, .outer = {.eta = 0.15}};
  SUBCASE("aid") {
    check_end(aid(*problem.oracle, options, problem.start, recorded.observer()),
              {Vec{{0.8830308394122205, -0.25646239917862246, 0.23312481721046974}}, {5, 15, 5, 14}, 0});
    check_whole_run("AID", recorded);
  }
  SUBCASE("paid") {
    options.outer.threshold = 10;
    options.outer.gap = 1;
    options.outer.noise = noise;
    check_end(aid(*problem.oracle, options, problem.start, recorded.observer()),
              {Vec{{0.9020391740672046, -0.26046347942542303, 0.2465583221501707}}, {5, 15, 5, 14}, 3});
    check_whole_run("PAID_given_noise", recorded);
  }
}

TEST_CASE("ba, as published and warm") {
  auto problem = instance();
  Recorded recorded;
  BaOptions options{.stop = after(5),
                    .lower = {.alpha = 0.2, .beta = 0, .products = 2},
                    .outer = {.eta = 0.15},
                    .c = 2,
                    .warm = false};
  check_end(ba(*problem.oracle, options, problem.start, recorded.observer()),
            {Vec{{1.0127335225363323, -0.3357617588322118, 0.37751975085508555}}, {5, 14, 5, 10}, 0});
  check_whole_run("BA_cold", recorded);
  recorded.entries.clear();
  options.warm = true;
  check_end(ba(*problem.oracle, options, problem.start, recorded.observer()),
            {Vec{{0.9131735189706647, -0.26739290954786943, 0.2667352375334686}}, {5, 14, 5, 14}, 0});
  check_whole_run("BA_warm", recorded);
}

TEST_CASE("itd") {
  auto problem = instance();
  Recorded recorded;
  const ItdOptions options{.stop = after(5), .lower = {.alpha = 0.2, .steps = 3}, .outer = {.eta = 0.15}};
  check_end(itd(*problem.oracle, options, problem.start, recorded.observer()),
            {Vec{{0.8286502856975535, -0.47690801540907063, 0.23047925941949562}}, {5, 15, 15, 10}, 0});
  check_whole_run("ITD", recorded);
}

namespace {

constexpr double alpha = 0.05;
const double beta = (std::sqrt(2.0) - 1) / (std::sqrt(2.0) + 1);

/// Compares a field of each iterate of a run on the minimax problem.
void check_minimax_run(const char* name, const Recorded& recorded) {
  const auto reference = testing::reference("w_minimax");
  std::size_t k = 0;
  for (const auto& expected : reference.at(name).at("iterates")) {
    CAPTURE(k);
    const auto& entry = recorded.entries.at(k++);
    CHECK(relative(entry.x, vec(expected.at("x"))) < 1e-12);
    if (expected.contains("grads")) {
      CHECK(relative(entry.y, vec(expected.at("y"))) < 1e-12);
      CHECK(entry.counts.f + entry.counts.g == expected.at("grads").get<std::int64_t>());
    }
  }
  CHECK(k == recorded.entries.size());
}

}  // namespace

TEST_CASE("pragda on the minimax problem, without any product") {
  PragdaOptions options{.stop = after(8),
                        .lower = {.mu = 10, .l = 20, .alpha = alpha, .beta = beta, .steps = 2},
                        .outer = {.eta = 0.5, .theta = 0.1, .B = 0.3, .cold_restart = true, .T_init = 2}};
  Recorded recorded;
  SUBCASE("far from the saddle") {
    auto problem = problems::make_synthetic_minimax({}, problems::MinimaxStart::far);
    const Result result = pragda(*problem.oracle, options, problem.start, recorded.observer());
    CHECK(result.last[2] == doctest::Approx(0.600718877813608).epsilon(1e-13).scale(0));
    CHECK(result.counts == OracleCounts{8, 20, 0, 0});
    CHECK(result.restarts == 1);
    check_minimax_run("PRAGDA_x2", recorded);
  }
  SUBCASE("near the saddle") {
    auto problem = problems::make_synthetic_minimax();
    const Result result = pragda(*problem.oracle, options, problem.start, recorded.observer());
    CHECK(relative(result.last, Vec{{0.00040798429581551376, 4.045264204439201e-06, 7.071210593513855e-16}}) < 1e-12);
    CHECK(result.counts == OracleCounts{8, 18, 0, 0});
    check_minimax_run("PRAGDA_x1", recorded);
  }
}

TEST_CASE("gda on the minimax problem") {
  GdaOptions options{.stop = after(5), .lower = {.mu = 10, .l = 20, .alpha = 0.05}, .outer = {.eta = 0.5}};
  Recorded recorded;
  SUBCASE("far from the saddle") {
    auto problem = problems::make_synthetic_minimax({}, problems::MinimaxStart::far);
    const Result result = gda(*problem.oracle, options, problem.start, recorded.observer());
    CHECK(result.last[2] == doctest::Approx(0.7144725048639656).epsilon(1e-13).scale(0));
    CHECK(result.counts == OracleCounts{5, 5, 0, 0});
    check_minimax_run("GDA_x2", recorded);
  }
  SUBCASE("near the saddle") {
    auto problem = problems::make_synthetic_minimax();
    const Result result = gda(*problem.oracle, options, problem.start, recorded.observer());
    CHECK(relative(result.last, Vec{{0.0009018750000000001, 0.0008493750000000001, 1.6105099999999997e-16}}) < 1e-12);
    check_minimax_run("GDA_x1", recorded);
  }
}

TEST_CASE("imcn on the minimax problem") {
  ImcnOptions options{.stop = after(9),
                      .lower = {.mu = 10, .l = 20, .alpha = alpha, .beta = beta, .steps = 3, .products = 2},
                      .M = 2,
                      .L = 0.2,
                      .mu_s = 1};
  Recorded recorded;
  const auto check_trace = [&](const problems::Problem& problem, const char* name) {
    const auto reference = testing::reference("w_minimax");
    std::size_t k = 0;
    for (const auto& expected : reference.at(name).at("trace")) {
      CAPTURE(k);
      const auto& entry = recorded.entries.at(k++);
      CHECK(entry.x[2] == doctest::Approx(expected.at("x3").get<double>()).epsilon(1e-12).scale(0));
      CHECK(problem.closed_form.phi(entry.x) ==
            doctest::Approx(expected.at("Phi").get<double>()).epsilon(1e-12).scale(0));
      CHECK(entry.counts.f + entry.counts.g == expected.at("G").get<std::int64_t>());
      CHECK(entry.counts.hv == expected.at("HV").get<std::int64_t>());
      CHECK(entry.counts.jv == expected.at("JV").get<std::int64_t>());
    }
    CHECK(k == recorded.entries.size());
  };
  SUBCASE("near the saddle") {
    auto problem = problems::make_synthetic_minimax();
    const Result result = imcn(*problem.oracle, options, problem.start, recorded.observer());
    CHECK(result.last[2] == doctest::Approx(0.5999755774709331).epsilon(1e-12).scale(0));
    CHECK(result.counts == OracleCounts{9, 27, 764, 1146});
    check_trace(problem, "iMCN_x1");
  }
  SUBCASE("far from the saddle") {
    options.stop = after(5);
    options.L = 1;
    auto problem = problems::make_synthetic_minimax({}, problems::MinimaxStart::far);
    const Result result = imcn(*problem.oracle, options, problem.start, recorded.observer());
    CHECK(result.last[2] == doctest::Approx(0.6002886264734513).epsilon(1e-12).scale(0));
    CHECK(result.counts == OracleCounts{5, 15, 144, 72});
    check_trace(problem, "iMCN_x2");
  }
}

}  // namespace hypertape
