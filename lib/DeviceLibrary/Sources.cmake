# The bodies of kernels: part of the runtime, and bitcode in the compiler.
file(GLOB PDL_DEVICE_LIBRARY_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
# A root that may set errno would be a call of the C library.
set(PDL_DEVICE_LIBRARY_OPTIONS -fno-math-errno)
set(PDL_DEVICE_LIBRARY_INCLUDE ${PROJECT_BINARY_DIR}/lib/DeviceLibrary/DeviceLibrary.inc)
