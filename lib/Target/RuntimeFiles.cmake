# Copies to lib/pdl what pdl-translate links and puts beside a program, so that
# a machine that only runs pdl-translate needs no compiler (and no libdnnl-dev):
# the static C++ library, the compiler's start files, zlib, zstd, and for numerics
# `fast` oneDNN with the libraries that it loads and their licenses; for programs
# of several processes gRPC's archives and their licenses.
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
# What programs of several processes are linked with besides. gRPC's archives
# hold only what such a program needs; the linker takes of them what it uses.
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

foreach(package libstdc++6 zlib1g libzstd1)
  if(EXISTS /usr/share/doc/${package}/copyright)
    pdl_copy_runtime_file(/usr/share/doc/${package}/copyright licenses/${package}.txt)
  endif()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/LICENSE ${PDL_RUNTIME_FILES_DIR}/licenses/PDL.txt COPYONLY)
# What callers of libraries include.
configure_file(${PROJECT_SOURCE_DIR}/include/pdl/serving.h ${PDL_RUNTIME_FILES_DIR}/serving.h COPYONLY)
