# Defines PDL::grpc, gRPC's C++ library without TLS, and PDL_GRPC_ARCHIVES, the full paths of its
# static archives. The target consists of the archives. If one is missing, or with a sanitizer, it
# is the shared library: a sanitizer can then distinguish calls within gRPC from our own.
find_package(PkgConfig REQUIRED)
pkg_check_modules(PDL_GRPC REQUIRED QUIET grpc++_unsecure)

# Debian's .pc files omit the libraries on which libgrpc_unsecure.a itself depends.
set(names ${PDL_GRPC_STATIC_LIBRARIES} address_sorting upb cares)
# Libraries of the system, or libraries that every program is linked with.
list(REMOVE_ITEM names atomic rt dl m pthread z)
list(REMOVE_DUPLICATES names)
set(PDL_GRPC_ARCHIVES)
set(PDL_GRPC_MISSING)
foreach(name ${names})
  find_file(PDL_GRPC_FILE_${name} lib${name}.a HINTS ${PDL_GRPC_LIBDIR} /usr/lib/x86_64-linux-gnu)
  mark_as_advanced(PDL_GRPC_FILE_${name})
  if(PDL_GRPC_FILE_${name})
    list(APPEND PDL_GRPC_ARCHIVES ${PDL_GRPC_FILE_${name}})
  else()
    list(APPEND PDL_GRPC_MISSING lib${name}.a)
  endif()
endforeach()

add_library(PDL::grpc INTERFACE IMPORTED)
target_include_directories(PDL::grpc SYSTEM INTERFACE ${PDL_GRPC_INCLUDE_DIRS})
if(PDL_GRPC_MISSING OR PDL_SANITIZE)
  target_link_libraries(PDL::grpc INTERFACE ${PDL_GRPC_LINK_LIBRARIES})
else()
  target_link_libraries(PDL::grpc INTERFACE
    -Wl,--start-group ${PDL_GRPC_ARCHIVES} -Wl,--end-group ${CMAKE_DL_LIBS})
endif()
