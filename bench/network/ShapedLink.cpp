//===- ShapedLink.cpp - A link with a given rate and delay ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapedLink.h"

#include <algorithm>
#include <utility>

using namespace pdlbench;

static constexpr int64_t second = 1'000'000'000;

size_t ShapedLink::waiting(Time now) const {
  if (bitsPerSecond == 0 || free <= now)
    return 0;
  return size_t(double(free - now) / double(second) * double(bitsPerSecond) /
                8.0);
}

bool ShapedLink::hasRoom(size_t bytes, Time now) const {
  return waiting(now) + bytes <= room;
}

bool ShapedLink::send(Packet packet, Time now) {
  const size_t size = packet.bytes.size();
  if (!hasRoom(size, now)) {
    ++dropped;
    return false;
  }
  taken += size;
  // Uses the time at which the packet arrived from the previous link, not the
  // time at which this process woke up. So late wake-ups do not reduce the
  // rate.
  free = std::max(free, packet.arrives);
  if (bitsPerSecond != 0)
    free += Time(double(size) * 8.0 / double(bitsPerSecond) * double(second));
  packet.arrives = free + delay;
  packets.push_back(std::move(packet));
  return true;
}

std::optional<Packet> ShapedLink::receive(Time now) {
  if (packets.empty() || packets.front().arrives > now)
    return std::nullopt;
  Packet packet = std::move(packets.front());
  packets.pop_front();
  return packet;
}

std::optional<Time> ShapedLink::nextArrival() const {
  if (packets.empty())
    return std::nullopt;
  return packets.front().arrives;
}
