//===- StateHost.h - Owner of a job's state in a process --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs one owner of state: an owner loads its part of the state, and then
// handles the requests of all trainers of the job. A server process has one
// StateHost. In modes in which trainers own state, each trainer process has one
// too.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_STATEHOST_H
#define PDLRT_JOB_STATEHOST_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/Packing.h"
#include "pdlrt/Server/SaveFolder.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Server/StateServer.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/Transport/Transport.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace pdlrt {

/// Options of an owner. Most values must be equal for all owners of a job.
/// Exceptions are `owner`, and options that only concern this process, such as
/// `threads`.
struct HostOptions {
  /// Number of this owner among the owners of the job (Placement.h).
  int32_t owner = 0;
  int32_t trainers = 1;
  /// Name of the job. Trainers must have the same name.
  std::string job;
  /// Seed of initial values. Nullopt: the seed of the checkpoint or file from
  /// which this owner starts, or 0 if there is none.
  std::optional<uint64_t> seed;
  /// `initFrom`: file with initial values. `checkpoint`: folder of checkpoints.
  /// Both: empty if there is none. `resume` is true if the owner starts from
  /// the newest checkpoint in `checkpoint`.
  std::string initFrom, checkpoint;
  bool resume = false;
  /// True if only values are loaded from `initFrom`, without slots and step
  /// counts.
  bool initValuesOnly = false;
  /// True if `initFrom` and checkpoints may have layout 1 (ModelParts.h).
  bool acceptOldLayout = false;
  /// Folders in which this owner may save.
  SaveFolder saves;
  /// Values of --on-failure and --pack-gradients.
  FailurePolicy onFailure = FailurePolicy::Abort;
  GradientPacking packGradients = GradientPacking::None;
  /// See ServerCoreOptions. If true, the code that created the host must check
  /// `pendingLoss`.
  bool savesBeforeLoss = false;
  /// Path of the log of applied requests (AppliedLog.h); empty: none.
  std::string logApplied;
  /// Bounds of staleness, quorum and late gradients, for modes that use them.
  StepBounds bounds;
  TableBound tableBound;
  /// Number of threads. Does not change results.
  int threads = 1;
  /// See ServerCoreOptions.
  ClockTime silenceLimit = std::chrono::seconds(10);
  ClockTime joinLimit = std::chrono::minutes(10);
};

/// Runs one owner. It listens first, and then loads its state on a background
/// thread; during that time it answers that it is loading. It handles requests
/// until all trainers have left or the job has failed. Only one thread may call
/// its functions.
class StateHost {
public:
  /// Creates a host. `descriptor` must have role pserver and have passed
  /// `checkDescriptor`. The referenced objects must outlive the host. Throws
  /// std::system_error if no thread can be started.
  StateHost(const pdl_descriptor &descriptor, const Placement &placement,
            const HostOptions &options, Clock &clock);
  /// Stops listening, waits for loading or for the request that is being
  /// handled, and drops requests that wait.
  ~StateHost();
  StateHost(const StateHost &) = delete;
  StateHost &operator=(const StateHost &) = delete;

  /// Returns the owner's name in messages, such as "server 1" or "owner in
  /// trainer 0".
  const std::string &name() const;
  /// Starts to accept requests at `address`. Returns an error if it cannot
  /// listen there. The transport must outlive the host.
  Status listen(Transport &transport, const std::string &address);
  /// Returns the address at which the host listens.
  const std::string &address() const;
  /// Callback by which owners agree on the checkpoint to resume from. The
  /// argument is the number of steps of the newest complete checkpoint that
  /// this owner has found, -1 if it has found none, or the error that prevents
  /// its use. Sends it to the other owners and blocks until all have sent
  /// theirs. Returns the number of steps of the checkpoint from which all
  /// resume. If the result is smaller than the argument, this owner must find
  /// an older checkpoint and call it again.
  using AgreeOnResume =
      std::function<Expected<int64_t>(const Expected<int64_t> &found)>;
  /// Sets the callback for a resume; without it, this owner chooses its newest
  /// complete checkpoint. Call before `load`.
  void agreeOnResume(AgreeOnResume agree);
  /// Starts to load the state in the background. When it is loaded, trainers
  /// can join. If loading fails, the job fails with the error.
  void load();
  /// Returns true if loading has ended, successfully or not.
  bool isLoaded() const;
  /// Returns true if the state was loaded without an error. Call after the end
  /// of the loading.
  bool hasState() const;

  ServerCore &core();
  /// Returns the StateServer, which holds this owner's part of the state. Call
  /// after loading, and only between requests (`ServerCore::betweenRequests`).
  StateServer &application();
  /// Returns the random number that this owner drew when it was created. That
  /// of owner 0 identifies the job (`Job::id`).
  uint64_t jobId() const;
  /// Returns this owner's part of the state. Call after loading. After
  /// `finish`, the state does not change any more.
  const Model &model() const;
  /// Returns this owner's part of the state for writing. Call only while no
  /// request is handled.
  Model &model();
  /// Returns the error of writing the log of applied requests; success if there
  /// was none.
  Status logStatus() const;

  /// Blocks until the job has ended, and calls `poll` several times a second.
  /// If this owner has waited for trainers for two seconds or more, logs their
  /// names, at most once in five seconds.
  void waitUntilOver(const std::function<void()> &poll);
  /// Blocks until all trainers have been told how the job has ended, for at
  /// most `limit`. Then stops listening.
  void announceExit(std::chrono::nanoseconds limit);
  /// Waits for the request that is being handled, logs the costs of steps, and
  /// completes the log of applied requests. Returns the error of that log.
  /// After the call, no memory of messages from trainers is read, and only
  /// `model` and `logStatus` may be called. Call after `announceExit`.
  Status finish();

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

/// Returns an error if `onFailure` is Wait but jobs of this program cannot wait
/// for a lost trainer. The message names the flag.
Status checkMayWait(const pdl_descriptor &descriptor, FailurePolicy onFailure);

/// Returns the value of --on-failure that means `policy`. Processes of a job
/// compare it.
const char *nameOf(FailurePolicy policy);

/// Returns the time for which a process of a job still answers trainers after
/// the end of the job. After a signal the time is short, because a user waits
/// for the process to end.
std::chrono::seconds exitAnnouncementLimit(bool afterSignal);

/// Returns the seed of a run: `asked` if it has a value, otherwise the seed of
/// the checkpoint `resumed` (null: none), otherwise the seed of the file
/// `initFrom` (empty: none), otherwise 0. Returns an error if `resumed` has
/// another seed than `asked`.
Expected<uint64_t> seedOfStart(std::optional<uint64_t> asked,
                               const Checkpoint *resumed,
                               const std::string &initFrom);

} // namespace pdlrt

#endif // PDLRT_JOB_STATEHOST_H
