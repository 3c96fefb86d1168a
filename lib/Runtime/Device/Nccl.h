//===- Nccl.h - Collectives of GPUs by NCCL ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of NCCL that are used, as documented (NVIDIA, "NCCL Developer
// Guide", release 2). The library is loaded when it is needed.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DEVICE_NCCL_H
#define LIB_RUNTIME_DEVICE_NCCL_H

#include "Device/CudaDriver.h"
#include "pdlrt/Device/DeviceGroup.h"

#include <climits>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace pdlrt::nccl {

using Result = int;
/// A member of a group of devices.
using Communicator = struct CommunicatorTag *;

constexpr Result success = 0, inProgress = 7;
/// Types and the reduction.
constexpr int bytes = 0, float32 = 7, float64 = 8, addition = 0;

/// Identifier of a group of processes. One process creates it and sends it to
/// the others.
struct UniqueId {
  char bytes[128];
};

/// Configuration of a communicator (ncclConfig_t of release 2.14; later
/// releases have more members, and use defaults for missing ones).
struct Config {
  size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef, version = 21400;
  /// 0: no call waits for other processes.
  int blocking = 1;
  int unused = INT_MIN;
};

/// Functions under the names of their symbols.
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

  /// Functions for groups of several processes; null before release 2.14.
  Result (*makeId)(UniqueId *id);
  Result (*join)(Communicator *communicator, int count, UniqueId id, int rank,
                 Config *config);
  Result (*state)(Communicator communicator, Result *state);
  Result (*abort)(Communicator communicator);

  bool joinsProcesses() const { return makeId && join && state && abort; }
};

/// Loads the library with this name, once; later calls return the same. An
/// error names what is missing, and the package.
Expected<const Library *> openLibrary(const char *name = "libnccl.so.2");

/// Creates a group of GPUs, given by their numbers. The library must outlive
/// it. `handleOf`: returns the driver's handle of one of their streams.
Expected<std::unique_ptr<DeviceGroup>>
createGroup(const Library &library, std::span<const cuda::DeviceNumber> numbers,
            cuda::Stream (*handleOf)(DeviceStream &stream));

/// Returns the id of a new group.
Expected<DeviceGroupName> makeName(const Library &library);

/// Joins a group of GPUs of several processes, `here` of which are in this one.
/// The library must support this. `choose`: makes one of them current in the
/// calling thread.
Expected<std::unique_ptr<DeviceGroup>>
joinGroup(const Library &library, const DeviceGroupPlace &place, size_t here,
          const std::function<Status(size_t device)> &choose,
          cuda::Stream (*handleOf)(DeviceStream &stream));

} // namespace pdlrt::nccl

#endif // LIB_RUNTIME_DEVICE_NCCL_H
