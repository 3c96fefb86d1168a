//===- StartSign.cpp - Which start of a trainer joins ---------------------===//
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
/// The bytes, little-endian.
struct Fixed {
  uint64_t id;
  uint32_t claim;
  uint32_t process;
  uint64_t host;
  uint64_t started;
};
} // namespace
static_assert(sizeof(Fixed) == 32, "it has no padding");

StartSign StartSign::ofThisProcess() {
  return {drawNumber(), Claim::Judged, ProcessIdentity::ofThisProcess()};
}

Message pdlrt::encodeStartSign(const StartSign &sign) {
  const Fixed fixed = {sign.id, static_cast<uint32_t>(sign.claim),
                       sign.process.number, sign.process.host,
                       sign.process.started};
  std::string bytes(sizeof(fixed), 0);
  std::memcpy(bytes.data(), &fixed, sizeof(fixed));
  return Message::ofString(std::move(bytes));
}

Expected<StartSign> pdlrt::decodeStartSign(const Message &message) {
  if (message.size() == 0)
    return StartSign();
  Fixed fixed = {};
  if (message.size() != sizeof(fixed))
    return Status::invalid("what a trainer says of its start is damaged: it "
                           "has " +
                           std::to_string(message.size()) + " bytes");
  const std::string bytes = message.toString();
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  if (fixed.claim > static_cast<uint32_t>(StartSign::Claim::OnlyIfFirst))
    return Status::invalid("what a trainer says of its start is damaged: it "
                           "makes an unknown claim");
  StartSign sign;
  sign.id = fixed.id;
  sign.claim = static_cast<StartSign::Claim>(fixed.claim);
  sign.process = {fixed.host, fixed.started, fixed.process};
  return sign;
}
