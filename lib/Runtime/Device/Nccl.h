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

/// Identifier of an NCCL group. One process creates it and sends it to the
/// others.
struct UniqueId {
  char bytes[128];
};

/// Configuration of a communicator: ncclConfig_t of release 2.14. Later
/// releases have more members, and use their defaults if a configuration lacks
/// them.
struct Config {
  size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef, version = 21400;
  /// If 0, no call waits for other processes.
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

/// Loads the library. It is loaded only once; later calls return the same. An
/// error names the missing library or function, and the package to install.
Expected<const Library *> openLibrary(const char *name = "libnccl.so.2");

/// Creates a group of GPUs of this process. `numbers`: the numbers of the GPUs.
/// `handleOf`: returns the driver's handle of a stream of one of them. The
/// library must outlive the group.
Expected<std::unique_ptr<DeviceGroup>>
createGroup(const Library &library, std::span<const cuda::DeviceNumber> numbers,
            cuda::Stream (*handleOf)(DeviceStream &stream));

/// Returns the id of a new group.
Expected<DeviceGroupName> makeName(const Library &library);

/// Joins a group of GPUs of several processes; `here` is the number of those in
/// this process. `choose`: makes one of them current in the calling thread.
/// `handleOf`: returns the driver's handle of a stream. Returns an error if the
/// library is too old to support this. The library must outlive the group.
Expected<std::unique_ptr<DeviceGroup>>
joinGroup(const Library &library, const DeviceGroupPlace &place, size_t here,
          const std::function<Status(size_t device)> &choose,
          cuda::Stream (*handleOf)(DeviceStream &stream));

} // namespace pdlrt::nccl

#endif // LIB_RUNTIME_DEVICE_NCCL_H
