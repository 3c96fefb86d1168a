# PDLVersion: the version that programs print. project() in CMakeLists.txt
# defines it, and the commit is that of the checkout when the program is built.
set(PDL_COMMIT "" CACHE STRING
  "Commit that programs print if the sources are no Git checkout (default: none)")

set(pdl_version_folder ${PROJECT_BINARY_DIR}/version)
# Programs in Python that are installed read version.txt.
file(STRINGS include/pdlabi/abi.h pdl_abi_version REGEX "^#define PDL_ABI_VERSION ")
string(REGEX REPLACE "^#define PDL_ABI_VERSION ([0-9]+)u$" "\\1" pdl_abi_version "${pdl_abi_version}")
add_custom_target(PDLCommit
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DCOMMIT=${PDL_COMMIT}
    -DOUTPUT=${pdl_version_folder}/pdl_commit.inc
    -DTEXT=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/pdl/commit.txt
    -DVERSION=${PROJECT_VERSION} -DABI=${pdl_abi_version} -DVERSION_TEXT=${pdl_version_folder}/version.txt
    -P ${CMAKE_CURRENT_LIST_DIR}/WriteCommit.cmake
  BYPRODUCTS ${pdl_version_folder}/pdl_commit.inc ${pdl_version_folder}/version.txt
    ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/pdl/commit.txt
  VERBATIM)
add_library(PDLVersion STATIC ${PROJECT_SOURCE_DIR}/lib/ABI/BuiltCommit.cpp
  ${PROJECT_SOURCE_DIR}/lib/ABI/Version.cpp)
add_dependencies(PDLVersion PDLCommit)
target_include_directories(PDLVersion PUBLIC ${PROJECT_SOURCE_DIR}/include
  PRIVATE ${pdl_version_folder})
target_compile_definitions(PDLVersion PRIVATE PDL_VERSION="${PROJECT_VERSION}")

# pip reads the version from a place that exists without CMakeLists.txt.
file(STRINGS python/pyproject.toml pdl_python_version REGEX "^version = ")
if(NOT pdl_python_version STREQUAL "version = \"${PROJECT_VERSION}\"")
  message(FATAL_ERROR "CMakeLists.txt defines version ${PROJECT_VERSION}, but python/pyproject.toml "
    "has ${pdl_python_version}; write the same there")
endif()
