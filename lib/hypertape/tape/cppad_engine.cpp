#include "hypertape/tape/cppad_engine.hpp"

namespace hypertape {

CppadEngine::CppadEngine(const Recording& recording, const std::string& name, bool inner, bool allow_frozen_branches) {
  const auto entry = slot_.enter();
  tapes_.emplace(recording, name, allow_frozen_branches);
  if (!inner) return;
  tapes_->in_y.emplace(recording, name, Independent::y, allow_frozen_branches);
  tapes_->curvature.emplace(recording, name, Independent::y, allow_frozen_branches);
}

CppadEngine::~CppadEngine() {
  const auto entry = slot_.enter();
  tapes_.reset();
}

EngineSize CppadEngine::size() const {
  const TapeSize whole_size = whole();
  return {Engine::cppad, whole_size.operations, 0, whole_size.bytes + in_y().bytes + curvature_tape().bytes};
}

double CppadEngine::value(const Vec& x, const Vec& y) {
  const auto entry = slot_.enter();
  return (tapes_->in_y ? *tapes_->in_y : tapes_->whole).value(x, y);
}

double CppadEngine::gradient(const Vec& x, const Vec& y, Vec& gradient_x, Vec& gradient_y) {
  const auto entry = slot_.enter();
  return tapes_->whole.gradient(x, y, &gradient_x, gradient_y);
}

void CppadEngine::gradient_y(const Vec& x, const Vec& y, Vec& out) {
  const auto entry = slot_.enter();
  tapes_->in_y->gradient(x, y, nullptr, out);
}

void CppadEngine::linearise(const Vec& x, const Vec& y) {
  const auto entry = slot_.enter();
  tapes_->curvature->value(x, y);
}

void CppadEngine::curvature(const Vec& v, Vec& out) {
  const auto entry = slot_.enter();
  tapes_->curvature->hessian_product(nullptr, &v, nullptr, &out);
}

void CppadEngine::cross(const Vec& x, const Vec& y, const Vec& v, Vec& out_x) {
  const auto entry = slot_.enter();
  tapes_->whole.value(x, y);
  tapes_->whole.hessian_product(nullptr, &v, &out_x, nullptr);
}

void CppadEngine::adjoint_cross(const Vec& x, const Vec& y, const Vec& u, Vec& out_y) {
  const auto entry = slot_.enter();
  tapes_->whole.value(x, y);
  tapes_->whole.hessian_product(&u, nullptr, nullptr, &out_y);
}

void CppadEngine::hessian(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  const auto entry = slot_.enter();
  tapes_->whole.value(x, y);
  tapes_->whole.hessian_product(&p, &q, &out_x, &out_y);
}

}  // namespace hypertape
