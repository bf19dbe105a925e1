// Data hypercleaning on images: a weight for every training example, some of which have a wrong label.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "drivers/common/command_line.hpp"
#include "drivers/common/comparison.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/inner/agd.hpp"
#include "problems/classification.hpp"
#include "problems/data/idx.hpp"
#include "problems/hypercleaning/hypercleaning.hpp"
#include "problems/labels.hpp"

namespace po = boost::program_options;
using namespace hypertape;

namespace {

/// Training examples of which some labels are wrong, clean ones for validation, and others for the test.
struct Data {
  problems::Hypercleaning problem;
  std::vector<bool> corrupted;
  problems::LabelledRows test;
  std::string source;
};

struct Amounts {
  Index training, validation;
  Index test;  // 0: as many as there are, of images at most 10,000
  double corruption;
  bool validation_from_test;  // the first images of the test file are the validation set
};

/// The chosen images as rows of pixels in [0, 1], with a one for the bias.
problems::LabelledRows rows_of(const problems::Images& images, const std::vector<int>& labels,
                               const std::vector<std::size_t>& chosen) {
  const Index pixels = images.rows * images.cols;
  problems::LabelledRows out{RowMat(static_cast<Index>(chosen.size()), pixels + 1), {}};
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::uint8_t* const image = images.pixels.data() + chosen[i] * static_cast<std::size_t>(pixels);
    const auto row = static_cast<Index>(i);
    for (Index k = 0; k < pixels; ++k) out.features(row, k) = image[k] / 255.0;
    out.features(row, pixels) = 1;
    out.labels.push_back(labels[chosen[i]]);
  }
  return out;
}

struct Split {
  problems::Images images;
  std::vector<int> labels;
};

Split read_split(const std::string& folder, const std::string& name) {
  const auto path = [&](const std::string& kind) {
    const std::string plain = folder + "/" + name + "-" + kind;
    return std::filesystem::exists(plain) || !std::filesystem::exists(plain + ".gz") ? plain : plain + ".gz";
  };
  Split out{problems::read_idx_images(path("images-idx3-ubyte")), problems::read_idx_labels(path("labels-idx1-ubyte"))};
  if (out.images.count != static_cast<Index>(out.labels.size()))
    throw std::runtime_error(
        text(path("labels-idx1-ubyte"), ": ", out.labels.size(), " labels for ", out.images.count, " images"));
  return out;
}

std::vector<std::size_t> part(const std::vector<std::size_t>& order, Index begin, Index count, const char* what) {
  require(begin + count <= static_cast<Index>(order.size()), "--", what, " ", count, ": there are only ",
          static_cast<Index>(order.size()) - begin, " images for it");
  return {order.begin() + begin, order.begin() + begin + count};
}

Data read_images(const std::string& folder, const Amounts& amounts, std::uint64_t seed) {
  const Split training = read_split(folder, "train"), test = read_split(folder, "t10k");
  require(training.images.rows == test.images.rows && training.images.cols == test.images.cols, folder,
          ": training and test images differ in size");
  Random random(seed);
  const auto order = problems::shuffled(training.labels.size(), random);
  std::vector<std::size_t> test_order(test.labels.size());
  for (std::size_t i = 0; i < test_order.size(); ++i) test_order[i] = i;
  Data data;
  data.source = folder;
  data.problem.classes = 10;
  data.problem.training = rows_of(training.images, training.labels, part(order, 0, amounts.training, "training"));
  const Index from_test = amounts.validation_from_test ? amounts.validation : 0;
  data.problem.validation =
      amounts.validation_from_test
          ? rows_of(test.images, test.labels, part(test_order, 0, amounts.validation, "validation"))
          : rows_of(training.images, training.labels, part(order, amounts.training, amounts.validation, "validation"));
  const Index left = test.images.count - from_test;
  data.test =
      rows_of(test.images, test.labels,
              part(test_order, from_test, amounts.test > 0 ? amounts.test : std::min<Index>(10000, left), "test"));
  require(!data.test.labels.empty(), "--validation ", amounts.validation, ": leaves no images for the test");
  data.corrupted = problems::corrupt_labels(data.problem.training.labels, 10, amounts.corruption, random);
  return data;
}

/// When there are no images: overlapping Gaussian classes.
Data generate(const Amounts& amounts, std::uint64_t seed) {
  auto generated = problems::generate_hypercleaning({.training = amounts.training,
                                                     .validation = amounts.validation + amounts.test,
                                                     .features = 8,
                                                     .classes = 10,
                                                     .corruption = amounts.corruption,
                                                     .seed = seed});
  problems::LabelledRows& both = generated.data.validation;
  Data data;
  data.test.features = both.features.bottomRows(amounts.test);
  data.test.labels.assign(both.labels.begin() + amounts.validation, both.labels.end());
  both.features = both.features.topRows(amounts.validation).eval();
  both.labels.resize(static_cast<std::size_t>(amounts.validation));
  data.problem = std::move(generated.data);
  data.corrupted = std::move(generated.corrupted);
  data.source = "generated, seed " + std::to_string(seed);
  return data;
}

/// The weights that believe every label.
Vec all_weights_one(Index n) { return Vec::Constant(n, 40.0); }

/// Softmax regression that believes every label: argmin g with all weights 1, and its accuracy on the test set.
struct Trained {
  Vec y;
  std::string accuracy;
};

Trained train_on(const problems::LabelledRows& rows, const Data& data, const RowOptions& options) {
  auto problem =
      problems::make_hypercleaning({rows, data.problem.validation, data.problem.classes, data.problem.regularisation},
                                   problems::Storage::automatic, options);
  const Vec x = all_weights_one(problem.start.x.size());
  Vec y;
  AgdResult trained;
  // The curvature at the start is often the largest there is, and then several times below the problem's bound.
  for (const double l : {drivers::measured_l(problem, x, problem.start.y), problem.constants.l}) {
    y = problem.start.y;
    const double root = std::sqrt(l / problem.constants.mu);
    trained = agd([&](const Vec& at, Vec& out) { problem.oracle->grad_y_g(x, at, out); }, y,
                  {.step = 1 / l, .momentum = (root - 1) / (root + 1), .max_iterations = 3000, .tolerance = 1e-4});
    if (trained.status == Status::converged) break;
  }
  const double accuracy = problems::score(data.test.features, data.test.labels, y).accuracy;
  return {y, text(100 * accuracy, " %", trained.status == Status::converged ? "" : " (not converged)")};
}

/// The paper's grids where they fit: its outer steps, up to 10, are too short by the number of examples n, as the
/// gradient in x_i is of the order 1/n, and its lower steps from 50 up are many after a warm start. Plain descent on
/// the lower level may take steps up to 2/l. A perturbed method takes the settings of the one it perturbs.
void add_grids(drivers::Experiment& experiment, double n, double l) {
  const auto times = [](double unit, std::initializer_list<double> factors) {
    std::vector<std::string> out;
    for (const double factor : factors) out.push_back(drivers::exact(factor * unit));
    return out;
  };
  const auto alpha = times(1 / l, {1, 1.8});
  experiment.grids["rahgd"] = drivers::all_combinations({{"eta", times(n, {1, 2, 4, 8})},
                                                         {"theta", {"0.1", "0.3"}},
                                                         {"B_factor", {"1"}},
                                                         {"steps", {"5", "10", "20", "50"}},
                                                         {"products", {"3", "6"}}});
  experiment.grids["aid"] = drivers::all_combinations(
      {{"eta", times(n, {4, 8, 16})}, {"alpha", alpha}, {"steps", {"20", "50", "100"}}, {"products", {"3", "6"}}});
  experiment.grids["itd"] = drivers::all_combinations(
      {{"eta", times(n, {8, 16, 32, 64})}, {"alpha", alpha}, {"steps", {"5", "20", "50", "100"}}});
  experiment.grids["ba"] = drivers::all_combinations(
      {{"eta", times(n, {4, 8, 16})}, {"alpha", alpha}, {"c", {"4", "8", "16", "32"}}, {"products", {"3"}}});
  experiment.grids["prahgd"] = drivers::all_combinations({{"r", {"0.01", "1"}}});
  experiment.grids["paid"] =
      drivers::all_combinations({{"r", {"0.01", "1"}}, {"threshold", {"1e-4"}}, {"gap", {"10"}}});
  experiment.tuned_after = {{"prahgd", "rahgd"}, {"paid", "aid"}};
}

int run(const po::variables_map& given) {
  if (drivers::listed_options(given)) return 0;
  const bool images = given.count("data") > 0;
  const auto amount = [&](const char* name, Index with_images, Index generated) {
    if (given.count(name) == 0) return images ? with_images : generated;
    const auto value = given[name].as<Index>();
    require(value > 0, "--", name, " ", value, ", must be positive");
    return value;
  };
  const Amounts amounts{amount("training", 20000, 2000), amount("validation", 5000, 500), amount("test", 0, 2000),
                        given["corruption"].as<double>(), given["validation-from-test"].as<bool>()};
  require(amounts.corruption >= 0 && amounts.corruption <= 1, "--corruption ", amounts.corruption,
          ", must be in [0, 1]");
  require(images || !amounts.validation_from_test, "--validation-from-test is for images: give --data");
  const auto seed = given["seed"].as<std::uint64_t>();
  Data data = images ? read_images(given["data"].as<std::string>(), amounts, seed) : generate(amounts, seed);
  data.problem.regularisation = given["regularisation"].as<double>();
  const RowOptions options{.threads = given["threads"].as<int>()};

  const auto make = [&] { return problems::make_hypercleaning(data.problem, problems::Storage::automatic, options); };
  const Trained dirty = train_on(data.problem.training, data, options),
                clean = train_on(data.problem.validation, data, options);
  // With all weights 1, the largest they can be, at the start and trained; the problem's bound is several times that.
  const auto start = make();
  const Vec ones = all_weights_one(amounts.training);
  const double l = std::max(drivers::measured_l(start, ones, start.start.y), drivers::measured_l(start, ones, dirty.y));
  drivers::Experiment experiment{"hypercleaning", [&] {
                                   auto problem = make();
                                   problem.constants.l = l;
                                   return problem;
                                 }};
  experiment.metrics = {
      {"test_loss",
       [&](const Vec&, const Vec& y) { return problems::score(data.test.features, data.test.labels, y).loss; }},
      {"test_accuracy",
       [&](const Vec&, const Vec& y) { return problems::score(data.test.features, data.test.labels, y).accuracy; }},
      {"precision", [&](const Vec& x, const Vec&) { return problems::cleaning(x, data.corrupted).precision; }},
      {"recall", [&](const Vec& x, const Vec&) { return problems::cleaning(x, data.corrupted).recall; }},
      {"f1", [&](const Vec& x, const Vec&) { return problems::cleaning(x, data.corrupted).f1; }},
  };
  experiment.figures = {
      {"validation_loss_calls", "Validation loss against oracle calls", "phi", "validation loss", true, 0, false, true},
      {"validation_loss_time", "Validation loss against time", "phi", "validation loss", false, 0, false, true},
      {"test_accuracy_calls", "Test accuracy against oracle calls", "test_accuracy", "test accuracy", true, 0, false,
       true},
      {"test_accuracy_time", "Test accuracy against time", "test_accuracy", "test accuracy", false, 0, false, true},
  };
  const auto n = static_cast<double>(amounts.training);
  experiment.defaults = drivers::shipped_settings("hypercleaning", {{"eta", n}, {"alpha", 1 / l}});
  add_grids(experiment, n, l);

  experiment.facts = {
      {"data", data.source},
      {"seed", text(seed)},
      {"examples",
       text(amounts.training, " training, ", amounts.validation, " validation, ", data.test.labels.size(), " test")},
      {"validation examples", amounts.validation_from_test ? "from the head of the test file" : "apart from the test"},
      {"wrong training labels", text(100 * amounts.corruption, " %")},
      {"weight of |W|^2", text(data.problem.regularisation)},
      {"test accuracy of training on all labels as they are", dirty.accuracy},
      {"test accuracy of training on the clean validation set alone", clean.accuracy},
  };
  return drivers::compare(given, experiment).exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  drivers::CommandLine line;
  line.name = "hypercleaning";
  line.purpose =
      "learns a weight for every training example, some of which have a wrong label, so that a classifier trained\n"
      "with these weights does well on clean validation examples, and compares solvers at it. Phi is the validation\n"
      "loss; precision, recall and F1 are those of \"a weight below 1/2 means a wrong label\".";
  line.examples =
      "  hypercleaning                                       generated data\n"
      "  scripts/get-data mnist && hypercleaning --data data/mnist\n"
      "  hypercleaning --data data/fashion-mnist --corruption 0.2 --solver auto,rahgd,aid --max-calls 20000\n"
      "  hypercleaning --data data/mnist --levels 0.35,0.32 --max-seconds 600 --max-calls 1000000\n"
      "  hypercleaning --data data/mnist --tune --tune-calls 1500 --out results/tuned\n"
      "  hypercleaning --data data/mnist --config results/tuned/tuned.cfg\n" +
      drivers::comparison_help(line.name);
  line.options.add_options()("data", po::value<std::string>()->value_name("DIR"),
                             "folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
                             "t10k-labels-idx1-ubyte, plain or .gz (default: generated data)")(
      "training", po::value<Index>()->value_name("N"), "training examples (default 20000, generated 2000)")(
      "validation", po::value<Index>()->value_name("N"), "clean validation examples (default 5000, generated 500)")(
      "test", po::value<Index>()->value_name("N"), "test examples (default 10000, generated 2000)")(
      "corruption", po::value<double>()->default_value(0.4, "0.4")->value_name("P"), "share of wrong training labels")(
      "validation-from-test", po::bool_switch(),
      "take the validation examples from the head of the test file, the test from the rest")(
      "regularisation", po::value<double>()->default_value(1e-3, "0.001")->value_name("C"), "weight of |W|^2")(
      "threads", po::value<int>()->default_value(0)->value_name("N"), "threads (0: all)")(
      "seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"),
      "seed of splits, wrong labels, perturbations");
  drivers::add_comparison_options(line.options, "auto,rahgd,prahgd,ba,aid,itd,paid", "6000");
  drivers::add_tuning_options(line.options);
  return drivers::run_driver(argc, argv, std::move(line), run);
}
