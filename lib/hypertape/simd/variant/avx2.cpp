#define HYPERTAPE_VARIANT avx2
#define HYPERTAPE_LANES 4
#include "hypertape/simd/variant/kernels.hpp"
