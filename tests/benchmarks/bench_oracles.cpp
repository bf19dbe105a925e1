// What row terms cost, beside derivatives written by hand, in one run: medians and ratios for every oracle of
// hypercleaning (dense rows, and the same rows held sparse) and of per-feature logistic regression (sparse rows), on
// one and two threads; the diagonal of the Hessian beside a product with it; products with two columns beside two
// products, by the number of classes; the time for reading X and for the bare product; growth with the number of rows;
// memory.

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "drivers/common/command_line.hpp"
#include "drivers/common/output.hpp"
#include "hand_written.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"
#include "problems/hypercleaning/hypercleaning.hpp"
#include "problems/hyperparameter_logistic/hyperparameter_logistic.hpp"

namespace po = boost::program_options;
using namespace hypertape;
using namespace hypertape::benchmarks;
using json = nlohmann::ordered_json;

namespace {

double seconds_of(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

double median_seconds(int repeats, const std::function<void()>& call) {
  call();
  std::vector<double> t;
  for (int k = 0; k < repeats; ++k) t.push_back(seconds_of(call));
  return median(t);
}

/// Medians of two things run in turn.
struct Pair {
  double first, second;
  double ratio() const { return second / first; }
};
Pair measure(int repeats, const std::function<void()>& first, const std::function<void()>& second) {
  first();
  second();
  std::vector<double> a, b;
  for (int k = 0; k < repeats; ++k) {
    a.push_back(seconds_of(first));
    b.push_back(seconds_of(second));
  }
  return {median(a), median(b)};
}

/// The functions that are timed: a solver's way to an oracle, or, for the code written by hand, the functions
/// themselves.
struct Calls {
  std::function<void(const Vec& x, const Vec& y, Vec& out)> grad_y_g;
  std::function<void(const Vec& x, const Vec& y, Vec& gx, Vec& gy)> grad_f;
  std::function<LinearOperator&(const Vec& x, const Vec& y)> curvature_at;
  std::function<void(const Vec& v, Vec& out)> hessian_product;
  std::function<void(const Vec& x, const Vec& y, const Vec& v, Vec& out)> cross_product;
};

Calls calls(BilevelOracle& o, LinearOperator& H) {
  return {[&](const Vec& x, const Vec& y, Vec& out) { o.grad_y_g(x, y, out); },
          [&](const Vec& x, const Vec& y, Vec& gx, Vec& gy) { o.grad_f(x, y, gx, gy); },
          [&](const Vec& x, const Vec& y) -> LinearOperator& { return o.curvature_at(x, y); },
          [&](const Vec& v, Vec& out) { H.apply(v, out); },
          [&](const Vec& x, const Vec& y, const Vec& v, Vec& out) { o.cross_product(x, y, v, out); }};
}

Calls calls(HandWritten& o) {
  const auto sized = [](Index n, Vec& v) -> Vec& {
    v.resize(n);
    return v;
  };
  const Dims d = o.dims();
  return {[&o, d, sized](const Vec& x, const Vec& y, Vec& out) { o.do_grad_y_g(x, y, sized(d.y, out)); },
          [&o, d, sized](const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
            o.do_grad_f(x, y, sized(d.x, gx), sized(d.y, gy));
          },
          [&o](const Vec& x, const Vec& y) -> LinearOperator& { return o.do_curvature_at(x, y); },
          [&o, d, sized](const Vec& v, Vec& out) { o.hessian_product(v, sized(d.y, out)); },
          [&o, d, sized](const Vec& x, const Vec& y, const Vec& v, Vec& out) {
            o.do_cross_product(x, y, v, sized(d.x, out));
          }};
}

/// One whole hypergradient: 50 accelerated gradient steps, 10 conjugate gradient steps, one Jacobian product, one grad
/// f.
void hypergradient(const Calls& o, Dims dims, const Vec& x, double step, Vec& u) {
  constexpr double momentum = 0.9;
  Vec y = Vec::Zero(dims.y), z = y, previous = y, gradient, gx, gy, v = Vec::Zero(dims.y), product;
  for (int k = 0; k < 50; ++k) {
    o.grad_y_g(x, z, gradient);
    previous.swap(y);
    y = z - step * gradient;
    z = y + momentum * (y - previous);
  }
  o.grad_f(x, y, gx, gy);
  conjugate_gradient(o.curvature_at(x, y), gy, v, {.max_iterations = 10});
  o.cross_product(x, y, v, product);
  u = gx - product;
}

struct Problem {
  const char* name;
  std::function<std::unique_ptr<BilevelOracle>(const RowOptions&)> ours;
  std::function<std::unique_ptr<HandWritten>(int threads, InstructionSet set)> hand;
  double step;
};

/// |a - b| / |b|: the two must compute the same thing, or the comparison is worth nothing.
double relative(const Vec& a, const Vec& b) { return (a - b).norm() / std::max(b.norm(), 1e-300); }

/// The time of one product with two columns, relative to two products.
double two_columns(LinearOperator& H, int repeats) {
  Random random(5);
  const std::array v{random.normal(H.dim()), random.normal(H.dim())};
  std::array<Vec, 2> alone, together;
  const auto one_by_one = [&] {
    H.apply(v[0], alone[0]);
    H.apply(v[1], alone[1]);
  };
  const double ratio = measure(repeats, one_by_one, [&] { H.apply(v, together); }).ratio();
  require(together == alone, "a product with two columns is not two products");
  return ratio;
}

json compare(const Problem& problem, int threads, InstructionSet set, int repeats) {
  const auto ours = problem.ours({threads, set});
  const auto hand = problem.hand(threads, set);
  const Dims dims = ours->dims();
  Random random(3);
  const Vec x = 0.3 * random.normal(dims.x), y = 0.05 * random.normal(dims.y), v = random.normal(dims.y);
  Vec a, b, gx, gy;
  LinearOperator &Ho = ours->curvature_at(x, y), &Hh = hand->curvature_at(x, y);
  double worst = std::max({relative(ours->grad_y_g(x, y), hand->grad_y_g(x, y)), relative(Ho(v), Hh(v)),
                           relative(ours->cross_product(x, y, v), hand->cross_product(x, y, v)),
                           relative(ours->grad_f(x, y).y, hand->grad_f(x, y).y)});
  require(worst < 1e-10, problem.name, ": hand-written and taped derivatives differ by ", worst);

  struct Row {
    const char* name;
    std::function<void(const Calls&, Vec& out)> call;
    int repeats;
  };
  const Row rows[] = {
      {"gradient", [&](const Calls& o, Vec& out) { o.grad_y_g(x, y, out); }, repeats},
      {"hessian_product", [&](const Calls& o, Vec& out) { o.hessian_product(v, out); }, repeats},
      {"jacobian_product", [&](const Calls& o, Vec& out) { o.cross_product(x, y, v, out); }, repeats},
      {"grad_f", [&](const Calls& o, Vec&) { o.grad_f(x, y, gx, gy); }, repeats},
      {"linearise", [&](const Calls& o, Vec&) { o.curvature_at(x, y); }, repeats},
      {"hypergradient", [&](const Calls& o, Vec& out) { hypergradient(o, dims, x, problem.step, out); },
       std::max(3, repeats / 4)},
  };
  const Calls by_hand = calls(*hand), by_rows = calls(*ours, Ho);
  json ratios, milliseconds;
  for (const Row& row : rows) {
    const Pair t = measure(
        row.repeats, [&] { row.call(by_hand, a); }, [&] { row.call(by_rows, b); });
    std::printf("  %-8s %-18s %d thread%s  by hand %9.2f ms  row terms %9.2f ms  ratio %.2f\n", to_string(set),
                row.name, threads, threads == 1 ? " " : "s", t.first * 1e3, t.second * 1e3, t.ratio());
    std::fflush(stdout);
    ratios[row.name] = t.ratio();
    milliseconds[row.name] = t.second * 1e3;
  }
  const double diagonal = measure(
                              repeats, [&] { Ho.apply(v, a); }, [&] { Ho.diagonal(b); })
                              .ratio();
  std::printf("  %-8s %d thread%s  diagonal / product %.2f\n", to_string(set), threads, threads == 1 ? " " : "s",
              diagonal);
  ratios["diagonal_to_product"] = diagonal;
  ratios["two_columns_to_two_products"] = two_columns(Ho, repeats);
  std::printf("  %-8s %d thread%s  two columns / two products %.2f\n", to_string(set), threads,
              threads == 1 ? " " : "s", ratios["two_columns_to_two_products"].get<double>());
  return {{"ratios", ratios}, {"ms", milliseconds}};
}

DenseData dense_data(Index rows, Index valid) {
  // Pixels: four of five are zero, as in images of digits; a column of ones.
  Random random(1);
  DenseData data;
  const Index p = 785;
  const auto fill = [&](RowMat& X, std::vector<int>& labels, Index n) {
    X.resize(n, p);
    for (Index i = 0; i < n; ++i) {
      for (Index k = 0; k + 1 < p; ++k) X(i, k) = random.uniform() < 0.19 ? random.uniform() : 0;
      X(i, p - 1) = 1;
      labels.push_back(static_cast<int>(random.below(10)));
    }
  };
  fill(data.X, data.label, rows);
  fill(data.V, data.valid, valid);
  return data;
}

SparseData sparse_data(Index rows) {
  // Words of very different frequency, about 158 different ones in a document.
  Random random(2);
  SparseData data;
  const Index p = 130107;
  const auto fill = [&](SparseRows& X, std::vector<int>& labels) {
    std::vector<Eigen::Triplet<double>> entries;
    for (Index i = 0; i < rows; ++i) {
      std::set<int> words;
      while (words.size() < 158) {
        const double u = random.uniform();
        words.insert(static_cast<int>(u * u * u * static_cast<double>(p)));
      }
      for (const int w : words) entries.emplace_back(static_cast<int>(i), w, 0.02 + 0.1 * random.uniform());
      labels.push_back(static_cast<int>(random.below(20)));
    }
    X.resize(rows, p);
    X.setFromTriplets(entries.begin(), entries.end());
  };
  fill(data.X, data.label);
  fill(data.V, data.valid);
  return data;
}

Problem dense_problem(const char* name, const DenseData& data, problems::Storage storage) {
  return {name,
          [&data, storage](const RowOptions& options) {
            problems::Hypercleaning h{{data.X, data.label}, {data.V, data.valid}, 10, data.regularisation};
            return std::move(make_hypercleaning(h, storage, options).oracle);
          },
          [&data](int threads, InstructionSet set) { return std::make_unique<HandHypercleaning>(data, threads, set); },
          0.01};
}

Problem sparse_problem(const SparseData& data) {
  return {"sparse",
          [&data](const RowOptions& options) {
            problems::HyperparameterLogistic h{{data.X, data.label}, {data.V, data.valid}, 20};
            return std::move(make_hyperparameter_logistic(h, options).oracle);
          },
          [&data](int threads, InstructionSet set) { return std::make_unique<HandLogistic>(data, threads, set); }, 1.0};
}

/// The same for softmax regression on dense rows, by the number of its classes.
json two_columns_by_classes(const RowMat& X, const std::vector<InstructionSet>& sets, int repeats) {
  const auto loss = []<class S>(const VecT<S>& a, const VecT<S>& b, const VecT<S>&) -> S {
    return sigmoid(b[0]) * (a.size() == 1 ? log1p_exp(a[0]) : log_sum_exp(a));
  };
  const auto ridge = [](const auto& a, const auto&, const auto&) { return a[0] * a[0]; };
  json report;
  for (const InstructionSet set : sets)
    for (const Index classes : {1, 2, 4, 10}) {
      const Objective g{sum_rows(1, {.y = product(X, classes), .x = entries()}, loss),
                        sum_rows(0.01, {.y = entries()}, ridge)};
      std::printf("  %-8s %2td components", to_string(set), classes);
      for (const int threads : {1, 2}) {
        RowProblem problem({X.rows(), X.cols() * classes}, g, g, {.threads = threads, .instructions = set});
        const Vec x = Vec::Zero(X.rows()), y = 0.05 * Random(6).normal(X.cols() * classes);
        const double ratio = two_columns(problem.curvature_at(x, y), repeats);
        std::printf("  %d thread%s %.2f", threads, threads == 1 ? "" : "s", ratio);
        report[to_string(set)][std::to_string(classes)][std::to_string(threads)] = ratio;
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  return report;
}

void roofline(const DenseData& data, int repeats) {
  RowMat W = RowMat::Random(10, data.X.cols()), Z(data.X.rows(), 10);
  double sum = 0;
  Eigen::setNbThreads(1);
  std::printf("  reading X once %.2f ms, Eigen's X W' %.2f ms (one thread)\n",
              1e3 * median_seconds(repeats, [&] { sum += data.X.sum(); }),
              1e3 * median_seconds(repeats, [&] { Z.noalias() = data.X * W.transpose(); }));
  if (sum == 0.5) std::printf("(never)\n");
}

/// Bytes beside the data, of an oracle that has done everything once.
double memory_mb(const Problem& problem) {
  auto oracle = problem.ours({.threads = 2});
  const Dims dims = oracle->dims();
  const Vec x = Vec::Zero(dims.x), y = Vec::Zero(dims.y);
  Vec u;
  hypergradient(calls(*oracle, oracle->curvature_at(x, y)), dims, x, problem.step, u);
  return static_cast<double>(dynamic_cast<RowProblem&>(*oracle).bytes()) / 1e6;
}

template <class T>
void dump(const std::string& path, const T* data, std::size_t count) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(count * sizeof(T)));
  require(out.good(), path, ": cannot be written");
}

/// The arrays, for the comparison with PyTorch.
void dump_data(const std::string& folder, const DenseData& dense, const SparseData& sparse) {
  const auto size = [](const auto& m) { return static_cast<std::size_t>(m.size()); };
  dump(folder + "/dense_x.f64", dense.X.data(), size(dense.X));
  dump(folder + "/dense_v.f64", dense.V.data(), size(dense.V));
  dump(folder + "/dense_label.i32", dense.label.data(), dense.label.size());
  dump(folder + "/dense_valid.i32", dense.valid.data(), dense.valid.size());
  const auto nonzeros = static_cast<std::size_t>(sparse.X.nonZeros());
  dump(folder + "/sparse_values.f64", sparse.X.valuePtr(), nonzeros);
  dump(folder + "/sparse_columns.i32", sparse.X.innerIndexPtr(), nonzeros);
  dump(folder + "/sparse_rows.i32", sparse.X.outerIndexPtr(), static_cast<std::size_t>(sparse.X.rows() + 1));
  dump(folder + "/sparse_label.i32", sparse.label.data(), sparse.label.size());
}

int run(const po::variables_map& given) {
  const bool quick = given.count("quick") > 0;
  const int repeats = quick ? 7 : 25;
  const DenseData dense = dense_data(20000, 5000);
  const SparseData sparse = sparse_data(5657);
  if (given.count("dump") > 0) dump_data(given["dump"].as<std::string>(), dense, sparse);

  std::vector<InstructionSet> sets = instruction_sets();
  if (given.count("isa") > 0) sets = {instruction_set(given["isa"].as<std::string>())};
  json report;
  report["default_instructions"] = to_string(default_instruction_set());
  std::printf("without --isa or HYPERTAPE_ISA this machine runs %s\n", to_string(instruction_sets().back()));
  const Problem problems[] = {dense_problem("dense", dense, problems::Storage::dense),
                              dense_problem("dense_held_sparse", dense, problems::Storage::sparse),
                              sparse_problem(sparse)};
  const std::string only = given.count("only") > 0 ? given["only"].as<std::string>() : "";
  for (const Problem& problem : problems) {
    if (!only.empty() && only != problem.name) continue;
    std::printf("%s\n", problem.name);
    if (&problem == problems) roofline(dense, repeats);
    for (const InstructionSet set : sets)
      for (const int threads : {1, 2}) {
        const json result = compare(problem, threads, set, repeats);
        report["ratios"][to_string(set)][problem.name][std::to_string(threads)] = result["ratios"];
        report["ms"][to_string(set)][problem.name][std::to_string(threads)] = result["ms"];
      }
    const double mb = memory_mb(problem);
    std::printf("  memory beside the data %.1f MB\n", mb);
    report["memory_mb"][problem.name] = mb;
  }

  if (only.empty() || only == "columns") {
    std::printf("two columns / two products, dense\n");
    report["two_columns"] = two_columns_by_classes(dense.X, sets, repeats);
  }
  std::printf("growth with the number of rows, gradient, one thread\n");
  for (const Index rows : {Index{5000}, Index{20000}, Index{80000}}) {
    if ((quick && rows > 20000) || !only.empty()) break;
    const DenseData data = dense_data(rows, 100);
    const auto oracle = dense_problem("dense", data, problems::Storage::dense).ours({.threads = 1});
    const Dims dims = oracle->dims();
    const Vec x = Vec::Zero(dims.x), y = Random(4).normal(dims.y) * 0.05;
    Vec out;
    const double per_row = median_seconds(repeats, [&] { oracle->grad_y_g(x, y, out); }) / static_cast<double>(rows);
    std::printf("  %6td rows  %.1f ns a row\n", rows, per_row * 1e9);
    report["rows"].push_back({{"rows", rows}, {"ns_per_row", per_row * 1e9}});
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  report["peak_mb"] = static_cast<double>(usage.ru_maxrss) / 1e3;
  if (given.count("json") > 0) drivers::write_json(given["json"].as<std::string>(), report.dump(2) + "\n", "ratios");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  drivers::CommandLine line;
  line.name = "bench_oracles";
  line.purpose = "the cost of row terms beside derivatives written by hand. Run it alone on the machine.";
  line.options.add_options()("quick", "fewer repetitions: under a minute")(
      "isa", po::value<std::string>()->value_name("SET"),
      "baseline, avx2 or avx512 alone, otherwise all that run here")(
      "only", po::value<std::string>()->value_name("NAME"), "dense, dense_held_sparse, sparse or columns alone")(
      "json", po::value<std::string>()->value_name("FILE"), "also write medians and ratios to FILE")(
      "dump", po::value<std::string>()->value_name("DIR"), "also write the arrays to DIR (for bench_peer_torch.py)");
  return drivers::run_driver(argc, argv, std::move(line), run);
}
