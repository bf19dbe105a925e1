#include "problems/data/idx.hpp"

#include <algorithm>
#include <ios>
#include <stdexcept>

#include "hypertape/core/require.hpp"
#include "problems/data/byte_file.hpp"

namespace hypertape::problems {
namespace {

constexpr std::size_t most_entries = std::size_t{1} << 31;

struct Idx {
  std::vector<std::size_t> sizes;  // of the dimensions
  std::vector<std::uint8_t> entries;
};

std::string hex(unsigned byte) { return text("0x", std::hex, byte); }

/// "60000 images of 28x28" or "60000 labels".
std::string promise(const std::vector<std::size_t>& sizes) {
  return sizes.size() == 1 ? text(sizes[0], " labels") : text(sizes[0], " images of ", sizes[1], "x", sizes[2]);
}

Idx read_idx(const std::string& file, std::size_t dimensions) {
  const auto expect = [&](bool holds, const auto&... pieces) {
    if (!holds) throw std::runtime_error(text(file, ": ", pieces...));
  };
  ByteFile in(file);
  std::uint8_t header[16];
  const std::size_t header_size = 4 + 4 * dimensions;
  const std::size_t header_read = in.read(header, header_size);
  const auto byte = [&](std::size_t at) -> unsigned { return header[at]; };
  expect(header_read >= 4, "file ends after byte ", header_read, ", expected a magic number of 4 bytes");
  expect(byte(0) == 0 && byte(1) == 0, "magic number begins ", hex(byte(0)), " ", hex(byte(1)),
         " at byte 0, expected two zeros (is it an IDX file?)");
  expect(byte(2) == 8, "entries of type ", hex(byte(2)), " at byte 2, expected 0x8 (unsigned byte)");
  expect(byte(3) == dimensions, byte(3), " dimensions at byte 3, expected ", dimensions,
         dimensions == 1 ? " (labels)" : " (images, rows, columns)");
  expect(header_read == header_size, "file ends after byte ", header_read, ", expected a header of ", header_size,
         " bytes");

  Idx idx;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t at = 4 + 4 * d;
    idx.sizes.push_back(std::size_t{byte(at)} << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3));
  }
  const std::string promised = "header promises " + promise(idx.sizes);
  std::size_t total = 1;
  for (const std::size_t size : idx.sizes) {
    expect(size > 0, promised, " at byte 4, expected no zero");
    expect(size <= most_entries / total, promised, " at byte 4, expected at most ", most_entries, " bytes");
    total *= size;
  }

  auto& entries = idx.entries;
  while (entries.size() < total) {
    const std::size_t before = entries.size();
    entries.resize(std::min(total, std::max<std::size_t>(2 * before, 1 << 16)));
    const std::size_t wanted = entries.size() - before;
    const std::size_t got = in.read(entries.data() + before, wanted);
    const std::size_t there = before + got;
    expect(got == wanted, promised, ", file ends after ", there / (total / idx.sizes[0]), " (byte ",
           header_size + there, ")");
  }
  std::uint8_t behind;
  expect(in.read(&behind, 1) == 0, promised, ", which end at byte ", header_size + total,
         ", expected the end of the file there");
  return idx;
}

}  // namespace

Images read_idx_images(const std::string& file) {
  Idx idx = read_idx(file, 3);
  return {static_cast<Index>(idx.sizes[0]), static_cast<Index>(idx.sizes[1]), static_cast<Index>(idx.sizes[2]),
          std::move(idx.entries)};
}

std::vector<int> read_idx_labels(const std::string& file, int classes) {
  require(classes > 0, "read_idx_labels: classes = ", classes, ", must be positive");
  const Idx idx = read_idx(file, 1);
  for (std::size_t i = 0; i < idx.entries.size(); ++i)
    if (idx.entries[i] >= classes)
      throw std::runtime_error(
          text(file, ": label ", int{idx.entries[i]}, " at byte ", 8 + i, ", expected less than ", classes));
  return {idx.entries.begin(), idx.entries.end()};
}

}  // namespace hypertape::problems
