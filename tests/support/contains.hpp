#pragma once

#include <string>

namespace hypertape::testing {

inline bool contains(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace hypertape::testing
