//===- DistributedJob.cpp - A trainer among trainers and servers ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/DistributedJob.h"

#include "Job/ParameterShare.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Engine/AsyncEngine.h"
#include "pdlrt/Engine/Engine.h"
#include "pdlrt/Engine/GeoEngine.h"
#include "pdlrt/Engine/OwnRules.h"
#include "pdlrt/Engine/ServerClient.h"
#include "pdlrt/Engine/ServerCommunicator.h"
#include "pdlrt/Job/StateHost.h"
#include "pdlrt/Protocol/Handshake.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"
#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/Protocol/WorkerNumbers.h"
#include "pdlrt/State/DeviceState.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

/// What servers write beside steps.
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
  Status checkSaveFolder(const std::string &folder) override;
  Expected<std::unique_ptr<RestOfSave>>
  beginSave(Model &model, CheckpointWriter &writer,
            CheckpointManifest &manifest, const SaveScope &scope) override;
  Status awaitSaved() override;
  std::optional<int64_t> startStep() const override { return startOfServers; }
  bool mayComeBack() const override { return goesOn(); }
  void leaveBookmark(const Message &bookmark) override {
    servers->leaveNote(bookmark);
  }
  std::optional<Message> earlierBookmark() const override {
    return goesOn() && mode.workersSend ? noteOfProcess
                                        : servers->earlierNote();
  }
  void leaveWorkerBookmark(int worker, const Message &bookmark) override;
  std::vector<Message> workerBookmarks() const override;
  bool workersWereLater() const override { return workersAreLater; }
  void repeatWorker(int worker) override {
    ServerGroup &group = *workers[worker].servers;
    group.goOnWith(group.earlier().noted);
  }
  uint64_t id() const override { return servers->session(0).jobId(); }
  bool isRepeating() const override { return servers->wasSentBefore(); }
  void leave(const Status &outcome) override {
    // What speaks for the whole process comes last.
    std::vector<ServerGroup *> groups;
    for (Worker &worker : workers) {
      groups.push_back(worker.servers.get());
      groups.push_back(worker.pushServers.get());
    }
    groups.insert(groups.end(), {asker.get(), saver.get(), servers.get()});
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
      group->leaveAll(outcome.message());
    }
  }

private:
  /// A worker that sends by itself.
  struct Worker {
    std::unique_ptr<ServerGroup> servers;
    /// Of its pushes, where they travel beside steps.
    std::unique_ptr<ServerGroup> pushServers;
    /// The first worker has that of the job.
    std::unique_ptr<Model> ownMirror;
    std::unique_ptr<ServerClient> client;
    std::unique_ptr<PushQueue> pushes;
  };
  /// An owner of state, and where it listens.
  struct Owner {
    int32_t number;
    std::string address;
  };
  using EarlierStart = ServerGroupOptions::EarlierStart;
  /// What an earlier start left with a worker's last request.
  struct WorkerNote {
    /// Sums that the process had asked for before.
    uint64_t sums = 0;
    Message bookmark;
  };
  static std::optional<WorkerNote> noteOf(const Worker &worker);
  Status findPlace();
  Status meetBehindSave();
  bool goesOn() const { return options.mayComeBack && mode.newStartsGoOn; }
  Expected<std::unique_ptr<ServerGroup>>
  connect(uint32_t worker, EarlierStart earlierStart,
          std::function<bool()> shouldStop);
  std::vector<Message> handshakes(bool takesPart) const;
  Expected<std::unique_ptr<ServerGroup>> joinAs(uint32_t worker,
                                                EarlierStart earlierStart);
  /// Joins `group`, the sender `number` behind those of steps, unless it has.
  Expected<ServerGroup *> joinBeside(std::unique_ptr<ServerGroup> &group,
                                     int number);
  Expected<ServerGroup *> joinAsker() { return joinBeside(asker, 1); }
  Expected<ServerGroup *> joinSaver() { return joinBeside(saver, 2); }
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
  /// Those that this process talks to.
  std::vector<Owner> owners;
  /// Of this start of the trainer, for all of its senders. The servers give the
  /// incarnation when the first sender joins.
  StartSign start = StartSign::ofThisProcess();
  uint64_t incarnation = 0;
  RunOptions run;
  std::optional<int64_t> startOfServers;
  Transport &transport;
  std::atomic<bool> joining = true;
  std::unique_ptr<ServerGroup> servers;
  std::unique_ptr<ServerClient> client;
  std::vector<Worker> workers;
  /// Where this trainer applies the rules: what it changes, and sums of the
  /// workers of frozen programs.
  std::unique_ptr<CopyExchange> copies;
  GeoEngine *trainsCopy = nullptr;
  /// Where all trainers have all parameters on devices; null: elsewhere. The
  /// owner in this process, if it was brought.
  std::unique_ptr<ParameterShare> share;
  StateHost *owner = nullptr;
  /// As `earlierBookmark` and `workersWereLater` say, where workers send.
  std::optional<Message> noteOfProcess;
  bool workersAreLater = false;
  /// Send what changes no state, pulls and saves: senders of their own, so that
  /// a new start of this trainer need not know how much of it was done, and
  /// saves go on beside all else. Joined when they are needed.
  std::unique_ptr<ServerGroup> asker, saver;
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
  group.events.wasAskedToStop = [] { return stopSignal() != 0; };
  // Who got no signal itself ends as if by this one.
  group.events.onStopRequest = [] { noteStopSignal(SIGTERM); };
  group.report = [](const std::string &line) { logInfo(line); };
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

/// One for each owner.
std::vector<Message> DistributedJob::handshakes(bool takesPart) const {
  Handshake handshake = Handshake::of(descriptor, placement);
  handshake.trainers = options.trainers;
  handshake.workers = run.workers;
  handshake.seed = run.seed;
  handshake.resumes = run.resume;
  handshake.onFailure = options.mayComeBack ? "wait" : "abort";
  handshake.keyPacking = nameOf(options.keyPacking);
  handshake.gradientPacking = nameOf(options.gradientPacking);
  handshake.startStep = run.startStep;
  if (!run.checkpoint.empty()) {
    std::error_code error;
    handshake.checkpoint =
        std::filesystem::absolute(run.checkpoint, error).string();
  }
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
  // While others are waited for; a step is not broken off.
  auto connected = connect(worker, earlierStart,
                           [this] { return joining && stopSignal() != 0; });
  if (!connected)
    return connected;
  Expected<std::vector<Message>> answers =
      (*connected)->joinAll(handshakes(/*takesPart=*/true));
  const Status status = answers ? compareServers(*answers) : answers.status();
  if (!status.ok()) {
    // Servers that it has joined would wait for it.
    (*connected)->leaveAll(status.message());
    return status;
  }
  // It has been decoded before.
  if (const auto first = decodeHandshake(answers->front()))
    startOfServers = first->startStep;
  incarnation = (*connected)->incarnation();
  start.claim = StartSign::Claim::Decided;
  return connected;
}

Expected<ServerGroup *>
DistributedJob::joinBeside(std::unique_ptr<ServerGroup> &group, int number) {
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

/// The numbers of what worker senders note stand before a bookmark.
static constexpr size_t sumsSize = sizeof(uint64_t);

void DistributedJob::leaveWorkerBookmark(int worker, const Message &bookmark) {
  const uint64_t sums = servers->requestsSent();
  std::string note(reinterpret_cast<const char *>(&sums), sumsSize);
  note += bookmark.toString();
  workers[worker].servers->leaveNote(Message::ofString(std::move(note)));
}

std::optional<DistributedJob::WorkerNote>
DistributedJob::noteOf(const Worker &worker) {
  const ServerGroup::Earlier earlier = worker.servers->earlier();
  const std::string bytes = earlier.note.toString();
  if (earlier.noted == 0 || bytes.size() < sumsSize)
    return std::nullopt;
  WorkerNote note;
  std::memcpy(&note.sums, bytes.data(), sumsSize);
  note.bookmark = Message::ofString(bytes.substr(sumsSize));
  return note;
}

std::vector<Message> DistributedJob::workerBookmarks() const {
  std::vector<Message> all;
  for (const Worker &worker : workers) {
    const std::optional<WorkerNote> note = noteOf(worker);
    all.push_back(note ? note->bookmark : Message());
  }
  return all;
}

/// Where an earlier start of a process was whose workers send by themselves:
/// within its sums, or in steps behind them. Sums are asked for while no worker
/// steps, and the first of each row of them has a bookmark.
Status DistributedJob::findPlace() {
  uint64_t sumsBeforeSteps = 0;
  std::optional<Message> ofWorker;
  for (const Worker &worker : workers) {
    const std::optional<WorkerNote> note = noteOf(worker);
    if (note && (!ofWorker || note->sums > sumsBeforeSteps)) {
      sumsBeforeSteps = note->sums;
      ofWorker = note->bookmark;
    }
    worker.servers->goOnWith(worker.servers->earlier().firstMissing);
  }
  const ServerGroup::Earlier sums = servers->earlier();
  workersAreLater = ofWorker && sumsBeforeSteps >= sums.noted;
  if (workersAreLater) {
    servers->goOnWith(sumsBeforeSteps + 1);
    noteOfProcess = ofWorker;
    return {};
  }
  if (sums.firstMissing > 1 || servers->wasSentBefore()) {
    // Without a note it can only begin anew, with what servers still answer.
    constexpr uint64_t lastWithoutNote = 2;
    if (sums.noted == 0 && sums.firstMissing > lastWithoutNote + 1)
      return Status::invalid(
          "an earlier start of this trainer ended where it left no bookmark: "
          "end all trainers and servers, and start them from the last "
          "checkpoint");
    noteOfProcess = sums.note;
  }
  servers->goOnWith(std::max<uint64_t>(sums.noted, 1));
  return {};
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
  // Behind those that pull and save.
  for (int w = 0; w < int(workers.size()) && options.pushes.queued > 0; ++w) {
    auto other = joinAs(senderOfPushes(uint32_t(run.workers), uint32_t(w)),
                        EarlierStart::Refuse);
    if (!other)
      return other.status();
    workers[w].pushServers = std::move(*other);
  }
  if (ofSteps == EarlierStart::Ask)
    PDLRT_RETURN_IF_ERROR(findPlace());
  joining = false;
  return {};
}

/// Joins to leave with that failure, and to be refused where an earlier start
/// has joined.
void DistributedJob::announce(const Status &failure, ClockTime limit) {
  start.claim = StartSign::Claim::OnlyIfFirst;
  // Its own owner does not listen.
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
  // Servers that it cannot join are no reason to leave the others waiting.
  (void)(*connected)->joinAll(handshakes(/*takesPart=*/false));
  (*connected)->leaveAll(failure.message());
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

/// Before the first engine is made.
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
      client->askForAllValues();
  }
  if (program.frozen) {
    Expected<ServerGroup *> group = joinAsker();
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
      worker.client->askForAllValues();
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
  // What servers were told to begin with.
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

Status DistributedJob::checkSaveFolder(const std::string &folder) {
  // The first trainer writes what it holds itself.
  if (options.rank != 0 || mode.trainersApply)
    return {};
  Expected<ServerGroup *> group = joinSaver();
  return group ? checkFolderOnServers(**group, folder) : group.status();
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
  // Who goes on from here has none of these.
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
    // No owner begins before all have theirs.
    int64_t here = 1;
    if (options.trainers > 1)
      PDLRT_RETURN_IF_ERROR(sum({&here, 1}, {}));
  }
  // Where steps are rounds, servers stay between two of them until this
  // trainer's next one.
  std::unique_ptr<RestOfSave> rest;
  Status status;
  if (options.rank == 0) {
    Expected<ServerGroup *> group = joinSaver();
    if (!group)
      return group.status();
    const StepCounts counts =
        mode.closesWithQuorum ? StepCounts::Largest : StepCounts::Equal;
    // A new start of this trainer would not know of a save that goes on.
    if (goesOn())
      status = saveOnServers(**group, counts, writer, manifest, scope.rows,
                             scope.since);
    else
      status = beginSaveOnServers(**group, writer, scope.rows, scope.since);
    if (status.ok() && !goesOn())
      rest = std::make_unique<RestOnServers>(**group, counts);
  }
  // Nobody pushes before all servers have begun: their parts are of one moment.
  // A save that a new start would not know of is waited for.
  if (!goesOn())
    PDLRT_RETURN_IF_ERROR(meetBehindSave());
  // A save that servers could not begin ends no training, so others have met.
  if (!status.ok())
    return status;
  return rest;
}

Status DistributedJob::meetBehindSave() {
  int64_t here = 1;
  return mode.stepsAreRounds ? Status() : sum({&here, 1}, {});
}

Status DistributedJob::awaitSaved() {
  return goesOn() ? meetBehindSave() : Status();
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
    // Servers that it has joined would wait for it.
    job->leave(status);
    return status;
  }
  return std::unique_ptr<Job>(std::move(job));
}

bool pdlrt::anyServerAnswers(const DistributedOptions &options,
                             Transport &transport) {
  constexpr ClockTime patience = std::chrono::seconds(2);
  struct Answers {
    std::mutex mutex;
    std::condition_variable changed;
    size_t open = 0;
    bool any = false;
  };
  const auto answers = std::make_shared<Answers>();
  std::vector<std::unique_ptr<Connection>> connections;
  for (const std::string &address : options.servers) {
    auto connection = transport.connect(address);
    if (!connection)
      continue;
    connections.push_back(std::move(*connection));
    {
      const std::lock_guard lock(answers->mutex);
      ++answers->open;
    }
    // Bytes that are no request, which every server refuses.
    connections.back()->call(Message(), transport.clock().now() + patience,
                             [answers](const CallResult &result) {
                               const std::lock_guard lock(answers->mutex);
                               --answers->open;
                               answers->any |=
                                   result.outcome == CallOutcome::Answered;
                               answers->changed.notify_all();
                             });
  }
  std::unique_lock lock(answers->mutex);
  answers->changed.wait(lock,
                        [&] { return answers->any || answers->open == 0; });
  return answers->any;
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
