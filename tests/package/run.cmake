# Installs the build to an empty prefix, then configures, builds and tests the outside project against it.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "failed (${result}): ${ARGV}")
  endif()
endfunction()
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --config ${CONFIG})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_CXX_FLAGS=${FLAGS} -DSETS=${SETS} -DREADME=${README} -DRUN_EXAMPLE=${SOURCE}/../docs/run_example.cmake)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure --no-tests=error)

# With another CppAD than that of the build it is refused.
file(WRITE ${WORK}/other/include/cppad/cppad.hpp "")
file(WRITE ${WORK}/other/include/cppad/configure.hpp "# define CPPAD_PACKAGE_STRING \"cppad-20010101.5\"\n")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/other/build
  "-DCMAKE_PREFIX_PATH=${WORK}/prefix;${WORK}/other" -DCMAKE_CXX_COMPILER=${CXX} RESULT_VARIABLE result
  OUTPUT_QUIET ERROR_VARIABLE message)
string(REGEX REPLACE "[ \n]+" " " message "${message}")
if(NOT result OR NOT message MATCHES "built with CppAD ${CPPAD}, but [^ ]*other/include has CppAD 20010101.5\\.")
  message(FATAL_ERROR "another CppAD is not refused (${result}): ${message}")
endif()
