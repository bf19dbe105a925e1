#pragma once

#include <limits>

#include "support/forwarding_oracle.hpp"

namespace hypertape::testing {

/// What a call answers that goes wrong.
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                        infinity = std::numeric_limits<double>::infinity();

/// Any oracle, with one kind of call that goes wrong from its n-th time on: in the value, or in an entry of the vector.
class FaultyOracle final : public ForwardingOracle {
 public:
  FaultyOracle(BilevelOracle& oracle, Call kind, bool value, int from, double wrong)
      : ForwardingOracle(oracle), kind_(kind), value_(value), from_(from), wrong_(wrong) {}

  bool went_wrong() const { return went_wrong_; }

 private:
  void after(Call call, double* value, Vec* out) override {
    if (call != kind_ || ++calls_ < from_) return;
    went_wrong_ = true;
    if (value_)
      *value = wrong_;
    else
      (*out)[out->size() / 2] = wrong_;
  }

  Call kind_;
  bool value_;
  int from_, calls_ = 0;
  double wrong_;
  bool went_wrong_ = false;
};

}  // namespace hypertape::testing
