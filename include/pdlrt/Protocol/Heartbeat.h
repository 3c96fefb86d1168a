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

/// The payload of a Heartbeat message, of its response, and of a Wait. With a
/// Wait, a server says that it is alive but cannot accept a join yet.
struct Heartbeat {
  /// True if some process of the job was asked to stop, as far as the sender
  /// knows.
  bool stop = false;
  /// Servers only: what the server waits for, such as "waiting for trainer 1 to
  /// join (5 s)"; empty if it waits for nothing.
  std::string sentence = {};
  /// Process of the sender, for receivers on the same host.
  ProcessIdentity process = {};
};

/// Returns the text shortened for sending: at most 64 KiB. A longer text is
/// cut, never within a UTF-8 character, and ends with dots.
std::string cutToFit(const std::string &sentence);

/// Encodes a heartbeat, with its text shortened by `cutToFit`.
Message encodeHeartbeat(const Heartbeat &sign);
/// Decodes a heartbeat. Returns an error if the bytes are not one.
Expected<Heartbeat> decodeHeartbeat(const Message &message);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_HEARTBEAT_H
