//===- EnvelopeTest.cpp - Heads of messages, deduplication ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Protocol/ReplayGuard.h"
#include "pdlrt/Transport/FailureCode.h"
#include "pdlrt/Transport/Frame.h"

#include <gtest/gtest.h>
#include <random>

using namespace pdlrt;

namespace {

using Verdict = ReplayGuard::Verdict;

Envelope request(uint64_t incarnation, uint64_t sequence) {
  return {MessageKind::Exchange, 3, 0, incarnation, sequence, 1};
}

TEST(EnvelopeTest, GoesThereAndBack) {
  const Envelope sent = {MessageKind::Leave, 1, 2, 3, ~uint64_t(0), 5};
  std::string bytes;
  encodeEnvelope(sent, bytes);
  ASSERT_EQ(bytes.size(), envelopeSize);
  EXPECT_EQ(bytes.substr(0, 4), "PDLM");
  bytes += "payload";
  std::string_view rest = bytes;
  const auto read = decodeEnvelope(rest);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, sent);
  EXPECT_EQ(rest, "payload");
}

TEST(EnvelopeTest, RefusalsBringTheirCode) {
  Envelope head;
  head.kind = MessageKind::Refusal;
  const Message text = Message::ofString("the disk is full");
  for (int code = PDL_OK + 1; code <= PDL_CANCELLED; ++code) {
    const auto frame =
        splitFrame(joinFrame(head, text, encodeFailureCode(pdl_status(code))));
    ASSERT_TRUE(frame.ok());
    EXPECT_EQ(failureOf(*frame, "server 1: ").code(), pdl_status(code));
    EXPECT_EQ(failureOf(*frame, "server 1: ").message(),
              "server 1: the disk is full");
  }
  // Refusals of an older and of a newer server are handled like any other
  // failure.
  const auto old = splitFrame(joinFrame(head, text));
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(failureOf(*old).code(), codeOfUnknownFailure);
  for (const std::string note :
       {"failure code 12", "failure code 0", "failure code", "failure code x",
        "another note", "failure code 4294967300"})
    EXPECT_EQ(decodeFailureCode(Message::ofString(note)), codeOfUnknownFailure)
        << note;
}

TEST(EnvelopeTest, ForeignBytesAreErrors) {
  std::string good;
  encodeEnvelope(request(1, 1), good);
  for (size_t size = 0; size < good.size(); ++size) {
    std::string_view bytes(good.data(), size);
    EXPECT_FALSE(decodeEnvelope(bytes).ok());
    EXPECT_EQ(bytes.size(), size);
  }
  // Mark, version and kind: each of their bytes matters.
  for (size_t i = 0; i < 8; ++i) {
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    std::string_view bytes = changed;
    EXPECT_FALSE(decodeEnvelope(bytes).ok()) << i;
  }
  std::mt19937 random(1);
  for (int round = 0; round < 10000; ++round) {
    std::string noise(random() % 64, '\0');
    for (char &byte : noise)
      byte = static_cast<char>(random());
    std::string_view bytes = noise;
    EXPECT_FALSE(decodeEnvelope(bytes).ok());
  }
}

TEST(FrameTest, ANoteGoesBeforeThePayload) {
  for (const size_t noteSize : {0, 1, 7, 8, 100}) {
    const std::string note(noteSize, 'n');
    // In small slices, whose boundaries have no meaning.
    Message whole;
    const std::string bytes =
        joinFrame(request(1, 2), Message::ofString("payload"),
                  Message::ofString(note))
            .toString();
    for (const char byte : bytes)
      whole.append(Message::ofString(std::string(1, byte)).slices().front());
    const auto frame = splitFrame(whole);
    ASSERT_TRUE(frame.ok()) << frame.status().message();
    EXPECT_EQ(frame->head, request(1, 2));
    EXPECT_EQ(frame->note.toString(), note);
    EXPECT_EQ(frame->payload.toString(), "payload");
    EXPECT_EQ((bytes.size() - 7) % 8, 0u);
    // A truncation before the payload cuts a note or the head.
    for (size_t size = 0; noteSize > 0 && size < bytes.size() - 7; ++size)
      EXPECT_FALSE(splitFrame(Message::ofString(bytes.substr(0, size))).ok());
  }
}

TEST(FrameTest, ATableOfPartsFollowsTheNote) {
  const std::vector<PartPlace> places = {{0, 1, 0, 3}, {4, 0, 8, 16}};
  for (const std::string &note : {std::string(), std::string("note")}) {
    const std::string bytes =
        joinFrame(request(1, 2), Message::ofString("payload"),
                  Message::ofString(note), places)
            .toString();
    const auto frame = splitFrame(Message::ofString(bytes));
    ASSERT_TRUE(frame.ok()) << frame.status().message();
    EXPECT_EQ(frame->head, request(1, 2));
    EXPECT_EQ(frame->note.toString(), note);
    EXPECT_EQ(frame->parts, places);
    EXPECT_EQ(frame->payload.toString(), "payload");
    EXPECT_EQ(*readHead(Message::ofString(bytes)), request(1, 2));
    // If bytes before the end of the last place are missing, the table names
    // one too many.
    for (size_t size = 0; size < bytes.size() - 3; ++size)
      EXPECT_FALSE(splitFrame(Message::ofString(bytes.substr(0, size))).ok());
  }
}

TEST(FrameTest, ABadTableOfPartsIsRefused) {
  const auto isGood = [](const std::vector<PartPlace> &places) {
    return splitFrame(joinFrame(request(1, 2), Message::ofString("12345678"),
                                {}, places))
        .ok();
  };
  EXPECT_TRUE(isGood({{8, 0, 0, 1}}));
  EXPECT_FALSE(isGood({{9, 0, 0, 1}}));
  EXPECT_FALSE(isGood({{8, 0, 0, 0}}));
  EXPECT_TRUE(isGood(std::vector<PartPlace>(maxPlaces, {8, 0, 0, 1})));
  EXPECT_FALSE(isGood(std::vector<PartPlace>(maxPlaces + 1, {8, 0, 0, 1})));
  EXPECT_TRUE(isGood({{3, 0, 0, 1}, {3, 1, 0, 1}}));
  EXPECT_FALSE(isGood({{3, 0, 0, 1}, {2, 1, 0, 1}}));
  // A table that is empty, or has more places than there are bytes.
  std::string bytes = joinFrame(request(1, 2), Message::ofString("12345678"),
                                {}, {{0, 0, 0, 1}})
                          .toString();
  for (const char count : {0, 3, -1}) {
    bytes[envelopeSize] = count;
    EXPECT_FALSE(splitFrame(Message::ofString(bytes)).ok());
  }
}

TEST(FrameTest, ListsOfNotesGoThereAndBack) {
  const Message list = encodeNotes(
      {{7, Message::ofString("seven")}, {9, Message::ofString("nine")}});
  const auto notes = decodeNotes(list);
  ASSERT_TRUE(notes.ok());
  ASSERT_EQ(notes->size(), 2u);
  EXPECT_EQ((*notes)[1].sequence, 9u);
  EXPECT_EQ((*notes)[1].note.toString(), "nine");
  EXPECT_TRUE(decodeNotes({})->empty());
  const std::string bytes = list.toString();
  // A truncation between two notes gives a shorter list.
  for (size_t size = 1; size < bytes.size(); ++size)
    EXPECT_EQ(decodeNotes(Message::ofString(bytes.substr(0, size))).ok(),
              size == 21);
}

TEST(ReplayGuardTest, NotesAreKeptAsLongAsResponses) {
  ReplayGuard guard(2);
  ASSERT_TRUE(guard.join(request(1, 0)).ok());
  EXPECT_TRUE(guard.notesOf(request(1, 0)).empty());
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) {
    ASSERT_EQ(
        guard.admit(request(1, sequence),
                    Message::ofString("note " + std::to_string(sequence))),
        Verdict::Fresh);
    guard.answered(request(1, sequence), {});
  }
  ASSERT_EQ(guard.admit(request(1, 4)), Verdict::Fresh);
  const auto notes = guard.notesOf(request(1, 0));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].sequence, 3u);
  EXPECT_EQ(notes[0].note.toString(), "note 3");
}

TEST(ReplayGuardTest, EachSequenceIsFreshOnce) {
  ReplayGuard guard;
  EXPECT_EQ(guard.admit(request(1, 1)), Verdict::Unknown);
  ASSERT_EQ(*guard.join(request(1, 0)), 1u);
  EXPECT_EQ(guard.admit(request(1, 0)), Verdict::Gap);
  EXPECT_EQ(guard.admit(request(1, 2)), Verdict::Gap);
  EXPECT_EQ(guard.admit(request(1, 1)), Verdict::Fresh);
  EXPECT_EQ(guard.admit(request(1, 1)), Verdict::Pending);
  EXPECT_EQ(guard.admit(request(1, 2)), Verdict::Gap);
  guard.answered(request(1, 1), Message::ofString("one"));
  EXPECT_EQ(guard.admit(request(1, 1)), Verdict::Repeat);
  EXPECT_EQ(guard.responseTo(request(1, 1)).payload.toString(), "one");
  EXPECT_EQ(guard.admit(request(1, 2)), Verdict::Fresh);
  EXPECT_EQ(guard.admit(request(1, 1)), Verdict::Stale);
}

TEST(ReplayGuardTest, AsManyResponsesAreKeptAsRequested) {
  ReplayGuard guard(2);
  ASSERT_TRUE(guard.join(request(1, 0)).ok());
  const auto responseOf = [&](uint64_t sequence) {
    return guard.responseTo(request(1, sequence)).payload.toString();
  };
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) {
    ASSERT_EQ(guard.admit(request(1, sequence)), Verdict::Fresh);
    guard.answered(request(1, sequence),
                   Message::ofString(std::to_string(sequence)));
  }
  EXPECT_EQ(guard.admit(request(1, 1)), Verdict::Stale);
  ASSERT_EQ(guard.admit(request(1, 2)), Verdict::Repeat);
  EXPECT_EQ(responseOf(2), "2");
  ASSERT_EQ(guard.admit(request(1, 3)), Verdict::Repeat);
  EXPECT_EQ(responseOf(3), "3");
  // While the next request is open, the previous response is still stored.
  ASSERT_EQ(guard.admit(request(1, 4)), Verdict::Fresh);
  EXPECT_EQ(guard.admit(request(1, 2)), Verdict::Stale);
  ASSERT_EQ(guard.admit(request(1, 3)), Verdict::Repeat);
  EXPECT_EQ(responseOf(3), "3");
  EXPECT_EQ(guard.admit(request(1, 4)), Verdict::Pending);
  // A second response to the same request is not stored.
  guard.answered(request(1, 4), Message::ofString("4"), MessageKind::Refusal);
  guard.answered(request(1, 4), Message::ofString("other"));
  EXPECT_EQ(responseOf(4), "4");
  EXPECT_EQ(guard.responseTo(request(1, 4)).kind, MessageKind::Refusal);
}

TEST(ReplayGuardTest, ALaterStartFencesEarlierOnes) {
  ReplayGuard guard;
  ASSERT_TRUE(guard.join(request(1, 0)).ok());
  EXPECT_EQ(guard.admit(request(1, 1)), Verdict::Fresh);
  guard.answered(request(1, 1), Message::ofString("one"));
  EXPECT_EQ(guard.admit(request(2, 2)), Verdict::Unknown);
  EXPECT_EQ(*guard.join(request(2, 0)), 2u);
  EXPECT_EQ(guard.admit(request(1, 2)), Verdict::Fenced);
  EXPECT_EQ(guard.admit(request(2, 1)), Verdict::Repeat);
  EXPECT_EQ(guard.admit(request(2, 2)), Verdict::Fresh);
  const auto late = guard.join(request(1, 0));
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.status().message().find("trainer 3"), std::string::npos);
}

TEST(ReplayGuardTest, WorkersAreApart) {
  ReplayGuard guard;
  Envelope other = request(1, 1);
  other.worker = 1;
  ASSERT_TRUE(guard.join(request(1, 0)).ok());
  EXPECT_EQ(guard.admit(other), Verdict::Unknown);
  ASSERT_TRUE(guard.join(other).ok());
  EXPECT_EQ(guard.admit(request(1, 1)), Verdict::Fresh);
  EXPECT_EQ(guard.admit(other), Verdict::Fresh);
}

} // namespace
