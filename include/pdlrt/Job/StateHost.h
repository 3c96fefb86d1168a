//===- StateHost.h - An owner of a job's state in a process -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the process of a server is about, and, in modes in which trainers own
// state, a part of each trainer's: one owner's part of the state, which is
// loaded and then serves all trainers of the job.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_STATEHOST_H
#define PDLRT_JOB_STATEHOST_H

#include "pdlabi/abi.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Status.h"
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

/// What an owner is started with. All processes of a job get the same, but for
/// `owner` and what is of this process alone.
struct HostOptions {
  /// Its number among the owners of the job (Placement.h).
  int32_t owner = 0;
  int32_t trainers = 1;
  /// A name that trainers must have too.
  std::string job;
  /// Absent: that of the checkpoint or file that it begins with, else 0.
  std::optional<uint64_t> seed;
  /// A file to begin with; the folder of checkpoints, and whether to go on from
  /// the newest one there. Empty: none.
  std::string initFrom, checkpoint;
  bool resume = false;
  /// Of `initFrom`, takes values without slots and step counts.
  bool initValuesOnly = false;
  /// Whether these may be of layout 1 (ModelParts.h).
  bool acceptOldLayout = false;
  /// Where its parts of checkpoints may go.
  SaveFolder saves;
  /// --on-failure and --pack-gradients.
  std::string onFailure = "abort", packGradients = "none";
  /// The log of what is applied; empty: none.
  std::string logApplied;
  /// Who waits for whom, in modes that ask.
  StepBounds bounds;
  TableBound tableBound;
  /// Of this process: never part of a result.
  int threads = 1;
  /// As in ServerCoreOptions.
  ClockTime silenceLimit = std::chrono::seconds(10);
  ClockTime joinLimit = std::chrono::minutes(10);
};

/// One owner. It listens, then loads on a thread of its own and meanwhile tells
/// trainers so; it serves until all trainers have left or the job has failed.
/// One thread at a time calls it.
class StateHost {
public:
  /// `descriptor` is of role pserver and has passed `checkDescriptor`; all
  /// references outlive the host. Throws std::system_error where no thread can
  /// be started.
  StateHost(const pdl_descriptor &descriptor, const Placement &placement,
            const HostOptions &options, Clock &clock);
  /// Waits for what it works on, and lets open requests go.
  ~StateHost();
  StateHost(const StateHost &) = delete;
  StateHost &operator=(const StateHost &) = delete;

  /// In messages: "server 1", "owner in trainer 0".
  const std::string &name() const;
  /// Takes requests at `address`; the transport outlives the host. An error
  /// where that cannot be.
  Status listen(Transport &transport, const std::string &address);
  /// Where it listens.
  const std::string &address() const;
  /// Begins to load; joins are taken when that is done. Where it cannot be
  /// done, the job fails with the reason.
  void load();
  /// Whether loading has ended, well or not.
  bool isLoaded() const;

  ServerCore &core();
  /// Its part of the state, once it is loaded. Nothing works on it behind
  /// `finish`.
  const Model &model() const;
  /// The same, to be written to while nothing works on it.
  Model &model();
  /// Whether its log, if it has one, could be written so far.
  Status logStatus() const;

  /// Blocks until the job is over. Calls `poll` some times a second, and says
  /// in lines of the log who is waited for.
  void waitUntilOver(const std::function<void()> &poll);
  /// Listens on until all trainers know how the job has ended, for at most
  /// `limit`, and no longer.
  void sayFarewell(std::chrono::nanoseconds limit);
  /// Waits for what it works on; says what steps have cost, and ends its log,
  /// which may fail. It reads no memory of trainers any more. The last call,
  /// behind `sayFarewell`.
  Status finish();

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

/// Whether processes of a job may be told to wait for a trainer that is lost;
/// the error names the flag.
Status checkMayWait(const pdl_descriptor &descriptor,
                    const std::string &onFailure);

/// How long trainers may still ask how a job has ended; after a signal somebody
/// waits for this process too.
std::chrono::seconds farewellLimit(bool afterSignal);

/// The seed of a run that begins with `resumed` (null: none) or with the file
/// `initFrom` (empty: none): `asked`, or theirs, or 0. An error where a
/// checkpoint was trained with another one than was asked for.
Expected<uint64_t> seedOfStart(std::optional<uint64_t> asked,
                               const Checkpoint *resumed,
                               const std::string &initFrom);

} // namespace pdlrt

#endif // PDLRT_JOB_STATEHOST_H
