//===- StartSign.cpp - Identity of a trainer's incarnation ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/StartSign.h"
#include "pdlrt/Core/RandomNumber.h"

#include <cstring>
#include <string>

using namespace pdlrt;

namespace {
/// Encoded form, little-endian.
struct StartSignHead {
  uint64_t id;
  uint32_t claim;
  uint32_t process;
  uint64_t host;
  uint64_t started;
};
} // namespace
static_assert(sizeof(StartSignHead) == 32, "it has no padding");

StartSign StartSign::ofThisProcess() {
  return {drawNumber(), Claim::Judged, ProcessIdentity::ofThisProcess()};
}

Message pdlrt::encodeStartSign(const StartSign &sign) {
  const StartSignHead fixed = {sign.id, static_cast<uint32_t>(sign.claim),
                               sign.process.number, sign.process.host,
                               sign.process.started};
  std::string bytes(sizeof(fixed), 0);
  std::memcpy(bytes.data(), &fixed, sizeof(fixed));
  return Message::ofString(std::move(bytes));
}

Expected<StartSign> pdlrt::decodeStartSign(const Message &message) {
  if (message.size() == 0)
    return StartSign();
  StartSignHead fixed = {};
  if (message.size() != sizeof(fixed))
    return Status::dataLoss("what a trainer says of its start is damaged: it "
                            "has " +
                            std::to_string(message.size()) + " bytes");
  const std::string bytes = message.toString();
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  if (fixed.claim > static_cast<uint32_t>(StartSign::Claim::OnlyIfFirst))
    return Status::dataLoss("what a trainer says of its start is damaged: it "
                            "makes an unknown claim");
  StartSign sign;
  sign.id = fixed.id;
  sign.claim = static_cast<StartSign::Claim>(fixed.claim);
  sign.process = {fixed.host, fixed.started, fixed.process};
  return sign;
}
