# The compiler half: finds MLIR 22, and defines how its libraries and tools are declared. Our
# libraries list only our own libraries. Tools link PDLCLLVM: the static archives of MLIR, LLVM and
# lld, and never the shared libraries, so that a process has one copy of each option registry and
# type id. A tool then has up to 76 MB, where the shared libraries and those that they load have 330 MB,
# and it starts in 9 ms instead of 112 ms. It runs on hosts without LLVM.

if(NOT DEFINED MLIR_DIR)
  set(MLIR_DIR /usr/lib/llvm-22/lib/cmake/mlir CACHE PATH "MLIR's CMake package")
endif()
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_PACKAGE_VERSION MATCHES "^22\\.")
  message(FATAL_ERROR "PDL is built against LLVM/MLIR 22, found ${LLVM_PACKAGE_VERSION}; "
    "set MLIR_DIR to the MLIR 22 CMake package")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# Archives of which the linker takes what a tool uses.
file(GLOB pdlc_llvm_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a
  ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldCommon.a)
list(FILTER pdlc_llvm_archives EXCLUDE REGEX "/lib(MLIRCAPI|MLIRTest|LLVMTest)[^/]*$")
foreach(archive MLIRIR LLVMCore lldELF)
  if(NOT ${LLVM_LIBRARY_DIR}/lib${archive}.a IN_LIST pdlc_llvm_archives)
    message(FATAL_ERROR "found no ${LLVM_LIBRARY_DIR}/lib${archive}.a; install libmlir-22-dev, "
      "llvm-22-dev and liblld-22-dev (scripts/install_dependencies.sh installs them)")
  endif()
endforeach()
# Static too (lib/Runtime/CMakeLists.txt finds them), so that a tool needs only the C library.
add_library(PDLCLLVM INTERFACE)
target_link_libraries(PDLCLLVM INTERFACE -Wl,--start-group ${pdlc_llvm_archives} -Wl,--end-group
  ${PDL_ZLIB_ARCHIVE} ${PDL_ZSTD_ARCHIVE})
target_link_options(PDLCLLVM INTERFACE -Wl,--gc-sections -Wl,--build-id)

# A target on which every compiler library depends. So no source is compiled before the headers
# exist that TableGen writes for other dialects.
add_custom_target(pdlc-headers)

# All libraries of the compiler, which the preset `compiler` builds.
add_custom_target(pdlc-libraries)

function(pdlc_target_settings target)
  target_include_directories(${target} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_compile_definitions(${target} PRIVATE ${LLVM_DEFINITIONS_LIST})
  # The compiler is optimized less than the runtime. It builds in two thirds of the time, and
  # compiles models as fast, because most of that time is spent in MLIR's and LLVM's own libraries.
  target_compile_options(${target} PRIVATE -fno-exceptions $<$<CONFIG:Release>:-O1>)
  add_dependencies(${target} pdlc-headers)
endfunction()

# With a precompiled header of the MLIR core, a pass file compiles in less than 3 s instead of 9 s.
set(PDLC_PRECOMPILED_HEADERS
  "mlir/IR/Builders.h" "mlir/IR/BuiltinOps.h" "mlir/IR/BuiltinTypes.h"
  "mlir/IR/OpImplementation.h" "mlir/IR/PatternMatch.h" "mlir/IR/SymbolTable.h"
  "mlir/Pass/Pass.h" "mlir/Interfaces/SideEffectInterfaces.h"
  "mlir/Interfaces/InferTypeOpInterface.h" "mlir/Interfaces/FunctionInterfaces.h"
  "mlir/Dialect/Func/IR/FuncOps.h" "mlir/Dialect/Arith/IR/Arith.h"
  "mlir/Dialect/MemRef/IR/MemRef.h" "mlir/Dialect/Linalg/IR/Linalg.h"
  "mlir/Dialect/SCF/IR/SCF.h" "mlir/Dialect/LLVMIR/LLVMDialect.h"
  "mlir/Transforms/DialectConversion.h")

# The headers of our dialects cost as much again, so they are precompiled too.
set(PDLC_PRECOMPILED_DIALECTS
  "pdlc/Dialect/NN/IR/NN.h" "pdlc/Dialect/PS/IR/PS.h" "pdlc/Dialect/RT/IR/RT.h")

list(TRANSFORM PDLC_PRECOMPILED_HEADERS REPLACE "(.+)" "<\\1>")
list(TRANSFORM PDLC_PRECOMPILED_DIALECTS REPLACE "(.+)" "<\\1>")

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/PDLCPch.cpp CONTENT "")
foreach(pch PDLCPch PDLCDialectPch)
  add_library(${pch} STATIC ${PROJECT_BINARY_DIR}/PDLCPch.cpp)
  pdlc_target_settings(${pch})
endforeach()
target_precompile_headers(PDLCPch PRIVATE ${PDLC_PRECOMPILED_HEADERS})
target_precompile_headers(PDLCDialectPch PRIVATE ${PDLC_PRECOMPILED_HEADERS}
  ${PDLC_PRECOMPILED_DIALECTS})

# pdlc_add_library(name [CORE_HEADERS] sources... LINK_LIBS our-libraries...)
# CORE_HEADERS: a dialect's library, or a library that uses none of our dialects.
function(pdlc_add_library name)
  cmake_parse_arguments(ARG "CORE_HEADERS" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  pdlc_target_settings(${name})
  if(ARG_CORE_HEADERS)
    target_precompile_headers(${name} REUSE_FROM PDLCPch)
  else()
    target_precompile_headers(${name} REUSE_FROM PDLCDialectPch)
  endif()
  pdl_unite_sources(${name})
  add_dependencies(pdlc-libraries ${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
endfunction()

# pdlc_add_tool(name sources... LINK_LIBS our-libraries...)
function(pdlc_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  pdlc_target_settings(${name})
  pdl_reuse_precompiled_headers(${name} PDLCDialectPch)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} PDLCLLVM)
  pdl_link_for_bare_hosts(${name})
endfunction()
