#define HYPERTAPE_VARIANT baseline
#define HYPERTAPE_LANES 2
#include "hypertape/simd/variant/kernels.hpp"
