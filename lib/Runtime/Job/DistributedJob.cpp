//===- DistributedJob.cpp - Trainer in a distributed job ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/DistributedJob.h"

#include "Job/ParameterShare.h"
#include "Protocol/WaitReport.h"
#include "Recovery/ServerRecoveryChannel.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Engine/AsyncEngine.h"
#include "pdlrt/Engine/Engine.h"
#include "pdlrt/Engine/GeoEngine.h"
#include "pdlrt/Engine/OwnRules.h"
#include "pdlrt/Engine/ServerClient.h"
#include "pdlrt/Engine/ServerCommunicator.h"
#include "pdlrt/Files/Store.h"
#include "pdlrt/Job/StateHost.h"
#include "pdlrt/Protocol/Handshake.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"
#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/Protocol/WorkerNumbers.h"
#include "pdlrt/State/DeviceState.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

/// A save on servers that runs concurrently with steps, until it is completed.
class RestOnServers final : public RestOfSave {
public:
  RestOnServers(ServerGroup &servers, StepCounts counts)
      : servers(servers), counts(counts) {}

  Status finish(CheckpointWriter &writer,
                CheckpointManifest &manifest) override {
    return finishSaveOnServers(servers, counts, writer, manifest);
  }

private:
  ServerGroup &servers;
  const StepCounts counts;
};

class DistributedJob final : public Job {
public:
  DistributedJob(const pdl_descriptor &descriptor,
                 const DistributedOptions &options, Placement placement,
                 const RunOptions &run, Transport &transport)
      : descriptor(descriptor), mode(modeOf(descriptor)), options(options),
        placement(std::move(placement)), run(run), transport(transport) {
    for (const std::string &address : options.servers)
      owners.push_back({int32_t(owners.size()), address});
    for (const std::string &address : options.peers)
      owners.push_back({int32_t(owners.size()), address});
  }

  Status join();
  void announce(const Status &failure, ClockTime limit);

  int rank() const override { return options.rank; }
  StateLocation stateLocation() const override {
    return mode.trainersApply ? StateLocation::Here
           : share            ? StateLocation::Trainers
                              : StateLocation::Servers;
  }
  Status bringDevices(std::span<Device *const> devices,
                      StateHost &owner) override;
  ReplicaLayout layout(int groups, int workers) const override {
    return {groups, workers, options.rank, 1};
  }
  Expected<std::unique_ptr<StepEngine>>
  createEngine(Model &model, const pdl_program &program,
               const ReplicaLayout &layout, Scheduler &scheduler) override;
  Status sum(std::span<int64_t> counts, std::span<double> sums) override {
    return sumOverTrainers(*servers, counts, sums);
  }
  Status settle() override;
  Status checkSaveFolder(const std::string &folder,
                         const CheckpointManifest &plan) override;
  Expected<std::unique_ptr<RestOfSave>>
  beginSave(Model &model, CheckpointWriter &writer,
            CheckpointManifest &manifest, const SaveScope &scope) override;
  std::optional<int64_t> startStep() const override { return startOfServers; }
  RecoveryChannel *recovery() override { return channel.get(); }
  uint64_t id() const override { return servers->session(0).jobId(); }
  void leave(const Status &outcome) override {
    // `servers` is the sender of the whole process. It must leave last, so it
    // is at the end of the list.
    std::vector<ServerGroup *> groups;
    for (Worker &worker : workers) {
      groups.push_back(worker.servers.get());
      groups.push_back(worker.pushServers.get());
    }
    groups.insert(groups.end(), {requester.get(), saver.get(), servers.get()});
    std::erase(groups, nullptr);
    if (std::any_of(groups.begin(), groups.end(),
                    [](ServerGroup *group) { return group->placeIsTaken(); }))
      return;
    const bool isLost =
        std::any_of(groups.begin(), groups.end(),
                    [](ServerGroup *group) { return group->hasLostServer(); });
    for (ServerGroup *group : groups) {
      if (isLost)
        group->noteLostServer();
      group->leaveAll(outcome);
    }
  }

private:
  /// Worker that sends its own requests.
  struct Worker {
    std::unique_ptr<ServerGroup> servers;
    /// Sends the worker's pushes if they are sent concurrently with steps;
    /// otherwise null.
    std::unique_ptr<ServerGroup> pushServers;
    /// Null for the first worker, which uses the job's model.
    std::unique_ptr<Model> ownMirror;
    std::unique_ptr<ServerClient> client;
    std::unique_ptr<PushQueue> pushes;
  };
  /// An owner of state and its address.
  struct Owner {
    int32_t number;
    std::string address;
  };
  using EarlierStart = ServerGroupOptions::EarlierStart;
  Status openRecovery();
  Status meetAfterSave();
  bool goesOn() const { return options.mayRejoin && mode.restartsContinue; }
  Expected<std::unique_ptr<ServerGroup>>
  connect(uint32_t worker, EarlierStart earlierStart,
          std::function<bool()> shouldStop);
  std::vector<Message> handshakes(bool takesPart) const;
  Expected<std::unique_ptr<ServerGroup>> joinAs(uint32_t worker,
                                                EarlierStart earlierStart);
  /// If `group` has not joined yet, joins it under a sender number of its own:
  /// `number` after those of the senders of steps. Returns the group.
  Expected<ServerGroup *> joinExtra(std::unique_ptr<ServerGroup> &group,
                                    int number);
  Expected<ServerGroup *> joinRequester() { return joinExtra(requester, 1); }
  Expected<ServerGroup *> joinSaver() { return joinExtra(saver, 2); }
  Status keepOnDevices(Model &model, const pdl_program &program,
                       const ReplicaLayout &layout, Scheduler &scheduler);
  Expected<std::unique_ptr<StepEngine>>
  createCopyEngine(Model &model, const pdl_program &program,
                   const ReplicaLayout &layout, Scheduler &scheduler);
  Expected<std::unique_ptr<StepEngine>>
  createAsyncEngine(Model &model, const pdl_program &program,
                    const ReplicaLayout &layout, Scheduler &scheduler);

  const pdl_descriptor &descriptor;
  const Mode &mode;
  const DistributedOptions options;
  const Placement placement;
  /// Owners to which this process sends requests.
  std::vector<Owner> owners;
  /// Tells servers that all senders of this process belong to one incarnation
  /// of the trainer. Servers assign the number `incarnation` when the first
  /// sender joins.
  StartSign start = StartSign::ofThisProcess();
  uint64_t incarnation = 0;
  RunOptions run;
  std::optional<int64_t> startOfServers;
  Transport &transport;
  /// Shared by all senders, each of which reports at this interval.
  const std::shared_ptr<WaitReport> waitReport = std::make_shared<WaitReport>(
      logInfo, ServerGroupOptions().reportInterval / 2);
  std::atomic<bool> joining = true;
  std::unique_ptr<ServerGroup> servers;
  std::unique_ptr<ServerClient> client;
  std::vector<Worker> workers;
  /// Exchanges the deltas of this trainer's copy of the model, and the sums of
  /// the workers of frozen programs. Set only in modes in which trainers apply
  /// the rules.
  std::unique_ptr<CopyExchange> copies;
  GeoEngine *trainsCopy = nullptr;
  /// Set only if all trainers keep all parameters on devices. `owner` is then
  /// the owner in this process, which `bringDevices` has set.
  std::unique_ptr<ParameterShare> share;
  StateHost *owner = nullptr;
  /// Null if no other process waits for a restart of this one.
  std::unique_ptr<ServerRecoveryChannel> channel;
  /// Senders of requests that do not change the state (pulls), and of saves.
  /// They join when they are used first. They have connections of their own for
  /// two reasons: a restart need not know how many of these requests were sent,
  /// and saves run concurrently with other requests.
  std::unique_ptr<ServerGroup> requester, saver;
};

} // namespace

Expected<std::unique_ptr<ServerGroup>>
DistributedJob::connect(uint32_t worker, EarlierStart earlierStart,
                        std::function<bool()> shouldStop) {
  SenderName sender;
  sender.worker = worker;
  sender.trainer = uint32_t(options.rank);
  sender.incarnation = incarnation;
  sender.start = start;
  ServerGroupOptions group;
  group.retry.silenceLimit = options.silenceLimit;
  group.retry.joinPatience = options.joinPatience;
  group.shouldStop = std::move(shouldStop);
  group.events.wasStopRequested = [] { return stopSignal() != 0; };
  // A process without a signal of its own ends as if it had received one.
  group.events.onStopRequest = [] { noteStopSignal(SIGTERM); };
  group.report = [log = waitReport](const std::string &line) {
    log->report(line, WaitReport::Time::clock::now());
  };
  group.earlierStart = earlierStart;
  std::vector<std::string> addresses;
  for (const Owner &owner : owners) {
    addresses.push_back(owner.address);
    group.names.push_back(owner.number < int32_t(options.servers.size())
                              ? "server " + owner.address
                              : placement.nameOf(owner.number) + " (" +
                                    owner.address + ")");
  }
  return ServerGroup::connect(transport, addresses, sender, group);
}

/// Returns one handshake for each owner.
std::vector<Message> DistributedJob::handshakes(bool takesPart) const {
  Handshake handshake = Handshake::of(descriptor, placement);
  handshake.trainers = options.trainers;
  handshake.workers = run.workers;
  handshake.seed = run.seed;
  handshake.resumes = run.resume;
  handshake.onFailure =
      nameOf(options.mayRejoin ? FailurePolicy::Wait : FailurePolicy::Abort);
  handshake.keyPacking = nameOf(options.keyPacking);
  handshake.gradientPacking = nameOf(options.gradientPacking);
  handshake.startStep = run.startStep;
  if (!run.checkpoint.empty())
    handshake.checkpoint = absolutePlace(run.checkpoint);
  handshake.takesPart = takesPart;
  handshake.job = options.job;
  std::vector<Message> messages;
  for (const Owner &owner : owners) {
    handshake.serverRank = owner.number;
    messages.push_back(encodeHandshake(handshake));
  }
  return messages;
}

Expected<std::unique_ptr<ServerGroup>>
DistributedJob::joinAs(uint32_t worker, EarlierStart earlierStart) {
  // A signal ends the wait for other processes, but never interrupts a step.
  auto connected = connect(worker, earlierStart,
                           [this] { return joining && stopSignal() != 0; });
  if (!connected)
    return connected;
  Expected<std::vector<Message>> responses =
      (*connected)->joinAll(handshakes(/*takesPart=*/true));
  const Status status =
      responses ? compareServers(*responses) : responses.status();
  if (!status.ok()) {
    // The joined servers would otherwise wait for this trainer.
    (*connected)->leaveAll(status);
    return status;
  }
  // The handshake has been decoded before.
  if (const auto first = decodeHandshake(responses->front()))
    startOfServers = first->startStep;
  incarnation = (*connected)->incarnation();
  start.claim = StartSign::Claim::Decided;
  return connected;
}

Expected<ServerGroup *>
DistributedJob::joinExtra(std::unique_ptr<ServerGroup> &group, int number) {
  if (!group) {
    auto joined =
        joinAs(uint32_t((mode.workersSend ? run.workers : 0) + number),
               EarlierStart::Ignore);
    if (!joined)
      return joined.status();
    group = std::move(*joined);
  }
  return group.get();
}

Status DistributedJob::join() {
  const EarlierStart ofSteps = !goesOn()          ? EarlierStart::Refuse
                               : mode.workersSend ? EarlierStart::Ask
                                                  : EarlierStart::GoOn;
  auto joined = joinAs(0, ofSteps);
  if (!joined)
    return joined.status();
  servers = std::move(*joined);
  if (mode.workersSend)
    for (int w = 0; w < run.workers; ++w) {
      auto other = joinAs(senderOfSteps(uint32_t(w)), ofSteps);
      if (!other)
        return other.status();
      workers.emplace_back().servers = std::move(*other);
    }
  // Pushes use the sender numbers after those for pulls and saves.
  for (int w = 0; w < int(workers.size()) && options.pushes.queued > 0; ++w) {
    auto other = joinAs(senderOfPushes(uint32_t(run.workers), uint32_t(w)),
                        EarlierStart::Refuse);
    if (!other)
      return other.status();
    workers[w].pushServers = std::move(*other);
  }
  if (goesOn())
    PDLRT_RETURN_IF_ERROR(openRecovery());
  joining = false;
  return {};
}

/// Opens the channel for recovery records, after all senders have joined.
Status DistributedJob::openRecovery() {
  std::vector<ServerGroup *> ofWorkers;
  for (const Worker &worker : workers)
    ofWorkers.push_back(worker.servers.get());
  auto opened = ServerRecoveryChannel::open(*servers, std::move(ofWorkers),
                                            [this] { return meetAfterSave(); });
  if (!opened)
    return opened.status();
  channel = std::move(*opened);
  return {};
}

/// Tells the servers that this process has failed before it joined: joins, and
/// leaves with `failure`. Servers refuse this if a previous incarnation of this
/// trainer has joined. Gives up without an error after `limit`, or at a stop
/// signal.
void DistributedJob::announce(const Status &failure, ClockTime limit) {
  start.claim = StartSign::Claim::OnlyIfFirst;
  // Omit the owner in this process, which does not listen.
  if (mode.trainersOwn())
    std::erase_if(owners, [&](const Owner &owner) {
      return owner.number == placement.ownerOfTrainer(options.rank);
    });
  if (owners.empty())
    return;
  const auto until = std::chrono::steady_clock::now() + limit;
  auto connected = connect(0, EarlierStart::Refuse, [until] {
    return stopSignal() != 0 || std::chrono::steady_clock::now() >= until;
  });
  if (!connected)
    return;
  // If some servers cannot be joined, the failure must still be reported to the
  // others.
  (void)(*connected)->joinAll(handshakes(/*takesPart=*/false));
  (*connected)->leaveAll(failure);
}

Status DistributedJob::bringDevices(std::span<Device *const> devices,
                                    StateHost &ofTrainer) {
  owner = &ofTrainer;
  if (mode.parametersWith != OwnerPlace::Trainers)
    return {};
  auto agreed = ParameterShare::agree(
      {descriptor, options, placement,
       std::vector<Device *>(devices.begin(), devices.end()),
       [this](std::span<int64_t> counts) { return sum(counts, {}); },
       [this] { return servers->failure(); }});
  if (!agreed)
    return agreed.status();
  share = std::move(*agreed);
  return {};
}

/// Moves all parameters to the devices, before the first engine is created.
Status DistributedJob::keepOnDevices(Model &model, const pdl_program &program,
                                     const ReplicaLayout &layout,
                                     Scheduler &scheduler) {
  PDLRT_RETURN_IF_ERROR(share->fill(model, std::as_const(*owner).model()));
  PDLRT_RETURN_IF_ERROR(model.keepOnDevice());
  model.deviceState()->keepGradients(size_t(layout.localReplicas()),
                                     size_t(layout.workers), share->group());
  client->applyRules(std::make_unique<OwnRules>(model, program, scheduler));
  return {};
}

Expected<std::unique_ptr<StepEngine>>
DistributedJob::createEngine(Model &model, const pdl_program &program,
                             const ReplicaLayout &layout,
                             Scheduler &scheduler) {
  if (mode.trainersApply)
    return createCopyEngine(model, program, layout, scheduler);
  PDLRT_RETURN_IF_ERROR(checkRemoteProgram(descriptor, program));
  if (!client) {
    Expected<std::unique_ptr<ServerClient>> created = ServerClient::create(
        descriptor, int32_t(&program - descriptor.programs), placement,
        *servers, model);
    if (!created)
      return created.status();
    client = std::move(*created);
    client->setPacking(options.keyPacking, options.gradientPacking);
    if (share)
      PDLRT_RETURN_IF_ERROR(keepOnDevices(model, program, layout, scheduler));
    else if (mode.gradientsMayLeaveEarly())
      client->sendEarly({options.overlap.overlap,
                         options.gradientPacking != GradientPacking::None,
                         options.overlap.partBytes});
    if (goesOn())
      client->requestAllValues();
  }
  if (program.frozen) {
    Expected<ServerGroup *> group = joinRequester();
    if (!group)
      return group.status();
    client->pullOver(**group);
  } else if (mode.workersSend) {
    return createAsyncEngine(model, program, layout, scheduler);
  }
  return std::unique_ptr<StepEngine>(std::make_unique<Engine>(
      model, program, layout, scheduler,
      createServerCommunicator(model, program, *client)));
}

Expected<std::unique_ptr<StepEngine>>
DistributedJob::createAsyncEngine(Model &model, const pdl_program &program,
                                  const ReplicaLayout &layout,
                                  Scheduler &scheduler) {
  std::vector<AsyncWorker> all;
  for (Worker &worker : workers) {
    Model *mirror = &model;
    if (!all.empty()) {
      worker.ownMirror = std::make_unique<Model>(descriptor, model.seed(),
                                                 StateLocation::Servers);
      worker.ownMirror->computeOn(model.devices());
      mirror = worker.ownMirror.get();
    }
    Expected<std::unique_ptr<ServerClient>> created = ServerClient::create(
        descriptor, int32_t(&program - descriptor.programs), placement,
        *worker.servers, *mirror);
    if (!created)
      return created.status();
    worker.client = std::move(*created);
    worker.client->setPacking(options.keyPacking, options.gradientPacking);
    if (goesOn())
      worker.client->requestAllValues();
    if (worker.pushServers) {
      auto pushes = PushQueue::create(
          descriptor, int32_t(&program - descriptor.programs), placement,
          *worker.pushServers, scheduler, options.pushes);
      if (!pushes)
        return pushes.status();
      worker.pushes = std::move(*pushes);
      worker.pushes->setPacking(options.keyPacking, options.gradientPacking);
    }
    all.push_back({.state = worker.client.get(),
                   .mirror = mirror,
                   .pushes = worker.pushes.get()});
  }
  return std::unique_ptr<StepEngine>(
      std::make_unique<AsyncEngine>(all, program, layout, scheduler));
}

Expected<std::unique_ptr<StepEngine>>
DistributedJob::createCopyEngine(Model &model, const pdl_program &program,
                                 const ReplicaLayout &layout,
                                 Scheduler &scheduler) {
  if (program.update_count == 0) {
    return std::unique_ptr<StepEngine>(
        Engine::createLocal(model, program, layout, scheduler));
  }
  auto created = CopyExchange::create(
      descriptor, int32_t(&program - descriptor.programs), placement, *servers,
      model, scheduler, {options.trainers, options.keyPacking});
  if (!created)
    return created.status();
  copies = std::move(*created);
  auto engine = std::make_unique<GeoEngine>(model, program, layout, scheduler,
                                            *copies, options.geoSteps);
  trainsCopy = engine.get();
  // Fetch the initial values from the servers.
  PDLRT_RETURN_IF_ERROR(settle());
  return std::unique_ptr<StepEngine>(std::move(engine));
}

Status DistributedJob::settle() {
  if (!copies)
    return {};
  trainsCopy->noteExchange();
  return copies->settle([this] {
    int64_t here = 1;
    return sum({&here, 1}, {});
  });
}

Status DistributedJob::checkSaveFolder(const std::string &folder,
                                       const CheckpointManifest &plan) {
  // Servers write nothing if trainers have all state (`trainersApply`): trainer
  // 0 writes its own copy.
  if (options.rank != 0 || mode.trainersApply)
    return {};
  Expected<ServerGroup *> group = joinSaver();
  return group ? checkFolderOnServers(**group, folder,
                                      SavePlan::of(descriptor, plan).encode())
               : group.status();
}

Expected<std::unique_ptr<RestOfSave>>
DistributedJob::beginSave(Model &model, CheckpointWriter &writer,
                          CheckpointManifest &manifest,
                          const SaveScope &scope) {
  if (mode.trainersApply) {
    PDLRT_RETURN_IF_ERROR(settle());
    if (options.rank != 0)
      return std::unique_ptr<RestOfSave>();
    return beginLocalSave(model, writer, manifest, scope.rows);
  }
  // A run that resumes from this checkpoint has no rounding remainders.
  if (client)
    client->forgetRemainders();
  for (Worker &worker : workers) {
    if (worker.client)
      worker.client->forgetRemainders();
    if (worker.pushes)
      worker.pushes->forgetRemainders();
  }
  if (share) {
    PDLRT_RETURN_IF_ERROR(share->giveToOwner(model, owner->model()));
    // No owner starts to save before all have their parts.
    int64_t here = 1;
    if (options.trainers > 1)
      PDLRT_RETURN_IF_ERROR(sum({&here, 1}, {}));
  }
  // In modes with rounds, the servers' state does not change until this trainer
  // sends its next request.
  std::unique_ptr<RestOfSave> rest;
  Status status;
  if (options.rank == 0) {
    Expected<ServerGroup *> group = joinSaver();
    if (!group)
      return group.status();
    const StepCounts counts =
        mode.closesWithQuorum ? StepCounts::Largest : StepCounts::Equal;
    // A restart of this trainer would not know about a save in progress.
    if (goesOn())
      status = saveOnServers(**group, counts, writer, manifest, scope.rows,
                             scope.since);
    else
      status = beginSaveOnServers(**group, writer, scope.rows, scope.since);
    if (status.ok() && !goesOn())
      rest = std::make_unique<RestOnServers>(**group, counts);
  }
  // All trainers meet here, so that none pushes before all servers have started
  // to save. Otherwise the servers' parts would have the states of different
  // moments. If `goesOn()`, the save is complete already.
  if (!goesOn())
    PDLRT_RETURN_IF_ERROR(meetAfterSave());
  // Training continues after a failed save. So the error is returned only now,
  // when all processes have met.
  if (!status.ok())
    return status;
  return rest;
}

Status DistributedJob::meetAfterSave() {
  int64_t here = 1;
  return mode.stepsAreRounds ? Status() : sum({&here, 1}, {});
}

Expected<Placement> pdlrt::placementOf(const pdl_descriptor &descriptor,
                                       const DistributedOptions &options) {
  return Placement::compute(descriptor, int32_t(options.servers.size()),
                            options.trainers, options.placement);
}

Expected<std::unique_ptr<Job>> pdlrt::joinJob(const pdl_descriptor &descriptor,
                                              const DistributedOptions &options,
                                              const RunOptions &run,
                                              Transport &transport) {
  Expected<Placement> placement = placementOf(descriptor, options);
  if (!placement)
    return placement.status();
  auto job = std::make_unique<DistributedJob>(
      descriptor, options, std::move(*placement), run, transport);
  Status status = job->join();
  if (!status.ok()) {
    // The joined servers would otherwise wait for this trainer.
    job->leave(status);
    return status;
  }
  return std::unique_ptr<Job>(std::move(job));
}

bool pdlrt::anyServerResponds(const DistributedOptions &options,
                              Transport &transport) {
  constexpr ClockTime patience = std::chrono::seconds(2);
  struct Answers {
    Mutex mutex;
    ConditionVariable changed;
    size_t open PDLRT_GUARDED_BY(mutex) = 0;
    bool any PDLRT_GUARDED_BY(mutex) = false;
  };
  const auto responses = std::make_shared<Answers>();
  std::vector<std::unique_ptr<Connection>> connections;
  for (const std::string &address : options.servers) {
    auto connection = transport.connect(address);
    if (!connection)
      continue;
    connections.push_back(std::move(*connection));
    {
      const MutexLock lock(responses->mutex);
      ++responses->open;
    }
    // Send malformed bytes, which every server refuses.
    connections.back()->call(Message(), transport.clock().now() + patience,
                             [responses](const CallResult &result) {
                               const MutexLock lock(responses->mutex);
                               --responses->open;
                               responses->any |=
                                   result.outcome == CallOutcome::Responded;
                               responses->changed.notify_all();
                             });
  }
  MutexLock lock(responses->mutex);
  responses->changed.wait(lock, [&]() PDLRT_REQUIRES(responses->mutex) {
    return responses->any || responses->open == 0;
  });
  return responses->any;
}

void pdlrt::announceFailure(const pdl_descriptor &descriptor,
                            const DistributedOptions &options,
                            Transport &transport, const Status &failure) {
  const Expected<Placement> placement = placementOf(descriptor, options);
  if (!placement)
    return;
  DistributedOptions brief = options;
  brief.joinPatience =
      std::min<ClockTime>(options.joinPatience, std::chrono::seconds(3));
  DistributedJob(descriptor, brief, *placement, RunOptions(), transport)
      .announce(failure, std::chrono::minutes(1));
}
