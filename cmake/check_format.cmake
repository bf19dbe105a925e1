# Fails if clang-format would change a source file. cmake -DCLANG_FORMAT=... -DROOT=... -P check_format.cmake
file(GLOB_RECURSE files ${ROOT}/lib/*.?pp ${ROOT}/problems/*.?pp ${ROOT}/drivers/*.?pp ${ROOT}/tests/*.?pp)
execute_process(COMMAND ${CLANG_FORMAT} --dry-run -Werror ${files} RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "not formatted: run clang-format -i on the files above")
endif()
