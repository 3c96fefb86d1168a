//===- Heartbeat.cpp - Heartbeat of trainers and servers ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/Heartbeat.h"

#include <cstring>
#include <utility>

using namespace pdlrt;

/// Maximum size of the text in bytes.
static constexpr size_t longestMessage = 1 << 16;

namespace {
/// Fixed-size part before the text, little-endian.
struct HeartbeatHead {
  uint32_t stop;
  uint32_t process;
  uint64_t host;
  uint64_t started;
};
} // namespace
static_assert(sizeof(HeartbeatHead) == 24, "it has no padding");

std::string pdlrt::cutToFit(const std::string &message) {
  if (message.size() <= longestMessage)
    return message;
  const std::string dots = "...";
  size_t end = longestMessage - dots.size();
  const auto isWithinCharacter = [&](size_t at) {
    return (static_cast<unsigned char>(message[at]) & 0xC0) == 0x80;
  };
  while (end > 0 && isWithinCharacter(end))
    --end;
  return message.substr(0, end) + dots;
}

Message pdlrt::encodeHeartbeat(const Heartbeat &sign) {
  const HeartbeatHead fixed = {sign.stop ? 1u : 0u, sign.process.number,
                               sign.process.host, sign.process.started};
  std::string bytes(sizeof(fixed), 0);
  std::memcpy(bytes.data(), &fixed, sizeof(fixed));
  bytes += cutToFit(sign.message);
  return Message::ofString(std::move(bytes));
}

Expected<Heartbeat> pdlrt::decodeHeartbeat(const Message &message) {
  HeartbeatHead fixed = {};
  if (message.size() < sizeof(fixed) ||
      message.size() > sizeof(fixed) + longestMessage)
    return Status::dataLoss("a heartbeat of " + std::to_string(message.size()) +
                            " bytes is damaged");
  const std::string bytes = message.toString();
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  if (fixed.stop > 1)
    return Status::dataLoss("a heartbeat is damaged: whether to stop is "
                            "neither 0 nor 1");
  Heartbeat sign;
  sign.stop = fixed.stop == 1;
  sign.message = bytes.substr(sizeof(fixed));
  sign.process = {fixed.host, fixed.started, fixed.process};
  return sign;
}
