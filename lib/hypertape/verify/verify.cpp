#include "hypertape/verify/verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"
#include "hypertape/inner/lanczos.hpp"
#include "hypertape/inner/newton.hpp"
#include "hypertape/verify/differences.hpp"

namespace hypertape {
namespace {

constexpr double order_slack = 0.25;  // a remainder that should fall as h^p must be seen to fall as h^(p - slack)
constexpr double identity_tolerance = 1e-10;  // for what holds up to rounding: values, symmetry, adjoints
constexpr int lanczos_steps = 40;

/// The block of (x, y) in which a direction or a derivative lives.
enum class Block { none, x, y, both };

/// One derivative the oracle claims: the gradient of `function` (in == none), or its second derivative times a
/// direction in block `in`; the claim lives in block `out`.
struct Derivative {
  std::string name;
  Value function;
  Block out;
  Block in;
  std::function<Point(const Point& at, const Point& direction)> claim;
  double tolerance;  // relative, what differences can tell for sure

  int order() const { return in == Block::none ? 1 : 2; }
};

/// One claimed number beside the one found by differences.
struct Sample {
  int point;
  double claimed;
  Estimate reference;
  double floor;  // what rounding alone can make of a difference quotient here
  double order;
  double transposed;  // the reference with the roles of the two directions exchanged, where that is possible
};

struct Judged {
  Check check;
  bool frozen = false;  // right at some points, wrong at others
};

class LowerLevelFailed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

double dot(const Point& a, const Point& b) { return a.x.dot(b.x) + a.y.dot(b.y); }

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Verifier {
 public:
  Verifier(BilevelOracle& oracle, const PlainFunctions& plain, const VerifyOptions& options)
      : oracle_(oracle), plain_(plain), options_(options), dims_(oracle.dims()), random_(options.seed) {
    require(bool(plain.f) && bool(plain.g), "verify: PlainFunctions needs both f and g");
    require(options.points >= 0, "verify: points = ", options.points, ", must not be negative");
    require(options.directions > 0, "verify: directions = ", options.directions, ", must be positive");
    require(!options.scales.empty(), "verify: scales is empty, must hold at least one");
    for (double s : options.scales) require(s > 0, "verify: scale = ", s, ", must be positive");
    draw_points();
  }

  Report run() {
    Report report{options_.problem, true, {}};
    Check branches = {.name = "branches"};
    const auto note_frozen = [&](const std::string& message) {
      branches.passed = false;
      if (branches.message.empty()) branches.message = message;
    };

    report.checks.push_back(check_value("value of f", plain_.f, [&](const Point& z) { return oracle_.f(z.x, z.y); }));
    if (oracle_.has_second_order())
      report.checks.push_back(check_value("value of g", plain_.g, [&](const Point& z) { return oracle_.g(z.x, z.y); }));
    for (const Derivative& derivative : derivatives()) {
      const Judged judged = check_derivative(derivative);
      if (judged.frozen) note_frozen(text(derivative.name, ": ", judged.check.message));
      report.checks.push_back(judged.check);
    }
    report.checks.push_back(check_symmetry());
    if (oracle_.has_second_order()) report.checks.push_back(check_adjoint());
    report.checks.push_back(check_convexity());
    branches.points = static_cast<int>(points_.size());
    if (!frozen_message_.empty()) note_frozen(frozen_message_);
    report.checks.push_back(branches);
    for (Check& c : report.checks) {
      report.passed = report.passed && c.passed;
      if (!c.checked() && c.message.empty()) c.message = "every point meets a frozen branch";
    }
    return report;
  }

 private:
  void draw_points() {
    const Vec cx = options_.centre.x.size() > 0 ? options_.centre.x : Vec::Zero(dims_.x);
    const Vec cy = options_.centre.y.size() > 0 ? options_.centre.y : Vec::Zero(dims_.y);
    require_vector("verify", "centre.x", cx, dims_.x);
    require_vector("verify", "centre.y", cy, dims_.y);
    for (const Point& z : options_.more_points) {
      require_vector("verify", "more_points x", z.x, dims_.x);
      require_vector("verify", "more_points y", z.y, dims_.y);
      points_.push_back(z);
    }
    for (int k = 0; k < options_.points; ++k) {
      const double scale = options_.scales[static_cast<std::size_t>(k) % options_.scales.size()];
      for (int tries = 0;; ++tries) {
        const Point z{cx + scale * random_.normal(dims_.x), cy + scale * random_.normal(dims_.y)};
        if (std::isfinite(plain_.f(z.x, z.y)) && std::isfinite(plain_.g(z.x, z.y))) {
          points_.push_back(z);
          break;
        }
        require(tries < 100, "verify: f or g is not finite at 100 random points of scale ", scale,
                " around the centre; choose VerifyOptions::centre and scales inside their domain");
      }
    }
    require(!points_.empty(), "verify: points = 0 and more_points is empty, there must be a point");
  }

  Point direction(Block block) {
    Point d{Vec::Zero(dims_.x), Vec::Zero(dims_.y)};
    if (block == Block::x || block == Block::both) d.x = random_.normal(dims_.x);
    if (block == Block::y || block == Block::both) d.y = random_.normal(dims_.y);
    return d;
  }

  std::vector<Derivative> derivatives() {
    BilevelOracle& o = oracle_;
    const Vec no_x = Vec::Zero(dims_.x), no_y = Vec::Zero(dims_.y);
    constexpr double first = 1e-6, second = 1e-4;
    using P = const Point&;
    std::vector<Derivative> all{{"grad_x f", plain_.f, Block::x, Block::none,
                                 [&o, no_y](P z, P) {
                                   return Point{o.grad_f(z.x, z.y).x, no_y};
                                 },
                                 first},
                                {"grad_y f", plain_.f, Block::y, Block::none,
                                 [&o, no_x](P z, P) {
                                   return Point{no_x, o.grad_f(z.x, z.y).y};
                                 },
                                 first},
                                {"grad_y g", plain_.g, Block::y, Block::none,
                                 [&o, no_x](P z, P) {
                                   return Point{no_x, o.grad_y_g(z.x, z.y)};
                                 },
                                 first},
                                {"d2g/dy2 v", plain_.g, Block::y, Block::y,
                                 [&o, no_x](P z, P d) {
                                   return Point{no_x, o.curvature_at(z.x, z.y)(d.y)};
                                 },
                                 second},
                                {"d2g/dxdy v", plain_.g, Block::x, Block::y,
                                 [&o, no_y](P z, P d) {
                                   return Point{o.cross_product(z.x, z.y, d.y), no_y};
                                 },
                                 second}};
    if (o.has_second_order()) {
      all.push_back({"grad_x g", plain_.g, Block::x, Block::none,
                     [&o, no_y](P z, P) {
                       return Point{o.grad_g(z.x, z.y).x, no_y};
                     },
                     first});
      all.push_back({"d2g/dydx u", plain_.g, Block::y, Block::x,
                     [&o, no_x](P z, P d) {
                       return Point{no_x, o.adjoint_cross_product(z.x, z.y, d.x)};
                     },
                     second});
      all.push_back({"Hess f (p, q)", plain_.f, Block::both, Block::both,
                     [&o](P z, P d) {
                       auto h = o.hess_f(z.x, z.y, d.x, d.y);
                       return Point{h.x, h.y};
                     },
                     second});
      all.push_back({"Hess g (p, q)", plain_.g, Block::both, Block::both,
                     [&o](P z, P d) {
                       auto h = o.hess_g(z.x, z.y, d.x, d.y);
                       return Point{h.x, h.y};
                     },
                     second});
    }
    if (options_.hypergradient)
      all.push_back({"hypergradient", [this](const Vec& x, const Vec& y) { return plain_.f(x, lower_level(x, y)); },
                     Block::x, Block::none,
                     [this, no_y](P z, P) {
                       return Point{hypergradient(z), no_y};
                     },
                     1e-5});
    return all;
  }

  Vec lower_level(const Vec& x, const Vec& start) {
    Vec y = start;
    const auto solved = newton(oracle_, x, y);
    if (solved.status != Status::converged)
      throw LowerLevelFailed(
          text("the lower level could not be solved to 1e-12: ", to_string(solved.status), ", ", solved.message));
    return y;
  }

  /// maths.md (2): grad Phi = grad_x f - d2g/dxdy v,  d2g/dy2 v = grad_y f,  at y*(x).
  Vec hypergradient(const Point& z) {
    const Vec y = lower_level(z.x, z.y);
    const Gradient f = oracle_.grad_f(z.x, y);
    Vec v = Vec::Zero(dims_.y);
    const auto solved =
        conjugate_gradient(oracle_.curvature_at(z.x, y), f.y, v,
                           {.max_iterations = 100 + 10 * static_cast<int>(std::min<Index>(dims_.y, 10000)),
                            .tolerance = 1e-13 * f.y.norm()});
    if (solved.status == Status::indefinite || solved.status == Status::not_finite)
      throw LowerLevelFailed(solved.message);
    return f.x - oracle_.cross_product(z.x, y, v);
  }

  Check check_value(const char* name, const Value& F, const std::function<double(const Point&)>& claim) {
    Check check{.name = name};
    int wrong = 0;
    for (const Point& z : points_) {
      try {
        const double truth = F(z.x, z.y), claimed = claim(z);
        const double noise = Differences(F, z).noise(direction(Block::both));
        const double scale = std::max(std::abs(truth), noise / identity_tolerance);
        const double error = scale > 0 ? std::abs(claimed - truth) / scale : std::abs(claimed);
        count(check, error, 10 * identity_tolerance, wrong);
      } catch (const FrozenBranch& frozen) {
        frozen_message_ = frozen.what();
      }
    }
    if (wrong > 0) {
      check.message = text("differs from the function itself at ", wrong, " of ", check.points, " points");
      if (wrong < check.points) {
        check.message += ", and is right at the others: a branch frozen when it was recorded";
        frozen_message_ = text(name, " ", check.message);
      }
    }
    return check;
  }

  /// Takes one error into a check; not a number counts as infinite.
  static void count(Check& check, double error, double tolerance, int& wrong) {
    if (!(error <= std::numeric_limits<double>::max())) error = std::numeric_limits<double>::infinity();
    ++check.points;
    check.worst_relative_error = std::max(check.worst_relative_error, error);
    if (error > tolerance) {
      check.passed = false;
      ++wrong;
    }
  }

  Sample sample(const Derivative& derivative, int k, const Point& z, const Point& d, const Point& e, double claimed) {
    const Differences differences(derivative.function, z);
    const double noise = differences.noise(d);
    Sample s{.point = k,
             .claimed = claimed,
             .reference = {},
             .floor = differences.floor(derivative.order(), noise),
             .order = 0,
             .transposed = std::numeric_limits<double>::quiet_NaN()};
    if (derivative.order() == 1) {
      s.reference = differences.first(d, noise);
      s.order = differences.first_order(d, claimed, noise);
    } else {
      s.reference = differences.second(d, e, noise);
      s.order = differences.second_order(d, e, claimed, noise);
      if (derivative.out != derivative.in && dims_.x == dims_.y)
        s.transposed = differences.second({d.y, d.x}, {e.y, e.x}, noise).value;
    }
    return s;
  }

  Judged check_derivative(const Derivative& derivative) {
    std::vector<Sample> samples;
    int unsolved = 0;
    std::string reason;
    // Each difference of Phi solves the lower level: one direction a point is enough there, and a start close by helps.
    const bool of_phi = derivative.name == "hypergradient";
    const int directions = of_phi ? 1 : options_.directions;
    for (int k = 0; k < static_cast<int>(points_.size()); ++k) {
      const auto leave_out = [&] { std::erase_if(samples, [k](const Sample& s) { return s.point == k; }); };
      try {
        Point z = points_[static_cast<std::size_t>(k)];
        if (of_phi) z.y = lower_level(z.x, z.y);
        for (int i = 0; i < directions; ++i) {
          const Point d = direction(derivative.out), e = direction(derivative.in);
          const double claimed = dot(d, derivative.claim(z, e));
          samples.push_back(sample(derivative, k, z, d, e, claimed));
        }
      } catch (const FrozenBranch& frozen) {
        frozen_message_ = frozen.what();
        leave_out();
      } catch (const LowerLevelFailed& failed) {
        if (unsolved++ == 0) reason = failed.what();
        leave_out();
      }
    }
    Judged judged = judge(derivative, samples);
    std::string& message = judged.check.message;
    if (unsolved > 0)
      message +=
          text(message.empty() ? "" : "; ", "not checked at ", unsolved, " of ", points_.size(), " points: ", reason);
    return judged;
  }

  Judged judge(const Derivative& derivative, const std::vector<Sample>& samples) {
    Judged judged;
    Check& check = judged.check;
    check.name = derivative.name;
    check.expected_order = derivative.order() + 1;

    int wrong = 0, first_wrong = -1;
    std::vector<double> orders;
    for (auto begin = samples.begin(); begin != samples.end();) {
      const auto end = std::find_if(begin, samples.end(), [&](const Sample& s) { return s.point != begin->point; });
      double squares = 0, floor = 0;
      for (auto s = begin; s != end; ++s) {
        squares += s->claimed * s->claimed + s->reference.value * s->reference.value;
        floor = std::max(floor, s->floor);
        if (std::isfinite(s->order)) orders.push_back(s->order);
      }
      // The size of the derivative here, from all directions, so that one that happens to vanish is no trouble.
      const double scale =
          std::max(std::sqrt(squares / (2.0 * static_cast<double>(end - begin))), floor / derivative.tolerance);
      double error = 0, allowed = derivative.tolerance;
      for (auto s = begin; s != end; ++s) {
        if (scale == 0) continue;
        const double e = std::abs(s->claimed - s->reference.value) / scale;
        const double unsure = std::min(20 * s->reference.error / scale, 100 * derivative.tolerance);
        if (!(e <= error)) error = e;
        allowed = std::max(allowed, unsure);
      }
      const int before = wrong;
      count(check, error, allowed, wrong);
      if (wrong > before && first_wrong < 0) first_wrong = begin->point;
      begin = end;
    }

    check.observed_order = median(orders);
    const bool slow = check.observed_order < check.expected_order - order_slack;
    if (slow) check.passed = false;
    if (wrong > 0 && wrong < check.points) {
      judged.frozen = true;
      check.message = text("right at ", check.points - wrong, " of ", check.points,
                           " points and wrong at the others: a frozen branch, not followed there");
    } else if (wrong > 0) {
      check.message = diagnose(derivative, samples, first_wrong);
    } else if (slow) {
      check.message =
          text("the Taylor remainder falls as h^", check.observed_order, ", not as h^", check.expected_order);
    }
    return judged;
  }

  /// What a derivative that is wrong everywhere looks like.
  std::string diagnose(const Derivative& derivative, const std::vector<Sample>& samples, int k) {
    double cr = 0, rr = 0, cc = 0;
    for (const Sample& s : samples) {
      cr += s.claimed * s.reference.value;
      rr += s.reference.value * s.reference.value;
      cc += s.claimed * s.claimed;
    }
    if (!std::isfinite(cc)) return "is not finite where the function is";
    const double factor = cr / rr, close = 1e-3 * std::sqrt(std::max(rr, cc) / static_cast<double>(samples.size()));
    const auto all = [&](const auto& truth) {
      return std::all_of(samples.begin(), samples.end(),
                         [&](const Sample& s) { return std::abs(s.claimed - truth(s)) <= close; });
    };
    if (cc == 0) return "is zero where the derivative is not: missing";
    if (all([](const Sample& s) { return -s.reference.value; })) return "has the wrong sign";
    if (samples.size() >= 3 && all([&](const Sample& s) { return factor * s.reference.value; }))
      return text("is ", factor, " times the derivative: a wrong coefficient");
    if (all([](const Sample& s) { return s.transposed; })) return "is the product with the transposed matrix";
    try {
      return text("a term is missing or has a wrong coefficient", worst_entry(derivative, k));
    } catch (const FrozenBranch&) {  // the other entries lead to where the oracle or the lower level gives up
    } catch (const LowerLevelFailed&) {
    }
    return "a term is missing or has a wrong coefficient";
  }

  /// Names the entry of the claim that is furthest off at point k.
  std::string worst_entry(const Derivative& derivative, int k) {
    constexpr Index most = 200;
    const Point& z = points_[static_cast<std::size_t>(k)];
    const Point e = direction(derivative.in);
    const Point claim = derivative.claim(z, e);
    const Differences differences(derivative.function, z);
    double worst = -1;
    std::string message;
    const auto look = [&](const char* name, Vec Point::*part) {
      const Index size = (z.*part).size();
      for (Index i = 0; i < std::min(size, most); ++i) {
        Point unit{Vec::Zero(dims_.x), Vec::Zero(dims_.y)};
        (unit.*part)[i] = 1;
        const double noise = differences.noise(unit);
        const double truth =
            (derivative.order() == 1 ? differences.first(unit, noise) : differences.second(unit, e, noise)).value;
        const double off = std::abs((claim.*part)[i] - truth);
        if (off <= worst) continue;
        worst = off;
        message = text("; worst in the entry of ", name, "[", i, "]: ", (claim.*part)[i], ", differences give ", truth);
      }
    };
    if (derivative.out != Block::y) look("x", &Point::x);
    if (derivative.out != Block::x) look("y", &Point::y);
    return message;
  }

  Check check_identity(const char* name, const std::function<std::pair<double, double>(const Point&)>& sides,
                       const char* message) {
    Check check{.name = name};
    int wrong = 0;
    for (const Point& z : points_) {
      try {
        const auto [difference, scale] = sides(z);
        count(check, scale > 0 ? std::abs(difference) / scale : std::abs(difference), identity_tolerance, wrong);
      } catch (const FrozenBranch& frozen) {
        frozen_message_ = frozen.what();
      }
    }
    if (wrong > 0) check.message = text(message, " at ", wrong, " of ", check.points, " points");
    return check;
  }

  Check check_symmetry() {
    return check_identity(
        "symmetry of d2g/dy2",
        [&](const Point& z) {
          LinearOperator& H = oracle_.curvature_at(z.x, z.y);
          const Vec v = random_.normal(dims_.y), w = random_.normal(dims_.y);
          const Vec Hv = H(v), Hw = H(w);
          return std::pair(w.dot(Hv) - v.dot(Hw), w.norm() * Hv.norm() + v.norm() * Hw.norm());
        },
        "<w, H v> differs from <v, H w>");
  }

  Check check_adjoint() {
    return check_identity(
        "adjoint of d2g/dxdy",
        [&](const Point& z) {
          const Vec u = random_.normal(dims_.x), v = random_.normal(dims_.y);
          const Vec Cv = oracle_.cross_product(z.x, z.y, v), Ctu = oracle_.adjoint_cross_product(z.x, z.y, u);
          return std::pair(u.dot(Cv) - v.dot(Ctu), u.norm() * Cv.norm() + v.norm() * Ctu.norm());
        },
        "<u, d2g/dxdy v> differs from <d2g/dydx u, v>");
  }

  Check check_convexity() {
    Check check{.name = "strong convexity"};
    double smallest = std::numeric_limits<double>::infinity();
    int wrong = 0;
    for (const Point& z : points_) {
      try {
        const RitzBounds ritz = lanczos(oracle_.curvature_at(z.x, z.y), lanczos_steps, options_.seed);
        smallest = std::min(smallest, ritz.smallest);
        const double size = std::max(std::abs(ritz.smallest), std::abs(ritz.largest));
        // A curvature that is zero up to rounding is not positive.
        const double lacking = ritz.smallest > 1e-13 * size ? 0 : 1 - ritz.smallest / size;
        count(check, size == 0 ? 1 : lacking, 0, wrong);
      } catch (const FrozenBranch& frozen) {
        frozen_message_ = frozen.what();
      }
    }
    check.message = text("smallest Ritz value of d2g/dy2: ", smallest);
    if (wrong > 0) check.message += text(", not positive at ", wrong, " of ", check.points, " points");
    return check;
  }

  BilevelOracle& oracle_;
  const PlainFunctions& plain_;
  const VerifyOptions& options_;
  Dims dims_;
  Random random_;
  std::vector<Point> points_;
  std::string frozen_message_;
};

}  // namespace

Report verify(BilevelOracle& oracle, const PlainFunctions& plain, const VerifyOptions& options) {
  return Verifier(oracle, plain, options).run();
}

}  // namespace hypertape
