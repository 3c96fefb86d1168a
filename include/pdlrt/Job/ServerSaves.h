//===- ServerSaves.h - Checkpoints without trainers -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With --on-failure=wait, all trainers stop if one of them dies and is not
// restarted. The state is not lost: servers hold parameters and tables, and
// server 0 has the progress of each trainer in recovery records. So servers can
// write a checkpoint without trainers. Server 0 coordinates it
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

/// Returns true if servers of this program can save without trainers.
/// `onFailure` is the value of --on-failure.
bool serversMaySave(const pdl_descriptor &descriptor, FailurePolicy onFailure);

struct ServerSaveOptions {
  /// Addresses of all servers, in rank order.
  std::vector<std::string> addresses;
  /// Maximum time between two saves, in minutes, which server 0 checks;
  /// nullopt: no limit.
  std::optional<double> minutes;
  /// Folder for the last checkpoint if it cannot be saved to the trainers'
  /// folder (--emergency-checkpoint); empty: none.
  std::string emergencyFolder;
};

/// The part of one server in writing checkpoints without trainers. Each server
/// process has one. Only one thread may use an object.
class ServerSaves {
public:
  /// Makes `host` answer the requests of other servers, and agree with them on
  /// the checkpoint from which all resume. Create this object before the host
  /// listens. The referenced objects must outlive this one.
  ServerSaves(const pdl_descriptor &descriptor, const HostOptions &options,
              StateHost &host, Transport &transport,
              const ServerSaveOptions &saves);
  ~ServerSaves();
  ServerSaves(const ServerSaves &) = delete;
  ServerSaves &operator=(const ServerSaves &) = delete;

  /// Handles lost trainers and scheduled saves. Call several times a second
  /// while the job runs. On servers other than server 0, only reports to server
  /// 0. If a lost trainer ends the job, saves the state, which may take long,
  /// and then fails the job with a message about the save. If a checkpoint is
  /// scheduled (`minutes`) or requested (SIGUSR2), asks the trainers to save.
  /// If no trainer makes progress, saves without them.
  void poll();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_JOB_SERVERSAVES_H
