#pragma once

#include <functional>
#include <utility>

#include "support/forwarding_oracle.hpp"

namespace hypertape::testing {

/// Any oracle, with an exception in place of its n-th call, of whatever kind.
class ThrowingOracle final : public ForwardingOracle {
 public:
  ThrowingOracle(BilevelOracle& oracle, int n, std::function<void()> throws)
      : ForwardingOracle(oracle), left_(n), throws_(std::move(throws)) {}

  bool has_thrown() const { return left_ <= 0; }

 private:
  void before() override {
    if (--left_ == 0) throws_();
  }

  int left_;
  std::function<void()> throws_;
};

}  // namespace hypertape::testing
