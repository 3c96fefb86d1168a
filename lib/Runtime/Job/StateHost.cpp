//===- StateHost.cpp - Owner of a job's state in a process ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/StateHost.h"

#include "Checkpoint/NewestUpTo.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/Executor.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Core/RandomNumber.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Files/Store.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Server/LoggedApplication.h"
#include "pdlrt/Server/StateServer.h"
#include "pdlrt/State/StateDigest.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <random>
#include <utility>
#include <vector>

using namespace pdlrt;

/// Minimum length of a wait that is logged. Shorter waits are normal, because a
/// round always waits for its slowest trainer.
static constexpr std::chrono::seconds longWait(2);
/// Interval at which a wait is logged.
static constexpr std::chrono::seconds reportInterval(5);
static constexpr std::chrono::milliseconds pollInterval(100);
/// Maximum number of additional senders of a trainer: up to 4096 workers, a
/// sender of pushes for each of them, one for pulls and one for saves.
static constexpr uint32_t maxWorkers = 2 * 4096 + 2;
/// Number of responses to store for each sender. A trainer may repeat all
/// requests that it has sent since the last recovery record that all servers
/// have. In modes with rounds these are at most an exchange, its norms, sums
/// for a checkpoint, and the next exchange. In other modes there are more sums:
/// at most seven at a checkpoint, or at the end of an epoch with its save and
/// test.
static constexpr uint32_t keptResponses = 4, keptResponsesOfMeetings = 9;
/// Number of responses to store in modes in which workers send requests. Each
/// request of a worker has a recovery record, so a restart repeats only one of
/// its requests. The process itself sends only sums.
static constexpr uint32_t keptOfWorker = 2, keptSums = 12;

//===----------------------------------------------------------------------===//
// State at the start
//===----------------------------------------------------------------------===//

/// Finds the newest checkpoint that is complete on this server and on all other
/// servers of the job. `agree` reports a checkpoint to server 0; null if only
/// this server matters. `parts` selects the files that this server reads.
static Expected<std::optional<Checkpoint>>
findCommonCheckpoint(const std::string &folder, const PartSelection &parts,
                     const StateHost::AgreeOnResume &agree,
                     std::vector<std::string> &refused, Scheduler &scheduler) {
  int64_t maxSteps = INT64_MAX;
  while (true) {
    Expected<std::optional<Checkpoint>> newest =
        findNewestUpTo(folder, maxSteps, refused, parts, &scheduler);
    if (!agree)
      return newest;
    Expected<int64_t> found = int64_t(-1);
    std::string path;
    if (!newest) {
      found = newest.status();
    } else if (const std::optional<Checkpoint> &checkpoint = *newest) {
      found = checkpoint->manifest().progress.steps;
      path = checkpoint->path();
    }
    const Expected<int64_t> agreed = agree(found);
    if (!agreed)
      return agreed.status();
    if (*agreed >= *found)
      return newest;
    refused.push_back(path + ", which is not whole on all servers");
    maxSteps = *agreed;
  }
}

/// Returns the checkpoint to resume from, if there is one.
static Expected<std::optional<Checkpoint>>
findResumed(const pdl_descriptor &descriptor, const Placement &placement,
            const HostOptions &options, const StateHost::AgreeOnResume &agree,
            Scheduler &scheduler) {
  if (!options.resume)
    return std::optional<Checkpoint>();
  // Owners that do not agree must all find the same damage.
  const bool isShared = agree && !modeOf(descriptor).trainersOwn();
  const PartSelection parts =
      isShared ? partsOfOwner(descriptor, placement, options.owner,
                              isInObjectStore(options.checkpoint))
               : CheckpointCheck::Everything;
  std::vector<std::string> refused;
  Expected<std::optional<Checkpoint>> newest = findCommonCheckpoint(
      options.checkpoint, parts, agree, refused, scheduler);
  if (!newest)
    return newest.status();
  for (const std::string &message : refused)
    logWarning("passed over " + message);
  const std::optional<Checkpoint> &found = *newest;
  if (!found) {
    logInfo("no checkpoint in " + options.checkpoint + " yet: training begins");
    return newest;
  }
  OldLayout old = {.accepted = options.acceptOldLayout, .unchecked = {}};
  PDLRT_RETURN_IF_ERROR(
      checkSameModel(descriptor, *found, CheckpointUse::Training, &old));
  warnOfOldLayout(found->path(), old);
  return newest;
}

Expected<uint64_t> pdlrt::seedOfStart(std::optional<uint64_t> asked,
                                      const Checkpoint *resumed,
                                      const std::string &initFrom) {
  std::optional<uint64_t> found;
  if (resumed) {
    found = resumed->manifest().seed;
    if (asked && *asked != *found)
      return Status::failedPrecondition(fmt::format(
          "{}: was trained with --seed {}, but this run has {}; leave the flag "
          "out, or train into another folder",
          resumed->path(), *found, *asked));
  } else if (!initFrom.empty()) {
    Expected<std::optional<uint64_t>> seed = seedOfModelFile(initFrom);
    if (!seed)
      return seed.status();
    found = *seed;
  }
  return asked.value_or(found.value_or(0));
}

static Status fillState(StateServer &server, const HostOptions &options,
                        const std::optional<Checkpoint> &resumed,
                        Scheduler &scheduler) {
  if (resumed) {
    server.setStartStep(resumed->manifest().progress.steps);
    logInfo("going on from " + resumed->path());
    server.saves().setSavedAs(saveNameOf(*resumed));
    return restoreModel(server.model(), *resumed, CheckpointUse::Training,
                        &scheduler);
  }
  if (options.initFrom.empty())
    return {};
  PDLRT_RETURN_IF_ERROR(initializeModel(
      server.model(), options.initFrom,
      coverageOfTraining(options.initValuesOnly), options.acceptOldLayout));
  server.noteLoaded();
  return {};
}

/// Describes the initial state in a text. Owners compare these texts, so that
/// different initial states are detected. The digest of a manifest covers all
/// files of the checkpoint, because the manifest contains their digests.
static Expected<std::string>
describeStart(const HostOptions &options,
              const std::optional<Checkpoint> &resumed) {
  if (resumed)
    return fmt::format("a checkpoint of {} steps (digest {:016x})",
                       resumed->manifest().progress.steps,
                       resumed->link().digest);
  if (options.initFrom.empty())
    return std::string("initial values");
  Expected<SafetensorsFile> file = SafetensorsFile::open(options.initFrom);
  if (!file)
    return file.status();
  const Expected<FileDigest> digest = file->digest();
  if (!digest)
    return digest.status();
  return fmt::format("an --init-from file of {} bytes (digest {:016x}){}",
                     digest->bytes, digest->hash,
                     options.initValuesOnly ? ", its values only" : "");
}

/// Returns the first incarnation to assign. It is larger than all that an
/// earlier process of this owner has assigned, so that trainers of that process
/// are recognized. It is partly random, so that other programs cannot guess it.
static uint64_t chooseFirstIncarnation() {
  constexpr int randomBits = 28;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  std::random_device random;
  return uint64_t(seconds.count()) << randomBits |
         (random() & ((1U << randomBits) - 1));
}

/// Returns the largest number of bytes of a step's dense gradients for this
/// owner, over all programs. Returns 0 if the mode does not send gradients
/// before the exchange.
static uint64_t maxPartBytes(const pdl_descriptor &descriptor,
                             const Placement &placement, int32_t owner) {
  uint64_t most = 0;
  for (int32_t p = 0; p < descriptor.program_count; ++p) {
    const Expected<ExchangeLayout> layout =
        ExchangeLayout::create(descriptor, p, placement);
    uint64_t bytes = 0;
    // If there is no layout, counts 0 bytes: the error is reported when the
    // state is created.
    for (int32_t c = 0; layout && c < layout->channelCount(); ++c)
      if (layout->channel(c).kind == PDL_CHANNEL_GRADIENT)
        bytes += layout->sectionBytes(owner, c);
    most = std::max(most, bytes);
  }
  return modeOf(descriptor).gradientsMayLeaveEarly() ? most : 0;
}

static ServerCoreOptions coreOptions(const pdl_descriptor &descriptor,
                                     const Placement &placement,
                                     const HostOptions &options,
                                     uint64_t jobId) {
  ServerCoreOptions core;
  core.maxPartBytes =
      maxPartBytes(descriptor, placement, int32_t(options.owner));
  core.trainers = uint32_t(options.trainers);
  core.workersOfTrainer = maxWorkers;
  core.firstIncarnation = chooseFirstIncarnation();
  core.jobId = jobId;
  core.restartsContinue = modeOf(descriptor).restartsContinue;
  const Mode &mode = modeOf(descriptor);
  core.keptResponses = !mode.restartsContinue ? 1
                       : mode.workersSend     ? keptOfWorker
                       : mode.stepsAreRounds  ? keptResponses
                                              : keptResponsesOfMeetings;
  if (mode.restartsContinue && mode.workersSend)
    core.keptOfProcess = keptSums;
  core.savesBeforeLoss = options.savesBeforeLoss;
  core.silenceLimit = options.silenceLimit;
  core.joinLimit = options.joinLimit;
  core.onFailure = options.onFailure;
  return core;
}

const char *pdlrt::nameOf(FailurePolicy policy) {
  return policy == FailurePolicy::Wait ? "wait" : "abort";
}

Status pdlrt::checkMayWait(const pdl_descriptor &descriptor,
                           FailurePolicy onFailure) {
  const Mode &mode = modeOf(descriptor);
  if (onFailure != FailurePolicy::Wait || !mode.trainersOwn())
    return {};
  return Status::invalidArgument(fmt::format(
      "--on-failure=wait is not for mode {}: trainers own state there, which "
      "is lost with one of them; leave it out, and start the job again with "
      "--resume, or translate the model with --mode=sync",
      mode.name));
}

std::chrono::seconds pdlrt::exitAnnouncementLimit(bool afterSignal) {
  return std::chrono::seconds(afterSignal ? 2 : 10);
}

//===----------------------------------------------------------------------===//
// StateHost
//===----------------------------------------------------------------------===//

struct StateHost::Parts {
  Parts(const pdl_descriptor &of, const Placement &map,
        const HostOptions &given, Clock &clock)
      : descriptor(of), placement(map), options(given),
        name(map.nameOf(given.owner)), scheduler(given.threads),
        core(std::make_unique<ServerCore>(coreOptions(of, map, given, jobId),
                                          clock, executor)) {}

  /// Loads or creates the state; may take long.
  Status load();
  /// Opens the core with the loaded state, or fails the job with the reason.
  void loadAndOpen();
  /// Waits for loading or a request in progress. No requests arrive afterwards.
  void close();

  const pdl_descriptor &descriptor;
  const Placement &placement;
  const HostOptions options;
  const std::string name;
  const uint64_t jobId = drawNumber();
  AgreeOnResume agree;
  Scheduler scheduler;
  /// Null or empty until the state is loaded.
  std::unique_ptr<StateServer> state;
  std::unique_ptr<AppliedLogWriter> log;
  std::optional<LoggedApplication> logged;
  bool hasBegun = false, isOpen = false;
  std::atomic<bool> isLoaded = false;
  ThreadExecutor executor;
  std::unique_ptr<ServerCore> core;
  std::unique_ptr<Listener> listener;
};

Status StateHost::Parts::load() {
  const TraceSpan span("load");
  if (options.resume)
    core->setProgress("looking for a checkpoint in " + options.checkpoint);
  Expected<std::optional<Checkpoint>> resumed =
      findResumed(descriptor, placement, options, agree, scheduler);
  if (!resumed)
    return resumed.status();
  const std::optional<Checkpoint> &found = *resumed;
  Expected<uint64_t> seed =
      seedOfStart(options.seed, found ? &*found : nullptr, options.initFrom);
  if (!seed)
    return seed.status();
  Handshake handshake = Handshake::of(descriptor, placement);
  handshake.serverRank = options.owner;
  handshake.trainers = options.trainers;
  handshake.seed = *seed;
  handshake.resumes = options.resume;
  handshake.onFailure = nameOf(options.onFailure);
  handshake.gradientPacking = nameOf(options.packGradients);
  handshake.job = options.job;
  core->setProgress(found                       ? "loading " + found->path()
                    : !options.initFrom.empty() ? "loading " + options.initFrom
                                                : "making initial values");
  Expected<std::string> start = describeStart(options, found);
  if (!start)
    return start.status();
  handshake.start = *std::move(start);
  Expected<std::unique_ptr<StateServer>> created =
      createStateServer({descriptor, placement, handshake, scheduler,
                         options.saves, options.bounds, options.tableBound});
  if (!created)
    return created.status();
  state = std::move(*created);
  PDLRT_RETURN_IF_ERROR(state->model().boundTables(options.tableBound));
  PDLRT_RETURN_IF_ERROR(fillState(*state, options, found, scheduler));
  if (options.logApplied.empty())
    return {};
  Expected<std::unique_ptr<AppliedLogWriter>> writer = AppliedLogWriter::create(
      options.logApplied, {state->handshake(), digestOfState(state->model())});
  if (!writer)
    return writer.status();
  log = std::move(*writer);
  logged.emplace(*state, *log);
  return {};
}

void StateHost::Parts::loadAndOpen() {
  const std::string who = name + ": ";
  try {
    const Status status = load();
    if (status.ok()) {
      isOpen = true;
      core->open(logged ? *logged : static_cast<ServerApplication &>(*state));
    } else {
      core->fail(Status(status).withContext(name));
    }
  } catch (const std::bad_alloc &error) {
    core->fail(Status::outOfMemory(
        who + describeOutOfMemory(error, "made its part of the state") +
        "; use more servers, or machines with more memory"));
  } catch (const std::exception &exception) {
    core->fail(Status::internal(who + exception.what()));
  }
  isLoaded = true;
  isLoaded.notify_all();
}

void StateHost::Parts::close() {
  listener.reset();
  if (hasBegun)
    isLoaded.wait(false);
  core.reset();
}

StateHost::StateHost(const pdl_descriptor &descriptor,
                     const Placement &placement, const HostOptions &options,
                     Clock &clock)
    : parts(std::make_unique<Parts>(descriptor, placement, options, clock)) {}

StateHost::~StateHost() { parts->close(); }

const std::string &StateHost::name() const { return parts->name; }

Status StateHost::listen(Transport &transport, const std::string &address) {
  Expected<std::unique_ptr<Listener>> listener =
      transport.listen(address, parts->core->handler());
  if (!listener)
    return listener.status();
  parts->listener = std::move(*listener);
  return {};
}

const std::string &StateHost::address() const {
  return parts->listener->address();
}

void StateHost::load() {
  // Trainers that join meanwhile are told to wait.
  parts->executor.run([own = parts.get()] {
    Trace::nameThread("application");
    own->loadAndOpen();
  });
  parts->hasBegun = true;
}

bool StateHost::isLoaded() const { return parts->isLoaded; }

ServerCore &StateHost::core() { return *parts->core; }

void StateHost::agreeOnResume(AgreeOnResume agree) {
  parts->agree = std::move(agree);
}

bool StateHost::hasState() const { return parts->isOpen; }

StateServer &StateHost::application() { return *parts->state; }

uint64_t StateHost::jobId() const { return parts->jobId; }

const Model &StateHost::model() const { return parts->state->model(); }

Model &StateHost::model() { return parts->state->model(); }

Status StateHost::logStatus() const {
  return parts->isLoaded && parts->log ? parts->log->status() : Status();
}

void StateHost::waitUntilOver(const std::function<void()> &poll) {
  auto reported = std::chrono::steady_clock::now();
  while (!core().waitUntilOver(pollInterval)) {
    poll();
    const auto now = std::chrono::steady_clock::now();
    if (now - reported < reportInterval)
      continue;
    reported = now;
    if (const std::string waiting = core().waitingFor(longWait);
        !waiting.empty())
      logInfo(waiting);
  }
}

void StateHost::announceExit(std::chrono::nanoseconds limit) {
  core().waitUntilNotified(limit);
  parts->listener.reset();
}

Status StateHost::finish() {
  const std::string staleness = describeStaleness(core().staleness());
  parts->close();
  if (!parts->isOpen)
    return {};
  std::vector<std::string> lines = costLines(parts->state->costs());
  if (!lines.empty() && !staleness.empty())
    lines.push_back(staleness);
  for (const std::string &line : lines)
    logInfo(parts->name + ": " + line);
  return parts->log ? parts->log->finish(digestOfState(parts->state->model()))
                    : Status();
}
