//===- WorkerNote.h - Note on a request of a worker -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_RECOVERY_WORKERNOTE_H
#define LIB_RUNTIME_RECOVERY_WORKERNOTE_H

#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <optional>

namespace pdlrt {

/// Note that servers store with a request of a worker, in modes in which
/// workers send requests.
struct WorkerNote {
  /// Number of sums that the process had requested before this request.
  uint64_t sums = 0;
  /// Recovery record of the worker.
  Message record;
};

Message encodeWorkerNote(const WorkerNote &note);
/// Decodes a note. Returns nothing if there are too few bytes; they may be
/// arbitrary.
std::optional<WorkerNote> decodeWorkerNote(const Message &message);

} // namespace pdlrt

#endif // LIB_RUNTIME_RECOVERY_WORKERNOTE_H
