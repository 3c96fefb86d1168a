//===- JoinResponse.cpp - Note in the response to a greet or join ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/JoinResponse.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

using namespace pdlrt;

namespace {
/// Fixed-size part before the notes, little-endian.
struct JoinResponseHead {
  uint32_t previousIncarnationIsDone;
  uint32_t process;
  uint64_t host;
  uint64_t started;
  uint64_t job;
};
} // namespace
static_assert(sizeof(JoinResponseHead) == 32, "it has no padding");

Message pdlrt::encodeJoinResponse(const JoinResponse &response) {
  const JoinResponseHead fixed = {
      response.previousIncarnationIsDone ? 1u : 0u, response.process.number,
      response.process.host, response.process.started, response.job};
  std::string bytes(sizeof(fixed), 0);
  std::memcpy(bytes.data(), &fixed, sizeof(fixed));
  Message message = Message::ofString(std::move(bytes));
  const Message notes = encodeNotes(response.notes);
  for (const MessageSlice &slice : notes.slices())
    message.append(slice);
  return message;
}

Expected<JoinResponse> pdlrt::decodeJoinResponse(const Message &note) {
  JoinResponse response;
  if (note.size() == 0)
    return response;
  const Status damaged =
      Status::dataLoss("what the server says of itself is damaged");
  JoinResponseHead fixed = {};
  if (note.size() < sizeof(fixed))
    return damaged;
  Message rest = note;
  const std::string bytes = takeFront(rest, sizeof(fixed)).toString();
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  if (fixed.previousIncarnationIsDone > 1)
    return damaged;
  response.previousIncarnationIsDone = fixed.previousIncarnationIsDone == 1;
  response.job = fixed.job;
  response.process = {fixed.host, fixed.started, fixed.process};
  auto notes = decodeNotes(rest);
  if (!notes)
    return std::move(notes).status();
  response.notes = std::move(*notes);
  return response;
}
