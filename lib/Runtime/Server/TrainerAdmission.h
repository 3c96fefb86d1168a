//===- TrainerAdmission.h - Which trainers match a server -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_TRAINERADMISSION_H
#define LIB_RUNTIME_SERVER_TRAINERADMISSION_H

#include "Server/OwnedState.h"
#include "pdlrt/Protocol/Handshake.h"
#include "pdlrt/Server/SaveFolder.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <set>

namespace pdlrt {

/// Compares the handshakes of trainers with the server's. Not thread-safe.
class TrainerAdmission {
public:
  /// The arguments must outlive this object. A join changes the folders that
  /// `folder` permits.
  TrainerAdmission(OwnedState &state, SaveFolder &folder)
      : state(state), folder(folder) {}

  /// Sets the number of workers of each trainer (`StateServer::setWorkers`).
  void setWorkers(int64_t workers);

  // Implement the functions of `ServerApplication` with the same names.

  Expected<Message> greet(const Envelope &request,
                          const Message &payload) const;
  Expected<Message> join(const Envelope &request, const Message &payload);
  bool isOfJob(const Message &handshake) const;
  bool mayBeOfJob(const Message &handshake) const;

private:
  Expected<Handshake> compare(const Envelope &request,
                              const Message &payload) const;

  OwnedState &state;
  SaveFolder &folder;
  /// Trainers that have joined.
  std::set<uint32_t> joined;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_TRAINERADMISSION_H
