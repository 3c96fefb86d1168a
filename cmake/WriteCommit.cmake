# Writes the commit of the sources to OUTPUT, for lib/ABI/BuiltCommit.cpp, and to
# TEXT, for pdl-translate. Writes VERSION, the commit and ABI to VERSION_TEXT, for the Python package.
# Leaves files alone that have not changed. The commit is empty if COMMIT is empty and
# the sources are no Git checkout.
#
#   cmake -DSOURCE=... -DCOMMIT=... -DOUTPUT=... -DTEXT=... -DVERSION=... -DABI=... -DVERSION_TEXT=... -P WriteCommit.cmake
if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE failed)
  if(failed)
    set(COMMIT "")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define PDL_COMMIT \"${COMMIT}\"\n")
file(CONFIGURE OUTPUT ${TEXT} CONTENT "${COMMIT}\n")
if(COMMIT)
  set(commit "commit ${COMMIT}, ")
endif()
file(CONFIGURE OUTPUT ${VERSION_TEXT} CONTENT "${VERSION} (${commit}ABI ${ABI})\n")
