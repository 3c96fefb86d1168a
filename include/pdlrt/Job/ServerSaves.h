//===- ServerSaves.h - Checkpoints without trainers -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With --on-failure=wait, a trainer that is lost for good stops all others. But
// servers hold the whole state, and the first server knows from recovery
// records how far each trainer has come. So servers can write a checkpoint
// without trainers: server 0 coordinates it, and the others follow
// (docs/Protocol.md).
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_SERVERSAVES_H
#define PDLRT_JOB_SERVERSAVES_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Job/StateHost.h"
#include "pdlrt/Transport/Transport.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Returns true if servers of that program can save without its trainers, for
/// trainers with that `--on-failure`.
bool serversMaySave(const pdl_descriptor &descriptor, FailurePolicy onFailure);

struct ServerSaveOptions {
  /// Addresses of all servers, in rank order.
  std::vector<std::string> addresses;
  /// Maximum time between two saves, which server 0 checks; none: no limit.
  std::optional<double> minutes;
  /// Folder for the last checkpoint if it cannot be saved to the trainers'
  /// folder (--emergency-checkpoint); empty: none.
  std::string emergencyFolder;
};

/// One server's part in checkpoints that servers write without trainers. Only
/// one thread may call it.
class ServerSaves {
public:
  /// Makes the host agree with other servers on the checkpoint that all resume
  /// from. Call before the host listens. References must outlive the object.
  ServerSaves(const pdl_descriptor &descriptor, const HostOptions &options,
              StateHost &host, Transport &transport,
              const ServerSaveOptions &saves);
  ~ServerSaves();
  ServerSaves(const ServerSaves &) = delete;
  ServerSaves &operator=(const ServerSaves &) = delete;

  /// Handles losses and saves. Call several times a second while the job runs.
  /// If a lost trainer ends the job, first saves the state, which may take
  /// long, and then fails the job with the result of the save. If the time
  /// limit or a request (SIGUSR2) wants a checkpoint, asks trainers for it; if
  /// the job stands still, saves without them.
  void poll();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_JOB_SERVERSAVES_H
