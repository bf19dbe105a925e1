#include "problems/registry.hpp"

#include "hypertape/core/require.hpp"
#include "problems/hyper_representation/hyper_representation.hpp"
#include "problems/hypercleaning/hypercleaning.hpp"
#include "problems/hyperparameter_logistic/hyperparameter_logistic.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/quartic/quartic.hpp"
#include "problems/ridge/ridge.hpp"
#include "problems/strict_saddle/strict_saddle.hpp"
#include "problems/synthetic_minimax/synthetic_minimax.hpp"

namespace hypertape::problems {
namespace {

void refuse_quadratic_arguments(const char* name, const ProblemArguments& a) {
  require(!a.instance, name, ": --instance is for quadratic and quadratic_minimax only");
  require(!a.kappa, name, ": --kappa is for quadratic, quadratic_minimax and quartic only");
}

Quadratic quadratic_instance(const char* name, const ProblemArguments& a) {
  require(!a.instance || !a.kappa, name, ": --instance and --kappa exclude each other");
  return a.instance ? read_quadratic(*a.instance) : generate_quadratic({.kappa = a.kappa.value_or(10), .seed = a.seed});
}

Problem quadratic(const ProblemArguments& a) { return make_quadratic(quadratic_instance("quadratic", a)); }

Problem quadratic_minimax(const ProblemArguments& a) {
  return make_quadratic_minimax(quadratic_instance("quadratic_minimax", a));
}

Problem quartic(const ProblemArguments& a) {
  require(!a.instance, "quartic: --instance is for quadratic and quadratic_minimax only");
  return make_quartic({.kappa = a.kappa.value_or(10), .seed = a.seed});
}

Problem ridge(const ProblemArguments& a) {
  refuse_quadratic_arguments("ridge", a);
  return make_ridge(generate_ridge({.seed = a.seed}));
}

Problem synthetic_minimax(const ProblemArguments& a) {
  refuse_quadratic_arguments("synthetic_minimax", a);
  return make_synthetic_minimax();
}

Problem hypercleaning(const ProblemArguments& a) {
  refuse_quadratic_arguments("hypercleaning", a);
  return make_hypercleaning(generate_hypercleaning({.seed = a.seed}).data);
}

Problem hyperparameter_logistic(const ProblemArguments& a) {
  refuse_quadratic_arguments("hyperparameter_logistic", a);
  return make_hyperparameter_logistic(generate_hyperparameter_logistic({.seed = a.seed}));
}

Problem hyper_representation(const ProblemArguments& a) {
  refuse_quadratic_arguments("hyper_representation", a);
  return make_hyper_representation(generate_hyper_representation({.seed = a.seed}));
}

Problem strict_saddle(const ProblemArguments& a) {
  refuse_quadratic_arguments("strict_saddle", a);
  return make_strict_saddle({.seed = a.seed});
}

}  // namespace

const std::vector<ProblemEntry>& registry() {
  static const std::vector<ProblemEntry> entries{
      {"quadratic", "quadratic over quadratic, everything in closed form", quadratic},
      {"ridge", "a regularisation weight per feature above ridge regression", ridge},
      {"hypercleaning", "a weight per training example, some with a wrong label, above softmax regression",
       hypercleaning},
      {"hyperparameter_logistic", "a regularisation weight per feature above softmax regression on sparse documents",
       hyperparameter_logistic},
      {"hyper_representation", "the first layer of a network above a ridge head", hyper_representation},
      {"strict_saddle", "approximation of a matrix by yy', started where plain descent meets a saddle", strict_saddle},
      {"quartic", "a sum of fourth powers, flat around its minimum, over a quadratic", quartic},
      {"quadratic_minimax", "quadratic, concave in y, everything in closed form", quadratic_minimax},
      {"synthetic_minimax", "W-shaped function with a strict saddle, concave in y", synthetic_minimax},
  };
  return entries;
}

Problem make_problem(const std::string& name, const ProblemArguments& arguments) {
  std::string known;
  for (const ProblemEntry& entry : registry()) {
    if (entry.name == name) return entry.make(arguments);
    known += text(known.empty() ? "" : ", ", entry.name);
  }
  throw std::invalid_argument(text("problem = ", name, ", must be one of ", known));
}

}  // namespace hypertape::problems
