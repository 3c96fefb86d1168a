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

/// Content of the note in the response to a Greet or a Join message.
struct JoinResponse {
  /// Identity of the server's process. A trainer on the same host uses it to
  /// notice the end of the server.
  ProcessIdentity process;
  /// Random number that the server has chosen at its start. The number of the
  /// job's first server identifies the job: all incarnations of the job's
  /// trainers get the same number, and another job has another number.
  uint64_t job = 0;
  /// Response to a Greet: true if the trainer's previous incarnation has left
  /// without an error.
  bool previousIncarnationIsDone = false;
  /// Response to a Join: the notes (recovery records) of the trainer's previous
  /// incarnation, oldest first.
  std::vector<NumberedNote> notes;
};

Message encodeJoinResponse(const JoinResponse &response);
/// Decodes a note. Accepts any bytes; returns an error if they are not a note.
/// Empty bytes are a valid note with default values.
Expected<JoinResponse> decodeJoinResponse(const Message &note);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_JOINRESPONSE_H
