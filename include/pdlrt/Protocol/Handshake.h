//===- Handshake.h - What a trainer and a server agree on -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The payload of a Join, and of its answer: what must be the same on both
// sides before the first step. Each side makes one from its program and its
// flags; the server compares, and a difference is an error that names both
// sides' values.
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

/// One side's view of the job.
struct Handshake {
  // Of the program; `setProgram` fills these.
  std::string model;
  uint64_t abiVersion = PDL_ABI_VERSION;
  uint64_t layoutFingerprint = 0;
  uint64_t trainingFingerprint = 0;
  uint64_t wireFingerprint = 0;
  int64_t mode = -1;
  int64_t numerics = PDL_NUMERICS_STRICT;
  /// Of its symbols, as a text (`elementTypeText`).
  std::string elementType;
  // Of the map; `of` fills these. All owners of state count as servers.
  int64_t servers = 1;
  std::string placementPolicy;
  uint64_t placementDigest = 0;
  // Of the command line.
  int64_t trainers = 1;
  /// The rank of the server that is meant: the place of its address in the
  /// list, or the number of an owner that a trainer hosts.
  int64_t serverRank = 0;
  /// Of a process. A server does not know it before the first trainer has
  /// joined: 0.
  int64_t workers = 0;
  uint64_t seed = 0;
  /// 1 with --resume, else 0: told apart before there is a checkpoint, for the
  /// same command line is to go on from one later.
  int64_t resumes = 0;
  /// --on-failure, "abort" or "wait": whether a trainer that is lost is waited
  /// for. Who waits among others who do not would wait for ever.
  std::string onFailure = "abort";
  /// --pack-keys and --pack-gradients: how a trainer packs what it sends. A
  /// server says how gradients must be packed.
  std::string keyPacking = "none", gradientPacking = "none";
  /// Of a server: who waits for whom there (--max-staleness, --quorum,
  /// --late-gradients), and how much its tables may use, as a text. Trainers
  /// compare those of all servers.
  std::string bounds;
  /// Of a server: what its state begins with, as a text with digests. Trainers
  /// compare those of all servers: each one has a part of the same state.
  std::string start;
  /// Steps of the checkpoint that the run goes on from; 0 for a fresh start.
  int64_t startStep = 0;
  /// The folder of the trainers' checkpoints, absolute; empty: none. A server
  /// compares it with where it may write (SaveFolder.h).
  std::string checkpoint;
  /// Of a trainer: false where it joins only to say why it cannot take part. It
  /// may then not know what the run is: policy, workers, seed, step and folder
  /// are not compared.
  bool takesPart = true;
  std::string job;

  /// With what the program and the map say.
  static Handshake of(const pdl_descriptor &descriptor,
                      const Placement &placement);

  /// Fills what the program says.
  void setProgram(const pdl_descriptor &descriptor);

  bool operator==(const Handshake &) const = default;
};

Message encodeHandshake(const Handshake &handshake);
/// An error where the bytes are none; any bytes are safe.
Expected<Handshake> decodeHandshake(const Message &payload);

/// Success where both sides agree, else one sentence about the first thing that
/// differs, with both values and what to do. A `workers` of 0 fits any; who
/// takes no part has no run to compare.
Status compareHandshakes(const Handshake &trainer, const Handshake &server);

/// Of the handshakes that servers answered a trainer with, by server: an error
/// if they were started with different bounds or seeds, if their states begin
/// with different values, or if one is no handshake.
Status compareServers(const std::vector<Message> &answers);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_HANDSHAKE_H
