#include <hypertape/hypertape.hpp>
#include <iostream>

int main() {
  auto problem = hypertape::make_bilevel(
      {.x = 2, .y = 2}, [](const auto& x, const auto& y) { return x.dot(y); },
      [](const auto& x, const auto& y) { return (y - x).squaredNorm() + exp(y[0]); });
  const auto report = hypertape::verify(problem);
  std::cout << hypertape::to_table(report);
  return report.passed ? 0 : 1;
}
