#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hypertape/core/types.hpp"

namespace hypertape::problems {

/// Grey images of one size: pixel (i, j) of image k is pixels[(k * rows + i) * cols + j].
struct Images {
  Index count = 0;
  Index rows = 0;
  Index cols = 0;
  std::vector<std::uint8_t> pixels;
};

/// Reads the IDX format of MNIST and its relatives, plain or gzip:
///
///   bytes 0-3   0, 0, the type of an entry (8: unsigned byte), the number of dimensions (3: images, 1: labels)
///   then        the size of each dimension, 4 bytes, the high one first
///   then        the entries, and nothing behind them
///
/// Throws std::runtime_error, with the file's name and the byte, for anything else, and for more than 2^31 entries. The
/// bytes of a gzip file are counted as unpacked, unless it is the packing that is damaged. A header that promises too
/// much costs no memory.
Images read_idx_images(const std::string& file);

/// The same for labels, which must lie in 0, ..., classes - 1.
std::vector<int> read_idx_labels(const std::string& file, int classes = 10);

}  // namespace hypertape::problems
