//===- WorkerNote.cpp - Note on a request of a worker ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery/WorkerNote.h"

#include <cstring>
#include <string>
#include <utility>

using namespace pdlrt;

Message pdlrt::encodeWorkerNote(const WorkerNote &note) {
  std::string bytes(reinterpret_cast<const char *>(&note.sums),
                    sizeof(note.sums));
  bytes += note.record.toString();
  return Message::ofString(std::move(bytes));
}

std::optional<WorkerNote> pdlrt::decodeWorkerNote(const Message &message) {
  const std::string bytes = message.toString();
  WorkerNote note;
  if (bytes.size() < sizeof(note.sums))
    return std::nullopt;
  std::memcpy(&note.sums, bytes.data(), sizeof(note.sums));
  note.record = Message::ofString(bytes.substr(sizeof(note.sums)));
  return note;
}
