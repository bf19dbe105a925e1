#include "problems/quadratic/quadratic.hpp"

#include <doctest/doctest.h>

#include "hypertape/core/random.hpp"
#include "problems/dense.hpp"
#include "support/comma_locale.hpp"
#include "support/reference.hpp"
#include "support/relative.hpp"
#include "support/temporary_folder.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::relative;
using testing::TemporaryFolder;

namespace {

const std::string good =
    R"({"A": [[2, 0.5], [0.5, 1]], "C": [[1], [2]], "b": [1, -1], "d": [0.5, 0], "D": [[3]], "x0": [0.25]})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("taped derivatives agree with the closed forms to 1e-12") {
  for (const double kappa : {1.0, 10.0, 1000.0})
    for (const std::uint64_t seed : {1, 2}) {
      CAPTURE(kappa);
      const Quadratic q = generate_quadratic({.kappa = kappa, .seed = seed});
      Problem problem = make_quadratic(q);
      Random random(seed);
      for (int k = 0; k < 10; ++k) {
        const Vec x = random.normal(10), y = random.normal(20), v = random.normal(20), u = random.normal(10);
        BilevelOracle& o = *problem.oracle;
        CHECK(relative(o.grad_f(x, y).x, q.D * x) < 1e-12);
        CHECK(relative(o.grad_f(x, y).y, y - q.d) < 1e-12);
        CHECK(relative(o.grad_y_g(x, y), q.A * y - q.C * x - q.b) < 1e-12);
        CHECK(relative(o.grad_g(x, y).x, -q.C.transpose() * y) < 1e-12);
        CHECK(relative(o.curvature_at(x, y)(v), q.A * v) < 1e-12);
        CHECK(relative(o.cross_product(x, y, v), -q.C.transpose() * v) < 1e-12);
        CHECK(relative(o.adjoint_cross_product(x, y, u), -q.C * u) < 1e-12);
        CHECK(relative(o.hess_f(x, y, u, v).x, q.D * u) < 1e-12);
        CHECK(relative(o.hess_f(x, y, u, v).y, v) < 1e-12);
        CHECK(relative(o.hess_g(x, y, u, v).x, -q.C.transpose() * v) < 1e-12);
        CHECK(relative(o.hess_g(x, y, u, v).y, q.A * v - q.C * u) < 1e-12);
      }
    }
}

TEST_CASE("the closed forms belong together, those of the minimax problem too") {
  for (const bool minimax : {false, true}) {
    CAPTURE(minimax);
    const Quadratic q = generate_quadratic({.kappa = 50, .seed = 3});
    const Problem problem = minimax ? make_quadratic_minimax(q) : make_quadratic(q);
    CHECK(problem.minimax == minimax);
    const auto& [y_star, phi, grad_phi, hess_phi] = problem.closed_form;
    Random random(8);
    const Vec x = random.normal(10), d = random.normal(10);
    CHECK(problem.oracle->grad_y_g(x, y_star(x)).norm() < 1e-12);
    CHECK(phi(x) == doctest::Approx(problem.plain.f(x, y_star(x))).epsilon(1e-13));
    // Phi is quadratic: these differences are exact up to rounding.
    CHECK(grad_phi(x).dot(d) == doctest::Approx((phi(x + d) - phi(x - d)) / 2).epsilon(1e-10));
    CHECK(d.dot(hess_phi(x) * d) == doctest::Approx(phi(x + d) - 2 * phi(x) + phi(x - d)).epsilon(1e-10));
    REQUIRE(problem.optimum);
    CHECK(grad_phi(problem.optimum->x).norm() < 1e-11);
    CHECK(phi(problem.optimum->x) == problem.optimum->phi);
  }
}

TEST_CASE("the condition number is the one asked for, below and above") {
  const Problem problem =
      make_quadratic(generate_quadratic({.dims = {12, 12}, .kappa = 30, .identity_coupling = true}));
  CHECK(problem.constants.kappa() == doctest::Approx(30).epsilon(1e-9));
  CHECK(problem.constants.l == doctest::Approx(1).epsilon(1e-12));
  const Vec eigenvalues = symmetric_eigenvalues(problem.closed_form.hess_phi({}));
  CHECK(eigenvalues.maxCoeff() / eigenvalues.minCoeff() == doctest::Approx(900).epsilon(0.02));
  const Problem minimax =
      make_quadratic_minimax(generate_quadratic({.dims = {12, 12}, .kappa = 30, .identity_coupling = true}));
  const Vec of_minimax = symmetric_eigenvalues(minimax.closed_form.hess_phi({}));
  CHECK(of_minimax.maxCoeff() / of_minimax.minCoeff() == doctest::Approx(30).epsilon(0.02));
}

TEST_CASE("an instance without a minimum has no optimum") {
  Quadratic q = generate_quadratic({.dims = {2, 2}});
  q.D = -1e6 * Mat::Identity(2, 2);
  CHECK_FALSE(make_quadratic(q).optimum);
}

TEST_CASE("an instance is read from a file, bare or under \"problem\"") {
  for (const std::string& content : {good, "{\"other\": 1, \"problem\": " + good + "}"}) {
    const TemporaryFolder folder;
    const Quadratic q = read_quadratic(folder.write("instance.json", content));
    CHECK(q.A == Mat{{2, 0.5}, {0.5, 1}});
    CHECK(q.C == Mat{{1}, {2}});
    CHECK(q.D == Mat{{3}});
    CHECK(q.b == Vec{{1, -1}});
    CHECK(q.d == Vec{{0.5, 0}});
    CHECK(q.x0 == Vec{{0.25}});
  }
}

TEST_CASE("an instance file is read the same in a locale with commas") {
  const TemporaryFolder folder;
  const testing::CommaLocale locale;
  CHECK(read_quadratic(folder.write("instance.json", good)).d == Vec{{0.5, 0}});
}

TEST_CASE("one entry of a large matrix that is not symmetric is named") {
  // 1,500 squared comparisons; with a norm in each of them it would take minutes.
  constexpr Index n = 1500;
  Quadratic q{Mat::Identity(n, n), Mat::Zero(n, 1), Mat::Identity(1, 1), Vec::Zero(n), Vec::Zero(n), Vec::Zero(1)};
  q.A(n - 1, n - 2) = 0.5;
  CHECK_THROWS_WITH_AS(q.require_valid("here"), "here: A[1499][1498] = 0.5 but A[1498][1499] = 0, must be symmetric",
                       std::invalid_argument);
}

TEST_CASE("a bad instance file is refused with the file and the fault") {
  struct Bad {
    std::string content;
    std::string words;
  };
  const Bad cases[] = {
      {good.substr(0, 60), "parse error at line 1, column 61"},
      {"[1, 2]", "is array, expected an object"},
      {replaced(good, "\"d\"", "\"e\""), "no field \"d\""},
      {replaced(good, "[1, -1]", "1"), "b is number, expected an array of numbers"},
      {replaced(good, "[1, -1]", "[1, \"x\"]"), "b[1] is string, expected a number"},
      {replaced(good, "[1, -1]", "[1]"), "b has 1 entries, expected 2"},
      {replaced(good, "[0.5, 1]", "[0.5]"), "A[1] has 1 entries, expected 2"},
      {replaced(good, "[0.5, 1]", "[0.25, 1]"), "A[1][0] = 0.25 but A[0][1] = 0.5, must be symmetric"},
      {replaced(good, "[2, 0.5]", "[-2, 0.5]"), "must be positive definite"},
      {replaced(good, "[[1], [2]]", "[[1]]"), "C is 1 x 1, expected 2 x 1"},
      {replaced(good, "[[3]]", "[]"), "D is empty, expected an array of rows"},
      {replaced(good, "0.25", "1e999"), "not JSON"},
  };
  for (const auto& [content, words] : cases) {
    const TemporaryFolder folder;
    const std::string file = folder.write("instance.json", content);
    CAPTURE(file);
    CHECK_THROWS_WITH_AS(read_quadratic(file), doctest::Contains(words.c_str()), std::runtime_error);
    CHECK_THROWS_WITH_AS(read_quadratic(file), doctest::Contains(file.c_str()), std::runtime_error);
  }
  CHECK_THROWS_WITH_AS(read_quadratic("/no/such/file"), "/no/such/file: cannot be opened", std::runtime_error);
}

TEST_CASE("the reference instance has the reference values") {
  const auto reference = testing::reference("quadratic").at("problem");
  const auto vec = [&](const char* name) { return testing::vec(reference.at(name)); };
  const Problem problem = make_quadratic(read_quadratic(testing::reference_path("quadratic")));
  const Vec& x0 = problem.start.x;
  CHECK(relative(problem.closed_form.y_star(x0), vec("ystar_x0")) < 1e-13);
  CHECK(problem.closed_form.phi(x0) == doctest::Approx(reference.at("Phi_x0").get<double>()).epsilon(1e-13));
  CHECK(relative(problem.closed_form.grad_phi(x0), vec("gradPhi_x0")) < 1e-13);
  CHECK(relative(problem.optimum->x, vec("xstar")) < 1e-13);
  CHECK(problem.optimum->phi == doctest::Approx(reference.at("Phi_min").get<double>()).epsilon(1e-13));
  CHECK(problem.constants.mu == doctest::Approx(reference.at("mu").get<double>()).epsilon(1e-13));
  CHECK(problem.constants.l == doctest::Approx(reference.at("l").get<double>()).epsilon(1e-13));
}
