//===- ShapedLink.h - A link with a given rate and delay --------*- C++ -*-===//
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

/// Nanoseconds of a monotonic clock.
using Time = int64_t;

/// A packet in transit.
struct Packet {
  std::vector<char> bytes;
  /// Time at which it reaches the end of its current link.
  Time arrives = 0;
};

/// One direction of a cable. Packets leave one after the other at the given
/// rate, and arrive after the delay. The queue has at most `room` bytes;
/// packets that do not fit are dropped, as by switches. Not thread-safe.
class ShapedLink {
public:
  /// `bitsPerSecond`: 0 means no limit. `delay` in nanoseconds, `room` in
  /// bytes.
  ShapedLink(int64_t bitsPerSecond, Time delay, size_t room)
      : bitsPerSecond(bitsPerSecond), delay(delay), room(room) {}

  /// Sends a packet at time `now`. Returns false if the queue is full and the
  /// packet is lost.
  bool send(Packet packet, Time now);

  /// Returns true if a packet of that size would fit into the queue.
  bool hasRoom(size_t bytes, Time now) const;

  /// Returns the next packet that has arrived at time `now`, if there is one.
  std::optional<Packet> receive(Time now);

  /// Returns the arrival time of the next packet; none if there is no packet.
  std::optional<Time> nextArrival() const;

  /// Return the bytes that were sent, and the packets that were dropped, since
  /// the start.
  uint64_t bytesTaken() const { return taken; }
  uint64_t packetsDropped() const { return dropped; }

private:
  /// Returns the number of bytes that have not left yet.
  size_t waiting(Time now) const;

  const int64_t bitsPerSecond;
  const Time delay;
  const size_t room;
  /// Time at which the last bit of all accepted packets has left.
  Time free = 0;
  std::deque<Packet> packets;
  uint64_t taken = 0, dropped = 0;
};

} // namespace pdlbench

#endif
