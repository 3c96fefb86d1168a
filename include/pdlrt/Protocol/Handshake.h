//===- Handshake.h - Agreement of trainer and server at a join --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The payload of a Join and of its response: the values that must be equal on
// both sides before the first step. Each side builds one from its program and
// its flags. The server compares them; a difference is an error that names both
// values.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_HANDSHAKE_H
#define PDLRT_PROTOCOL_HANDSHAKE_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Version of the payloads of messages between processes of a job, raised with
/// each change that an older process would misread. Processes of different
/// versions refuse each other. Envelope.cpp has the version of headers.
inline constexpr uint64_t protocolVersion = 21;

/// Configuration of the job, as one side sees it.
struct Handshake {
  uint64_t protocol = protocolVersion;

  // From the program; `setProgram` fills these.
  std::string model;
  uint64_t layoutFingerprint = 0;
  uint64_t trainingFingerprint = 0;
  uint64_t wireFingerprint = 0;
  int64_t mode = -1;
  int64_t numerics = PDL_NUMERICS_STRICT;
  /// Element type of its symbols, as text (`elementTypeText`).
  std::string elementType;
  // From the placement; `of` fills these. `servers` counts all owners of state.
  int64_t servers = 1;
  std::string placementPolicy;
  uint64_t placementDigest = 0;
  // From the command line.
  int64_t trainers = 1;
  /// Rank of the server that the trainer wants to reach: the index of its
  /// address in the list, or the owner number of a trainer that owns state.
  int64_t serverRank = 0;
  /// Number of workers of a process. A server sets 0 until the first trainer
  /// has joined, because it does not know the number.
  int64_t workers = 0;
  uint64_t seed = 0;
  /// 1 with --resume, else 0. Compared even if there is no checkpoint yet,
  /// because a later run with the same command line will resume from one.
  int64_t resumes = 0;
  /// Value of --on-failure, "abort" or "wait": whether the job waits for a lost
  /// trainer to restart. A process that waits among others that do not would
  /// wait forever.
  std::string onFailure = "abort";
  /// Values of --pack-keys and --pack-gradients: the packings that a trainer
  /// uses. For gradients, the server's value is binding.
  std::string keyPacking = "none", gradientPacking = "none";
  /// Server only: its waiting rules (--max-staleness, --quorum,
  /// --late-gradients) and memory limits of its tables, as text. Trainers check
  /// that all servers have the same.
  std::string bounds;
  /// Server only: the initial state, as text with digests. Trainers check that
  /// all servers have the same, because each holds a part of one state.
  std::string start;
  /// Steps of the checkpoint that the run resumes from; 0 for a fresh start.
  int64_t startStep = 0;
  /// Absolute path of the folder of the trainers' checkpoints; empty if there
  /// is none. A server checks that it may write there (SaveFolder.h).
  std::string checkpoint;
  /// Trainer only: false if it joins only to report why it cannot take part.
  /// Such a trainer may not know the run, so failure policy, workers, seed,
  /// step and folder are not compared.
  bool takesPart = true;
  std::string job;

  /// Returns a handshake with the values of the program and the placement.
  static Handshake of(const pdl_descriptor &descriptor,
                      const Placement &placement);

  /// Sets the values that come from the program.
  void setProgram(const pdl_descriptor &descriptor);

  bool operator==(const Handshake &) const = default;
};

Message encodeHandshake(const Handshake &handshake);
/// Decodes a handshake. Accepts any bytes; returns an error if they are none.
Expected<Handshake> decodeHandshake(const Message &payload);

/// Returns success if both sides agree. Otherwise returns a message about the
/// first difference, with both values and a remedy. `workers` of 0 matches any
/// number. If the trainer does not take part, values of the run are not
/// compared.
Status compareHandshakes(const Handshake &trainer, const Handshake &server);

/// Checks the handshakes that servers sent in their responses, in server order.
/// Returns an error if one is malformed, or if the servers were started with
/// different flags or seeds, or with a different initial state.
Status compareServers(const std::vector<Message> &responses);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_HANDSHAKE_H
