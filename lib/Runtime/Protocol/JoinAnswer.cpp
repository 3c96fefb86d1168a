//===- JoinAnswer.cpp - What a server says with its first answers ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/JoinAnswer.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

using namespace pdlrt;

namespace {
/// What comes before the notes, little-endian.
struct Fixed {
  uint32_t earlierStartIsDone;
  uint32_t process;
  uint64_t host;
  uint64_t started;
  uint64_t job;
};
} // namespace
static_assert(sizeof(Fixed) == 32, "it has no padding");

Message pdlrt::encodeJoinAnswer(const JoinAnswer &answer) {
  const Fixed fixed = {answer.earlierStartIsDone ? 1u : 0u,
                       answer.process.number, answer.process.host,
                       answer.process.started, answer.job};
  std::string bytes(sizeof(fixed), 0);
  std::memcpy(bytes.data(), &fixed, sizeof(fixed));
  Message message = Message::ofString(std::move(bytes));
  const Message notes = encodeNotes(answer.notes);
  for (const MessageSlice &slice : notes.slices())
    message.append(slice);
  return message;
}

Expected<JoinAnswer> pdlrt::decodeJoinAnswer(const Message &note) {
  JoinAnswer answer;
  if (note.size() == 0)
    return answer;
  const Status damaged =
      Status::invalid("what the server says of itself is damaged");
  Fixed fixed = {};
  if (note.size() < sizeof(fixed))
    return damaged;
  Message rest = note;
  const std::string bytes = takeFront(rest, sizeof(fixed)).toString();
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  if (fixed.earlierStartIsDone > 1)
    return damaged;
  answer.earlierStartIsDone = fixed.earlierStartIsDone == 1;
  answer.job = fixed.job;
  answer.process = {fixed.host, fixed.started, fixed.process};
  auto notes = decodeNotes(rest);
  if (!notes)
    return std::move(notes).status();
  answer.notes = std::move(*notes);
  return answer;
}
