#pragma once

#include "hypertape/core/types.hpp"

namespace hypertape {

/// A symmetric linear map v |-> A v on R^dim, known by its products only.
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  virtual Index dim() const = 0;

  /// out = A v. Checks v (size, finite) and gives out its size; v and out must be different vectors.
  void apply(const Vec& v, Vec& out);

  Vec operator()(const Vec& v);

 private:
  virtual void do_apply(const Vec& v, Vec& out) = 0;

  friend class CountingOracle;  // forwards to do_apply, so that v is checked once
};

}  // namespace hypertape
