// Part of a variant: runs of equal operations on single numbers.
#pragma once

#include "hypertape/simd/kernels.hpp"
#include "hypertape/simd/variant/functions.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

/// One run: results go to `out`, operands are places in `memory`. Returns the operands behind those it read.
class RunWriter {
 public:
  RunWriter(const int* operands, const double* memory, double* out, int count)
      : operands_(operands), memory_(memory), out_(out), count_(count) {}

  template <class F>
  const int* one(const F& f) {
    return each<1>([&](const int* i) { return f(memory_[i[0]]); });
  }
  template <class F>
  const int* two(const F& f) {
    return each<2>([&](const int* i) { return f(memory_[i[0]], memory_[i[1]]); });
  }
  template <class F>
  const int* three(const F& f) {
    return each<3>([&](const int* i) { return f(memory_[i[0]], memory_[i[1]], memory_[i[2]]); });
  }
  template <class F>
  const int* select(const F& f) {
    return each<4>([&](const int* i) { return memory_[f(memory_[i[0]], memory_[i[1]]) ? i[2] : i[3]]; });
  }

  /// Functions are computed in registers, whole ones: up to seven numbers behind the run are overwritten.
  const int* function(Op op) {
    constexpr int block = 64;
    double a[block], b[block];
    const int width = op == Op::pow ? 2 : 1;
    for (int done = 0; done < count_; done += block) {
      const int now = count_ - done < block ? count_ - done : block, lanes = (now + 7) / 8 * 8;
      for (int k = 0; k < now; ++k) a[k] = memory_[operands_[k * width]];
      for (int k = now; k < lanes; ++k) a[k] = 1;
      if (width == 2) {
        for (int k = 0; k < now; ++k) b[k] = memory_[operands_[k * width + 1]];
        for (int k = now; k < lanes; ++k) b[k] = 1;
      }
      run_function(op, out_ + done, a, b, lanes);
      operands_ += now * width;
    }
    return operands_;
  }

 private:
  template <int width, class F>
  const int* each(const F& f) {
    for (int k = 0; k < count_; ++k) out_[k] = f(operands_ + width * k);
    return operands_ + width * count_;
  }

  const int* operands_;
  const double* memory_;
  double* out_;
  int count_;
};

/// Looked up in two steps: with one jump for all kinds graphs of short runs take 1.5 times as long, as processors
/// foresee it less well.
const int* run_one(const ScalarRun& run, const int* operands, const double* memory, double* out) {
  RunWriter write(operands, memory, out, run.count);
  switch (run.code) {
    case ScalarRun::Code::multiply_add:
      return write.three([](double a, double b, double c) { return a * b + c; });
    case ScalarRun::Code::negative_multiply_add:
      return write.three([](double a, double b, double c) { return c - a * b; });
    case ScalarRun::Code::multiply_subtract:
      return write.three([](double a, double b, double c) { return a * b - c; });
    case ScalarRun::Code::operation:
      break;
  }
  switch (run.op) {
    case Op::add:
      return write.two([](double a, double b) { return a + b; });
    case Op::sub:
      return write.two([](double a, double b) { return a - b; });
    case Op::mul:
      return write.two([](double a, double b) { return a * b; });
    case Op::div:
      return write.two([](double a, double b) { return a / b; });
    case Op::neg:
      return write.one([](double a) { return -a; });
    case Op::sqrt:
      return write.one([](double a) { return __builtin_sqrt(a); });
    case Op::select_less:
      return write.select([](double a, double b) { return a < b; });
    case Op::select_less_equal:
      return write.select([](double a, double b) { return a <= b; });
    case Op::select_equal:
      return write.select([](double a, double b) { return a == b; });
    case Op::select_greater_equal:
      return write.select([](double a, double b) { return a >= b; });
    case Op::select_greater:
      return write.select([](double a, double b) { return a > b; });
    default:
      return write.function(run.op);
  }
}

void run_runs(const ScalarRun* runs, std::size_t count, const int* operands, double* memory, Index first) {
  double* out = memory + first;
  for (const ScalarRun* r = runs; r != runs + count; ++r) {
    operands = run_one(*r, operands, memory, out);
    out += r->count;
  }
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
