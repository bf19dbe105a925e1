#pragma once

#include <clocale>
#include <locale>
#include <string>

namespace hypertape::testing {

/// For its lifetime numbers in the global locale look like 1.234,5: in the C++ locale always, in that of C where the
/// system has such a one.
class CommaLocale {
 public:
  CommaLocale() : before_(std::setlocale(LC_NUMERIC, nullptr)), cxx_before_(std::locale::global(comma())) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"})
      if (std::setlocale(LC_NUMERIC, name)) break;
  }
  ~CommaLocale() {
    std::locale::global(cxx_before_);
    std::setlocale(LC_NUMERIC, before_.c_str());
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

 private:
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  static std::locale comma() { return {std::locale::classic(), new Comma}; }

  std::string before_;
  std::locale cxx_before_;
};

}  // namespace hypertape::testing
