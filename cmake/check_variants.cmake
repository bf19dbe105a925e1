# Fails if an object file of lib/hypertape/simd/variant defines a symbol that another file may define as well: the linker
# keeps one of them for the whole program, and it might be the one that only a newer processor can run.
# cmake -DNM=... -DLIBRARY=libhypertape_simd.a -DVARIANTS="baseline;avx2" -P check_variants.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} -A -C ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
foreach(variant ${VARIANTS})
  string(REGEX MATCHALL "[^\n]*:${variant}\\.cpp[^\n]* [A-Zuvw] [^\n]*" outside "${symbols}")
  set(found FALSE)
  foreach(line ${outside})
    if(line MATCHES " [DR] hypertape::${variant}::kernels$")
      set(found TRUE)
    elseif(NOT line MATCHES " U ")
      message(FATAL_ERROR "defined by ${variant} for other files too: ${line}")
    endif()
  endforeach()
  if(NOT found)
    message(FATAL_ERROR "no hypertape::${variant}::kernels in ${LIBRARY}")
  endif()
endforeach()
