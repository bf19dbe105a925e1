#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hypertape/core/types.hpp"

namespace hypertape::testing {

/// Where numbers are that were computed elsewhere: tests/data/NAME_reference.json.
inline std::string reference_path(const std::string& name) {
  return HYPERTAPE_TEST_DATA "/" + name + "_reference.json";
}

inline nlohmann::json reference(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(reference_path(name)));
}

inline Vec vec(const nlohmann::json& values) {
  const auto v = values.get<std::vector<double>>();
  return Eigen::Map<const Vec>(v.data(), static_cast<Index>(v.size()));
}

}  // namespace hypertape::testing
