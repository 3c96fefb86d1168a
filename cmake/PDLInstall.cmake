# What `cmake --install` installs, and the Debian packages that cpack makes of it. The tools find
# lib/ next to their own folder, so an installation may be moved.

# pdl-runtime-dev: what pdl-translate links, or puts next to programs.
install(TARGETS PDLRuntime PDLRuntimeGrpc PDLOlderLibc PDLProgramStart PDLServerMain PDLTrainerMain
  ARCHIVE DESTINATION lib COMPONENT pdl-runtime-dev)
if(TARGET PDLRuntimeOneDNN)
  install(TARGETS PDLRuntimeOneDNN ARCHIVE DESTINATION lib COMPONENT pdl-runtime-dev)
endif()
install(FILES LICENSE DESTINATION share/pdl COMPONENT pdl-runtime-dev)

# pdl-tools: tools that need no compiler. Their folders install what they need besides.
install(TARGETS pdl-checkpoint pdl-data pdl-launch pdl-measure pdl-simulate
  RUNTIME DESTINATION bin COMPONENT pdl-tools)
if(TARGET pdl-serve)
  install(TARGETS pdl-serve RUNTIME DESTINATION bin COMPONENT pdl-tools)
endif()
install(DIRECTORY python/pdl python/pdlrec DESTINATION share/pdl/python COMPONENT pdl-tools
  PATTERN __pycache__ EXCLUDE)
install(FILES python/pyproject.toml DESTINATION share/pdl/python COMPONENT pdl-tools)
install(FILES ${PROJECT_BINARY_DIR}/version/version.txt DESTINATION share/pdl/python/pdl
  COMPONENT pdl-tools)

# pdl-compiler, with models and data to begin with.
if(PDL_ENABLE_COMPILER)
  install(TARGETS pdl-opt pdl-translate RUNTIME DESTINATION bin COMPONENT pdl-compiler)
  # The library of object stores is for all tools.
  set(http_library ${PROJECT_BINARY_DIR}/lib/pdl/libpdl-http.so.1)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/lib/pdl DESTINATION lib COMPONENT pdl-runtime-dev
    PATTERN libpdl-http.so.1 EXCLUDE)
  install(FILES ${http_library} DESTINATION lib/pdl COMPONENT pdl-tools OPTIONAL)
endif()
install(DIRECTORY models DESTINATION share/pdl COMPONENT pdl-compiler PATTERN __pycache__ EXCLUDE)
install(DIRECTORY data/adult DESTINATION share/pdl/data COMPONENT pdl-compiler)

# python3-pdl: the package for the system's Python, under the name that only PDL has.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
install(CODE "execute_process(COMMAND \"${Python3_EXECUTABLE}\"
  \"${PROJECT_SOURCE_DIR}/scripts/rename_package.py\"
  --version-file \"${PROJECT_BINARY_DIR}/version/version.txt\"
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages/pdlrec\"
  COMMAND_ERROR_IS_FATAL ANY)" COMPONENT python3-pdl EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL pdl-compiler pdl-runtime-dev pdl-tools python3-pdl)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The PDL authors <pdl@localhost>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# These libraries are in the packages.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib/pdl)
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${component})
endforeach()
set(CPACK_DEBIAN_PDL-COMPILER_DESCRIPTION "Compiler for sparse recommendation models on CPUs")
set(CPACK_DEBIAN_PDL-RUNTIME-DEV_DESCRIPTION "Runtime with which PDL links trainers and servers")
set(CPACK_DEBIAN_PDL-TOOLS_DESCRIPTION "Tools of PDL for jobs, checkpoints, data and serving")
set(CPACK_DEBIAN_PYTHON3-PDL_DESCRIPTION "Python package pdlrec, which writes models for PDL")
set(CPACK_DEBIAN_PDL-COMPILER_PACKAGE_DEPENDS "pdl-runtime-dev (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PDL-TOOLS_PACKAGE_RECOMMENDS python3)
set(CPACK_DEBIAN_PYTHON3-PDL_PACKAGE_DEPENDS "python3 (>= 3.11), pdl-compiler (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON3-PDL_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-PDL_PACKAGE_SHLIBDEPS OFF)
include(CPack)
