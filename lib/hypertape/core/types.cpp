#include "hypertape/core/types.hpp"

namespace hypertape {

template <bool debug>
void built_with_GLIBCXX_DEBUG() {}
template void built_with_GLIBCXX_DEBUG<glibcxx_debug>();

}  // namespace hypertape
