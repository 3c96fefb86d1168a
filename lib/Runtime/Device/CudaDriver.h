//===- CudaDriver.h - The functions of NVIDIA's driver ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the CUDA driver API that is used (CUDA Driver API, version 12),
// by the names of its symbols. The library is opened when a program runs, so
// that neither building nor other programs need it.
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
/// An address of the device.
using Address = unsigned long long;
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Graph = struct GraphTag *;
using GraphExecutable = struct GraphExecutableTag *;

constexpr Result success = 0, outOfMemory = 2;
/// Attributes of a device: how many multiprocessors it has, and the two digits
/// of the architecture that code for it may be of (8 and 0: sm_80).
constexpr int multiprocessors = 16, architectureMajor = 75,
              architectureMinor = 76;
/// Options of a module: where messages of its assembler go, and how long that
/// is.
constexpr int errorLog = 5, errorLogBytes = 6;
/// A stream that does not wait for the default one; an event without times.
constexpr unsigned nonBlocking = 1, withoutTiming = 2;
/// How a stream captures: other threads may go on as they like.
constexpr int captureOfThread = 1;
/// An event with times.
constexpr unsigned withTiming = 0;

/// Functions by the names of their symbols, which end with a version where
/// there are several.
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

/// Opens the driver's library, of that name, once; later calls give the same.
/// An error names the library or the function that is missing, and the package.
Expected<const Driver *> openDriver(const char *library = "libcuda.so.1");

/// The GPU of that number. The driver outlives it, as does the library of
/// products; without one, what is there is opened when code multiplies.
Expected<std::unique_ptr<Device>>
openDevice(const Driver &driver, int number,
           const cublaslt::Library *products = nullptr);

} // namespace pdlrt::cuda

#endif // LIB_RUNTIME_DEVICE_CUDADRIVER_H
