//===- GroupSockets.h - Processes whose devices exchange by the host -* C++
//*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For devices that are none: all processes are on one host, and speed is
// nobody's wish.
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

/// The processes of a group: that of device 0 hears all others and answers. One
/// thread at a time, but for `abort`.
class GroupSockets {
public:
  /// A name that nobody else has.
  static DeviceGroupName makeName();
  /// With `here` devices of this process. Blocks until all are there.
  static Expected<std::unique_ptr<GroupSockets>>
  join(const DeviceGroupPlace &place, size_t here);
  ~GroupSockets();
  GroupSockets(const GroupSockets &) = delete;
  GroupSockets &operator=(const GroupSockets &) = delete;

  /// all = `bytes` bytes of each device of the group; `own`: of those here.
  Status gather(const char *own, size_t bytes, char *all);
  /// Ends calls that wait, with errors.
  void abort();

  /// Devices of the group.
  const size_t count;

private:
  /// Another process, its devices, and the socket to it.
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
  /// By the numbers of their devices; all others of device 0, or that one.
  std::vector<Peer> peers;
  std::atomic<bool> isEnded = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_GROUPSOCKETS_H
