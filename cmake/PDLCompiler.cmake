# The compiler half: finds MLIR 22 and defines how its libraries and tools are
# declared. Our libraries list only our own libraries; tools link the shared
# `MLIR` and `LLVM`, never the archives, so that there is one copy of each
# option registry and type id in a process.

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

# One target that every compiler library depends on, so that no source is
# compiled before a header that TableGen writes for another dialect exists.
add_custom_target(pdlc-headers)

function(pdlc_target_settings target)
  target_include_directories(${target} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_compile_definitions(${target} PRIVATE ${LLVM_DEFINITIONS_LIST})
  # Optimized less than the runtime: a third less time to build, and models compile
  # as fast, as nearly all of that is in MLIR's and LLVM's own libraries.
  target_compile_options(${target} PRIVATE -fno-exceptions $<$<CONFIG:Release>:-O1>)
  add_dependencies(${target} pdlc-headers)
endfunction()

# A precompiled header of the MLIR core brings a pass file from 9 s to under 3 s.
set(PDLC_PRECOMPILED_HEADERS
  "mlir/IR/Builders.h" "mlir/IR/BuiltinOps.h" "mlir/IR/BuiltinTypes.h"
  "mlir/IR/OpImplementation.h" "mlir/IR/PatternMatch.h" "mlir/IR/SymbolTable.h"
  "mlir/Pass/Pass.h" "mlir/Interfaces/SideEffectInterfaces.h"
  "mlir/Interfaces/InferTypeOpInterface.h" "mlir/Interfaces/FunctionInterfaces.h"
  "mlir/Dialect/Func/IR/FuncOps.h" "mlir/Dialect/Arith/IR/Arith.h"
  "mlir/Dialect/MemRef/IR/MemRef.h" "mlir/Dialect/Linalg/IR/Linalg.h"
  "mlir/Dialect/SCF/IR/SCF.h" "mlir/Dialect/LLVMIR/LLVMDialect.h"
  "mlir/Transforms/DialectConversion.h")

# Those of our dialects as well: they cost as much again.
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
# CORE_HEADERS: a dialect's library, or one that knows no dialect of ours.
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
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
endfunction()

# pdlc_add_tool(name sources... LINK_LIBS our-libraries...)
function(pdlc_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  pdlc_target_settings(${name})
  pdl_reuse_precompiled_headers(${name} PDLCDialectPch)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
endfunction()
