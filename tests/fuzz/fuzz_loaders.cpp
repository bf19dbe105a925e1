// Feeds damaged files to the loaders of problems/data: each must give a result that agrees with an independent reading
// of the bytes, or refuse with a std::runtime_error that names the file. Anything else ends the program with status 1
// (a crash or a hang: with a signal), and leaves the input behind.
//
//   fuzz_loaders [--runs N] [--seed S]      N inputs for each format, 100000 if not given

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"
#include "problems/data/documents.hpp"
#include "problems/data/idx.hpp"
#include "problems/data/svmlight.hpp"
#include "support/gzip.hpp"
#include "support/temporary_folder.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::gzipped;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

/// A loader that did neither of what it may do.
struct Fault : std::logic_error {
  using std::logic_error::logic_error;
};

void demand(bool holds, const char* what) {
  if (!holds) throw Fault(what);
}

// ---- mutations ----

std::size_t place(const std::string& bytes, Random& random) { return random.below(bytes.size() + 1); }

/// A random number of 1, ..., most.
std::size_t some(std::size_t most, Random& random) { return 1 + random.below(most); }

std::vector<std::string> split(const std::string& text, const char* separators, bool keep_empty) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find_first_of(separators, from), text.size());
    if (keep_empty || to > from) words.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return words;
}

/// Pieces that mean something to one of the formats.
const std::vector<std::string> pieces = [] {
  auto all = split(
      "0 1 -1 + - . e : # , nan inf 1e999 1e-999 0x1 1:1 0:1 qid:1 2147483647 2147483648 99999999999999999999 \x1f\x8b "
      "\xc9 \xd7 \xb2",
      " ", false);
  for (const char* const piece : {" ", "\t", "\r", "\n", " 3:4 ", "\n1 1:1\n"}) all.emplace_back(piece);
  for (const std::size_t length : {1, 4}) all.emplace_back(length, '\0');
  return all;
}();

void mutate_once(std::string& bytes, Random& random) {
  const std::size_t at = random.below(std::max<std::size_t>(bytes.size(), 1));
  const std::size_t to = place(bytes, random);  // not inside the calls below: compilers order arguments differently
  switch (random.below(9)) {
    case 0:  // flip a bit
      if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 1:  // change a byte
      if (!bytes.empty()) bytes[at] = static_cast<char>(random.below(256));
      break;
    case 2:  // truncate
      bytes.resize(to);
      break;
    case 3: {  // insert noise
      std::string noise(some(8, random), '\0');
      for (char& byte : noise) byte = static_cast<char>(random.below(256));
      bytes.insert(to, noise);
      break;
    }
    case 4:  // duplicate
      bytes.insert(to, bytes.substr(at, some(24, random)));
      break;
    case 5:  // remove
      bytes.erase(to, some(12, random));
      break;
    case 6:  // insert something that means something
      bytes.insert(to, pieces[random.below(pieces.size())]);
      break;
    case 7: {  // another size in the header
      const std::size_t word = 4 * random.below(4);
      const std::array<std::uint64_t, 6> sizes = {0, 1, 255, 0x7fffffff, 0xffffffff, random.below(1u << 16)};
      const std::uint64_t size = sizes[random.below(sizes.size())];
      for (std::size_t k = 0; k < 4 && word + k < bytes.size(); ++k)
        bytes[word + k] = static_cast<char>(size >> (24 - 8 * k));
      break;
    }
    default:  // a small step of a byte of the header
      if (!bytes.empty()) {
        char& byte = bytes[at % std::min<std::size_t>(bytes.size(), 16)];
        byte = static_cast<char>(byte + (random.below(2) ? 1 : -1));
      }
  }
}

std::string mutated(std::string bytes, Random& random) {
  const bool often = random.below(2) == 0;
  for (std::size_t k = often ? some(4, random) : 1; k > 0; --k) mutate_once(bytes, random);
  return bytes;
}

// ---- independent readings ----

/// What zlib's own reader makes of a file, if anything. It is more lenient than the loaders about what follows.
std::optional<std::string> gunzipped(const std::string& file) {
  const gzFile in = gzopen(file.c_str(), "rb");
  if (!in) return {};
  std::string content;
  char buffer[4096];
  int got;
  while ((got = gzread(in, buffer, sizeof buffer)) > 0) content.append(buffer, static_cast<std::size_t>(got));
  const bool whole = gzclose(in) == Z_OK && got == 0;
  return whole ? std::optional(content) : std::nullopt;
}

/// The sizes in the header of a valid IDX file.
std::optional<std::vector<std::uint64_t>> idx_sizes(const std::string& bytes, std::size_t dimensions) {
  const std::size_t behind = 4 + 4 * dimensions;
  if (bytes.size() <= behind || bytes.compare(0, 4, std::string{0, 0, 8, static_cast<char>(dimensions)}) != 0)
    return {};
  std::vector<std::uint64_t> sizes(dimensions, 0);
  for (std::size_t k = 4; k < behind; ++k)
    sizes[k / 4 - 1] = sizes[k / 4 - 1] * 256 + static_cast<unsigned char>(bytes[k]);
  double product = 1;  // exact for all that fit into these small files
  for (const auto size : sizes) product *= static_cast<double>(size);
  if (product != static_cast<double>(bytes.size() - behind)) return {};
  return sizes;
}

std::optional<double> number(const std::string& word) {
  if (word.empty() || word.find_first_not_of("0123456789+-.eE") != std::string::npos) return {};
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(word.c_str(), &end);
  if (end != word.c_str() + word.size() || !std::isfinite(value) || (errno == ERANGE && value == 0)) return {};
  return value;
}

struct Rows {
  std::vector<int> labels;
  std::vector<std::map<int, double>> entries;
  int columns = 0;
};

std::optional<Rows> svmlight_rows(const std::string& content) {
  Rows rows;
  for (std::string line : split(content, "\n", true)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const auto words = split(line.substr(0, line.find('#')), " \t", false);
    if (words.empty()) continue;
    const auto label = number(words[0]);
    if (!label || std::abs(*label) > 2147483647 || std::floor(*label) != *label) return {};
    rows.labels.push_back(static_cast<int>(*label));
    auto& row = rows.entries.emplace_back();
    for (std::size_t k = 1; k < words.size(); ++k) {
      const std::size_t colon = words[k].find(':');
      if (colon == 0 || words[k].find_first_not_of("0123456789") != colon || colon == std::string::npos) return {};
      const double index = std::strtod(words[k].c_str(), nullptr);
      const auto value = number(words[k].substr(colon + 1));
      if (!value || index < 1 || index > 2147483647 || (!row.empty() && index <= row.rbegin()->first)) return {};
      row[static_cast<int>(index)] = *value;
      rows.columns = std::max(rows.columns, static_cast<int>(index));
    }
  }
  return rows.columns > 0 ? std::optional(rows) : std::nullopt;
}

std::vector<std::string> words_of(const std::string& text) {
  static const std::string upper =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZ\xC0\xC1\xC2\xC3\xC4\xC5\xC6\xC7\xC8\xC9\xCA\xCB\xCC\xCD"
      "\xCE\xCF\xD0\xD1\xD2\xD3\xD4\xD5\xD6\xD8\xD9\xDA\xDB\xDC\xDD\xDE";
  static const std::string others = "0123456789_\xAA\xB2\xB3\xB5\xB9\xBA\xBC\xBD\xBE\xDF\xFF";
  std::string spaced = text;
  for (char& c : spaced) {
    const auto lower = static_cast<char>(c | 0x20);
    if (upper.find(c) != std::string::npos)
      c = lower;
    else if (others.find(c) == std::string::npos && upper.find(static_cast<char>(c & ~0x20)) == std::string::npos)
      c = ' ';
  }
  auto words = split(spaced, " ", false);
  std::erase_if(words, [](const std::string& word) { return word.size() < 2; });
  return words;
}

// ---- formats ----

struct Format {
  std::string name;
  std::vector<std::string> good;  ///< contents to start from
  bool packed = false;
  /// Loads the file and throws what the loader throws, or a Fault if the result is not what `content` says; `content`
  /// is missing where an independent reader found none.
  std::function<void(const std::string& file, const std::optional<std::string>& content)> load;
  /// Whether the content is one that must be accepted.
  std::function<bool(const std::string& content)> valid;
};

std::string idx_header(std::initializer_list<int> sizes) {
  std::string bytes{0, 0, 8, static_cast<char>(sizes.size())};
  for (const int size : sizes) bytes += {0, 0, static_cast<char>(size >> 8), static_cast<char>(size)};
  return bytes;
}

bool labels_valid(const std::string& content) {
  return idx_sizes(content, 1) &&
         std::all_of(content.begin() + 8, content.end(), [](char c) { return c >= 0 && c < 10; });
}

void load_images(const std::string& file, const std::optional<std::string>& content) {
  const Images images = read_idx_images(file);
  demand(content.has_value(), "accepted what cannot be unpacked");
  const auto sizes = idx_sizes(*content, 3);
  demand(sizes.has_value(), "accepted an IDX file that is not valid");
  const std::vector<std::uint64_t> read = {static_cast<std::uint64_t>(images.count),
                                           static_cast<std::uint64_t>(images.rows),
                                           static_cast<std::uint64_t>(images.cols)};
  demand(read == *sizes, "other sizes than the header's");
  demand(std::string(images.pixels.begin(), images.pixels.end()) == content->substr(16), "other pixels");
}

void load_labels(const std::string& file, const std::optional<std::string>& content) {
  const auto labels = read_idx_labels(file);
  demand(content && labels_valid(*content), "accepted labels that are not valid");
  demand(std::string(labels.begin(), labels.end()) == content->substr(8), "other labels");
}

void load_svmlight(const std::string& file, const std::optional<std::string>& content) {
  const auto [X, labels] = read_svmlight(file);
  demand(content.has_value(), "accepted what cannot be unpacked");
  const auto rows = svmlight_rows(*content);
  demand(rows.has_value(), "accepted text that is not valid");
  demand(labels == rows->labels, "other labels");
  demand(X.rows() == static_cast<Index>(labels.size()) && X.cols() == rows->columns, "other dimensions");
  demand(X.data().allocatedSize() <= X.nonZeros(), "more memory than entries");
  for (Index i = 0; i < X.rows(); ++i) {
    auto expected = rows->entries[static_cast<std::size_t>(i)].begin();
    const auto end = rows->entries[static_cast<std::size_t>(i)].end();
    for (SparseRows::InnerIterator entry(X, i); entry; ++entry, ++expected)
      demand(expected != end && entry.col() == expected->first - 1 && entry.value() == expected->second,
             "other entries");
    demand(expected == end, "entries are missing");
  }
}

std::vector<Format> formats() {
  const std::vector<std::string> images = {idx_header({2, 3, 4}) + std::string("pixels of two images.. .", 24),
                                           idx_header({1, 1, 1}) + "x",
                                           idx_header({300, 1, 2}) + std::string(600, '7')};
  const std::vector<std::string> labels = {idx_header({5}) + std::string{0, 1, 9, 3, 4}, idx_header({1}) + '\5',
                                           idx_header({300}) + std::string(300, '\2')};
  const std::vector<std::string> rows = {"1 1:1\n", "+1 1:0.5 3:-2e-1 # one\n\n-1\t2:+4 \r\n7\n# c\n2.0 4:.25 5:0",
                                         "-3 10:1e3 200:2.5 3000:0.1000000000000000055511151231257827\n0 7:7\n"};
  const auto images_valid = [](const std::string& content) { return idx_sizes(content, 3).has_value(); };
  const auto rows_valid = [](const std::string& content) { return svmlight_rows(content).has_value(); };
  std::vector<Format> all;
  for (const bool packed : {false, true}) {
    const std::string suffix = packed ? ".gz" : "";
    all.push_back({"images" + suffix, images, packed, load_images, images_valid});
    all.push_back({"labels" + suffix, labels, packed, load_labels, labels_valid});
    all.push_back({"svmlight" + suffix, rows, packed, load_svmlight, rows_valid});
  }
  return all;
}

// ---- the runs ----

struct Counts {
  long accepted = 0;
  long refused = 0;
};

/// True if the loader accepted; a refusal must name the file.
bool accepts(const std::string& file, const std::function<void()>& load) {
  alarm(20);  // a hang ends the program
  try {
    load();
  } catch (const std::runtime_error& refusal) {
    demand(std::strstr(refusal.what(), file.c_str()) != nullptr, "refused without the file's name");
    return false;
  }
  return true;
}

Counts fuzz(const Format& format, const TemporaryFolder& folder, long runs, Random& random) {
  Counts counts;
  for (long run = 0; run < runs; ++run) {
    std::string content = format.good[random.below(format.good.size())];
    // Most damage to packed bytes ends at the checksum: every other file is damaged before it is packed.
    if (format.packed && random.below(2) == 0)
      content = gzipped(mutated(content, random));
    else
      content = mutated(format.packed ? gzipped(content) : content, random);
    const std::string file = folder.write("input", content);
    const auto unpacked = gunzipped(file);
    const bool accepted = accepts(file, [&] { format.load(file, unpacked); });
    if (!accepted && !content.starts_with("\x1f\x8b")) demand(!format.valid(content), "refused a valid file");
    ++(accepted ? counts.accepted : counts.refused);
  }
  return counts;
}

void check_corpus(const Corpus& corpus, const std::vector<std::string>& texts) {
  demand(corpus.texts == texts, "other texts");
  demand(corpus.labels == std::vector<int>{0, 0, 1, 1}, "other labels");
  std::set<std::string> vocabulary;
  for (const std::string& text : texts) {
    const auto words = tokens(text);
    demand(words == words_of(text), "other words");
    vocabulary.insert(words.begin(), words.end());
  }
  const TfIdf tf_idf = TfIdf::fit(corpus);
  const SparseRows X = tf_idf.transform(corpus);
  demand(tf_idf.words() == std::vector<std::string>(vocabulary.begin(), vocabulary.end()), "other vocabulary");
  demand(X.rows() == 4 && X.cols() == static_cast<Index>(vocabulary.size()), "other dimensions");
  for (Index i = 0; i < 4; ++i) {
    const auto words = words_of(texts[static_cast<std::size_t>(i)]);
    const Index distinct = static_cast<Index>(std::set<std::string>(words.begin(), words.end()).size());
    demand(X.innerVector(i).nonZeros() == distinct, "other words in a row");
    demand(distinct == 0 || std::abs(X.row(i).norm() - 1) < 1e-12, "a row that is not of length 1");
  }
}

/// Four documents, of which three are damaged (the last keeps a word in the corpus), and now and then the folder
/// itself.
Counts fuzz_documents(const TemporaryFolder& folder, long runs, Random& random) {
  const std::vector<std::string> names = {"art/1", "art/2", "sport/1", "sport/2"};
  const std::vector<std::string> good = {"From: someone@somewhere\r\nCaf\xC9 na\xEFve, 42 x 3_4 \xB2\xB3\n",
                                         "the the THE ball_game 1\xBC",
                                         "A-b \xD7 cd\xF7"
                                         "ef \xFF\xFE\xDF",
                                         "last words"};
  const std::string root = folder.path() + "/corpus";
  Counts counts;
  for (long run = 0; run < runs; ++run) {
    std::vector<std::string> texts = good;
    for (std::size_t k = 0; k < 4; ++k) {
      if (k < 3) texts[k] = mutated(good[k], random);
      folder.write("corpus/" + names[k], texts[k]);
    }
    const std::uint64_t damage = random.below(32);
    switch (damage) {
      case 0:
        fs::remove_all(root + "/art"), fs::create_directory(root + "/art");
        break;
      case 1:
        fs::create_directory(root + "/art/folder");
        break;
      case 2:
        fs::create_symlink("../../input", root + "/art/link");
        break;
      case 3:
        fs::create_directory_symlink("..", root + "/outside");
        break;
      case 4:
        fs::remove_all(root), folder.write("corpus/1", texts[0]);
        break;
      case 5:
        fs::remove_all(root), folder.write("corpus", texts[0]);
        break;
      case 6:
        fs::create_symlink("link", root + "/art/link");
        break;
      case 7:
        folder.write("corpus/README", texts[0]);
        break;  // no damage
      default:
        break;
    }
    const bool accepted = accepts(root, [&] { check_corpus(read_folders(root), texts); });
    demand(accepted == (damage >= 7), accepted ? "accepted a damaged folder" : "refused a valid folder");
    ++(accepted ? counts.accepted : counts.refused);
    if (damage <= 7) fs::remove_all(root);
  }
  return counts;
}

std::uint64_t parse(const char* option, const char* value) {
  std::uint64_t number = 0;
  const char* const end = value ? value + std::strlen(value) : nullptr;
  const auto [behind, error] = std::from_chars(value, end, number);
  require(value && error == std::errc() && behind == end, option, " needs a number");
  return number;
}

}  // namespace

int main(int argc, char** argv) try {
  std::uint64_t runs = 100000, seed = 1;
  for (int k = 1; k < argc; k += 2) {
    const std::string option = argv[k];
    require(option == "--runs" || option == "--seed", "unknown option ", option, ", expected --runs N or --seed S");
    (option == "--runs" ? runs : seed) = parse(argv[k], argv[k + 1]);
  }
  const TemporaryFolder folder;
  std::cout << "format, accepted, refused, seconds\n";
  const auto report = [&](const std::string& name, const std::function<Counts(Random&)>& fuzz_format) {
    Random random(seed);
    const auto start = std::chrono::steady_clock::now();
    try {
      const Counts counts = fuzz_format(random);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      std::cout << name << ", " << counts.accepted << ", " << counts.refused << ", " << seconds.count() << std::endl;
    } catch (const std::exception& fault) {
      const fs::path left = fs::temp_directory_path() / "fuzz_loaders_failure";
      fs::remove_all(left);
      fs::copy(folder.path(), left, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
      throw Fault(text(name, ", seed ", seed, ": ", fault.what(), "; the input is left in ", left.string()));
    }
  };
  for (const Format& format : formats())
    report(format.name, [&](Random& random) { return fuzz(format, folder, static_cast<long>(runs), random); });
  report("documents", [&](Random& random) { return fuzz_documents(folder, static_cast<long>(runs), random); });
} catch (const std::exception& fault) {
  std::cerr << "fuzz_loaders: " << fault.what() << "\n";
  return 1;
}
