#pragma once

// All of Hypertape's public interface.

#include "hypertape/autodiff/row_problem.hpp"
#include "hypertape/autodiff/safe_math.hpp"
#include "hypertape/autodiff/select.hpp"
#include "hypertape/autodiff/taped_problem.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/core/status.hpp"
#include "hypertape/core/types.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"
#include "hypertape/inner/lanczos.hpp"
#include "hypertape/inner/newton.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "hypertape/verify/verify.hpp"
