#pragma once

#include <optional>
#include <string>

#include "hypertape/autodiff/tape_slot.hpp"
#include "hypertape/tape/cppad_tape.hpp"
#include "hypertape/tape/tape_engine.hpp"

namespace hypertape {

/// CppAD's sweeps, as an engine: a tape in (x, y); one in y with x as parameters, for the inner loop; and the same
/// again for the linearisation that products go on using.
class CppadEngine final : public TapeEngine {
 public:
  /// `inner`: whether derivatives by y alone will be asked for.
  CppadEngine(const Recording& recording, const std::string& name, bool inner, bool allow_frozen_branches);
  ~CppadEngine() override;

  /// By tape; the last two are none without inner.
  TapeSize whole() const { return tapes_->whole.size(); }
  TapeSize in_y() const { return tapes_->in_y ? tapes_->in_y->size() : TapeSize{}; }
  TapeSize curvature_tape() const { return tapes_->curvature ? tapes_->curvature->size() : TapeSize{}; }

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
  TapeSlot slot_;
  struct Tapes {  // made in place: CppAD's functions read what was never written when they are moved
    CppadTape whole;
    std::optional<CppadTape> in_y, curvature;

    Tapes(const Recording& recording, const std::string& name, bool allow_frozen_branches)
        : whole(recording, name, Independent::both, allow_frozen_branches) {}
  };
  std::optional<Tapes> tapes_;  // live and die inside the slot
};

}  // namespace hypertape
