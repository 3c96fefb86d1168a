# Defines PDL::arrow, Apache Arrow's C++ libraries with Parquet, of the folder into which
# `scripts/install_dependencies.sh --with-arrow` unpacks the wheel of pyarrow, and
# PDL_ARROW_LIBRARIES, the libraries that programs need. Without that folder neither is
# defined, and programs refuse Parquet and Arrow files with a message.
set(PDL_ARROW_VERSION 26.0.1)
set(pdl_cache "$ENV{XDG_CACHE_HOME}")
if(NOT pdl_cache)
  set(pdl_cache "$ENV{HOME}/.cache")
endif()
set(PDL_ARROW_DIR "$ENV{PDL_ARROW_DIR}" CACHE STRING
  "Folder of an unpacked wheel of pyarrow; OFF: build without Parquet (default: the folder of scripts/install_dependencies.sh --with-arrow, if it exists)")
set(pdl_arrow_dir "${PDL_ARROW_DIR}")
if(NOT PDL_ARROW_DIR AND NOT PDL_ARROW_DIR STREQUAL "OFF" AND EXISTS "${pdl_cache}/pdl/arrow-${PDL_ARROW_VERSION}")
  set(pdl_arrow_dir "${pdl_cache}/pdl/arrow-${PDL_ARROW_VERSION}")
endif()
# The library is not instrumented, and neither would be ours.
if(NOT pdl_arrow_dir OR PDL_SANITIZE)
  return()
endif()

file(GLOB pdl_arrow_libraries ${pdl_arrow_dir}/pyarrow/libarrow.so.* ${pdl_arrow_dir}/pyarrow/libparquet.so.*)
list(LENGTH pdl_arrow_libraries count)
if(NOT count EQUAL 2 OR NOT EXISTS ${pdl_arrow_dir}/pyarrow/include/parquet/arrow/reader.h)
  message(FATAL_ERROR "${pdl_arrow_dir} is not an unpacked wheel of pyarrow ${PDL_ARROW_VERSION}; "
    "run scripts/install_dependencies.sh --with-arrow, or configure with -DPDL_ARROW_DIR=OFF")
endif()
set(PDL_ARROW_WHEEL ${pdl_arrow_dir})
set(PDL_ARROW_LIBRARIES ${pdl_arrow_libraries})
add_library(PDL::arrow INTERFACE IMPORTED)
target_include_directories(PDL::arrow SYSTEM INTERFACE ${pdl_arrow_dir}/pyarrow/include)
# By path: the wheel has no links without version.
target_link_libraries(PDL::arrow INTERFACE ${pdl_arrow_libraries})
