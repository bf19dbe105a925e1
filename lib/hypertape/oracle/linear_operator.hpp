#pragma once

#include <memory>
#include <span>

#include "hypertape/core/types.hpp"
#include "hypertape/oracle/one_thread.hpp"

namespace hypertape {

/// A symmetric linear map v |-> A v on R^dim, known by its products and, of some, by its diagonal.
///
/// One that an oracle returned is part of the oracle: both together serve one thread at a time. A copy is not.
class LinearOperator {
 public:
  LinearOperator() = default;
  LinearOperator(const LinearOperator&) noexcept {}
  LinearOperator& operator=(const LinearOperator&) noexcept { return *this; }
  virtual ~LinearOperator() = default;

  virtual Index dim() const = 0;

  /// out = A v. Checks v (size, finite) and gives out its size; v and out must be different vectors.
  void apply(const Vec& v, Vec& out);

  Vec operator()(const Vec& v);

  /// out[k] = A v[k] for every k: several columns at once, each the same to the last bit as alone. Some operators read
  /// their data once for all. There must be as many results as columns, none of them one of the columns.
  void apply(std::span<const Vec> v, std::span<Vec> out);

  /// Whether the diagonal of A can be had for about the price of a product.
  virtual bool has_diagonal() const { return false; }

  /// out = the diagonal of A, exact up to rounding. Without one: returns false, and out stays as it is.
  bool diagonal(Vec& out);

 private:
  virtual void do_apply(const Vec& v, Vec& out) = 0;
  virtual void do_apply_columns(std::span<const Vec> v, std::span<Vec> out);  // one after the other, unless overridden
  virtual void do_diagonal(Vec& out);                                         // called if has_diagonal()

  std::shared_ptr<OneThread> place_;  // of the oracle that returned it; outlives the oracle and its moves

  friend class BilevelOracle;   // sets place_
  friend class CountingOracle;  // forwards to do_..., so that arguments are checked once
};

}  // namespace hypertape
