#include "problems/data/svmlight.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "hypertape/core/require.hpp"
#include "problems/data/assemble.hpp"
#include "problems/data/byte_file.hpp"

namespace hypertape::problems {
namespace {

constexpr int most = std::numeric_limits<int>::max();  // SparseRows counts with int

/// The lines of a file, without their ends.
class Lines {
 public:
  explicit Lines(const std::string& file) : in_(file), buffer_(1 << 16, '\0') {}

  bool next(std::string_view& line) {
    std::size_t searched = 0;
    for (;;) {
      const char* const from = buffer_.data() + begin_;
      const auto* const newline =
          static_cast<const char*>(std::memchr(from + searched, '\n', end_ - begin_ - searched));
      if (newline || (ended_ && begin_ < end_)) {
        line = {from, newline ? static_cast<std::size_t>(newline - from) : end_ - begin_};
        begin_ += line.size() + (newline ? 1 : 0);
        if (line.ends_with('\r')) line.remove_suffix(1);
        return true;
      }
      if (ended_) return false;
      searched = end_ - begin_;
      read_more();
    }
  }

 private:
  void read_more() {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
    if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
    const std::size_t got = in_.read(buffer_.data() + end_, buffer_.size() - end_);
    ended_ = got < buffer_.size() - end_;
    end_ += got;
  }

  ByteFile in_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
};

bool is_space(char c) { return c == ' ' || c == '\t'; }

/// The word that begins at `from`, fit to be shown in a message.
std::string shown(const char* from, const char* end) {
  std::string word(from, std::find_if(from, end, is_space));
  if (word.size() > 40) word = word.substr(0, 40) + "...";
  for (char& c : word)
    if (c < ' ' || c > '~') c = '?';
  return word;
}

/// Reads a number and moves `from` behind it, if a space or the end of the line follows.
bool read_number(const char*& from, const char* end, double& number) {
  const char* begin = from;
  if (begin != end && *begin == '+') ++begin;
  if (begin != from && begin != end && *begin == '-') return false;
  const auto [behind, error] = std::from_chars(begin, end, number);
  if (error == std::errc::result_out_of_range) number = std::numeric_limits<double>::infinity();
  if (error == std::errc::invalid_argument || (behind != end && !is_space(*behind))) return false;
  from = behind;
  return true;
}

}  // namespace

LabelledSparseRows read_svmlight(const std::string& file, Index features) {
  require(features >= 0 && features <= most, "read_svmlight: features = ", features, ", must lie in 0, ..., ", most);
  Lines lines(file);
  std::string_view line;
  Index number = 0;
  const auto expect = [&](bool holds, const auto&... pieces) {
    if (!holds) throw std::runtime_error(text(file, ":", number, ": ", pieces...));
  };

  std::vector<int> starts{0}, columns, labels;
  std::vector<double> values;
  int largest = 0;
  while (lines.next(line)) {
    ++number;
    const char* at = line.data();
    const char* const end = at + std::min(line.find('#'), line.size());
    const auto skip_spaces = [&] {
      while (at != end && is_space(*at)) ++at;
    };
    skip_spaces();
    if (at == end) continue;

    const char* word = at;
    double label = 0;
    const bool whole = read_number(at, end, label) && label == std::trunc(label) && std::abs(label) <= most;
    if (!whole) expect(false, "label ", shown(word, end), ", expected an integer");
    labels.push_back(static_cast<int>(label));

    int previous = 0;
    for (skip_spaces(); at != end; skip_spaces()) {
      word = at;
      int index = 0;
      const auto [colon, error] = std::from_chars(at, end, index);
      if (error != std::errc() || colon == end || *colon != ':') {
        expect(error != std::errc::result_out_of_range, shown(word, end), ", expected an index of at most ", most);
        expect(false, shown(word, end), ", expected index:value");
      }
      if (index <= previous) {
        expect(index > 0, shown(word, end), ", expected an index of at least 1");
        expect(false, shown(word, end), ", expected an index above ", previous, ", the one before");
      }
      if (features > 0 && index > features)
        expect(false, shown(word, end), ", expected an index of at most ", features, ", the number of features");
      at = colon + 1;
      double value = 0;
      if (!read_number(at, end, value)) expect(false, shown(word, end), ", expected a number behind the colon");
      if (!std::isfinite(value)) expect(false, shown(word, end), ", expected a finite number in the range of double");
      if (columns.size() == static_cast<std::size_t>(most)) expect(false, "expected at most ", most, " entries");
      columns.push_back(index - 1);
      values.push_back(value);
      previous = index;
    }
    largest = std::max(largest, previous);
    starts.push_back(static_cast<int>(columns.size()));
  }
  expect(!columns.empty(), "file ends with ", labels.size(), " rows and no entry, expected label index:value ...");

  return {assemble(features > 0 ? features : largest, starts, columns, values), std::move(labels)};
}

}  // namespace hypertape::problems
