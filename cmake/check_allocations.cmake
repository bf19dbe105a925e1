# Fails if an object in FILES uses Eigen's aligned allocations (lib/aligned_allocations.hpp says why none may), or if
# those of SAMPLE, which does, are not found.  cmake -DNM=... "-DFILES=..." -DSAMPLE=... -P check_allocations.cmake
function(find_allocations file found)
  execute_process(COMMAND ${NM} ${file} OUTPUT_VARIABLE symbols RESULT_VARIABLE result)
  if(result OR NOT symbols MATCHES "hypertape")
    message(FATAL_ERROR "${NM} ${file} shows no symbols of Hypertape (${result})")
  endif()
  # In a mangled name a digit stands before: conditional_aligned_malloc<false>, which is malloc, is another function.
  string(REGEX MATCHALL "[^\n]*[0-9]aligned_(malloc|realloc|free)[^\n]*" matches "${symbols}")
  set(${found} "${matches}" PARENT_SCOPE)
endfunction()

find_allocations(${SAMPLE} found)
if(NOT found)
  message(FATAL_ERROR "${SAMPLE} allocates aligned memory, and nm does not show it: is aligned_allocations.hpp read?")
endif()
separate_arguments(FILES UNIX_COMMAND "${FILES}")
foreach(file IN LISTS FILES)
  find_allocations(${file} found)
  if(found)
    list(JOIN found "\n" found)
    message(SEND_ERROR "${file} allocates aligned memory; nm -A -C tells which object does:\n${found}")
  endif()
endforeach()
