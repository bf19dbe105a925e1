#pragma once

#include <string>
#include <vector>

namespace hypertape::drivers {

/// One curve: the points (x[i], y[i]), joined in this order.
struct Series {
  std::string label;
  std::vector<double> x, y;
};

/// Curves over common axes.
struct Figure {
  std::string name;  ///< of its files, without extension: letters, digits, '_', '-' and inner '.'
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Series> series;
  std::string note;  ///< small print below: seed and settings
};

/// Writes folder/name.gnuplot, which holds the data too and can be run again alone, and lets gnuplot make
/// folder/name.svg and folder/name.png of it. Values that are not finite, or not positive on a logarithmic axis, are
/// left out, and the small print says how many.
///
/// Returns what went wrong, empty if nothing: a run does not fail for want of gnuplot. Files of these names that are
/// not such a figure are left alone; an older figure of this name goes even if the new one cannot be drawn.
std::string draw(const Figure& figure, const std::string& folder);

}  // namespace hypertape::drivers
