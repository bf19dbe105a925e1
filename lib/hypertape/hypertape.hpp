#pragma once

// All of Hypertape's public interface.

#include "hypertape/autodiff/select.hpp"
#include "hypertape/autodiff/taped_problem.hpp"
#include "hypertape/core/types.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
