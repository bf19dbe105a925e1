#include "problems/data/svmlight.hpp"

#include <doctest/doctest.h>

#include "support/comma_locale.hpp"
#include "support/gzip.hpp"
#include "support/temporary_folder.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::gzipped;
using testing::TemporaryFolder;

namespace {

const std::string good =
    "# a comment first\n"
    "+1 1:0.5 3:-2e-1 # and one behind\n"
    "\n"
    "  -1\t2:+4 \r\n"
    "7\n"
    "2.0 4:.25 5:0";

const Mat good_dense{{0.5, 0, -0.2, 0, 0}, {0, 4, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0.25, 0}};

}  // namespace

TEST_CASE("svmlight text is read, plain or gzip, with comments, empty lines and rows without entries") {
  const TemporaryFolder folder;
  for (const std::string& content : {good, good + "\n", good + "\n#", gzipped(good)}) {
    const auto [X, labels] = read_svmlight(folder.write("rows", content));
    CHECK(Mat(X) == good_dense);
    CHECK(labels == std::vector<int>{1, -1, 7, 2});
    CHECK(X.nonZeros() == 5);  // the zero that the file spells out is an entry
    CHECK(X.isCompressed());
  }
}

TEST_CASE("svmlight text is read the same in a locale with commas") {
  const TemporaryFolder folder;
  const testing::CommaLocale locale;
  CHECK(Mat(read_svmlight(folder.write("rows", good)).X) == good_dense);
}

TEST_CASE("the number of features can be given") {
  const TemporaryFolder folder;
  const std::string file = folder.write("rows", good);
  CHECK(read_svmlight(file, 5).X.cols() == 5);
  CHECK(read_svmlight(file, 900).X.cols() == 900);
  CHECK_THROWS_WITH_AS(read_svmlight(file, 4),
                       (file + ":6: 5:0, expected an index of at most 4, the number of features").c_str(),
                       std::runtime_error);
  CHECK_THROWS_WITH_AS(read_svmlight(file, -1), "read_svmlight: features = -1, must lie in 0, ..., 2147483647",
                       std::invalid_argument);
}

TEST_CASE("lines longer than the buffer and numbers of many digits are read exactly") {
  std::string content = "3";
  const int entries = 200000;
  for (int k = 1; k <= entries; ++k) content += ' ' + std::to_string(7 * k) + ":0.1000000000000000055511151231257827";
  content += "\n4 2:1\n";
  const TemporaryFolder folder;
  for (const std::string& packed : {content, gzipped(content)}) {
    const auto [X, labels] = read_svmlight(folder.write("long", packed));
    CHECK(labels == std::vector<int>{3, 4});
    CHECK(X.cols() == 7 * entries);
    CHECK(X.nonZeros() == entries + 1);
    CHECK(X.coeff(0, 7 * entries - 1) == 0.1);
    CHECK(X.coeff(1, 1) == 1);
  }
}

TEST_CASE("a large index costs no memory") {
  const TemporaryFolder folder;
  const SparseRows X = read_svmlight(folder.write("far", "1 2147483647:1\n")).X;
  CHECK(X.cols() == 2147483647);
  CHECK(X.data().allocatedSize() == 1);
}

TEST_CASE("a bad line is refused with the file, the line and what was expected") {
  struct Bad {
    std::string content;
    std::string words;
  };
  const std::string packed = gzipped(good);
  const Bad cases[] = {
      {"1 1:1\n1 0:1\n", ":2: 0:1, expected an index of at least 1"},
      {"1 1:1\n1 -3:1\n", ":2: -3:1, expected an index of at least 1"},
      {"# c\n\n1 2:1 2:3\n", ":3: 2:3, expected an index above 2, the one before"},
      {"1 2:1 1:3\n", ":1: 1:3, expected an index above 2, the one before"},
      {"1 2:1 x\n", ":1: x, expected index:value"},
      {"1 2\n", ":1: 2, expected index:value"},
      {"1 qid:3 2:1\n", ":1: qid:3, expected index:value"},
      {"1 2 :1\n", ":1: 2, expected index:value"},
      {"1 2147483648:1\n", ":1: 2147483648:1, expected an index of at most 2147483647"},
      {"1 2:\n", ":1: 2:, expected a number behind the colon"},
      {"1 2: 3\n", ":1: 2:, expected a number behind the colon"},
      {"1 2:abc\n", ":1: 2:abc, expected a number behind the colon"},
      {"1 2:0x10\n", ":1: 2:0x10, expected a number behind the colon"},
      {"1 2:1,5\n", ":1: 2:1,5, expected a number behind the colon"},
      {"1 2:+-1\n", ":1: 2:+-1, expected a number behind the colon"},
      {"1 2:1:3\n", ":1: 2:1:3, expected a number behind the colon"},
      {"1 2:nan\n", ":1: 2:nan, expected a finite number in the range of double"},
      {"1 2:-inf\n", ":1: 2:-inf, expected a finite number in the range of double"},
      {"1 2:1e999\n", ":1: 2:1e999, expected a finite number in the range of double"},
      {"1 2:1e-999\n", ":1: 2:1e-999, expected a finite number in the range of double"},
      {"1.5 2:1\n", ":1: label 1.5, expected an integer"},
      {"spam 2:1\n", ":1: label spam, expected an integer"},
      {"2:1 3:1\n", ":1: label 2:1, expected an integer"},
      {"1,2 3:1\n", ":1: label 1,2, expected an integer"},
      {"3000000000 3:1\n", ":1: label 3000000000, expected an integer"},
      {"nan 3:1\n", ":1: label nan, expected an integer"},
      {"1 \xff\x01" + std::string(50, 'a') + "\n", ":1: ??" + std::string(38, 'a') + "..., expected index:value"},
      {std::string("1 2:1\0", 6), ":1: 2:1?, expected a number behind the colon"},
      {"", ":0: file ends with 0 rows and no entry, expected label index:value ..."},
      {"# nothing\n", ":1: file ends with 0 rows and no entry, expected label index:value ..."},
      {"1\n2\n", ":2: file ends with 2 rows and no entry, expected label index:value ..."},
      {packed.substr(0, packed.size() - 9),
       ": gzip data end early at byte " + std::to_string(packed.size() - 9) + ", expected more of them"},
      {packed + packed.substr(1), ": damaged gzip data near byte " + std::to_string(packed.size() + 2) +
                                      " (incorrect header check), expected a whole gzip file"},
  };
  const TemporaryFolder folder;
  for (const auto& [content, words] : cases) {
    const std::string file = folder.write("bad", content);
    CHECK_THROWS_WITH_AS(read_svmlight(file), (file + words).c_str(), std::runtime_error);
  }
  CHECK_THROWS_WITH_AS(read_svmlight("/no/such/file"), "/no/such/file: cannot be opened", std::runtime_error);
}
