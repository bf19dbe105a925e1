#include "hypertape/autodiff/row_kernel.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>

#include "autodiff/row_functions.hpp"

using namespace hypertape;
using namespace hypertape::testing;

TEST_CASE("values and gradients of a row are those of a plain tape, whatever is wanted and whatever is fixed") {
  for (const RowFunction& f : row_functions()) {
    CAPTURE(f.name);
    RowKernel kernel(f.taped, f.widths, weight);
    CHECK(kernel.widths().a == f.widths.a);
    CHECK(kernel.widths().b == f.widths.b);
    CHECK(kernel.widths().d == f.widths.d);
    TapedProblem reference = f.make_reference();
    Random random(1);
    const Batch batch(f.widths, random);
    std::vector<Gradient> gradients;
    std::vector<double> scale;
    for (int l = 0; l < pack_lanes; ++l) {
      gradients.push_back(reference.grad_g(Batch::rows(batch.b, batch.d, l), Batch::row(batch.a, l)));
      Gradient& g = gradients.back();
      g.x.conservativeResize(f.widths.b);
      scale.push_back(std::abs(g.value) + g.x.lpNorm<1>() + g.y.lpNorm<1>());
    }
    for (int parts = 1; parts < 8; ++parts)
      for (const Fixed fixed : all_fixed) {
        CAPTURE(parts);
        CAPTURE(static_cast<int>(fixed));
        const RowParts wanted{(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0};
        const StagedProgram staged = kernel.gradient(wanted, fixed);
        std::vector<Vec> expected;
        for (const Gradient& g : gradients)
          expected.push_back(joined(wanted.value, g.value, wanted.a, g.y, wanted.b, g.x));
        CHECK(worst_row(run_staged(staged, batch), expected, scale) < 1e-12);
        CHECK_FALSE(staged.is_zero);
        if (fixed == Fixed::nothing) CHECK(staged.stored == 0);
        CHECK_FALSE(reads(staged.prepare_sources, RowSource::Kind::stored));
        if (fixed == Fixed::b) CHECK_FALSE(reads(staged.prepare_sources, RowSource::Kind::a));
      }
  }
}

TEST_CASE("Hessian products of a row are those of a plain tape, in every part and along every direction") {
  for (const RowFunction& f : row_functions()) {
    CAPTURE(f.name);
    RowKernel kernel(f.taped, f.widths, weight);
    TapedProblem reference = f.make_reference();
    Random random(2);
    const Batch batch(f.widths, random);
    const Packs no_d(static_cast<std::size_t>(f.widths.d), Pack{});
    for (int along = 1; along < 4; ++along) {
      CAPTURE(along);
      const RowParts direction{false, (along & 1) != 0, (along & 2) != 0};
      std::vector<HessianProduct> products;
      std::vector<double> scale;
      for (int l = 0; l < pack_lanes; ++l) {
        const Vec p = Batch::rows(batch.direction_b, no_d, l) * (direction.b ? 1 : 0);
        const Vec q = Batch::row(batch.direction_a, l) * (direction.a ? 1 : 0);
        const Vec x = Batch::rows(batch.b, batch.d, l), y = Batch::row(batch.a, l);
        products.push_back(reference.hess_g(x, y, p, q));
        products.back().x.conservativeResize(f.widths.b);
        scale.push_back(1e-3 + products.back().x.lpNorm<1>() + products.back().y.lpNorm<1>());
      }
      for (int parts = 1; parts < 4; ++parts)
        for (const Fixed fixed : all_fixed) {
          CAPTURE(parts);
          CAPTURE(static_cast<int>(fixed));
          const RowParts wanted{false, (parts & 1) != 0, (parts & 2) != 0};
          const StagedProgram staged = kernel.hessian_product(direction, wanted, fixed);
          std::vector<Vec> expected;
          for (const auto& h : products) expected.push_back(joined(false, 0, wanted.a, h.y, wanted.b, h.x));
          CHECK(worst_row(run_staged(staged, batch), expected, scale) < 1e-12);
          CHECK_FALSE(staged.is_zero);
          for (const auto* sources : {&staged.prepare_sources, &staged.run_sources}) {
            if (!direction.a) CHECK_FALSE(reads(*sources, RowSource::Kind::direction_a));
            if (!direction.b) CHECK_FALSE(reads(*sources, RowSource::Kind::direction_b));
          }
          // At a fixed point a product reads its direction, what was stored, and data; nothing of the point.
          if (fixed == Fixed::a_and_b) {
            CHECK_FALSE(reads(staged.run_sources, RowSource::Kind::a));
            CHECK_FALSE(reads(staged.run_sources, RowSource::Kind::b));
          }
          CHECK_FALSE(reads(staged.prepare_sources, RowSource::Kind::direction_a));
          CHECK_FALSE(reads(staged.prepare_sources, RowSource::Kind::direction_b));
        }
    }
  }
}

TEST_CASE("second derivatives in each component are those along unit directions") {
  for (const RowFunction& f : row_functions()) {
    CAPTURE(f.name);
    RowKernel kernel(f.taped, f.widths, weight);
    TapedProblem reference = f.make_reference();
    Random random(8);
    const Batch batch(f.widths, random);
    std::vector<Vec> expected;
    std::vector<double> scale;
    for (int l = 0; l < pack_lanes; ++l) {
      const Vec x = Batch::rows(batch.b, batch.d, l), y = Batch::row(batch.a, l);
      expected.emplace_back(f.widths.a);
      scale.push_back(1e-3);
      for (Index k = 0; k < f.widths.a; ++k) {
        const Vec column = reference.hess_g(x, y, Vec::Zero(x.size()), Vec::Unit(f.widths.a, k)).y;
        expected.back()[k] = column[k];
        scale.back() += column.lpNorm<1>();
      }
    }
    for (const Fixed fixed : all_fixed) {
      CAPTURE(static_cast<int>(fixed));
      const StagedProgram staged = kernel.hessian_diagonal(fixed);
      CHECK(worst_row(run_staged(staged, batch), expected, scale) < 1e-12);
      CHECK_FALSE(staged.is_zero);
      for (const auto* sources : {&staged.prepare_sources, &staged.run_sources}) {
        CHECK_FALSE(reads(*sources, RowSource::Kind::direction_a));
        CHECK_FALSE(reads(*sources, RowSource::Kind::direction_b));
      }
    }
  }
}

TEST_CASE("gradients of a row agree with differences of its values") {
  // Not relative to another tape: a mistake of CppAD, or in how it is used twice the same way, would show here.
  for (const RowFunction& f : row_functions()) {
    CAPTURE(f.name);
    RowKernel kernel(f.taped, f.widths, weight);
    Random random(3);
    const Batch batch(f.widths, random);
    const Packs gradient = run_staged(kernel.gradient({false, true, true}, Fixed::nothing), batch);
    double worst = 0;
    for (int l = 0; l < pack_lanes; ++l)
      for (int j = 0; j < f.widths.a + f.widths.b; ++j) {
        const double h = 1e-5;
        const auto value_at = [&](double step) {
          VecT<double> a("a", Batch::row(batch.a, l)), b("b", Batch::row(batch.b, l)), d("d", Batch::row(batch.d, l));
          (j < f.widths.a ? a[j] : b[j - f.widths.a]) += step;
          return weight * f.plain(a, b, d);
        };
        const double difference = (value_at(h) - value_at(-h)) / (2 * h);
        const double derivative = gradient[static_cast<std::size_t>(j)].lane[l];
        worst = std::max(worst, std::abs(derivative - difference) / (1 + std::abs(difference)));
      }
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("what depends on b and data alone is computed in advance, and read again rather than computed") {
  RowKernel kernel(row_functions()[1].taped, row_functions()[1].widths, 1);
  const StagedProgram at_once = kernel.gradient({.a = true}, Fixed::nothing);
  const StagedProgram staged = kernel.gradient({.a = true}, Fixed::b);
  CHECK(staged.stored > 0);
  CHECK(staged.prepare.instructions() > 0);
  CHECK(staged.run.instructions() < at_once.run.instructions());
  CHECK_FALSE(reads(staged.run_sources, RowSource::Kind::b));  // sigmoid(b) is stored, b itself not read again
  CHECK(reads(staged.prepare_sources, RowSource::Kind::b));

  const StagedProgram product = kernel.hessian_product({.a = true}, {.a = true}, Fixed::nothing);
  const StagedProgram linearised = kernel.hessian_product({.a = true}, {.a = true}, Fixed::a_and_b);
  CHECK(linearised.stored > 0);
  CHECK(linearised.run.instructions() < product.run.instructions());
}

TEST_CASE("derivatives that vanish for every row are known to be zero") {
  RowKernel linear(recorded([](const auto& a, const auto& b, const auto& d) { return d[0] * a[0] + b[0] * b[0]; }),
                   {2, 2, 1}, 1);
  CHECK(linear.hessian_product({.a = true}, {.a = true}, Fixed::nothing).is_zero);
  CHECK(linear.hessian_product({.a = true}, {.b = true}, Fixed::nothing).is_zero);
  CHECK(linear.hessian_product({.b = true}, {.a = true}, Fixed::b).is_zero);
  CHECK_FALSE(linear.hessian_product({.b = true}, {.b = true}, Fixed::nothing).is_zero);
  CHECK_FALSE(linear.gradient({.a = true}, Fixed::nothing).is_zero);
  RowKernel of_b(recorded([](const auto&, const auto& b, const auto&) { return b[0] * b[1]; }), {1, 2, 0}, 1);
  CHECK(of_b.gradient({.a = true}, Fixed::nothing).is_zero);
  CHECK_FALSE(of_b.gradient({.value = true, .a = true}, Fixed::nothing).is_zero);
  RowKernel weightless(row_functions()[0].taped, row_functions()[0].widths, 0);
  CHECK(weightless.gradient({true, true, true}, Fixed::nothing).is_zero);
  CHECK(linear.gradient({}, Fixed::nothing).is_zero);
  CHECK(linear.hessian_diagonal(Fixed::nothing).is_zero);
  RowKernel bilinear(recorded([](const auto& a, const auto&, const auto&) { return a[0] * a[1]; }), {2, 0, 0}, 1);
  CHECK(bilinear.hessian_diagonal(Fixed::nothing).is_zero);
  CHECK_FALSE(bilinear.hessian_product({.a = true}, {.a = true}, Fixed::nothing).is_zero);
}

TEST_CASE("constant derivatives, and those that are an argument or a datum, come out on every lane") {
  // d/da = (d0, 3), d/db = (b0's partner, 0): outputs that are inputs and constants.
  const auto phi = [](const auto& a, const auto& b, const auto& d) { return d[0] * a[0] + 3.0 * a[1] + b[0] * b[1]; };
  RowKernel kernel(recorded(phi), {2, 3, 1}, 1);
  Random random(4);
  const Batch batch({2, 3, 1}, random);
  for (const Fixed fixed : all_fixed) {
    const Packs out = run_staged(kernel.gradient({false, true, true}, fixed), batch);
    int wrong = 0;
    for (int l = 0; l < pack_lanes; ++l)
      wrong += out[0].lane[l] != batch.d[0].lane[l] || out[1].lane[l] != 3 || out[2].lane[l] != batch.b[1].lane[l] ||
               out[3].lane[l] != batch.b[0].lane[l] || out[4].lane[l] != 0;
    CHECK(wrong == 0);
  }
}

TEST_CASE("an alternative of a row that is not finite and not selected harms nothing") {
  const auto phi = []<class S>(const VecT<S>& a, const VecT<S>& b, const VecT<S>&) -> S {
    using std::sqrt, std::log;
    return select(greater(a[0], 0.0), sqrt(a[0]) + log(a[0]), a[0] * a[0]) + b[0] * a[0];
  };
  RowKernel kernel(recorded(phi), {1, 1, 0}, 1);
  Random random(5);
  Batch batch({1, 1, 0}, random);
  for (int l = 0; l < pack_lanes; ++l) {
    batch.a[0].lane[l] = l % 2 == 0 ? -1.0 - l : l == 1 ? 0.0 : l;
    batch.direction_a[0].lane[l] = 1;
  }
  for (const Fixed fixed : all_fixed) {
    CAPTURE(static_cast<int>(fixed));
    const Packs gradient = run_staged(kernel.gradient({true, true, true}, fixed), batch);
    const Packs product = run_staged(kernel.hessian_product({.a = true}, {.a = true, .b = true}, fixed), batch);
    const Packs diagonal = run_staged(kernel.hessian_diagonal(fixed), batch);
    double worst_value = 0, worst_gradient = 0, worst_product = 0;
    bool finite = true;
    for (int l = 0; l < pack_lanes; ++l) {
      const double t = batch.a[0].lane[l], b = batch.b[0].lane[l];
      const double value = t > 0 ? std::sqrt(t) + std::log(t) : t * t;
      const double slope = t > 0 ? 0.5 / std::sqrt(t) + 1 / t : 2 * t;
      const double curvature = t > 0 ? -0.25 / (t * std::sqrt(t)) - 1 / (t * t) : 2;
      for (const Packs* packs : {&gradient, &product, &diagonal})
        for (const Pack& pack : *packs) finite = finite && std::isfinite(pack.lane[l]);
      worst_value = std::max(worst_value, std::abs(gradient[0].lane[l] - value - b * t));
      worst_gradient = std::max(worst_gradient, std::abs(gradient[1].lane[l] - slope - b));
      worst_product = std::max(worst_product, std::abs(product[0].lane[l] - curvature));
      worst_product = std::max(worst_product, std::abs(diagonal[0].lane[l] - curvature));
      CHECK(gradient[2].lane[l] == t);
      CHECK(product[1].lane[l] == 1);
    }
    CHECK(finite);
    CHECK(worst_value < 1e-12);
    CHECK(worst_gradient < 1e-12);
    CHECK(worst_product < 1e-12);
  }
}

TEST_CASE("a function that reads outside its vectors is refused, with the vector and the place") {
  const RowWidths widths{2, 1, 3};
  CHECK_THROWS_WITH_AS(
      RowKernel(recorded([](const auto& a, const auto&, const auto&) { return a[2] * a[0]; }), widths, 1),
      "row function: reads a[2], but a has 2 entries", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      RowKernel(recorded([](const auto& a, const auto& b, const auto&) { return a[0] * b[1]; }), widths, 1),
      "row function: reads b[1], but b has 1 entries", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      RowKernel(recorded([](const auto& a, const auto&, const auto& d) { return a[0] * d[-1]; }), widths, 1),
      "row function: reads d[-1], but d has 3 entries", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      RowKernel(recorded([](const auto& a, const auto&, const auto&) -> RowKernel::Scalar { return a.head(3).sum(); }),
                widths, 1),
      "row function: reads entries 0 to 2 of a, which has 2 entries", std::invalid_argument);
}

TEST_CASE("a function that returns a constant or compares values is refused, and the next one is unharmed") {
  const RowWidths widths{1, 1, 1};
  CHECK_THROWS_WITH_AS(
      RowKernel(recorded([](const auto&, const auto&, const auto&) { return RowKernel::Scalar(2.0); }), widths, 1),
      "row function: does not depend on a, b or d (it returned a constant)", std::invalid_argument);
  const auto message_of = [&](const RowKernel::Recorded& phi) -> std::string {
    try {
      RowKernel kernel(phi, widths, 1);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  const auto branch = [](const auto& a, const auto& b, const auto&) -> RowKernel::Scalar {
    if (a[0] > b[0]) return a[0];
    return b[0];
  };
  const auto standard_max = [](const auto& a, const auto& b, const auto&) -> RowKernel::Scalar {
    return a[0] * std::max(a[0], b[0]);
  };
  const auto of_data = [](const auto& a, const auto&, const auto& d) -> RowKernel::Scalar {
    return d[0] == 1.0 ? a[0] : a[0] * a[0];
  };
  for (const auto& phi : {recorded(branch), recorded(standard_max), recorded(of_data)}) {
    const std::string message = message_of(phi);
    CAPTURE(message);
    CHECK(message.find("compares values") != std::string::npos);
    CHECK(message.find("select") != std::string::npos);
  }
  const auto throws = [](const auto&, const auto&, const auto&) -> RowKernel::Scalar {
    throw std::runtime_error("no data");
  };
  CHECK_THROWS_WITH_AS(RowKernel(recorded(throws), widths, 1), "no data", std::runtime_error);
  CHECK(Graph::current() == nullptr);

  RowKernel kernel(recorded([](const auto& a, const auto& b, const auto& d) { return a[0] * a[0] * b[0] * d[0]; }),
                   widths, 0.5);
  Random random(6);
  const Batch batch(widths, random);
  const Packs out = run_staged(kernel.gradient({.a = true}, Fixed::nothing), batch);
  for (int l = 0; l < pack_lanes; ++l)
    CHECK(out[0].lane[l] ==
          doctest::Approx(batch.a[0].lane[l] * batch.b[0].lane[l] * batch.d[0].lane[l]).epsilon(1e-14));
  CHECK(Graph::current() == nullptr);
}

TEST_CASE("kernels may be derived from in any order, again and again, with the same results") {
  const RowFunction& f = row_functions()[2];
  RowKernel kernel(f.taped, f.widths, weight), fresh(f.taped, f.widths, weight);
  Random random(7);
  const Batch batch(f.widths, random);
  const auto same = [](const Packs& a, const Packs& b) {
    bool equal = a.size() == b.size();
    for (std::size_t k = 0; k < a.size() && equal; ++k)
      for (int l = 0; l < pack_lanes; ++l) equal = equal && a[k].lane[l] == b[k].lane[l];
    return equal;
  };
  const StagedProgram gradient = kernel.gradient({true, true, true}, Fixed::b);
  const StagedProgram product = kernel.hessian_product({.a = true, .b = true}, {.a = true, .b = true}, Fixed::a_and_b);
  kernel.gradient({.value = true}, Fixed::nothing);
  kernel.hessian_product({.b = true}, {.a = true}, Fixed::nothing);
  const Packs first = run_staged(gradient, batch);
  CHECK(same(first, run_staged(kernel.gradient({true, true, true}, Fixed::b), batch)));
  CHECK(same(run_staged(product, batch),
             run_staged(fresh.hessian_product({.a = true, .b = true}, {.a = true, .b = true}, Fixed::a_and_b), batch)));
  CHECK(same(run_staged(fresh.gradient({true, true, true}, Fixed::b), batch), first));
  CHECK_FALSE(same(first, run_staged(gradient, Batch(f.widths, random))));
}
