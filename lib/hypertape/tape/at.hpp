#pragma once

#include <cstddef>

namespace hypertape::detail {

/// Element n of a container, whatever integer n is.
auto& at(auto& container, auto n) { return container[static_cast<std::size_t>(n)]; }

}  // namespace hypertape::detail
