//===- PeerRequests.h - What servers ask each other -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_PEERREQUESTS_H
#define LIB_RUNTIME_JOB_PEERREQUESTS_H

#include "Job/PeerIdentity.h"
#include "Job/ResumeAgreement.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Job/ServerSaves.h"
#include "pdlrt/Job/StateHost.h"

#include "nlohmann/json.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Identifies the state of one server that a save contains. In modes with
/// rounds it has one number: the steps in the state. In modes that apply each
/// request on arrival, it has the number of the last received request of each
/// trainer and worker.
using SnapshotPoint = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;

/// Returns the snapshot point of a server's current state.
SnapshotPoint snapshotPointOf(const Mode &mode, const StateServer &server,
                              const std::vector<SenderMark> &marks);

nlohmann::json toJson(const SnapshotPoint &snapshotPoint);
/// Returns the snapshot point in a request or response; nothing if it has none
/// or a damaged one.
std::optional<SnapshotPoint> snapshotPointFrom(const nlohmann::json &object);

/// Returns the text of the member `name`, or an empty text if there is none.
std::string textOf(const nlohmann::json &object, const char *name);
/// Returns the number of the member `name`, or -1 if there is none.
int64_t numberOf(const nlohmann::json &object, const char *name);
/// Returns the member `run`: the random number that server 0 drew when it
/// started, as the sender knows it. Returns 0 if the sender does not know it
/// yet.
uint64_t runOf(const nlohmann::json &object);
/// Encodes a request or a response.
Message messageOf(const nlohmann::json &object);

/// This server's part of a save that another server has requested. Guarded by
/// the mutex of `PeerRequests`.
struct OwnPart {
  bool isDone = false;
  /// Result of `encodeSaved`; if it is empty, `failure` is the error.
  std::string written;
  Status failure;
};

/// State that the threads which deliver requests share with the thread of the
/// host.
struct PeerRequests {
  PeerRequests(const pdl_descriptor &descriptor, const HostOptions &options,
               uint64_t jobId, size_t servers)
      : mode(modeOf(descriptor)),
        identity(descriptor, options.job, options.trainers, int64_t(servers)),
        rank(options.owner), servers(int64_t(servers)),
        maySave(serversMaySave(descriptor, options.onFailure)),
        run(options.owner == 0 ? jobId : 0), agreement(servers) {}

  bool coordinates() const { return rank == 0; }

  const Mode &mode;
  const PeerIdentity identity;
  const int64_t rank, servers;
  const bool maySave;
  /// Random number that server 0 drew when it started. It is 0 on other servers
  /// until they have requested it from server 0.
  std::atomic<uint64_t> run;
  ResumeAgreement agreement;
  /// Number of requests (SIGUSR2) that other servers have forwarded.
  std::atomic<int> checkpointRequests = 0;
  Mutex mutex;
  /// Parts by folder.
  std::map<std::string, std::shared_ptr<OwnPart>> parts PDLRT_GUARDED_BY(mutex);
};

/// Returns an error if the job is not running: its failure if it has failed, or
/// an error that says that it is finished. After a failure the state of the job
/// may be half updated and must not be saved.
Status checkRuns(ServerCore &core);

/// Responds to a request of another server. Returns quickly: a save runs later,
/// and the response says that it is not written yet. Thread-safe.
Expected<Message> respondToPeer(StateHost &host,
                                const std::shared_ptr<PeerRequests> &shared,
                                const Message &payload);

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_PEERREQUESTS_H
