//===- FrameFuzzer.cpp - Fuzzes message heads, notes and their handling ---===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "Transport/Seal.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Protocol/JoinResponse.h"
#include "pdlrt/Protocol/PartBox.h"
#include "pdlrt/Protocol/ReplayGuard.h"
#include "pdlrt/Transport/Frame.h"

using namespace pdlrt;

std::vector<std::string> fuzzSeeds() {
  const Envelope request = {MessageKind::Exchange, 1, 0, 1, 1, 0};
  const Message note = Message::ofString("a note");
  const Message notes = encodeNotes({{1, note}, {2, note}});
  const Message response =
      encodeJoinResponse({{1, 2, 3}, 4, true, {{1, note}}});
  return {joinFrame(request, {}).toString(),
          joinFrame({MessageKind::Join, 1, 0, 1, 0, 0}, Message::ofString("{}"))
              .toString(),
          joinFrame(request, Message::ofString("payload"), note).toString(),
          joinFrame(request, Message::ofString("payload"), note,
                    {{0, 0, 0, 4}, {7, 1, 2, 2}, {7, 1, 0, 2}})
              .toString(),
          joinFrame({MessageKind::Response, 1, 0, 1, 3, 0}, {}, response)
              .toString(),
          response.toString(),
          notes.toString(),
          makeSealMessage({SealKind::Hello, 1}, std::string(nonceSize, 'n'))
              .toString(),
          makeSealMessage({SealKind::Proof, 2},
                          std::string(2 * nonceSize + proofSize, 'p'))
              .toString(),
          SealKey(1, PeerRole::Member, {1, 2})
              .seal(SealKind::Request, 1, joinFrame(request, {}))
              .toString()};
}

/// Fuzzes requests in parts. The combined request must contain each byte once.
static void fuzzParts(Frame frame) {
  PartBox box(64);
  (void)box.add(frame.head, frame.payload);
  size_t size = frame.payload.size();
  for (const auto &[number, bytes] :
       {std::pair<uint64_t, size_t>(0, 4), {1, 4}, {2, 60}})
    if (box.add(frame.head,
                encodePart(number, Message::ofString(std::string(bytes, 'p'))))
            .ok())
      size += bytes;
  const Expected<bool> done = box.putTogether(frame);
  if (done && *done && frame.payload.size() != frame.payload.toString().size())
    __builtin_trap();
  if (done && *done && frame.payload.size() > size + 64)
    __builtin_trap();
}

/// Fuzzes seals. The fuzzer does not know the secret, so no message may reach
/// the handler.
static void fuzzSeals(const std::string &bytes) {
  static ManualClock clock;
  static const RequestHandler handler = requireSeals(
      {PeerRole::Member, "open sesame", "for readers"}, clock,
      [](const Message &, const Responder &) { __builtin_trap(); });
  const Message message = inSlices(bytes);
  if (!handler.screen(message, message.size()))
    handler(message, Responder());
}

void fuzzOne(const std::string &bytes) {
  const Message message = inSlices(bytes);
  fuzzSeals(bytes);
  (void)decodeNotes(message);
  (void)decodeJoinResponse(message);
  Expected<Frame> frame = splitFrame(message);
  if (!frame)
    return;
  (void)decodeNotes(frame->note);
  (void)decodeJoinResponse(frame->note);
  // Joining a frame and splitting it again must not change it.
  Expected<Frame> again = splitFrame(
      joinFrame(frame->head, frame->payload, frame->note, frame->parts));
  if (!again || again->head != frame->head ||
      again->payload.toString() != frame->payload.toString() ||
      again->note.toString() != frame->note.toString() ||
      again->parts != frame->parts)
    __builtin_trap();
  fuzzParts(*frame);
  ReplayGuard guard(2);
  (void)guard.join(frame->head);
  if (guard.admit(frame->head, frame->note) == ReplayGuard::Verdict::Fresh)
    guard.answered(frame->head, frame->payload);
  (void)guard.notesOf(frame->head);
}
