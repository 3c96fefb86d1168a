//===- ShapedLink.h - A link of a given rate and delay ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_BENCH_NETWORK_SHAPEDLINK_H
#define PDL_BENCH_NETWORK_SHAPEDLINK_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace pdlbench {

/// Nanoseconds of a clock that never goes back.
using Time = int64_t;

/// A packet on its way.
struct Packet {
  std::vector<char> bytes;
  /// When it is at the end of the link that it is on.
  Time arrives = 0;
};

/// One direction of a cable: packets leave one after the other, as fast as the
/// rate lets them, and arrive a delay later. What waits for its turn is at most
/// `room` bytes: what does not fit is dropped, as switches do. Not for several
/// threads.
class ShapedLink {
public:
  /// `bitsPerSecond`: 0 is without limit. `delay`: nanoseconds. `room`: bytes.
  ShapedLink(int64_t bitsPerSecond, Time delay, size_t room)
      : bitsPerSecond(bitsPerSecond), delay(delay), room(room) {}

  /// Takes a packet at `now`; false if there was no room and it is lost.
  bool send(Packet packet, Time now);

  /// Whether a packet of that many bytes would find room.
  bool hasRoom(size_t bytes, Time now) const;

  /// The next packet that has arrived at `now`, if there is one.
  std::optional<Packet> receive(Time now);

  /// When the next packet arrives; none if none is on its way.
  std::optional<Time> nextArrival() const;

  /// Bytes that were taken and packets that were dropped since the start.
  uint64_t bytesTaken() const { return taken; }
  uint64_t packetsDropped() const { return dropped; }

private:
  /// Bytes that have not left yet.
  size_t waiting(Time now) const;

  const int64_t bitsPerSecond;
  const Time delay;
  const size_t room;
  /// When the last bit of what was taken has left.
  Time free = 0;
  std::deque<Packet> packets;
  uint64_t taken = 0, dropped = 0;
};

} // namespace pdlbench

#endif
