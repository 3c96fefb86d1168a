//===- StateHost.h - Owner of a job's state in a process --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs one owner of state: it loads its part of the state and then serves all
// trainers of the job. A server process consists of one StateHost. In modes in
// which trainers own state, each trainer process has one too.
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

/// Options of an owner. Equal for all processes of a job, except for `owner`
/// and options of this process alone.
struct HostOptions {
  /// Number of this owner among those of the job (Placement.h).
  int32_t owner = 0;
  int32_t trainers = 1;
  /// Name of the job; trainers must have the same.
  std::string job;
  /// Absent: the seed of the checkpoint or file that it starts from, else 0.
  std::optional<uint64_t> seed;
  /// File to start from; folder of checkpoints, and whether to resume from the
  /// newest one in it. Empty: none.
  std::string initFrom, checkpoint;
  bool resume = false;
  /// Loads only values from `initFrom`, without slots and step counts.
  bool initValuesOnly = false;
  /// True if these files may have layout 1 (ModelParts.h).
  bool acceptOldLayout = false;
  /// Folders in which it may save.
  SaveFolder saves;
  /// Values of --on-failure and --pack-gradients.
  FailurePolicy onFailure = FailurePolicy::Abort;
  GradientPacking packGradients = GradientPacking::None;
  /// See ServerCoreOptions. If true, the owner of the host checks
  /// `pendingLoss`.
  bool savesBeforeLoss = false;
  /// Path of the log of applied requests; empty: none.
  std::string logApplied;
  /// Waiting rules, for modes that use them.
  StepBounds bounds;
  TableBound tableBound;
  /// Number of threads; never changes a result.
  int threads = 1;
  /// See ServerCoreOptions.
  ClockTime silenceLimit = std::chrono::seconds(10);
  ClockTime joinLimit = std::chrono::minutes(10);
};

/// Runs one owner. It listens, then loads on a background thread and tells
/// trainers so meanwhile. It serves until all trainers have left or the job has
/// failed. Only one thread may call it.
class StateHost {
public:
  /// Creates a host. `descriptor` must have role pserver and have passed
  /// `checkDescriptor`; all references must outlive the host. Throws
  /// std::system_error if no thread can be started.
  StateHost(const pdl_descriptor &descriptor, const Placement &placement,
            const HostOptions &options, Clock &clock);
  /// Waits for the current request and drops open ones.
  ~StateHost();
  StateHost(const StateHost &) = delete;
  StateHost &operator=(const StateHost &) = delete;

  /// Returns its name in messages: "server 1", "owner in trainer 0".
  const std::string &name() const;
  /// Accepts requests at `address`. The transport must outlive the host.
  /// Returns an error if it cannot listen there.
  Status listen(Transport &transport, const std::string &address);
  /// Returns the address at which it listens.
  const std::string &address() const;
  /// Reports the steps of the newest complete checkpoint of this owner (-1:
  /// there is none), or the error that prevents its use, to the other owners.
  /// Blocks until all have reported. Returns the steps of the checkpoint that
  /// all resume from. If the result is smaller than the argument, this owner
  /// must look for an older checkpoint and report again.
  using AgreeOnResume =
      std::function<Expected<int64_t>(const Expected<int64_t> &found)>;
  /// Sets the callback of an owner that resumes. Call before `load`.
  void agreeOnResume(AgreeOnResume agree);
  /// Starts to load. Joins are accepted after that. If loading fails, the job
  /// fails with the reason.
  void load();
  /// Returns true if loading has ended, successfully or not.
  bool isLoaded() const;

  ServerCore &core();
  /// Returns the application, which holds this owner's part of the state. Call
  /// after loading, and only between requests (`ServerCore::betweenRequests`).
  StateServer &application();
  /// Returns the random number that this owner drew for its job.
  uint64_t jobId() const;
  /// Returns its part of the state. Call after loading. After `finish`, nothing
  /// changes it.
  const Model &model() const;
  /// Returns the same for writing. Call only while no request is handled.
  Model &model();
  /// Returns the error of the log, if it could not be written.
  Status logStatus() const;

  /// Blocks until the job has ended. Calls `poll` several times a second, and
  /// logs what the owner waits for.
  void waitUntilOver(const std::function<void()> &poll);
  /// Keeps listening until all trainers know how the job has ended, for at most
  /// `limit`. Then stops listening.
  void announceExit(std::chrono::nanoseconds limit);
  /// Waits for the current request, logs the costs of steps, and completes the
  /// log, which may fail. Reads no memory of trainers afterwards. Must be the
  /// last call, after `announceExit`.
  Status finish();

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

/// Checks that processes of a job may wait for a lost trainer. The error names
/// the flag.
Status checkMayWait(const pdl_descriptor &descriptor, FailurePolicy onFailure);

/// Returns the value of --on-failure for a policy; processes of a job compare
/// it.
const char *nameOf(FailurePolicy policy);

/// Returns how long trainers may still ask how a job has ended. After a signal
/// the time is short, because a user waits for this process.
std::chrono::seconds exitAnnouncementLimit(bool afterSignal);

/// Returns the seed of a run that starts from `resumed` (null: none) or from
/// the file `initFrom` (empty: none): `asked`, or theirs, or 0. Returns an
/// error if a checkpoint was trained with another seed than `asked`.
Expected<uint64_t> seedOfStart(std::optional<uint64_t> asked,
                               const Checkpoint *resumed,
                               const std::string &initFrom);

} // namespace pdlrt

#endif // PDLRT_JOB_STATEHOST_H
