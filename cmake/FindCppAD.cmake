# Finds CppAD's headers, all that Hypertape uses of it: CppAD::CppAD, CppAD_INCLUDE_DIR, CppAD_VERSION.
# Looks in the usual places (and CMAKE_PREFIX_PATH), then in CppAD_PARTS_DIR, where scripts/setup unpacks a package.
find_path(CppAD_INCLUDE_DIR cppad/cppad.hpp HINTS "${CppAD_PARTS_DIR}/usr/include" DOC "folder that holds cppad/cppad.hpp")
mark_as_advanced(CppAD_INCLUDE_DIR)

if(CppAD_INCLUDE_DIR AND EXISTS "${CppAD_INCLUDE_DIR}/cppad/configure.hpp")
  file(STRINGS "${CppAD_INCLUDE_DIR}/cppad/configure.hpp" _line REGEX "define CPPAD_PACKAGE_STRING")
  string(REGEX MATCH "[0-9]+[0-9.]*" CppAD_VERSION "${_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CppAD REQUIRED_VARS CppAD_INCLUDE_DIR VERSION_VAR CppAD_VERSION
  REASON_FAILURE_MESSAGE "CppAD is missing. Install libcppad-dev (Debian trixie or later, Ubuntu), or run scripts/setup, \
which also serves Debian bookworm, or set CMAKE_PREFIX_PATH to where CppAD is installed.")

if(CppAD_FOUND AND NOT TARGET CppAD::CppAD)
  add_library(CppAD::CppAD INTERFACE IMPORTED)
  target_include_directories(CppAD::CppAD SYSTEM INTERFACE "${CppAD_INCLUDE_DIR}")
endif()
