//===- JoinResponse.h - Note in the response to a greet or join -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_JOINRESPONSE_H
#define PDLRT_PROTOCOL_JOINRESPONSE_H

#include "pdlrt/Core/ProcessIdentity.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Frame.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Note of the response to a Greet or a Join.
struct JoinResponse {
  /// Process of the server. A trainer on the same host uses it to notice the
  /// death of the server.
  ProcessIdentity process;
  /// Random number that the server drew when it started. All incarnations of
  /// the trainers of a job see the same number at its first server; another job
  /// has another number.
  uint64_t job = 0;
  /// Greet only: the trainer's previous incarnation has left without an error.
  bool previousIncarnationIsDone = false;
  /// Join only: notes (recovery records) of the previous incarnation, oldest
  /// first.
  std::vector<NumberedNote> notes;
};

Message encodeJoinResponse(const JoinResponse &response);
/// Decodes a note. Accepts any bytes; returns an error if they are not a note.
/// Empty bytes are a valid note with default values.
Expected<JoinResponse> decodeJoinResponse(const Message &note);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_JOINRESPONSE_H
