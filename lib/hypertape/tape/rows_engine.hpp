#pragma once

#include <optional>
#include <string>

#include "hypertape/tape/recording.hpp"
#include "hypertape/tape/rows_tape.hpp"
#include "hypertape/tape/tape_engine.hpp"

namespace hypertape {

/// The engine of rows. Comparisons that were decided while recording are a function of their own: the number of them
/// that would be decided otherwise.
class RowsEngine final : public TapeEngine {
 public:
  /// `cut` is the partition of the recording.
  RowsEngine(Recording recording, Partition cut, std::string name, bool allow_frozen_branches, int threads);

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
  void require_same_branches(const Vec& x, const Vec& y);

  std::string name_;
  RowsTape tape_;
  std::optional<RowsTape> comparisons_;
};

}  // namespace hypertape
