//===- CudaDriver.h - Functions of the CUDA driver --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of the CUDA driver API (version 12) that are used, under the
// names of its symbols. The library is loaded at run time, so that neither the
// build nor other programs depend on it.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DEVICE_CUDADRIVER_H
#define LIB_RUNTIME_DEVICE_CUDADRIVER_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pdlrt {
class Device;
namespace cublaslt {
struct Library;
} // namespace cublaslt
} // namespace pdlrt

namespace pdlrt::cuda {

using Result = int;
using DeviceNumber = int;
/// A device address.
using Address = unsigned long long;
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Graph = struct GraphTag *;
using GraphExecutable = struct GraphExecutableTag *;

constexpr Result success = 0, outOfMemory = 2;
/// Attributes of a device: the number of multiprocessors, and the major and
/// minor version of its compute capability (8 and 0 for sm_80).
constexpr int multiprocessors = 16, architectureMajor = 75,
              architectureMinor = 76;
/// Options of a module: the buffer for the assembler's messages, and the size
/// of the buffer.
constexpr int errorLog = 5, errorLogBytes = 6;
/// Flags: `nonBlocking` creates a stream that does not synchronize with the
/// default stream, and `withoutTiming` creates an event without timing.
constexpr unsigned nonBlocking = 1, withoutTiming = 2;
/// Capture mode in which calls of other threads are not restricted.
constexpr int captureOfThread = 1;
/// An event with timing.
constexpr unsigned withTiming = 0;

/// Functions of the driver. They are looked up by the names of their symbols,
/// which end with a version if there are several.
struct Driver {
  Result (*init)(unsigned flags);
  Result (*errorText)(Result error, const char **text);
  Result (*deviceCount)(int *count);
  Result (*findDevice)(DeviceNumber *device, int number);
  Result (*deviceName)(char *name, int length, DeviceNumber device);
  Result (*deviceAttribute)(int *value, int attribute, DeviceNumber device);
  Result (*retainContext)(Context *context, DeviceNumber device);
  Result (*releaseContext)(DeviceNumber device);
  Result (*setContext)(Context context);
  Result (*loadModule)(Module *module, const void *image, unsigned optionCount,
                       int *options, void **values);
  Result (*unloadModule)(Module module);
  Result (*getFunction)(Function *function, Module module, const char *name);
  Result (*allocate)(Address *address, size_t bytes);
  Result (*release)(Address address);
  Result (*allocateHost)(void **pointer, size_t bytes);
  Result (*releaseHost)(void *pointer);
  Result (*copyIn)(Address to, const void *from, size_t bytes, Stream stream);
  Result (*copyOut)(void *to, Address from, size_t bytes, Stream stream);
  Result (*copyWithin)(Address to, Address from, size_t bytes, Stream stream);
  Result (*fill)(Address to, unsigned char value, size_t bytes, Stream stream);
  Result (*createStream)(Stream *stream, unsigned flags);
  Result (*destroyStream)(Stream stream);
  Result (*synchronizeStream)(Stream stream);
  Result (*waitForEvent)(Stream stream, Event event, unsigned flags);
  Result (*createEvent)(Event *event, unsigned flags);
  Result (*recordEvent)(Event event, Stream stream);
  Result (*destroyEvent)(Event event);
  Result (*timeBetween)(float *milliseconds, Event first, Event second);
  Result (*beginCapture)(Stream stream, int mode);
  Result (*endCapture)(Stream stream, Graph *graph);
  Result (*makeExecutable)(GraphExecutable *executable, Graph graph,
                           unsigned long long flags);
  Result (*launchGraph)(GraphExecutable executable, Stream stream);
  Result (*destroyGraph)(Graph graph);
  Result (*destroyExecutable)(GraphExecutable executable);
  Result (*launch)(Function function, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, Stream stream,
                   void **arguments, void **extra);
};

/// Loads the driver's library. It is loaded only once; later calls return the
/// same. An error names the missing library or function, and the package to
/// install.
Expected<const Driver *> openDriver(const char *library = "libcuda.so.1");

/// Opens the GPU with this number. If `products` is null, an installed cuBLASLt
/// library is loaded at the first matrix product. `driver` and `products` must
/// outlive the device.
Expected<std::unique_ptr<Device>>
openDevice(const Driver &driver, int number,
           const cublaslt::Library *products = nullptr);

} // namespace pdlrt::cuda

#endif // LIB_RUNTIME_DEVICE_CUDADRIVER_H
