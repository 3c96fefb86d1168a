//===- ServerMain.cpp - Program of a server -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Programs/Server/ServerMain.h"

#include "Programs/Server/ReplayCommand.h"
#include "Programs/Server/ServerFlags.h"
#include "Programs/Server/ServerMetricLog.h"
#include "Programs/Server/ServerMonitor.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/Allocator.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/Readiness.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Files/RunSummary.h"
#include "pdlrt/Files/TraceFile.h"
#include "pdlrt/Job/JobMetrics.h"
#include "pdlrt/Job/Monitor.h"
#include "pdlrt/Job/ServerSaves.h"
#include "pdlrt/Job/StateHost.h"
#include "pdlrt/Protocol/PackedTraining.h"
#include "pdlrt/Server/AppliedLog.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/Table/EmbeddingTable.h"
#include "pdlrt/Transport/SealedTransport.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <thread>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Log
//===----------------------------------------------------------------------===//

/// Returns the path of the --log-applied file.
static std::string logPath(const ServerFlags &flags) {
  std::error_code error;
  return std::filesystem::is_directory(flags.logApplied, error)
             ? fmt::format("{}/applied-{}.log", flags.logApplied, flags.rank)
             : flags.logApplied;
}

/// Checks that the requested log can be written, before anything is loaded.
static Status checkLog(const pdl_descriptor &descriptor,
                       const ServerFlags &flags) {
  if (flags.logApplied.empty())
    return {};
  if (const Mode &mode = modeOf(descriptor); mode.stepsAreRounds)
    return Status::invalidArgument(fmt::format(
        "--log-applied is for modes in which requests are applied as they "
        "come, such as async; in mode {} the order is always the same",
        mode.name));
  return AppliedLogWriter::checkPath(logPath(flags))
      .withContext("--log-applied");
}

//===----------------------------------------------------------------------===//
// Serving
//===----------------------------------------------------------------------===//

static HostOptions hostOptions(const pdl_descriptor &descriptor,
                               const ServerFlags &flags) {
  HostOptions options;
  options.savesBeforeLoss = serversMaySave(descriptor, flags.onFailure);
  options.owner = int32_t(flags.rank);
  options.trainers = int32_t(flags.trainers);
  options.job = flags.job;
  options.seed = flags.seed;
  options.initFrom = flags.initFrom;
  options.initValuesOnly = flags.initValuesOnly;
  options.acceptOldLayout = flags.acceptOldLayout;
  options.checkpoint = flags.checkpoint;
  options.resume = flags.resume;
  // If other hosts may take part without a secret, a trainer must not choose
  // the folder that this server writes to. Without --checkpoint, it then saves
  // nowhere.
  if (!flags.checkpoint.empty() || flags.isOpenToAll)
    options.saves = SaveFolder(flags.checkpoint);
  if (!flags.emergencyCheckpoint.empty())
    options.saves.allowAlso(flags.emergencyCheckpoint);
  options.onFailure = flags.onFailure;
  options.packGradients = flags.packGradients;
  options.bounds = flags.bounds;
  if (!flags.logApplied.empty())
    options.logApplied = logPath(flags);
  options.tableBound = flags.tableBound;
  options.threads = int(flags.threads);
  options.silenceLimit = secondsOf(flags.silenceLimit);
  options.joinLimit = secondsOf(flags.joinPatience);
  return options;
}

/// Waits for the end of the job. Returns the signal that has requested the end,
/// or 0.
static int waitForEnd(StateHost &host, ServerSaves &saves,
                      ServerMonitor *monitor, ServerMetricLog &metricLog) {
  int signal = 0;
  host.waitUntilOver([&] {
    if (signal == 0 && (signal = stopSignal()) != 0) {
      logInfo(host.name() + ": told to stop, and asks trainers to stop after "
                            "the current step; a second signal ends it at "
                            "once");
      host.core().requestStop();
    }
    saves.poll();
    if (monitor)
      monitor->update();
    metricLog.update();
    // Connections without a free file descriptor wait, so tell the user why.
    if (!hasFilesToSpare())
      logWarningOnce(host.name() +
                     " takes no more connections: " + describeFileLimit());
    if (const Status status = host.logStatus(); !status.ok())
      logWarningOnce(host.name() + ": " + status.message() +
                     "; the job goes on without --log-applied, and what is "
                     "there of the log cannot be replayed");
  });
  // The signal may have arrived at the end of the job.
  return signal != 0 ? signal : stopSignal();
}

/// Returns a message that begins with the name of the server.
static std::string withRank(const std::string &message, int64_t rank) {
  const std::string who = fmt::format("server {}", rank);
  return message.starts_with(who) ? message : who + ": " + message;
}

/// Adds the counts and the tables of a server to its summary. Call after
/// `StateHost::finish`.
static void summarizeServer(StateHost &host) {
  RunSummary &summary = processSummary();
  if (!summary.isOpen() || !host.hasState())
    return;
  const ServerCosts costs = host.application().costs();
  summary.set("server", {{"steps", costs.steps},
                         {"late_gradients", costs.late},
                         {"dropped_gradients", costs.dropped},
                         {"messages", costs.messages},
                         {"received_bytes", costs.bytesReceived},
                         {"sent_bytes", costs.bytesSent},
                         {"seconds", costs.elapsed},
                         {"cpu_seconds", costs.cpu}});
  const Model &model = host.model();
  nlohmann::ordered_json tables = nlohmann::ordered_json::array();
  for (int32_t i = 0; i < model.descriptor().symbol_count; ++i)
    if (const EmbeddingTable *table = model.table(i))
      tables.push_back({{"name", model.descriptor().symbols[i].name},
                        {"rows", table->size()},
                        {"bytes", table->memoryBytes()}});
  summary.set("tables", std::move(tables));
}

static int serve(const pdl_descriptor &descriptor, const ServerFlags &flags,
                 const TransportFactory &makeTransport) {
  auto failed = [&](const Status &status) {
    return fail(
        Status(status).withContext(fmt::format("server {}", flags.rank)));
  };
  Expected<Placement> placement =
      Placement::compute(descriptor, int32_t(flags.servers.size()),
                         int32_t(flags.trainers), flags.placement);
  if (!placement)
    return failed(placement.status());
  RealClock clock;
  Expected<std::unique_ptr<Transport>> transport = makeTransport(clock);
  if (!transport)
    return failed(transport.status());
  const std::unique_ptr<Transport> sealed = createSealedTransport(
      std::move(*transport), serverCredentials(flags.token, flags.readerToken));
  const HostOptions options = hostOptions(descriptor, flags);
  std::unique_ptr<Monitor> endpoint;
  if (!flags.metricsAddress.empty()) {
    auto started =
        Monitor::start(flags.metricsAddress, {.role = "server",
                                              .rank = flags.rank,
                                              .model = descriptor.model_name,
                                              .mode = modeOf(descriptor).name});
    if (!started)
      return failed(started.status());
    endpoint = std::move(*started);
  }
  ServerMetricLog metricLog;
  if (!flags.logMetrics.empty())
    if (const Status status =
            metricLog.open(flags.logMetrics, /*appends=*/flags.resume,
                           flags.logMetricsSeconds, flags.rank);
        !status.ok())
      return failed(status);
  StateHost host(descriptor, *placement, options, clock);
  ServerSaves saves(
      descriptor, options, host, *sealed,
      {flags.servers, flags.checkpointMinutes, flags.emergencyCheckpoint});
  if (const Status status = host.listen(*sealed, flags.address); !status.ok())
    return failed(status);
  logInfo(fmt::format("server {} of {}: model {}, listening at {} for {} "
                      "trainer{}",
                      flags.rank, flags.servers.size(), descriptor.model_name,
                      host.address(), flags.trainers,
                      flags.trainers == 1 ? "" : "s"));
  std::optional<ServerMonitor> monitor;
  if (endpoint || metricLog.isOpen())
    monitor.emplace(host);
  host.load();
  const int signal =
      waitForEnd(host, saves, monitor ? &*monitor : nullptr, metricLog);
  monitor.reset();
  const JobStatus status = host.core().status();
  const bool hasFailed = status.state != JobState::Finished;
  const std::string reason = withRank(status.message, flags.rank);
  // Report the reason before waiting for trainers.
  const ExitCode code = exitCodeOf(status.failure().code());
  if (hasFailed) {
    processReadiness().fail(reason);
    fail(code, reason);
  }
  const uint64_t linesBefore = loggedLines();
  // Trainers send further requests, whose responses tell them how the job has
  // ended.
  host.announceExit(exitAnnouncementLimit(/*afterSignal=*/signal != 0));
  if (!host.isLoaded()) {
    // Do not wait for files that are still being loaded.
    const int exit = signal != 0 ? statusOfSignal(signal) : statusOf(code);
    endProgram(exit);
    std::fflush(nullptr);
    std::_Exit(exit);
  }
  if (const Status end = host.finish(); !end.ok())
    logWarningOnce(host.name() + ": " + end.message() +
                   "; the job goes on without --log-applied, and what is "
                   "there of the log cannot be replayed");
  summarizeServer(host);
  if (metricLog.isOpen() && host.hasState())
    host.model().noteTableSizes();
  metricLog.finish();
  if (signal != 0)
    logInfo(fmt::format("server {}: ended by a signal", flags.rank));
  if (hasFailed) {
    // Repeat the reason if other lines were printed after it.
    if (loggedLines() != linesBefore)
      fail(code, reason);
    return signal != 0 ? statusOfSignal(signal) : statusOf(code);
  }
  logInfo(fmt::format("server {}: all trainers have left, the job is done",
                      flags.rank));
  return signal != 0 ? statusOfSignal(signal) : statusOf(code);
}

static int runChecked(int argc, char **argv, const pdl_descriptor &descriptor,
                      const TransportFactory &makeTransport) {
  takeLogFormat(argc, argv);
  setLogOrigin({"pserver", std::nullopt});
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
  addMetricList(app, [] {
    declareJobMetrics();
    return processMetrics().description();
  });
  app.set_help_flag("-h,--help", "Print this help");
  const FlagTable table = serverFlags(findMode(descriptor.mode), flags);
  addFlags(app, table);
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
      "Exit status: 0 done, 1 permanent failure of the job, 2 wrong flags, 3 "
      "failure that a restart of\nthe job may mend (a trainer that is gone, a "
      "full disk), 128 + N ended by signal N.");
  if (std::optional<int> status =
          parseFlags(app, argc, argv, "'pserver --help' lists"))
    return *status;
  setLogOrigin({"pserver", flags.rank});
  if (Status status =
          openSummary(flags.summary, "pserver", descriptor, flags, app);
      !status.ok())
    return failUsage(status);
  if (Status status = checkOffered(app, table); !status.ok())
    return failUsage(status);
  if (Status status = checkServerFlags(descriptor, flags); !status.ok())
    return failUsage(status);
  if (descriptor.role != PDL_ROLE_PSERVER)
    return fail(ExitCode::Failure,
                "this program was not translated as a pserver; translate "
                "the model with --mode=sync --emit=trainer,pserver");
  if (Status status = checkMayWait(descriptor, flags.onFailure); !status.ok())
    return failUsage(status);
  if (Status status = checkLog(descriptor, flags); !status.ok())
    return failUsage(status);
  if (Status status = checkPacking(descriptor, flags.packGradients,
                                   flags.onFailure == FailurePolicy::Wait);
      !status.ok())
    return failUsage(status);
  const PackedTraining training(descriptor, flags.packGradients);
  watchStopSignals();
  if (flags.trace.empty())
    return serve(training.descriptor(), flags, makeTransport);
  int exit = 0;
  // Numbers of servers follow those of trainers, so that traces can be merged.
  const Status written =
      traced(flags.trace,
             fmt::format("server {} of {}", flags.rank, descriptor.model_name),
             flags.trainers + flags.rank, [&] {
               exit = serve(training.descriptor(), flags, makeTransport);
               return Status();
             });
  return written.ok() ? exit : fail(written);
}

int pdlrt::runServer(int argc, char **argv,
                     const pdl_descriptor *(*query)(uint32_t version),
                     const TransportFactory &makeTransport) {
  return runProgram("use more servers, or machines with more memory", [&] {
    tuneAllocator();
    Expected<const pdl_descriptor *> descriptor = loadDescriptor(query);
    if (!descriptor)
      return fail(descriptor.status());
    return runChecked(argc, argv, **descriptor, makeTransport);
  });
}
