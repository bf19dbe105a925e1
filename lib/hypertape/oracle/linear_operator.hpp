#pragma once

#include <memory>

#include "hypertape/core/types.hpp"
#include "hypertape/oracle/one_thread.hpp"

namespace hypertape {

/// A symmetric linear map v |-> A v on R^dim, known by its products only.
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

 private:
  virtual void do_apply(const Vec& v, Vec& out) = 0;

  std::shared_ptr<OneThread> place_;  // of the oracle that returned it; outlives the oracle and its moves

  friend class BilevelOracle;   // sets place_
  friend class CountingOracle;  // forwards to do_apply, so that v is checked once
};

}  // namespace hypertape
