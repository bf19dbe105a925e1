// Read before every source of the library, and by nobody else (lib/CMakeLists.txt).
//
// All of Eigen's aligned allocations pass through these functions, which differ with the compiler's flags. The linker
// keeps one copy of an inline function: code of the library can meet that of a program with other flags, and free what
// the other allocated. So the library may not use them, not even for a temporary. Never inlined, they cannot hide from
// the test `allocations`.
#include <cstddef>

namespace Eigen::internal {

[[gnu::noinline]] void* aligned_malloc(std::size_t size);
[[gnu::noinline]] void* aligned_realloc(void* memory, std::size_t new_size, std::size_t old_size);
[[gnu::noinline]] void aligned_free(void* memory);

}  // namespace Eigen::internal
