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

#include <climits>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace pdlrt::nccl {

using Result = int;
/// A device among the others.
using Communicator = struct CommunicatorTag *;

constexpr Result success = 0, inProgress = 7;
/// Types, and what is done with them.
constexpr int bytes = 0, float32 = 7, float64 = 8, addition = 0;

/// What one of the processes of a group makes, and tells the others.
struct UniqueId {
  char bytes[128];
};

/// How a communicator is made (ncclConfig_t, as of release 2.14; later ones
/// have more behind it, and take what is not there for not chosen).
struct Config {
  size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef, version = 21400;
  /// 0: no call waits for other processes.
  int blocking = 1;
  int unused = INT_MIN;
};

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

  /// For groups of several processes; null before release 2.14.
  Result (*makeId)(UniqueId *id);
  Result (*join)(Communicator *communicator, int count, UniqueId id, int rank,
                 Config *config);
  Result (*state)(Communicator communicator, Result *state);
  Result (*abort)(Communicator communicator);

  bool joinsProcesses() const { return makeId && join && state && abort; }
};

/// Opens the library of that name, once; later calls give the same. An error
/// names what is missing, and the package.
Expected<const Library *> openLibrary(const char *name = "libnccl.so.2");

/// A group of GPUs, by their numbers. The library outlives it. `handleOf`: the
/// driver's of one of their streams.
Expected<std::unique_ptr<DeviceGroup>>
createGroup(const Library &library, std::span<const cuda::DeviceNumber> numbers,
            cuda::Stream (*handleOf)(DeviceStream &stream));

/// The id of a new group.
Expected<DeviceGroupName> makeName(const Library &library);

/// A group of GPUs of several processes, `here` of which are in this one; the
/// library joins processes. `choose`: makes one of them the calling thread's.
Expected<std::unique_ptr<DeviceGroup>>
joinGroup(const Library &library, const DeviceGroupPlace &place, size_t here,
          const std::function<Status(size_t device)> &choose,
          cuda::Stream (*handleOf)(DeviceStream &stream));

} // namespace pdlrt::nccl

#endif // LIB_RUNTIME_DEVICE_NCCL_H
