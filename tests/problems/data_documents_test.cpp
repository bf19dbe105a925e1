#include "problems/data/documents.hpp"

#include <doctest/doctest.h>

#include "support/temporary_folder.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

const std::string nine("GAME over\r\n\0 and out", 20);

/// Three documents in two categories, with things beside them that are no documents.
void write_good(const TemporaryFolder& folder) {
  folder.write("corpus/sport/10", "Ball ball game\n");
  folder.write("corpus/sport/9", nine);
  folder.write("corpus/art/1", "caf\xC9 game");
  folder.write("corpus/README", "not a document");
  folder.write("corpus/art/.DS_Store", "not a document either");
}

void check_refused(const std::string& folder, const std::string& message) {
  CHECK_THROWS_WITH_AS(read_folders(folder), message.c_str(), std::runtime_error);
}

}  // namespace

TEST_CASE("folders are read in the order of names, bytes as they are") {
  const TemporaryFolder folder;
  write_good(folder);
  folder.write("corpus/sport/empty", "");
  const Corpus corpus = read_folders(folder.path() + "/corpus");
  CHECK(corpus.categories == std::vector<std::string>{"art", "sport"});
  CHECK(corpus.labels == std::vector<int>{0, 1, 1, 1});
  CHECK(corpus.texts == std::vector<std::string>{"caf\xC9 game", "Ball ball game\n", nine, ""});
}

TEST_CASE("a folder that is no corpus is refused") {
  const TemporaryFolder folder;
  const std::string corpus = folder.path() + "/corpus";
  check_refused(corpus, corpus + ": not a folder, expected one with a sub-folder for each category");
  const std::string file = folder.write("file", "text");
  check_refused(file, file + ": not a folder, expected one with a sub-folder for each category");
  fs::create_directory(corpus);
  check_refused(corpus, corpus + ": empty, expected a sub-folder for each category");
  folder.write("corpus/10", "text");
  check_refused(corpus, corpus + ": holds files and no folder, expected a sub-folder for each category");
  fs::create_directory(corpus + "/art");
  check_refused(corpus, corpus + "/art: empty, expected one file for each document");
  folder.write("corpus/art/modern/1", "text");
  check_refused(corpus, corpus + "/art/modern: not a file, expected one file for each document");
}

TEST_CASE("what cannot be read is refused") {
  const std::string endless(5000, 'a');
  check_refused(endless, endless + ": cannot be read (File name too long)");
  const TemporaryFolder folder;
  write_good(folder);
  const std::string corpus = folder.path() + "/corpus";
  fs::permissions(corpus + "/art/1", fs::perms::none);
  if (std::ifstream(corpus + "/art/1").good()) {
    MESSAGE("skipped: nothing is forbidden to this user");
    return;
  }
  check_refused(corpus, corpus + "/art/1: cannot be read");
  fs::permissions(corpus + "/art", fs::perms::none);
  check_refused(corpus, corpus + "/art: cannot be read (Permission denied)");
  fs::permissions(corpus + "/art", fs::perms::owner_all);
}

TEST_CASE("links inside the corpus are followed, links out of it refused") {
  const TemporaryFolder folder;
  write_good(folder);
  const std::string corpus = folder.path() + "/corpus";
  const std::string root = fs::canonical(corpus).string();
  folder.write("corpus_of_others/secret", "secret");
  const std::string others = fs::canonical(folder.path() + "/corpus_of_others").string();

  fs::create_symlink("../sport/9", corpus + "/art/2");
  CHECK(read_folders(corpus).texts[1] == nine);
  fs::create_directory_symlink(corpus, folder.path() + "/other_name");
  CHECK(read_folders(folder.path() + "/other_name").texts.size() == 4);

  fs::create_symlink("../../corpus_of_others/secret", corpus + "/art/3");
  check_refused(corpus, corpus + "/art/3: symbolic link to " + others + "/secret, expected nothing outside " + root);
  fs::remove(corpus + "/art/3");
  fs::create_directory_symlink("../corpus_of_others", corpus + "/zoo");
  check_refused(corpus, corpus + "/zoo: symbolic link to " + others + ", expected nothing outside " + root);
  fs::remove(corpus + "/zoo");
  fs::create_symlink("nowhere", corpus + "/art/3");
  check_refused(corpus, corpus + "/art/3: symbolic link that leads nowhere, expected files and folders");
  fs::remove(corpus + "/art/3");
  fs::create_directory_symlink("..", corpus + "/art/3");
  check_refused(corpus, corpus + "/art/3: not a file, expected one file for each document");
}

TEST_CASE("words are runs of two or more word characters of latin-1, in lower case") {
  using Words = std::vector<std::string>;
  CHECK(tokens("") == Words{});
  CHECK(tokens("a b, c!") == Words{});
  CHECK(tokens("It's A-Ha: snake_case __ 42 3.14 x9") == Words{"it", "ha", "snake_case", "__", "42", "14", "x9"});
  CHECK(tokens("\xC0\xDE \xDF\xFF") == Words{"\xE0\xFE", "\xDF\xFF"});
  CHECK(tokens("ab\xD7"
               "cd\xF7"
               "ef") == Words{"ab", "cd", "ef"});
  // What \w of Unicode takes in between 0x80 and 0xFF, and nothing else.
  std::string taken;
  for (int c = 0x80; c < 0xC0; ++c)
    if (!tokens(std::string(2, static_cast<char>(c))).empty()) taken.push_back(static_cast<char>(c));
  CHECK(taken == "\xAA\xB2\xB3\xB5\xB9\xBA\xBC\xBD\xBE");
}

TEST_CASE("tf-idf has the values of its formula") {
  Corpus corpus;
  corpus.texts = {"cat dog", "cat cat owl", "cat"};
  const TfIdf tf_idf = TfIdf::fit(corpus);
  CHECK(tf_idf.features() == 3);
  CHECK(tf_idf.words() == std::vector<std::string>{"cat", "dog", "owl"});
  const double rare = std::log(4.0 / 2.0) + 1;
  CHECK((tf_idf.idf() - Vec{{1, rare, rare}}).norm() < 1e-15);

  corpus.texts = {"dog cat", "cat owl CAT emu", "emu", "cat"};
  const SparseRows X = tf_idf.transform(corpus);
  CHECK(X.nonZeros() == 5);
  const double first = std::hypot(1, rare), second = std::hypot(2, rare);
  const Mat expected{{1 / first, rare / first, 0}, {2 / second, 0, rare / second}, {0, 0, 0}, {1, 0, 0}};
  CHECK((Mat(X) - expected).norm() < 1e-15);

  corpus.texts = {"a b c", "!"};
  CHECK_THROWS_WITH_AS(TfIdf::fit(corpus), "tf_idf: no word of two or more characters in 2 documents",
                       std::invalid_argument);
}

TEST_SUITE("real data") {
  TEST_CASE("20 Newsgroups has the words and non-zeros that scikit-learn finds") {
    const auto folder = fs::path(__FILE__).parent_path() / "../../data/20news";
    if (!fs::exists(folder / "20news-bydate-train") || !fs::exists(folder / "20news-bydate-test")) {
      MESSAGE("skipped: no 20 Newsgroups here; scripts/get-data 20news ARCHIVE puts it in place");
      return;
    }
    const Corpus training = read_folders((folder / "20news-bydate-train").string());
    const Corpus test = read_folders((folder / "20news-bydate-test").string());
    CHECK(training.texts.size() == 11314);
    CHECK(test.texts.size() == 7532);
    CHECK(training.categories.size() == 20);
    CHECK(training.categories == test.categories);
    const TfIdf tf_idf = TfIdf::fit(training);
    CHECK(tf_idf.features() == 130107);
    const SparseRows X = tf_idf.transform(training);
    CHECK(X.nonZeros() == 1787565);
    CHECK(tf_idf.transform(test).nonZeros() == 1107956);
    CHECK(Mat(X.topRows(100) * X.topRows(100).transpose()).diagonal().isOnes(1e-14));
  }
}
