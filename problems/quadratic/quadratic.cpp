#include "problems/quadratic/quadratic.hpp"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/dense.hpp"
#include "problems/spectrum.hpp"

namespace hypertape::problems {
namespace {

using nlohmann::json;

void require_symmetric(const std::string& where, const char* name, const Mat& m) {
  require(m.rows() == m.cols(), where, ": ", name, " is ", m.rows(), " x ", m.cols(), ", must be square");
  const double tolerance = 1e-12 * m.norm();
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < i; ++j) {
      if (std::abs(m(i, j) - m(j, i)) <= tolerance) continue;
      require(false, where, ": ", name, "[", i, "][", j, "] = ", m(i, j), " but ", name, "[", j, "][", i,
              "] = ", m(j, i), ", must be symmetric");
    }
}

const json& field(const json& object, const std::string& name) {
  require(object.contains(name), "no field \"", name, "\", expected A, C, b, d, D and x0");
  return object.at(name);
}

Vec read_vector(const json& from, const std::string& name) {
  require(from.is_array(), name, " is ", from.type_name(), ", expected an array of numbers");
  Vec v(static_cast<Index>(from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    require(from[i].is_number(), name, "[", i, "] is ", from[i].type_name(), ", expected a number");
    v[static_cast<Index>(i)] = from[i].get<double>();
  }
  return v;
}

Mat read_matrix(const json& from, const std::string& name) {
  require(from.is_array() && !from.empty(), name, " is ", from.is_array() ? "empty" : from.type_name(),
          ", expected an array of rows");
  Mat m;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Vec row = read_vector(from[i], text(name, "[", i, "]"));
    if (i == 0) m.resize(static_cast<Index>(from.size()), row.size());
    require(row.size() == m.cols(), name, "[", i, "] has ", row.size(), " entries, expected ", m.cols(),
            " as in the rows before");
    m.row(static_cast<Index>(i)) = row.transpose();
  }
  return m;
}

}  // namespace

void Quadratic::require_valid(const std::string& where) const {
  require_symmetric(where, "A", A);
  require_symmetric(where, "D", D);
  require(C.rows() == A.rows() && C.cols() == D.rows(), where, ": C is ", C.rows(), " x ", C.cols(), ", expected ",
          A.rows(), " x ", D.rows(), " (rows of A x rows of D)");
  require_vector(where, "b", b, A.rows());
  require_vector(where, "d", d, A.rows());
  require_vector(where, "x0", x0, D.rows());
  require(A.allFinite() && C.allFinite() && D.allFinite(), where, ": A, C and D must be finite");
  const double mu = symmetric_eigenvalues(A)[0];
  require(mu > 0, where, ": A has the eigenvalue ", mu, ", must be positive definite");
}

Quadratic generate_quadratic(const QuadraticSpec& spec) {
  const auto [nx, ny] = spec.dims;
  require(nx > 0 && ny > 0, "quadratic: dims = ", nx, ", ", ny, ", must be positive");
  require(spec.kappa >= 1, "quadratic: kappa = ", spec.kappa, ", must be at least 1");
  require(!spec.identity_coupling || nx == ny, "quadratic: identity coupling needs dims.x = dims.y, given ", nx,
          " and ", ny);
  Random random(spec.seed);
  Quadratic q;
  q.A = with_spectrum(random_orthogonal(ny, random), geometric_spectrum(ny, spec.kappa));
  q.C =
      spec.identity_coupling ? Mat::Identity(ny, nx) : Mat(random.normal(ny, nx) / std::sqrt(static_cast<double>(ny)));
  q.D = 0.01 * Mat::Identity(nx, nx);
  q.b = random.normal(ny);
  q.d = random.normal(ny);
  q.x0 = random.normal(nx);
  return q;
}

Quadratic read_quadratic(const std::string& file) {
  try {
    std::ifstream in(file);
    require(in.good(), "cannot be opened");
    const json document = json::parse(in);
    require(document.is_object(), "is ", document.type_name(), ", expected an object with A, C, b, d, D and x0");
    const json& problem = document.contains("problem") ? document.at("problem") : document;
    require(problem.is_object(), "\"problem\" is ", problem.type_name(), ", expected an object");
    Quadratic q;
    q.A = read_matrix(field(problem, "A"), "A");
    q.C = read_matrix(field(problem, "C"), "C");
    q.D = read_matrix(field(problem, "D"), "D");
    q.b = read_vector(field(problem, "b"), "b");
    q.d = read_vector(field(problem, "d"), "d");
    q.x0 = read_vector(field(problem, "x0"), "x0");
    q.require_valid("instance");
    return q;
  } catch (const json::exception& bad) {
    throw std::runtime_error(text(file, ": not JSON: ", bad.what()));
  } catch (const std::invalid_argument& bad) {
    throw std::runtime_error(text(file, ": ", bad.what()));
  }
}

namespace {

/// What both problems have in common: y*, constants, and the optimum where Phi, with the given value, gradient and
/// Hessian, is convex.
Problem assemble(const char* name, const Quadratic& q, TapedProblem taped, const std::function<Vec(const Vec&)>& y_star,
                 const std::function<double(const Vec&)>& phi, const std::function<Vec(const Vec&)>& grad_phi,
                 const Mat& hess) {
  auto oracle = std::make_unique<TapedProblem>(std::move(taped));
  Problem problem;
  problem.name = name;
  problem.plain = oracle->plain();
  problem.oracle = std::move(oracle);
  problem.start = {q.x0, Vec::Zero(q.A.rows())};
  const Vec eigenvalues = symmetric_eigenvalues(q.A);
  problem.constants = {eigenvalues.minCoeff(), eigenvalues.maxCoeff()};
  problem.closed_form = {y_star, phi, grad_phi, [hess](const Vec&) { return hess; }};
  const Cholesky convex(hess);
  if (convex.positive_definite()) {
    const Vec x = -convex.solve(grad_phi(Vec::Zero(q.D.rows())));
    problem.optimum = {x, phi(x)};
  }
  return problem;
}

}  // namespace

Problem make_quadratic(const Quadratic& q) {
  q.require_valid("quadratic");
  const Cholesky A(q.A);
  const auto y_star = [q, A](const Vec& x) -> Vec { return A.solve(q.C * x + q.b); };
  const auto phi = [q, y_star](const Vec& x) { return 0.5 * (y_star(x) - q.d).squaredNorm() + 0.5 * x.dot(q.D * x); };
  const auto grad_phi = [q, A, y_star](const Vec& x) -> Vec {
    return q.D * x + q.C.transpose() * A.solve(y_star(x) - q.d);
  };
  const Mat AinvC = A.solve_columns(q.C);
  return assemble("quadratic", q,
                  make_bilevel(
                      {q.D.rows(), q.A.rows()}, [q](const auto& x, const auto& y) { return q.f(x, y); },
                      [q](const auto& x, const auto& y) { return q.g(x, y); }),
                  y_star, phi, grad_phi, q.D + AinvC.transpose() * AinvC);
}

Problem make_quadratic_minimax(const Quadratic& q) {
  q.require_valid("quadratic_minimax");
  const Cholesky A(q.A);
  const auto y_star = [q, A](const Vec& x) -> Vec { return A.solve(q.C * x + q.b); };
  const auto phi = [q, y_star](const Vec& x) { return 0.5 * x.dot(q.D * x) + 0.5 * (q.C * x + q.b).dot(y_star(x)); };
  const auto grad_phi = [q, y_star](const Vec& x) -> Vec { return q.D * x + q.C.transpose() * y_star(x); };
  Problem problem =
      assemble("quadratic_minimax", q,
               make_minimax({q.D.rows(), q.A.rows()},
                            [q](const auto& x, const auto& y) { return 0.5 * x.dot(q.D * x) - q.g(x, y); }),
               y_star, phi, grad_phi, q.D + q.C.transpose() * A.solve_columns(q.C));
  problem.minimax = true;
  return problem;
}

}  // namespace hypertape::problems
