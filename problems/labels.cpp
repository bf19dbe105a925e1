#include "problems/labels.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hypertape/core/require.hpp"

namespace hypertape::problems {

void require_labels(const char* where, const std::vector<int>& labels, Index rows, int classes) {
  require(classes >= 2, where, ": classes = ", classes, ", must be at least 2");
  require(rows == static_cast<Index>(labels.size()), where, ": ", rows, " rows of features but ", labels.size(),
          " labels");
  for (std::size_t i = 0; i < labels.size(); ++i)
    require(labels[i] >= 0 && labels[i] < classes, where, ": label ", i, " = ", labels[i], ", must be 0 to ",
            classes - 1);
}

Mat as_data(const std::vector<int>& labels) {
  Mat out(static_cast<Index>(labels.size()), 1);
  std::copy(labels.begin(), labels.end(), out.data());
  return out;
}

std::vector<std::size_t> shuffled(std::size_t n, Random& random) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

std::vector<bool> corrupt_labels(std::vector<int>& labels, int classes, double share, Random& random) {
  const auto order = shuffled(labels.size(), random);
  std::vector<bool> corrupted(labels.size(), false);
  for (std::size_t i = 0; i < static_cast<std::size_t>(share * static_cast<double>(labels.size())); ++i) {
    const auto others = static_cast<std::uint64_t>(classes) - 1;
    int& label = labels[order[i]];
    label = static_cast<int>((static_cast<std::uint64_t>(label) + 1 + random.below(others)) % (others + 1));
    corrupted[order[i]] = true;
  }
  return corrupted;
}

}  // namespace hypertape::problems
