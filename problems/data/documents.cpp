#include "problems/data/documents.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "hypertape/core/require.hpp"
#include "problems/data/assemble.hpp"

namespace hypertape::problems {
namespace {

namespace fs = std::filesystem;

template <class... Pieces>
[[noreturn]] void refuse(const fs::path& path, const Pieces&... pieces) {
  throw std::runtime_error(text(path.string(), ": ", pieces...));
}

/// What lies in a folder, by name.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (!entry.path().filename().native().starts_with('.')) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end(),
            [](const fs::path& a, const fs::path& b) { return a.filename().native() < b.filename().native(); });
  return paths;
}

void require_inside(const fs::path& root, const fs::path& path) {
  if (!fs::is_symlink(path)) return;
  std::error_code broken;
  const fs::path target = fs::canonical(path, broken);
  if (broken) refuse(path, "symbolic link that leads nowhere, expected files and folders");
  if (std::mismatch(root.begin(), root.end(), target.begin(), target.end()).first != root.end())
    refuse(path, "symbolic link to ", target.string(), ", expected nothing outside ", root.string());
}

std::string read_document(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(fs::file_size(path), '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!in || in.peek() != std::ifstream::traits_type::eof()) refuse(path, "cannot be read");
  return bytes;
}

/// The lower case of each word character, 0 for all others.
constexpr std::array<char, 256> lower_case = [] {
  std::array<char, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool upper = (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7);
    const bool word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == 0xAA || c == 0xB2 ||
                      c == 0xB3 || c == 0xB5 || c == 0xB9 || c == 0xBA || (c >= 0xBC && c <= 0xBE) ||
                      (c >= 0xDF && c != 0xF7);
    if (word) table[c] = static_cast<char>(upper ? c + 0x20 : c);
  }
  return table;
}();

template <class Use>
void for_each_token(std::string_view text, Use&& use) {
  std::string word;
  const auto finish = [&] {
    if (word.size() >= 2) use(word);
    word.clear();
  };
  for (const char c : text)
    if (const char lower = lower_case[static_cast<unsigned char>(c)])
      word.push_back(lower);
    else
      finish();
  finish();
}

}  // namespace

Corpus read_folders(const std::string& folder) try {
  if (!fs::is_directory(folder)) refuse(folder, "not a folder, expected one with a sub-folder for each category");
  const fs::path root = fs::canonical(folder);
  Corpus corpus;
  const auto in_folder = entries_of(folder);
  for (const fs::path& category : in_folder) {
    require_inside(root, category);
    if (!fs::is_directory(category)) continue;
    const auto documents = entries_of(category);
    if (documents.empty()) refuse(category, "empty, expected one file for each document");
    const int label = static_cast<int>(corpus.categories.size());
    corpus.categories.push_back(category.filename().string());
    for (const fs::path& document : documents) {
      require_inside(root, document);
      if (!fs::is_regular_file(document)) refuse(document, "not a file, expected one file for each document");
      corpus.texts.push_back(read_document(document));
      corpus.labels.push_back(label);
    }
  }
  if (corpus.categories.empty())
    refuse(folder, in_folder.empty() ? "empty" : "holds files and no folder",
           ", expected a sub-folder for each category");
  return corpus;
} catch (const fs::filesystem_error& bad) {
  refuse(bad.path1(), "cannot be read (", bad.code().message(), ")");
}

std::vector<std::string> tokens(std::string_view text) {
  std::vector<std::string> words;
  for_each_token(text, [&](const std::string& word) { words.push_back(word); });
  return words;
}

TfIdf TfIdf::fit(const Corpus& corpus) {
  struct Seen {
    Index documents = 0;
    Index last = -1;
  };
  const auto n = static_cast<Index>(corpus.texts.size());
  ByWord<Seen> seen;
  for (Index i = 0; i < n; ++i)
    for_each_token(corpus.texts[static_cast<std::size_t>(i)], [&](const std::string& word) {
      Seen& s = seen[word];
      if (s.last != i) ++s.documents;
      s.last = i;
    });
  require(!seen.empty(), "tf_idf: no word of two or more characters in ", n, " documents");
  require(seen.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()), "tf_idf: ", seen.size(),
          " words, expected at most ", std::numeric_limits<int>::max());

  TfIdf result;
  for (const auto& entry : seen) result.words_.push_back(entry.first);
  std::sort(result.words_.begin(), result.words_.end());
  result.idf_.resize(result.features());
  for (Index k = 0; k < result.features(); ++k) {
    const std::string& word = result.words_[static_cast<std::size_t>(k)];
    result.columns_.emplace(word, static_cast<int>(k));
    result.idf_[k] =
        std::log(static_cast<double>(1 + n) / static_cast<double>(1 + seen.find(word)->second.documents)) + 1;
  }
  return result;
}

SparseRows TfIdf::transform(const Corpus& corpus) const {
  std::vector<int> starts{0}, columns;
  std::vector<double> values;
  std::vector<int> found;
  for (const std::string& text : corpus.texts) {
    found.clear();
    for_each_token(text, [&](const std::string& word) {
      if (const auto known = columns_.find(word); known != columns_.end()) found.push_back(known->second);
    });
    std::sort(found.begin(), found.end());
    const std::size_t start = values.size();
    double squares = 0;
    for (auto run = found.begin(); run != found.end();) {
      const auto next = std::upper_bound(run, found.end(), *run);
      columns.push_back(*run);
      values.push_back(static_cast<double>(next - run) * idf_[*run]);
      squares += values.back() * values.back();
      run = next;
    }
    for (std::size_t k = start; k < values.size(); ++k) values[k] /= std::sqrt(squares);
    require(values.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()), "tf_idf: more non-zeros than ",
            std::numeric_limits<int>::max());
    starts.push_back(static_cast<int>(values.size()));
  }
  return assemble(features(), starts, columns, values);
}

}  // namespace hypertape::problems
