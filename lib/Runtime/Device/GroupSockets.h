//===- GroupSockets.h - Groups of processes on one host ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Used for groups of fake devices, whose processes are all on one host.
// Performance does not matter.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DEVICE_GROUPSOCKETS_H
#define LIB_RUNTIME_DEVICE_GROUPSOCKETS_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Device/DeviceGroup.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace pdlrt {

/// Connects the processes of a group. The process with device 0 receives the
/// data of all other processes and sends them the result. Not thread-safe,
/// except for `abort`.
class GroupSockets {
public:
  /// Returns a unique name.
  static DeviceGroupName makeName();
  /// Joins a group. `here`: number of devices of this process. Blocks until all
  /// processes have joined.
  static Expected<std::unique_ptr<GroupSockets>>
  join(const DeviceGroupPlace &place, size_t here);
  ~GroupSockets();
  GroupSockets(const GroupSockets &) = delete;
  GroupSockets &operator=(const GroupSockets &) = delete;

  /// Collects `bytes` bytes of each device of the group in `all`, in the order
  /// of devices. `own`: those of this process's devices.
  Status gather(const char *own, size_t bytes, char *all);
  /// Ends waiting calls with errors.
  void abort();

  /// Number of devices in the group.
  const size_t count;

private:
  /// Another process, its devices, and the socket that connects to it.
  struct Peer {
    int socket;
    size_t first, devices;
  };

  GroupSockets(const DeviceGroupPlace &place, size_t here)
      : count(place.count), first(place.first), here(here) {}
  Status accept(const DeviceGroupPlace &place);
  Status connect(const DeviceGroupPlace &place);
  Status send(const Peer &peer, const void *bytes, size_t size);
  Status receive(const Peer &peer, void *bytes, size_t size);

  const size_t first, here;
  /// The other processes, in the order of their devices. The process with
  /// device 0 has all of them; each of the others has only that process.
  std::vector<Peer> peers;
  std::atomic<bool> isEnded = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_GROUPSOCKETS_H
