#pragma once

#include <stdexcept>
#include <string_view>

#include "hypertape/core/text.hpp"
#include "hypertape/core/types.hpp"

namespace hypertape {

/// Misuse throws: `require(theta > 0, "rahgd: theta = ", theta, ", must be positive")`.
template <class... Pieces>
void require(bool holds, const Pieces&... pieces) {
  if (!holds) throw std::invalid_argument(text(pieces...));
}

/// A vector with an entry that is infinite or not a number, where only finite ones make sense.
class NotFinite : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// v must have `expected` entries (std::invalid_argument); `where` and `name` say in the message which vector it is.
void require_size(std::string_view where, std::string_view name, const Vec& v, Index expected);

/// All entries must be finite as well (NotFinite). A long vector is looked at on several threads, if there are.
void require_vector(std::string_view where, std::string_view name, const Vec& v, Index expected, int threads = 1);

}  // namespace hypertape
