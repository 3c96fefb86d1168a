//===- Handshake.h - Agreement of trainer and server at a join --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The payload of a Join and of its response. It has the values that must be
// equal in trainer and server. Each of the two creates a Handshake from its
// program and its flags. The server compares them before the first step; for a
// difference it returns an error that names both values.
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

/// Configuration of a job, as one of its processes has it.
struct Handshake {
  uint64_t protocol = protocolVersion;

  // From the program; `setProgram` fills these.
  std::string model;
  uint64_t layoutFingerprint = 0;
  uint64_t trainingFingerprint = 0;
  uint64_t wireFingerprint = 0;
  int64_t mode = -1;
  int64_t numerics = PDL_NUMERICS_STRICT;
  /// Element types of the program, as text (`elementTypeText`).
  std::string elementType;
  // From the placement; `of` sets these. `servers` is the number of all owners
  // of state.
  int64_t servers = 1;
  std::string placementPolicy;
  uint64_t placementDigest = 0;
  // From the command line.
  int64_t trainers = 1;
  /// Trainer: the owner number that it expects of the receiver, for example the
  /// index of the server's address in --servers. Server: its owner number.
  int64_t serverRank = 0;
  /// Number of workers of each trainer. A server sets 0 until the first trainer
  /// has joined, because it does not know the number before.
  int64_t workers = 0;
  uint64_t seed = 0;
  /// 1 if --resume is given, otherwise 0. Compared even if there is no
  /// checkpoint yet, because a later run with the same flags will resume from
  /// one.
  int64_t resumes = 0;
  /// Value of --on-failure: "abort", or "wait" if the job waits for the restart
  /// of a lost trainer. All processes must have the same value: a process that
  /// waits would wait forever if the others do not.
  std::string onFailure = "abort";
  /// Values of --pack-keys and --pack-gradients: the encodings that a trainer
  /// uses. Trainers must have the server's value for gradients.
  std::string keyPacking = "none", gradientPacking = "none";
  /// Set by servers: the flags --max-staleness, --quorum and --late-gradients,
  /// and the memory limits of tables, as text. Trainers check that all servers
  /// have the same text.
  std::string bounds;
  /// Set by servers: a description of the initial state, with digests. Trainers
  /// check that all servers have the same text, because the servers together
  /// hold one state.
  std::string start;
  /// Number of steps of the checkpoint from which the run resumes; 0 if it does
  /// not resume.
  int64_t startStep = 0;
  /// Absolute path of the trainers' folder of checkpoints; empty if there is
  /// none. A server checks that it is allowed to write there (SaveFolder.h).
  std::string checkpoint;
  /// Set by trainers: false if the trainer joins only to report that it cannot
  /// take part. Such a trainer may not know all values, so failure policy,
  /// workers, seed, step and folder are not compared.
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
/// Decodes a handshake. Accepts any bytes; returns an error if they are not a
/// handshake.
Expected<Handshake> decodeHandshake(const Message &payload);

/// Returns an error for the first value that differs, with both values and a
/// remedy. If `workers` is 0 in one of the handshakes, it is not compared. If
/// `takesPart` of the trainer is false, values of the run are not compared.
Status compareHandshakes(const Handshake &trainer, const Handshake &server);

/// Checks the handshakes in the responses of servers, which are in the order of
/// servers. Returns an error if one is malformed, or if servers have different
/// flags, seeds or initial states.
Status compareServers(const std::vector<Message> &responses);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_HANDSHAKE_H
