# Runs PROGRAM and compares what it prints with the file EXPECTED, byte for byte; PRINTED is where its output goes.
execute_process(COMMAND ${PROGRAM} OUTPUT_FILE ${PRINTED} ERROR_VARIABLE errors RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${code}\n${errors}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${EXPECTED} ${PRINTED} RESULT_VARIABLE differs
  OUTPUT_QUIET ERROR_QUIET)
if(differs)
  execute_process(COMMAND diff -u ${EXPECTED} ${PRINTED})
  message(FATAL_ERROR "${PROGRAM} does not print what its document says (- the document, + the program)")
endif()
