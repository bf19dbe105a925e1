// Regularisation weights for every word of 20 Newsgroups, above softmax regression.

#include <chrono>
#include <iostream>
#include <stdexcept>

#include "drivers/common/command_line.hpp"
#include "drivers/common/comparison.hpp"
#include "hypertape/core/require.hpp"
#include "problems/classification.hpp"
#include "problems/data/documents.hpp"
#include "problems/hyperparameter_logistic/hyperparameter_logistic.hpp"
#include "problems/labels.hpp"

namespace po = boost::program_options;
using namespace hypertape;

namespace {

struct Data {
  problems::HyperparameterLogistic problem;
  problems::LabelledDocuments test;
  std::string source;
};

problems::LabelledDocuments rows_of(const SparseRows& X, const std::vector<int>& labels,
                                    const std::vector<std::size_t>& order, std::size_t begin, std::size_t end) {
  std::vector<Eigen::Triplet<double>> entries;
  problems::LabelledDocuments out;
  for (std::size_t i = begin; i < end; ++i) {
    for (SparseRows::InnerIterator entry(X, static_cast<Index>(order[i])); entry; ++entry)
      entries.emplace_back(static_cast<int>(i - begin), static_cast<int>(entry.col()), entry.value());
    out.labels.push_back(labels[order[i]]);
  }
  out.features.resize(static_cast<Index>(end - begin), X.cols());
  out.features.setFromTriplets(entries.begin(), entries.end());
  return out;
}

Data read_corpus(const std::string& folder, std::uint64_t seed) {
  const auto training = problems::read_folders(folder + "/20news-bydate-train");
  const auto test = problems::read_folders(folder + "/20news-bydate-test");
  if (training.categories != test.categories)
    throw std::runtime_error(folder + ": training and test documents have different categories");
  const auto words = problems::TfIdf::fit(training);
  const SparseRows X = words.transform(training);
  Random random(seed);
  const auto order = problems::shuffled(training.texts.size(), random);
  const std::size_t half = order.size() / 2;
  Data data;
  data.problem.training = rows_of(X, training.labels, order, 0, half);
  data.problem.validation = rows_of(X, training.labels, order, half, order.size());
  data.problem.classes = static_cast<int>(training.categories.size());
  data.test = {words.transform(test), test.labels};
  data.source = folder;
  return data;
}

/// When there is no corpus: documents of which half the words belong to the class.
Data generate(std::uint64_t seed) {
  const auto make = [&](std::uint64_t s) {
    return problems::generate_hyperparameter_logistic(
        {.training = 600, .validation = 600, .features = 2000, .classes = 5, .words = 20, .seed = s});
  };
  Data data{make(seed), {}, "generated, seed " + std::to_string(seed)};
  auto& validation = data.problem.validation;
  std::vector<std::size_t> order(validation.labels.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  data.test = rows_of(validation.features, validation.labels, order, 300, 600);
  validation = rows_of(validation.features, validation.labels, order, 0, 300);
  return data;
}

int run(const po::variables_map& given) {
  if (drivers::listed_options(given)) return 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto seed = given["seed"].as<std::uint64_t>();
  const Data data = given.count("data") > 0 ? read_corpus(given["data"].as<std::string>(), seed) : generate(seed);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  std::cout << "  reading and tf-idf: " << seconds << " s\n";
  const RowOptions options{.threads = given["threads"].as<int>()};
  const auto start = problems::make_hyperparameter_logistic(data.problem, options);
  const double l = drivers::measured_l(start, start.start.x, start.start.y);
  drivers::Experiment experiment{"newsgroups", [&] {
                                   auto problem = problems::make_hyperparameter_logistic(data.problem, options);
                                   problem.constants.l = l;
                                   return problem;
                                 }};
  const auto test = [&](const Vec& y) { return problems::score(data.test.features, data.test.labels, y); };
  experiment.metrics = {
      {"test_loss", [&](const Vec&, const Vec& y) { return test(y).loss; }},
      {"test_accuracy", [&](const Vec&, const Vec& y) { return test(y).accuracy; }},
      {"validation_accuracy",
       [&](const Vec&, const Vec& y) {
         return problems::score(data.problem.validation.features, data.problem.validation.labels, y).accuracy;
       }},
  };
  experiment.figures = {
      {"accuracy_calls", "Test accuracy against oracle calls", "test_accuracy", "test accuracy", true, 0, false, true},
      {"accuracy_time", "Test accuracy against time", "test_accuracy", "test accuracy", false, 0, false, true},
      {"loss_calls", "Test loss against oracle calls", "test_loss", "test loss", true, 0, false, true},
      {"loss_time", "Test loss against time", "test_loss", "test loss", false, 0, false, true},
  };
  experiment.defaults = drivers::shipped_settings("newsgroups", {{"alpha", 1 / l}});
  // The paper's grid, thinned: of its outer steps those that are neither idle nor divergent, of its numbers of products
  // the smallest. Plain descent on the lower level may take steps up to 2/l. A perturbed method takes the settings of
  // the one it perturbs.
  const std::vector<std::string> etas{"10", "100", "1000"}, steps{"10", "30", "50"}, products{"5"},
      alphas{drivers::exact(1 / l), drivers::exact(1.8 / l)};
  experiment.grids["rahgd"] =
      drivers::all_combinations({{"eta", etas}, {"theta", {"0.1"}}, {"steps", steps}, {"products", products}});
  experiment.grids["aid"] =
      drivers::all_combinations({{"eta", etas}, {"alpha", alphas}, {"steps", steps}, {"products", products}});
  experiment.grids["itd"] = drivers::all_combinations(
      {{"eta", etas}, {"alpha", alphas}, {"steps", {"5", "10", "30"}}});  // which keeps every step: 21 MB each
  experiment.grids["ba"] =
      drivers::all_combinations({{"eta", etas}, {"alpha", alphas}, {"c", {"4", "8", "16"}}, {"products", products}});
  experiment.grids["prahgd"] = drivers::all_combinations({{"r", {"0.01", "0.1"}}});
  experiment.grids["paid"] =
      drivers::all_combinations({{"r", {"0.01", "0.1"}}, {"threshold", {"1e-2"}}, {"gap", {"10"}}});
  experiment.tuned_after = {{"prahgd", "rahgd"}, {"paid", "aid"}};
  experiment.facts = {
      {"data", data.source},
      {"seed", text(seed)},
      {"documents", text(data.problem.training.labels.size(), " training, ", data.problem.validation.labels.size(),
                         " validation, ", data.test.labels.size(), " test")},
      {"words", text(data.problem.training.features.cols())},
  };
  return drivers::compare(given, experiment).exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  drivers::CommandLine line;
  line.name = "newsgroups";
  line.purpose =
      "chooses a regularisation weight for every word of 20 Newsgroups, so that softmax regression trained with them\n"
      "does well on validation documents, and compares solvers at it. Phi is the validation loss.";
  line.examples =
      "  newsgroups                                          generated documents\n"
      "  scripts/get-data 20news ARCHIVE && newsgroups --data data/20news\n"
      "  newsgroups --data data/20news --tune --tune-calls 500 --out results/tuned\n" +
      drivers::comparison_help(line.name);
  line.options.add_options()("data", po::value<std::string>()->value_name("DIR"),
                             "folder with 20news-bydate-train and 20news-bydate-test (default: generated documents)")(
      "threads", po::value<int>()->default_value(0)->value_name("N"), "threads (0: all)")(
      "seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"), "seed of the split and of perturbations");
  drivers::add_comparison_options(line.options, "auto,rahgd,prahgd,ba,aid,itd,paid", "2000");
  drivers::add_tuning_options(line.options);
  return drivers::run_driver(argc, argv, std::move(line), run);
}
