//===- Nccl.h - What NCCL does between GPUs ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its functions, as its documentation declares them (NVIDIA, "NCCL Developer
// Guide", release 2). The library is opened when it is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DEVICE_NCCL_H
#define LIB_RUNTIME_DEVICE_NCCL_H

#include "Device/CudaDriver.h"
#include "pdlrt/Device/DeviceGroup.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace pdlrt::nccl {

using Result = int;
/// A device among the others.
using Communicator = struct CommunicatorTag *;

constexpr Result success = 0;
/// Types, and what is done with them.
constexpr int bytes = 0, float32 = 7, float64 = 8, addition = 0;

/// Functions by the names of their symbols.
struct Library {
  const char *(*errorText)(Result error);
  Result (*createAll)(Communicator *communicators, int count,
                      const int *devices);
  Result (*destroy)(Communicator communicator);
  Result (*beginGroup)();
  Result (*endGroup)();
  Result (*gather)(const void *from, void *to, size_t count, int type,
                   Communicator communicator, cuda::Stream stream);
  Result (*reduce)(const void *from, void *to, size_t count, int type,
                   int operation, Communicator communicator,
                   cuda::Stream stream);
};

/// Opens the library of that name, once; later calls give the same. An error
/// names what is missing, and the package.
Expected<const Library *> openLibrary(const char *name = "libnccl.so.2");

/// A group of GPUs, by their numbers. The library outlives it. `handleOf`: the
/// driver's of one of their streams.
Expected<std::unique_ptr<DeviceGroup>>
createGroup(const Library &library, std::span<const cuda::DeviceNumber> numbers,
            cuda::Stream (*handleOf)(DeviceStream &stream));

} // namespace pdlrt::nccl

#endif // LIB_RUNTIME_DEVICE_NCCL_H
