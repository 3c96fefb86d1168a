# Copies the files that pdl-translate links, or puts next to a program, to lib/pdl. So a machine
# that only runs pdl-translate needs no compiler (and no libdnnl-dev). The files are the static C++
# library, the compiler's start files, stubs of the C library, zlib and zstd. For numerics `fast` there are also oneDNN, the
# libraries that it loads and their licenses; for programs of several processes, gRPC's archives and
# their licenses.
set(PDL_RUNTIME_FILES_DIR ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/pdl)

function(pdl_copy_runtime_file source name)
  get_filename_component(real "${source}" REALPATH)
  file(MAKE_DIRECTORY ${PDL_RUNTIME_FILES_DIR})
  configure_file("${real}" ${PDL_RUNTIME_FILES_DIR}/${name} COPYONLY)
endfunction()

foreach(name libstdc++.a libgcc.a libgcc_eh.a crtbeginS.o crtendS.o libz.a libzstd.a)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name}
    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${path}")
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} knows no ${name}, which compiled programs are "
      "linked with; install libstdc++-12-dev, zlib1g-dev and libzstd-dev, or the like of your system")
  endif()
  pdl_copy_runtime_file("${path}" ${name})
endforeach()

# Start files of the C library, the few functions of its static part, and stubs of its shared
# libraries. So programs are linked without the C library's development files, and a model compiles
# to the same program on every host.
foreach(name crti.o crtn.o libc_nonshared.a libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2
    ld-linux-x86-64.so.2)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name}
    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${path}")
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} knows no ${name}; install libc6-dev, or the like of "
      "your system")
  endif()
  if(name MATCHES "[.]so[.]")
    list(APPEND libc_libraries "${path}")
  else()
    pdl_copy_runtime_file("${path}" libc/${name})
  endif()
endforeach()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(PDL_READELF llvm-readelf-${LLVM_VERSION_MAJOR} HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(PDL_STUB_LINKER ld.lld-${LLVM_VERSION_MAJOR} HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
set(libc_stubs ${PDL_RUNTIME_FILES_DIR}/libc/libc.so.6)
add_custom_command(OUTPUT ${libc_stubs}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/make_libc_stubs.py --clang ${PDL_CLANG}
    --linker ${PDL_STUB_LINKER} --readelf ${PDL_READELF} --output ${PDL_RUNTIME_FILES_DIR}/libc
    ${libc_libraries}
  DEPENDS ${PROJECT_SOURCE_DIR}/cmake/make_libc_stubs.py ${libc_libraries}
  COMMENT "Making stubs of the C library"
  VERBATIM)
add_custom_target(PDLLibcStubs DEPENDS ${libc_stubs})

if(PDL_ENABLE_ONEDNN)
  get_filename_component(onednn_dir "${PDL_ONEDNN_LIBRARY}" DIRECTORY)
  foreach(name libdnnl.so.2 libgomp.so.1 libOpenCL.so.1)
    find_file(PDL_FILE_${name} ${name} HINTS ${onednn_dir} PATHS /usr/lib/x86_64-linux-gnu /usr/lib64
      REQUIRED)
    pdl_copy_runtime_file("${PDL_FILE_${name}}" ${name})
  endforeach()
  foreach(package libdnnl2 libgomp1 ocl-icd-libopencl1)
    if(EXISTS /usr/share/doc/${package}/copyright)
      pdl_copy_runtime_file(/usr/share/doc/${package}/copyright licenses-onednn/${package}.txt)
    endif()
  endforeach()
endif()
# Further archives for programs of several processes. gRPC's archives contain only what such a
# program needs, and the linker selects from them.
if(PDL_GRPC_MISSING)
  message(FATAL_ERROR "gRPC's static archives were not found, which programs of several "
    "processes are linked with: ${PDL_GRPC_MISSING}; install libgrpc++-dev and what it depends on")
endif()
foreach(archive ${PDL_GRPC_ARCHIVES})
  get_filename_component(name "${archive}" NAME)
  pdl_copy_runtime_file("${archive}" grpc/${name})
endforeach()
foreach(package libgrpc++1.51 libabsl20220623 libc-ares2)
  if(EXISTS /usr/share/doc/${package}/copyright)
    pdl_copy_runtime_file(/usr/share/doc/${package}/copyright licenses-grpc/${package}.txt)
  endif()
endforeach()

# What programs open to read Parquet and Arrow files.
foreach(library ${PDL_ARROW_LIBRARIES})
  get_filename_component(name "${library}" NAME)
  pdl_copy_runtime_file("${library}" arrow/${name})
endforeach()
if(PDL_ARROW_WHEEL)
  file(GLOB licenses ${PDL_ARROW_WHEEL}/pyarrow-*.dist-info/licenses/*.txt)
  foreach(license ${licenses})
    get_filename_component(name "${license}" NAME)
    pdl_copy_runtime_file("${license}" licenses-arrow/arrow-${name})
  endforeach()
endif()
foreach(package libc6 libstdc++6 zlib1g libzstd1)
  if(EXISTS /usr/share/doc/${package}/copyright)
    pdl_copy_runtime_file(/usr/share/doc/${package}/copyright licenses/${package}.txt)
  endif()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/LICENSE ${PDL_RUNTIME_FILES_DIR}/licenses/PDL.txt COPYONLY)
# Headers that callers of libraries include.
configure_file(${PROJECT_SOURCE_DIR}/include/pdl/serving.h ${PDL_RUNTIME_FILES_DIR}/serving.h COPYONLY)
