#include "problems/data/idx.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "support/gzip.hpp"
#include "support/temporary_folder.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::gzipped;
using testing::TemporaryFolder;

namespace {

std::string number(std::uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)};
}

std::string header(std::initializer_list<std::uint32_t> sizes) {
  std::string bytes{0, 0, 8, static_cast<char>(sizes.size())};
  for (const auto size : sizes) bytes += number(size);
  return bytes;
}

const std::string two_images = header({2, 2, 3}) + "abcdefABCDE\xff";
const std::string four_labels = header({4}) + std::string{0, 9, 3, 1};

std::string replaced(std::string bytes, std::size_t at, char to) {
  bytes.at(at) = to;
  return bytes;
}

struct Bad {
  std::string content;
  std::string words;
};

template <class Read>
void check_refused(const std::vector<Bad>& cases, Read read) {
  const TemporaryFolder folder;
  for (const auto& [content, words] : cases) {
    const std::string file = folder.write("bad", content);
    CHECK_THROWS_WITH_AS(read(file), (file + ": " + words).c_str(), std::runtime_error);
  }
}

}  // namespace

TEST_CASE("images and labels are read, plain or gzip, whatever the name") {
  const TemporaryFolder folder;
  for (const auto& content :
       {two_images, gzipped(two_images), gzipped(two_images.substr(0, 7)) + gzipped(two_images.substr(7))}) {
    const Images images = read_idx_images(folder.write("images.png", content));
    CHECK(images.count == 2);
    CHECK(images.rows == 2);
    CHECK(images.cols == 3);
    CHECK(std::string(images.pixels.begin(), images.pixels.end()) == "abcdefABCDE\xff");
  }
  for (const auto& content : {four_labels, gzipped(four_labels)})
    CHECK(read_idx_labels(folder.write("labels.gz", content)) == std::vector<int>{0, 9, 3, 1});
  const std::string all = header({256}) + [] {
    std::string bytes(256, '\0');
    std::iota(bytes.begin(), bytes.end(), '\0');
    return bytes;
  }();
  CHECK(read_idx_labels(folder.write("all", all), 256).back() == 255);
}

TEST_CASE("a file larger than one buffer is read whole") {
  std::string pixels(3 * 1000 * 1000, '\0');
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<char>(i * i >> 7);
  const std::string content = header({3, 1000, 1000}) + pixels;
  const TemporaryFolder folder;
  for (const auto& packed : {content, gzipped(content)}) {
    const Images images = read_idx_images(folder.write("large", packed));
    CHECK(std::equal(images.pixels.begin(), images.pixels.end(), pixels.begin(), pixels.end(),
                     [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }));
  }
}

TEST_CASE("a bad file of images is refused with the file, the fault and the byte") {
  const std::string packed = gzipped(two_images);
  const auto crc = packed.size() - 8;
  check_refused(
      {
          {"", "file ends after byte 0, expected a magic number of 4 bytes"},
          {two_images.substr(0, 3), "file ends after byte 3, expected a magic number of 4 bytes"},
          {two_images.substr(0, 15), "file ends after byte 15, expected a header of 16 bytes"},
          {"\x89PNG\r\n", "magic number begins 0x89 0x50 at byte 0, expected two zeros (is it an IDX file?)"},
          {replaced(two_images, 2, 13), "entries of type 0xd at byte 2, expected 0x8 (unsigned byte)"},
          {four_labels, "1 dimensions at byte 3, expected 3 (images, rows, columns)"},
          {two_images.substr(0, 22), "header promises 2 images of 2x3, file ends after 1 (byte 22)"},
          {two_images.substr(0, 27), "header promises 2 images of 2x3, file ends after 1 (byte 27)"},
          {gzipped(two_images.substr(0, 27)), "header promises 2 images of 2x3, file ends after 1 (byte 27)"},
          {two_images + "x",
           "header promises 2 images of 2x3, which end at byte 28, expected the end of the file there"},
          {gzipped(two_images + "x"),
           "header promises 2 images of 2x3, which end at byte 28, expected the end of the file there"},
          {header({2, 0, 3}), "header promises 2 images of 0x3 at byte 4, expected no zero"},
          {header({0xffffffff, 0xffffffff, 0xffffffff}),
           "header promises 4294967295 images of 4294967295x4294967295 at byte 4, expected at most 2147483648 bytes"},
          {header({1u << 31, 1, 2}),
           "header promises 2147483648 images of 1x2 at byte 4, expected at most 2147483648 bytes"},
          {header({1u << 31, 1, 1}) + "ab", "header promises 2147483648 images of 1x1, file ends after 2 (byte 18)"},
          {packed.substr(0, packed.size() - 1),
           "gzip data end early at byte " + std::to_string(packed.size() - 1) + ", expected more of them"},
          {packed.substr(0, 2), "gzip data end early at byte 2, expected more of them"},
          {replaced(packed, crc, static_cast<char>(packed[crc] ^ 1)),
           "damaged gzip data near byte " + std::to_string(crc + 4) +
               " (incorrect data check), expected a whole gzip file"},
          {packed + "xy", "damaged gzip data near byte " + std::to_string(packed.size() + 2) +
                              " (incorrect header check), expected a whole gzip file"},
      },
      [](const std::string& file) { return read_idx_images(file); });
}

TEST_CASE("a bad file of labels is refused with the file, the fault and the byte") {
  check_refused(
      {
          {two_images, "3 dimensions at byte 3, expected 1 (labels)"},
          {four_labels.substr(0, 7), "file ends after byte 7, expected a header of 8 bytes"},
          {four_labels.substr(0, 10), "header promises 4 labels, file ends after 2 (byte 10)"},
          {four_labels + "x", "header promises 4 labels, which end at byte 12, expected the end of the file there"},
          {header({0}), "header promises 0 labels at byte 4, expected no zero"},
          {header({0xffffffff}), "header promises 4294967295 labels at byte 4, expected at most 2147483648 bytes"},
          {replaced(four_labels, 10, 10), "label 10 at byte 10, expected less than 10"},
          {replaced(four_labels, 11, -1), "label 255 at byte 11, expected less than 10"},
      },
      [](const std::string& file) { return read_idx_labels(file); });
  const TemporaryFolder folder;
  const std::string file = folder.write("labels", four_labels);
  CHECK_THROWS_WITH_AS(read_idx_labels(file, 9), (file + ": label 9 at byte 9, expected less than 9").c_str(),
                       std::runtime_error);
  CHECK_THROWS_WITH_AS(read_idx_labels(file, 0), "read_idx_labels: classes = 0, must be positive",
                       std::invalid_argument);
}

TEST_CASE("what is not a file is refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(read_idx_images("/no/such/file"), "/no/such/file: cannot be opened", std::runtime_error);
  CHECK_THROWS_WITH_AS(read_idx_images(folder.path()),
                       (folder.path() + ": cannot be read from byte 0, expected a file").c_str(), std::runtime_error);
}

TEST_SUITE("real data") {
  TEST_CASE("MNIST and Fashion-MNIST are what they are known to be") {
    struct Known {
      std::string name;
      std::size_t training_sum, test_sum;  // of all pixels
      int zeros;                           // training images of class 0
    };
    for (const Known& known :
         {Known{"mnist", 1567298545, 264923200, 5923}, Known{"fashion-mnist", 3431114169, 573469082, 6000}}) {
      const auto folder = std::filesystem::path(__FILE__).parent_path() / "../../data" / known.name;
      if (!std::filesystem::exists(folder)) {
        MESSAGE("skipped: no ", known.name, " here; scripts/get-data ", known.name, " fetches it");
        continue;
      }
      CAPTURE(known.name);
      const auto sum = [](const Images& images) {
        return std::accumulate(images.pixels.begin(), images.pixels.end(), std::size_t{0});
      };
      const Images training = read_idx_images((folder / "train-images-idx3-ubyte").string());
      CHECK(training.count == 60000);
      CHECK(training.rows == 28);
      CHECK(training.cols == 28);
      CHECK(sum(training) == known.training_sum);
      CHECK(sum(read_idx_images((folder / "t10k-images-idx3-ubyte").string())) == known.test_sum);
      const auto labels = read_idx_labels((folder / "train-labels-idx1-ubyte").string());
      CHECK(labels.size() == 60000);
      CHECK(std::count(labels.begin(), labels.end(), 0) == known.zeros);
      CHECK(read_idx_labels((folder / "t10k-labels-idx1-ubyte").string()).size() == 10000);
    }
  }
}
