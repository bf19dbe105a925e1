#pragma once

#include <optional>
#include <string>

#include "hypertape/tape/runs.hpp"
#include "hypertape/tape/tape_engine.hpp"

namespace hypertape {

/// The engine of runs, for functions without rows. Derivatives by y alone have a tape of their own, in which what x
/// decides is computed once for each x.
class RunsEngine final : public TapeEngine {
 public:
  /// `inner`: whether derivatives by y alone will be asked for.
  RunsEngine(const Recording& recording, std::string name, bool inner, bool allow_frozen_branches);

  EngineSize size() const override;
  double value(const Vec& x, const Vec& y) override;
  double gradient(const Vec& x, const Vec& y, Vec& gradient_x, Vec& gradient_y) override;
  void gradient_y(const Vec& x, const Vec& y, Vec& out) override;
  void linearise(const Vec& x, const Vec& y) override;
  void curvature(const Vec& v, Vec& out) override;
  void cross(const Vec& x, const Vec& y, const Vec& v, Vec& out_x) override;
  void adjoint_cross(const Vec& x, const Vec& y, const Vec& u, Vec& out_y) override;
  void hessian(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override;

 private:
  void require_same_branches(const Runs::Memory& memory) const;

  std::string name_;
  bool allow_frozen_branches_;
  const Kernels& kernels_;
  std::size_t operations_;
  Runs whole_;
  Runs::Memory whole_memory_;
  struct Inner {
    Runs runs;
    Runs::Memory memory, linearised;
  };
  std::optional<Inner> inner_;
};

}  // namespace hypertape
