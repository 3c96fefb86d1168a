# Flags shared by both halves: warnings, numerics, sanitizers, compiler cache.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter)
# The settled numerics form an FMA only where the source says so.
add_compile_options(-ffp-contract=off)

if(PDL_SANITIZE)
  add_compile_options(-fsanitize=${PDL_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PDL_SANITIZE})
  if(PDL_SANITIZE MATCHES "undefined" AND NOT PDL_SANITIZE_POINTERS)
    # These two double the time to compile; what they find of what the address
    # sanitizer does not, they find by night.
    add_compile_options(-fno-sanitize=object-size,pointer-overflow)
  endif()
  if(PDL_ENABLE_FUZZERS)
    # libFuzzer sees what inputs reach.
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endif()

find_program(PDL_CCACHE ccache)
if(PDL_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${PDL_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${PROJECT_SOURCE_DIR}/cmake/compile_cached.sh ${PROJECT_SOURCE_DIR} ${PDL_CCACHE})
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Xclang> $<$<COMPILE_LANGUAGE:CXX>:-fno-pch-timestamp>)
  find_program(PDL_LLD ld.lld-22)
  if(PDL_LLD)
    add_link_options(-fuse-ld=${PDL_LLD})
  endif()
endif()

# pdl_unite_sources(library): compiles eight sources as one, which takes half of
# the time, because they instantiate the same templates. Names that only one file
# uses must therefore differ within a library. Builds without precompiled headers
# compile each file by itself, so that it must include what it needs.
function(pdl_unite_sources library)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# pdl_reuse_precompiled_headers(program library): a program takes the precompiled
# headers of a library. It is compiled as archives are, since -fPIE would need
# headers of its own.
function(pdl_reuse_precompiled_headers program library)
  set_target_properties(${program} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${program} PRIVATE -fPIC)
  target_precompile_headers(${program} REUSE_FROM ${library})
endfunction()

# What most files of the runtime include of other libraries.
set(PDLRT_PRECOMPILED_HEADERS
  <algorithm> <atomic> <chrono> <condition_variable> <cstring> <deque> <filesystem> <fmt/format.h>
  <fstream> <functional> <map> <memory> <mutex> <optional> <random> <set> <sstream> <string> <thread>
  <unordered_map> <variant> <vector> <xxhash.h>)
