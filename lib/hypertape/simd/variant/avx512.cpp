#define HYPERTAPE_VARIANT avx512
#define HYPERTAPE_LANES 8
#include "hypertape/simd/variant/kernels.hpp"
