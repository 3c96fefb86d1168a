//===- Heartbeat.h - Heartbeat of trainers and servers ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_HEARTBEAT_H
#define PDLRT_PROTOCOL_HEARTBEAT_H

#include "pdlrt/Core/ProcessIdentity.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Message.h"

#include <string>

namespace pdlrt {

/// Advice for the user when a process is lost and the job does not wait for its
/// restart.
inline constexpr const char *startAllAgain =
    "Start all trainers and servers again, with --resume where there is a "
    "checkpoint";

/// The payload of a Heartbeat message, of its response, and of a Wait message.
/// With a Wait, a server responds that it is alive but has no response yet. It
/// sends a Wait for a join that it cannot accept yet, and for a Poll of a
/// request that has not arrived. Busy servers also send it to readers.
struct Heartbeat {
  /// True if the sender knows that some process of the job was asked to shut
  /// down.
  bool stop = false;
  /// Set by servers: the reason for which the server waits, such as "waiting
  /// for trainer 1 to join (5 s)". Empty if it does not wait.
  std::string message = {};
  /// Identity of the sender's process. A receiver on the same host uses it to
  /// notice the end of the sender.
  ProcessIdentity process = {};
};

/// Returns `message`, shortened to at most 64 KiB for sending. A longer text
/// is cut between two UTF-8 characters, and dots are appended.
std::string cutToFit(const std::string &message);

/// Encodes a heartbeat, with its text shortened by `cutToFit`.
Message encodeHeartbeat(const Heartbeat &sign);
/// Decodes a heartbeat. Returns an error if the bytes are not one.
Expected<Heartbeat> decodeHeartbeat(const Message &message);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_HEARTBEAT_H
