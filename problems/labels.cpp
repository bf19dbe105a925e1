#include "problems/labels.hpp"

#include <algorithm>

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

}  // namespace hypertape::problems
