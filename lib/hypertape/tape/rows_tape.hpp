#pragma once

#include <span>
#include <vector>

#include "hypertape/tape/found_rows.hpp"
#include "hypertape/tape/partition.hpp"

namespace hypertape {

/// A recorded function cut into rows, and its derivatives: value, gradient, Hessian products. Rows are run in packs;
/// what is in no row is swept operation by operation. Sums are made in an order that depends on the function alone.
class RowsTape {
 public:
  RowsTape(Partition partition, Dims dims, const Kernels& kernels, int threads = 1);

  std::size_t operations() const { return operations_; }
  std::size_t operations_in_rows() const { return operations_in_rows_; }
  std::size_t bytes() const;

  /// Cost: one pass over the rows.
  double value(const Vec& x, const Vec& y);

  /// The gradients over x and y land where they are wanted; returns the value. Cost: one pass over the rows whose
  /// weight in the result is a constant; two over others.
  double gradient(const Vec& x, const Vec& y, Vec& gradient_x, Vec& gradient_y);

  /// The gradient over y. What depends on x alone is computed when x changes.
  void gradient_y(const Vec& x, const Vec& y, Vec& out);

  /// d2/dy2 at a point, for any number of products; whatever else is asked in between.
  void linearise(const Vec& x, const Vec& y);
  void curvature(const Vec& v, Vec& out);

  void cross(const Vec& x, const Vec& y, const Vec& v, Vec& out_x);
  void adjoint_cross(const Vec& x, const Vec& y, const Vec& u, Vec& out_y);
  void hessian(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y);

 private:
  /// Values and adjoints of all slots at a point.
  struct State {
    std::vector<double> values, adjoints;
    Vec x;
    bool has_x = false;  ///< what depends on x alone is there, for this x
  };

  void find_weights(const Partition& partition, std::vector<char>& known, std::vector<double>& weights) const;
  void read_loose_inputs(const Vec* x, const Vec* y, double* into) const;
  void add_loose_inputs(const double* adjoints, Cleared& out_x, Cleared& out_y) const;
  void clear(std::vector<double>& by_slot) const;
  void start_sums(double* values, bool all) const;
  template <class Rows, class Loose>
  void forward(bool all, const Rows& rows, const Loose& loose);
  template <class Rows, class Loose>
  void backward(const Rows& rows, const Loose& loose);

  void run_values(State& state, const Vec& x, const Vec& y, bool derivatives_only);
  void run_adjoints(State& state, const Vec& x, const Vec& y);
  void product(State& state, FoundPass pass, FoundPass tangents, const Vec& x, const Vec& y, const Vec* p, const Vec* q,
               Vec* out_x, Vec* out_y);
  void prepare_product(const Vec& x, const Vec& y);
  std::span<const LooseOperation> loose(const Partition::Step& step) const;

  Dims dims_;
  int threads_;
  int inputs_, slots_, result_;
  std::size_t operations_, operations_in_rows_;
  bool has_inner_;  ///< values between inputs and rows, other than sums whose weight is known
  std::vector<FoundRows> groups_;
  std::vector<LooseOperation> loose_;
  std::vector<Partition::Step> steps_;
  std::vector<Partition::Sum> sums_;
  std::vector<int> loose_inputs_;  ///< read by loose operations
  State point_, linearised_;
  Vec linearised_x_, linearised_y_;
  std::vector<double> tangents_, adjoint_tangents_;
};

}  // namespace hypertape
