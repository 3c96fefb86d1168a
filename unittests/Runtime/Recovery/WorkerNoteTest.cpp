//===- WorkerNoteTest.cpp - Notes on requests of workers ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery/WorkerNote.h"

#include <gtest/gtest.h>
#include <string>

using namespace pdlrt;

// A trainer of another version reads these bytes.
TEST(WorkerNote, HasTheSumsBeforeTheRecord) {
  const Message bytes = encodeWorkerNote({0x0102, Message::ofString("record")});
  EXPECT_EQ(bytes.toString(), std::string("\x02\x01\0\0\0\0\0\0record", 14));
  const std::optional<WorkerNote> note = decodeWorkerNote(bytes);
  ASSERT_TRUE(note);
  EXPECT_EQ(note->sums, 0x0102U);
  EXPECT_EQ(note->record.toString(), "record");
}

TEST(WorkerNote, ShortBytesAreNone) {
  EXPECT_FALSE(decodeWorkerNote(Message()));
  EXPECT_FALSE(decodeWorkerNote(Message::ofString("7 bytes")));
  const std::optional<WorkerNote> note =
      decodeWorkerNote(Message::ofString("8 bytes."));
  ASSERT_TRUE(note);
  EXPECT_EQ(note->record.size(), 0U);
}
