//===- ServerMain.cpp - The program of a server ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Programs/Server/ServerMain.h"

#include "Programs/Server/ReplayCommand.h"
#include "Programs/Server/ServerFlags.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/Allocator.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/RandomNumber.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Files/TraceFile.h"
#include "pdlrt/Protocol/PackedTraining.h"
#include "pdlrt/Server/LoggedApplication.h"
#include "pdlrt/Server/StateServer.h"
#include "pdlrt/State/StateDigest.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <new>
#include <optional>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

using namespace pdlrt;

/// Every round waits for somebody; only a longer wait is worth a line.
static constexpr std::chrono::seconds longWait(2);
/// How often somebody who is waited for is named.
static constexpr std::chrono::seconds reportInterval(5);
/// How often a request to stop is looked for.
static constexpr std::chrono::milliseconds pollInterval(100);
/// How long trainers may still ask how the job has ended; after a signal
/// somebody waits for this process too.
static constexpr std::chrono::seconds farewell(10), farewellAfterSignal(2);
/// Workers of a trainer that may send by themselves: in mode async its own and,
/// as in mode sync, one more that asks what changes nothing.
static constexpr uint32_t mostWorkers = 4096;
/// What a trainer may have sent since the last bookmark that all servers have,
/// with it: an exchange, its norms, sums for a checkpoint, the next exchange.
static constexpr uint32_t keptAnswers = 4;
/// The same where workers send by themselves: each of their requests has a
/// bookmark, so that a new start goes back by one; the process sends sums
/// alone, of which an end of an epoch has seven with its save and its test.
static constexpr uint32_t keptOfWorker = 2, keptSums = 12;

//===----------------------------------------------------------------------===//
// State at the start
//===----------------------------------------------------------------------===//

/// The checkpoint to go on from, if there is one.
static Expected<std::optional<Checkpoint>>
findResumed(const pdl_descriptor &descriptor, const ServerFlags &flags,
            Scheduler &scheduler) {
  if (!flags.resume)
    return std::optional<Checkpoint>();
  std::vector<std::string> refused;
  Expected<std::optional<Checkpoint>> newest = findNewestCheckpoint(
      flags.checkpoint, refused, CheckpointCheck::Everything, &scheduler);
  if (!newest)
    return newest.status();
  for (const std::string &sentence : refused)
    logWarning("passed over " + sentence);
  const std::optional<Checkpoint> &found = *newest;
  if (!found)
    logInfo("no checkpoint in " + flags.checkpoint + " yet: training begins");
  else
    PDLRT_RETURN_IF_ERROR(
        checkSameModel(descriptor, *found, CheckpointUse::Training));
  return newest;
}

static Expected<uint64_t> chooseSeed(const ServerFlags &flags,
                                     const std::optional<Checkpoint> &resumed) {
  std::optional<uint64_t> found;
  if (resumed) {
    found = resumed->manifest().seed;
    if (flags.seed && *flags.seed != *found)
      return Status::invalid(fmt::format(
          "{}: was trained with --seed {}, but this run has {}; leave the flag "
          "out, or train into another folder",
          resumed->path(), *found, *flags.seed));
  } else if (!flags.initFrom.empty()) {
    Expected<std::optional<uint64_t>> seed = seedOfModelFile(flags.initFrom);
    if (!seed)
      return seed.status();
    found = *seed;
  }
  return flags.seed.value_or(found.value_or(0));
}

static Status fillState(StateServer &server, const ServerFlags &flags,
                        const std::optional<Checkpoint> &resumed,
                        Scheduler &scheduler) {
  if (resumed) {
    server.setStartStep(resumed->manifest().progress.steps);
    logInfo("going on from " + resumed->path());
    return restoreModel(server.model(), *resumed, CheckpointUse::Training,
                        &scheduler);
  }
  if (!flags.initFrom.empty())
    return initializeModel(server.model(), flags.initFrom, FileCoverage::Any);
  return {};
}

//===----------------------------------------------------------------------===//
// Log
//===----------------------------------------------------------------------===//

/// The file of --log-applied.
static std::string logPath(const ServerFlags &flags) {
  std::error_code error;
  return std::filesystem::is_directory(flags.logApplied, error)
             ? fmt::format("{}/applied-{}.log", flags.logApplied, flags.rank)
             : flags.logApplied;
}

/// Before anything is loaded: whether there can be the log that is asked for.
static Status checkLog(const pdl_descriptor &descriptor,
                       const ServerFlags &flags) {
  if (flags.logApplied.empty())
    return {};
  if (const Mode &mode = modeOf(descriptor); mode.stepsAreRounds)
    return Status::invalid(fmt::format(
        "--log-applied is for modes in which requests are applied as they "
        "come, such as async; in mode {} the order is always the same",
        mode.name));
  return AppliedLogWriter::checkPath(logPath(flags))
      .withContext("--log-applied");
}

/// None where no log is asked for.
static Expected<std::unique_ptr<AppliedLogWriter>>
createLog(const ServerFlags &flags, StateServer &server) {
  if (flags.logApplied.empty())
    return std::unique_ptr<AppliedLogWriter>();
  return AppliedLogWriter::create(
      logPath(flags), {server.handshake(), digestOfState(server.model())});
}

//===----------------------------------------------------------------------===//
// Serving
//===----------------------------------------------------------------------===//

/// What a server gives to its trainers, once it is loaded. References outlive
/// it.
class LoadedServer {
public:
  LoadedServer(const pdl_descriptor &of, const ServerFlags &given,
               const Placement &map)
      : descriptor(of), flags(given), placement(map),
        scheduler(int(given.threads)) {}

  /// Reads or makes the state; may take long.
  Status load(const std::function<void(const std::string &)> &say);
  ServerApplication &application() {
    return logged ? *logged : static_cast<ServerApplication &>(*server);
  }
  /// Whether it could be loaded.
  bool isOpen() const { return opened; }
  /// Null where there is none.
  AppliedLogWriter *log() { return logWriter.get(); }
  StateServer &state() { return *server; }

private:
  const pdl_descriptor &descriptor;
  const ServerFlags &flags;
  const Placement &placement;
  Scheduler scheduler;
  bool opened = false;
  std::unique_ptr<StateServer> server;
  std::unique_ptr<AppliedLogWriter> logWriter;
  std::optional<LoggedApplication> logged;
};

Status LoadedServer::load(const std::function<void(const std::string &)> &say) {
  const TraceSpan span("load");
  if (flags.resume)
    say("looking for a checkpoint in " + flags.checkpoint);
  Expected<std::optional<Checkpoint>> resumed =
      findResumed(descriptor, flags, scheduler);
  if (!resumed)
    return resumed.status();
  Expected<uint64_t> seed = chooseSeed(flags, *resumed);
  if (!seed)
    return seed.status();
  Handshake handshake = Handshake::of(descriptor, placement);
  handshake.serverRank = flags.rank;
  handshake.trainers = flags.trainers;
  handshake.seed = *seed;
  handshake.resumes = flags.resume;
  handshake.onFailure = flags.onFailure;
  handshake.gradientPacking = flags.packGradients;
  handshake.job = flags.job;
  handshake.token = flags.token;
  const std::optional<Checkpoint> &found = *resumed;
  say(found                     ? "loading " + found->path()
      : !flags.initFrom.empty() ? "loading " + flags.initFrom
                                : std::string("making initial values"));
  Expected<std::unique_ptr<StateServer>> created =
      createStateServer({descriptor, placement, handshake, scheduler,
                         flags.checkpoint.empty() && !flags.isOpenToAll
                             ? SaveFolder()
                             : SaveFolder(flags.checkpoint)});
  if (!created)
    return created.status();
  server = std::move(*created);
  PDLRT_RETURN_IF_ERROR(fillState(*server, flags, found, scheduler));
  Expected<std::unique_ptr<AppliedLogWriter>> writer =
      createLog(flags, *server);
  if (!writer)
    return writer.status();
  logWriter = std::move(*writer);
  if (logWriter)
    logged.emplace(*server, *logWriter);
  opened = true;
  return {};
}

/// Takes the server into the job, or fails the job with the reason.
static void loadAndOpen(LoadedServer &loaded, ServerCore &core, int64_t rank) {
  const std::string who = fmt::format("server {}: ", rank);
  try {
    const Status status = loaded.load(
        [&core](const std::string &what) { core.setProgress(what); });
    if (status.ok())
      core.open(loaded.application());
    else
      core.fail(who + status.message());
  } catch (const std::bad_alloc &error) {
    core.fail(who + describeOutOfMemory(error, "made its part of the state") +
              "; use more servers, or machines with more memory");
  } catch (const std::exception &exception) {
    core.fail(who + exception.what());
  }
}

/// Waits for the end of the job; the signal that asked for it, or 0.
static int waitForEnd(ServerCore &core, const std::atomic<bool> &isLoaded,
                      LoadedServer &loaded, int64_t rank) {
  auto reported = std::chrono::steady_clock::now();
  int signal = 0;
  while (!core.waitUntilOver(pollInterval)) {
    if (signal == 0 && (signal = stopSignal()) != 0) {
      logInfo(fmt::format("server {}: told to stop, and asks trainers to stop "
                          "after the current step; a second signal ends it at "
                          "once",
                          rank));
      core.askToStop();
    }
    // Connections that it cannot take wait, and nobody hears why.
    if (isAtFileLimit())
      logWarningOnce(fmt::format("server {} takes no more connections: {}",
                                 rank, describeFileLimit()));
    if (isLoaded && loaded.log())
      if (const Status status = loaded.log()->status(); !status.ok())
        core.fail(fmt::format("server {}: {}", rank, status.message()));
    const auto now = std::chrono::steady_clock::now();
    if (now - reported < reportInterval)
      continue;
    reported = now;
    if (const std::string waiting = core.waitingFor(longWait); !waiting.empty())
      logInfo(waiting);
  }
  // It may have come with the end.
  return signal != 0 ? signal : stopSignal();
}

/// Larger than those that an earlier life of this server gave, so that trainers
/// which that left behind are known; and not to be guessed by strangers.
static uint64_t chooseFirstIncarnation() {
  constexpr int randomBits = 28;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  std::random_device random;
  return uint64_t(seconds.count()) << randomBits |
         (random() & ((1U << randomBits) - 1));
}

static ServerCoreOptions coreOptions(const pdl_descriptor &descriptor,
                                     const ServerFlags &flags) {
  ServerCoreOptions options;
  options.trainers = uint32_t(flags.trainers);
  options.workersOfTrainer = mostWorkers;
  options.firstIncarnation = chooseFirstIncarnation();
  options.jobId = drawNumber();
  const Mode &mode = modeOf(descriptor);
  options.newStartsGoOn = mode.newStartsGoOn;
  options.keptAnswers = !mode.newStartsGoOn ? 1
                        : mode.workersSend  ? keptOfWorker
                                            : keptAnswers;
  if (mode.newStartsGoOn && mode.workersSend)
    options.keptOfProcess = keptSums;
  options.silenceLimit = secondsOf(flags.silenceLimit);
  options.joinLimit = secondsOf(flags.joinPatience);
  options.onFailure =
      flags.onFailure == "wait" ? FailurePolicy::Wait : FailurePolicy::Abort;
  return options;
}

/// Ends the log, and says what steps have cost.
static Status endOf(LoadedServer &loaded, int64_t rank) {
  for (const std::string &line : costLines(loaded.state().costs()))
    logInfo(fmt::format("server {}: {}", rank, line));
  return loaded.log()
             ? loaded.log()->finish(digestOfState(loaded.state().model()))
             : Status();
}

/// Names the server once.
static std::string withRank(const std::string &sentence, int64_t rank) {
  const std::string who = fmt::format("server {}", rank);
  return sentence.starts_with(who) ? sentence : who + ": " + sentence;
}

static int serve(const pdl_descriptor &descriptor, const ServerFlags &flags,
                 const TransportFactory &makeTransport) {
  auto failed = [&](const Status &status) {
    return fail(1, fmt::format("server {}: {}", flags.rank, status.message()));
  };
  Expected<Placement> placement = Placement::compute(
      descriptor, int32_t(flags.servers.size()), flags.policy);
  if (!placement)
    return failed(placement.status());
  LoadedServer loaded(descriptor, flags, *placement);
  RealClock clock;
  Expected<std::unique_ptr<Transport>> transport = makeTransport(clock);
  if (!transport)
    return failed(transport.status());
  std::atomic<bool> isLoaded = false;
  ThreadExecutor executor;
  std::optional<ServerCore> core(std::in_place, coreOptions(descriptor, flags),
                                 clock, executor);
  Expected<std::unique_ptr<Listener>> listener =
      (*transport)->listen(flags.address, core->handler());
  if (!listener)
    return failed(listener.status());
  logInfo(fmt::format("server {} of {}: model {}, listening at {} for {} "
                      "trainer{}",
                      flags.rank, flags.servers.size(), descriptor.model_name,
                      (*listener)->address(), flags.trainers,
                      flags.trainers == 1 ? "" : "s"));
  // Trainers that come meanwhile are told so.
  executor.run([&] {
    Trace::nameThread("application");
    loadAndOpen(loaded, *core, flags.rank);
    isLoaded = true;
  });
  const int signal = waitForEnd(*core, isLoaded, loaded, flags.rank);
  const JobStatus status = core->status();
  const bool hasFailed = status.state != JobState::Finished;
  // Who reads it need not wait for trainers.
  if (hasFailed)
    fail(1, withRank(status.sentence, flags.rank));
  // Trainers ask once more, and are told how the job has ended.
  core->waitUntilTold(signal != 0 ? farewellAfterSignal : farewell);
  (*listener).reset();
  if (!isLoaded) {
    // Nobody waits for what is still being read.
    std::fflush(nullptr);
    std::_Exit(signal != 0 ? 128 + signal : 1);
  }
  // Waits for a request that is worked on: until then the state is not ours.
  core.reset();
  if (loaded.isOpen())
    if (const Status end = endOf(loaded, flags.rank); !end.ok() && !hasFailed)
      return failed(end);
  if (signal != 0)
    logInfo(fmt::format("server {}: ended by a signal", flags.rank));
  if (hasFailed)
    return signal != 0 ? 128 + signal : 1;
  logInfo(fmt::format("server {}: all trainers have left, the job is done",
                      flags.rank));
  return signal != 0 ? 128 + signal : 0;
}

static int runChecked(int argc, char **argv, const pdl_descriptor &descriptor,
                      const TransportFactory &makeTransport) {
  if (argc > 1 && std::string_view(argv[1]) == "replay")
    return runReplayCommand(argc - 1, argv + 1, descriptor);
  ServerFlags flags;
  flags.threads =
      std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, 1024);
  CLI::App app(fmt::format("Holds a part of the state of the model '{}' for "
                           "the trainers of one job.",
                           descriptor.model_name),
               "pserver");
  app.set_version_flag("--version", describeProgram(descriptor),
                       "Print what this program was compiled from and for");
  app.set_help_flag("-h,--help", "Print this help");
  addServerFlags(app, flags);
  app.footer(
      "Example, on one machine (start them in any order):\n"
      "  pserver --rank 0 --servers 127.0.0.1:7101,127.0.0.1:7102 --trainers 2 "
      "&\n"
      "  pserver --rank 1 --servers 127.0.0.1:7101,127.0.0.1:7102 --trainers 2 "
      "&\n"
      "  trainer train --rank 0 --trainers 2 --servers "
      "127.0.0.1:7101,127.0.0.1:7102 --data clicks.tsv\n"
      "The server ends by itself when all trainers have left.\n"
      "'pserver replay' applies logs of --log-applied again; 'pserver replay "
      "--help' says how.\n"
      "Exit status: 0 done, 1 the job failed, 2 bad flags, 130 or 143 ended by "
      "a signal.");
  if (std::optional<int> status =
          parseFlags(app, argc, argv, "'pserver --help' lists"))
    return *status;
  if (Status status = checkServerFlags(flags); !status.ok())
    return fail(2, status.message());
  if (descriptor.role != PDL_ROLE_PSERVER)
    return fail(1, "this program was not translated as a pserver; translate "
                   "the model with --mode=sync --emit=trainer,pserver");
  if (Status status = checkLog(descriptor, flags); !status.ok())
    return fail(2, status.message());
  if (Status status =
          checkPacking(descriptor, flags.packing, flags.onFailure == "wait");
      !status.ok())
    return fail(2, status.message());
  const PackedTraining training(descriptor, flags.packing);
  watchStopSignals();
  if (flags.trace.empty())
    return serve(training.descriptor(), flags, makeTransport);
  int exit = 0;
  // Numbers of servers follow those of trainers, so that traces can be joined.
  const Status written =
      traced(flags.trace,
             fmt::format("server {} of {}", flags.rank, descriptor.model_name),
             flags.trainers + flags.rank, [&] {
               exit = serve(training.descriptor(), flags, makeTransport);
               return Status();
             });
  return written.ok() ? exit : fail(1, written.message());
}

int pdlrt::runServer(int argc, char **argv,
                     const pdl_descriptor *(*query)(uint32_t version),
                     const TransportFactory &makeTransport) {
  return runProgram(1, "use more servers, or machines with more memory", [&] {
    tuneAllocator();
    Expected<const pdl_descriptor *> descriptor = loadDescriptor(query);
    if (!descriptor)
      return fail(1, descriptor.status().message());
    return runChecked(argc, argv, **descriptor, makeTransport);
  });
}
