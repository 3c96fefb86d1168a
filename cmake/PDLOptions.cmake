# Flags of both halves: warnings, numerics, sanitizers, compiler cache.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter)
# With strict numerics, an FMA exists only where the source has one.
add_compile_options(-ffp-contract=off)

if(PDL_SANITIZE)
  add_compile_options(-fsanitize=${PDL_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PDL_SANITIZE})
  if(PDL_SANITIZE MATCHES "undefined" AND NOT PDL_SANITIZE_POINTERS)
    # These two checks double the compile time. Nightly tests run them, for errors that the address
    # sanitizer does not find.
    add_compile_options(-fno-sanitize=object-size,pointer-overflow)
  endif()
  if(PDL_ENABLE_FUZZERS)
    # With this option, libFuzzer sees which code an input reaches.
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

# pdl_unite_sources(library): compiles eight sources as one, which takes half of the time, because
# they instantiate the same templates. So static names must differ within a library. Builds without
# precompiled headers compile each file separately, so that a missing include is an error.
function(pdl_unite_sources library)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# pdl_reuse_precompiled_headers(program library): a program uses the precompiled headers of a
# library. It is compiled like an archive, because -fPIE would need other precompiled headers.
function(pdl_reuse_precompiled_headers program library)
  set_target_properties(${program} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${program} PRIVATE -fPIC)
  target_precompile_headers(${program} REUSE_FROM ${library})
endfunction()

# pdl_link_for_bare_hosts(program): the program contains the C++ library, so that hosts need only the
# C library.
function(pdl_link_for_bare_hosts program)
  if(NOT PDL_SANITIZE)
    target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# Headers of other libraries that most files of the runtime include.
set(PDLRT_PRECOMPILED_HEADERS
  <algorithm> <atomic> <chrono> <condition_variable> <cstring> <deque> <filesystem> <fmt/format.h>
  <fstream> <functional> <map> <memory> <mutex> <optional> <random> <set> <sstream> <string> <thread>
  <unordered_map> <variant> <vector> <xxhash.h>)
