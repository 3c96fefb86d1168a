//===- JoinAnswer.h - What a server says with its first answers -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_JOINANSWER_H
#define PDLRT_PROTOCOL_JOINANSWER_H

#include "pdlrt/Core/ProcessIdentity.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Frame.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// The note of the answer to a Greet and to a Join.
struct JoinAnswer {
  /// The server, for trainers on its host: they know from its first answer on
  /// when it dies.
  ProcessIdentity process;
  /// Drawn by the server when it began: all starts of the trainers of a job see
  /// the same number at its first server, those of another job another one.
  uint64_t job = 0;
  /// To a Greet: an earlier start of the trainer has left in order.
  bool earlierStartIsDone = false;
  /// To a Join: what an earlier start has left, the oldest first.
  std::vector<NumberedNote> notes;
};

Message encodeJoinAnswer(const JoinAnswer &answer);
/// An error where the bytes are none; any bytes are safe. Empty bytes are an
/// answer that says nothing.
Expected<JoinAnswer> decodeJoinAnswer(const Message &note);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_JOINANSWER_H
