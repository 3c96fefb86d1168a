//===- StateHost.cpp - An owner of a job's state in a process -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/StateHost.h"

#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/Executor.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Core/RandomNumber.h"
#include "pdlrt/Core/Trace.h"
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

/// Every round waits for somebody; only a longer wait is worth a line.
static constexpr std::chrono::seconds longWait(2);
/// How often somebody who is waited for is named.
static constexpr std::chrono::seconds reportInterval(5);
static constexpr std::chrono::milliseconds pollInterval(100);
/// Senders of a trainer: itself; up to 4096 workers, each with one for its
/// pushes; and one that asks what changes nothing.
static constexpr uint32_t mostWorkers = 2 * 4096 + 2;
/// What a trainer may have sent since the last bookmark that all servers have,
/// with it: an exchange, its norms, sums for a checkpoint, the next exchange.
/// Where steps are no rounds of all there are more sums: of those at a
/// checkpoint or at the end of an epoch, with its save and its test, seven at
/// most.
static constexpr uint32_t keptAnswers = 4, keptAnswersOfMeetings = 9;
/// The same where workers send by themselves: each of their requests has a
/// bookmark, so that a new start goes back by one; the process sends sums
/// alone.
static constexpr uint32_t keptOfWorker = 2, keptSums = 12;

//===----------------------------------------------------------------------===//
// State at the start
//===----------------------------------------------------------------------===//

/// The checkpoint to go on from, if there is one.
static Expected<std::optional<Checkpoint>>
findResumed(const pdl_descriptor &descriptor, const HostOptions &options,
            Scheduler &scheduler) {
  if (!options.resume)
    return std::optional<Checkpoint>();
  std::vector<std::string> refused;
  Expected<std::optional<Checkpoint>> newest = findNewestCheckpoint(
      options.checkpoint, refused, CheckpointCheck::Everything, &scheduler);
  if (!newest)
    return newest.status();
  for (const std::string &sentence : refused)
    logWarning("passed over " + sentence);
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
      return Status::invalid(fmt::format(
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
    server.setSavedAs(saveNameOf(*resumed));
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

/// What the state begins with, so that owners that begin with different values
/// are told apart. A manifest has the digests of all files of its checkpoint.
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

/// Larger than those that an earlier life of this owner gave, so that trainers
/// which that left behind are known; and not to be guessed by strangers.
static uint64_t chooseFirstIncarnation() {
  constexpr int randomBits = 28;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  std::random_device random;
  return uint64_t(seconds.count()) << randomBits |
         (random() & ((1U << randomBits) - 1));
}

/// The dense gradients of a step, where they may come before its exchange.
static uint64_t mostPartBytes(const pdl_descriptor &descriptor,
                              const Placement &placement, int32_t owner) {
  uint64_t most = 0;
  for (int32_t p = 0; p < descriptor.program_count; ++p) {
    const Expected<ExchangeLayout> layout =
        ExchangeLayout::create(descriptor, p, placement);
    uint64_t bytes = 0;
    // What is wrong with a program is told when its state is made.
    for (int32_t c = 0; layout && c < layout->channelCount(); ++c)
      if (layout->channel(c).kind == PDL_CHANNEL_GRADIENT)
        bytes += layout->sectionBytes(owner, c);
    most = std::max(most, bytes);
  }
  return modeOf(descriptor).gradientsMayLeaveEarly() ? most : 0;
}

static ServerCoreOptions coreOptions(const pdl_descriptor &descriptor,
                                     const Placement &placement,
                                     const HostOptions &options) {
  ServerCoreOptions core;
  core.mostPartBytes =
      mostPartBytes(descriptor, placement, int32_t(options.owner));
  core.trainers = uint32_t(options.trainers);
  core.workersOfTrainer = mostWorkers;
  core.firstIncarnation = chooseFirstIncarnation();
  core.jobId = drawNumber();
  core.newStartsGoOn = modeOf(descriptor).newStartsGoOn;
  const Mode &mode = modeOf(descriptor);
  core.keptAnswers = !mode.newStartsGoOn   ? 1
                     : mode.workersSend    ? keptOfWorker
                     : mode.stepsAreRounds ? keptAnswers
                                           : keptAnswersOfMeetings;
  if (mode.newStartsGoOn && mode.workersSend)
    core.keptOfProcess = keptSums;
  core.silenceLimit = options.silenceLimit;
  core.joinLimit = options.joinLimit;
  core.onFailure =
      options.onFailure == "wait" ? FailurePolicy::Wait : FailurePolicy::Abort;
  return core;
}

Status pdlrt::checkMayWait(const pdl_descriptor &descriptor,
                           const std::string &onFailure) {
  const Mode &mode = modeOf(descriptor);
  if (onFailure != "wait" || !mode.trainersOwn())
    return {};
  return Status::invalid(fmt::format(
      "--on-failure=wait is not for mode {}: trainers own state there, which "
      "is lost with one of them; leave it out, and start the job again with "
      "--resume, or translate the model with --mode=sync",
      mode.name));
}

std::chrono::seconds pdlrt::farewellLimit(bool afterSignal) {
  return std::chrono::seconds(afterSignal ? 2 : 10);
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

struct StateHost::Parts {
  Parts(const pdl_descriptor &of, const Placement &map,
        const HostOptions &given, Clock &clock)
      : descriptor(of), placement(map), options(given),
        name(map.nameOf(given.owner)), scheduler(given.threads),
        core(std::in_place, coreOptions(of, map, given), clock, executor) {}

  /// Reads or makes the state; may take long.
  Status load();
  /// Takes the owner into the job, or fails the job with the reason.
  void loadAndOpen();
  /// Waits for what is loaded or worked on; from then on there are no requests.
  void close();

  const pdl_descriptor &descriptor;
  const Placement &placement;
  const HostOptions options;
  const std::string name;
  Scheduler scheduler;
  /// Null and none until it is loaded.
  std::unique_ptr<StateServer> state;
  std::unique_ptr<AppliedLogWriter> log;
  std::optional<LoggedApplication> logged;
  bool hasBegun = false, isOpen = false;
  std::atomic<bool> isLoaded = false;
  ThreadExecutor executor;
  std::optional<ServerCore> core;
  std::unique_ptr<Listener> listener;
};

Status StateHost::Parts::load() {
  const TraceSpan span("load");
  if (options.resume)
    core->setProgress("looking for a checkpoint in " + options.checkpoint);
  Expected<std::optional<Checkpoint>> resumed =
      findResumed(descriptor, options, scheduler);
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
  handshake.onFailure = options.onFailure;
  handshake.gradientPacking = options.packGradients;
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
      core->fail(who + status.message());
    }
  } catch (const std::bad_alloc &error) {
    core->fail(who + describeOutOfMemory(error, "made its part of the state") +
               "; use more servers, or machines with more memory");
  } catch (const std::exception &exception) {
    core->fail(who + exception.what());
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
  // Trainers that come meanwhile are told so.
  parts->executor.run([own = parts.get()] {
    Trace::nameThread("application");
    own->loadAndOpen();
  });
  parts->hasBegun = true;
}

bool StateHost::isLoaded() const { return parts->isLoaded; }

ServerCore &StateHost::core() { return *parts->core; }

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

void StateHost::sayFarewell(std::chrono::nanoseconds limit) {
  core().waitUntilTold(limit);
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
