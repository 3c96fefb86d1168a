//===- CommandLine.cpp - Flags of a compiled trainer ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Programs/Trainer/CommandLine.h"

#include "Data/RecordText.h"
#include "Programs/Trainer/ClusterFlags.h"
#include "Programs/Trainer/Command.h"
#include "Programs/Trainer/EvaluationMetrics.h"
#include "Programs/Trainer/ObservedFile.h"
#include "Programs/Trainer/ReadingFlags.h"
#include "Programs/Trainer/SessionFiles.h"
#include "Programs/Trainer/TrainCommand.h"
#include "Programs/Trainer/TrainerFlags.h"
#include "Programs/Trainer/TrainingMetrics.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Abi/ProgramDevice.h"
#include "pdlrt/Core/Allocator.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/Readiness.h"
#include "pdlrt/Core/StandardStreams.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Data/DataMetrics.h"
#include "pdlrt/Engine/StepMetrics.h"
#include "pdlrt/Files/Store.h"
#include "pdlrt/Files/TraceFile.h"
#include "pdlrt/Gemm/Compute.h"
#include "pdlrt/Gemm/KernelChoice.h"
#include "pdlrt/Gemm/TileGemm.h"
#include "pdlrt/Job/DistributedJob.h"
#include "pdlrt/Job/JobMetrics.h"
#include "pdlrt/Job/Monitor.h"
#include "pdlrt/Programs/Trainer/Session.h"
#include "pdlrt/Protocol/PackedTraining.h"
#include "pdlrt/Transport/LoopbackTransport.h"
#include "pdlrt/Transport/SealedTransport.h"
#include "pdlrt/Transport/Transport.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Checks of flags against the program
//===----------------------------------------------------------------------===//

/// Checks the flags of devices.
static Status checkDeviceFlags(const pdl_descriptor &descriptor,
                               const SessionOptions &options) {
  if (descriptor.target != PDL_TARGET_CPU)
    PDLRT_RETURN_IF_ERROR(ProgramDevice::check(
        options.device, options.distributed
                            ? options.workers
                            : options.groups * options.workers));
  return checkTablePlacement(descriptor, options);
}

/// Returns an error if the large products of a program of --compute=bf16,
/// bf16x3 or bf16x6 need instructions that this process cannot use.
static Status checkInstructions(const pdl_descriptor &descriptor) {
  const std::string program =
      fmt::format("this program was translated with --compute={}",
                  computeName(descriptor.compute));
  const bool isStrict = descriptor.numerics == PDL_NUMERICS_STRICT;
  if (descriptor.compute == PDL_COMPUTE_BF16) {
    if (!isSupported(BFloat16Isa::native))
      return Status::failedPrecondition(
          program +
          ", but this CPU has no AVX512-BF16; translate the model without it, "
          "or add --emulate-bf16 to get the numbers of numerics strict slowly");
    if (isStrict && __builtin_cpu_is("intel"))
      logWarning(program +
                 " and --numerics=strict, which is slower than f32 on Intel "
                 "CPUs (0.79 of its throughput): use numerics fast, or "
                 "translate the model without --compute=bf16 for this CPU");
  } else if (isStrict && !isSupported(TileIsa::amx)) {
    return Status::failedPrecondition(
        program +
        " and --numerics=strict, but this process cannot use AMX; translate "
        "the model with numerics fast, or add --emulate-bf16 to get the same "
        "numbers slowly");
  }
  return {};
}

/// Decides how large products of a program are computed on a CPU, and logs it
/// unless they are computed in f32. On a device its kernels decide.
static Status takeCompute(const pdl_descriptor &descriptor,
                          const SessionOptions &options) {
  const bool usesBFloat16 = descriptor.compute != PDL_COMPUTE_ELEMENT;
  if (options.emulateBFloat16 && !usesBFloat16)
    return Status::invalidArgument(
        "--emulate-bf16 is for programs that were translated with "
        "--compute=bf16, bf16x3 or bf16x6; leave it out");
  if (options.emulateBFloat16)
    emulateBFloat16();
  if (descriptor.target != PDL_TARGET_CPU)
    return {};
  setSplitsF32(!options.keepsF32);
  if (usesBFloat16 && !options.emulateBFloat16)
    PDLRT_RETURN_IF_ERROR(checkInstructions(descriptor));
  if (!usesBFloat16 &&
      (descriptor.numerics == PDL_NUMERICS_STRICT || !splitsF32()))
    return {};
  logInfo(fmt::format("products in {} use {}", computeName(descriptor.compute),
                      computeKernels(descriptor.compute, descriptor.numerics)));
  return {};
}

/// Checks that a command which needs trained values gets a file or folder with
/// them.
static Status checkInitialValues(const SessionOptions &options, bool trains) {
  if (!trains && options.initFrom.empty() && options.checkpoint.empty())
    return Status::invalidArgument(
        "--init-from is required, or --checkpoint; give the "
        "values that 'trainer train' wrote");
  if (options.initValuesOnly && options.initFrom.empty())
    return Status::invalidArgument(
        "--init-values-only says what to take of "
        "--init-from; give both, in a job with servers to "
        "the servers");
  return {};
}

/// Checks that the file with initial values exists.
static Status checkInitialFile(const SessionOptions &options) {
  std::error_code error;
  if (isInObjectStore(options.initFrom))
    return Status(pinnedInfo(options.initFrom).status())
        .withContext("--init-from");
  if (!options.initFrom.empty() &&
      !std::filesystem::exists(options.initFrom, error))
    return Status::notFound("--init-from " + options.initFrom +
                            ": there is no such file; name one with values, "
                            "such as --dump or 'pdl-checkpoint dump' write");
  return {};
}

//===----------------------------------------------------------------------===//
// Other processes
//===----------------------------------------------------------------------===//

/// Tells the other processes of the job that this process has refused its
/// flags. Otherwise they would wait for it.
static void notifyOthers(const pdl_descriptor &descriptor,
                         const SessionOptions &options, const Status &failure) {
  if (!options.distributed)
    return;
  const DistributedOptions &cluster = *options.distributed;
  RealClock clock;
  auto brief = createBriefTransport(clock, cluster.servers.size() +
                                               cluster.peers.size());
  if (!brief)
    return;
  const PackedTraining training(descriptor, cluster.gradientPacking);
  const auto sealed = createSealedTransport(
      std::move(*brief), serverCredentials(cluster.token, std::nullopt));
  announceFailure(training.descriptor(), cluster, *sealed, failure);
}

/// Returns the exit status of a command that failed.
static int exitStatusOf(const Status &failure, bool areFlagsRight) {
  if (failure.code() == PDL_CANCELLED && stopSignal() != 0)
    return statusOfSignal(stopSignal());
  const bool isUsage = !areFlagsRight && failure.code() == PDL_INVALID_ARGUMENT;
  return statusOf(isUsage ? ExitCode::Usage : exitCodeOf(failure.code()));
}

namespace {

/// The connection of a trainer to the other processes of its job.
class JobConnection {
public:
  /// Opens the connection and sets `options.transport`. If this fails, tells
  /// the other processes.
  Status open(const pdl_descriptor &descriptor, SessionOptions &options);

private:
  std::unique_ptr<RealClock> clock;
  std::unique_ptr<Transport> transport, loopback;
};

Status JobConnection::open(const pdl_descriptor &descriptor,
                           SessionOptions &options) {
  tuneAllocator();
  const DistributedOptions &cluster = *options.distributed;
  clock = std::make_unique<RealClock>();
  const Credentials credentials =
      serverCredentials(cluster.token, std::nullopt);
  Expected<std::unique_ptr<Transport>> created = createClusterTransport(*clock);
  if (!created) {
    fail(created.status());
    // A brief transport needs few file descriptors, so it may still work.
    if (auto brief = createBriefTransport(*clock, cluster.servers.size() +
                                                      cluster.peers.size()))
      announceFailure(descriptor, cluster,
                      *createSealedTransport(std::move(*brief), credentials),
                      created.status());
    return created.status();
  }
  transport = createSealedTransport(std::move(*created), credentials);
  options.transport = transport.get();
  if (options.ownerProgram) {
    loopback = createLoopbackTransport(
        *transport,
        {{cluster.peers[cluster.rank], options.ownerPlace.address}});
    options.transport = loopback.get();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// A run of the trainer, from its command line to its exit status.
class TrainerProgram {
public:
  /// `owner`: the descriptor of the owner in this process, or null.
  TrainerProgram(const pdl_descriptor &descriptor, const pdl_descriptor *owner);

  int run(int argc, char **argv);

private:
  using Run = Status (*)(const pdl_descriptor &, const SessionOptions &);
  struct Entry {
    CommandTable table;
    Run run;
    CLI::App *app = nullptr;
  };

  std::optional<int> parse(int argc, char **argv);
  int refuseWords(const CLI::ParseError &error);
  void takeOptions();
  Status takeJob();
  Status startMonitor();
  int refuse(const Status &status);
  int runCommand(const Status &compute);
  Status runTraced();
  int finish();

  bool trains() const { return command == commands.data(); }

  const pdl_descriptor &descriptor;
  const pdl_descriptor *const owner;
  TrainerFlags flags;
  SessionOptions &options = flags.session;
  CLI::App app;
  std::vector<Entry> commands;
  /// The command to run; set by `parse`.
  const Entry *command = nullptr;
  /// The descriptors that the processes of a job compare: of the trainer, and
  /// of its owner.
  std::optional<PackedTraining> training, owned;
  /// Null if --metrics-address was not given.
  std::unique_ptr<Monitor> monitor;
};

TrainerProgram::TrainerProgram(const pdl_descriptor &descriptor,
                               const pdl_descriptor *owner)
    : descriptor(descriptor), owner(owner),
      app(fmt::format("Trains and runs the model '{}', which is compiled into "
                      "this program.",
                      descriptor.model_name),
          "trainer") {
  options.threads = int(std::clamp<int64_t>(std::thread::hardware_concurrency(),
                                            1, int64_t(maxThreads)));
  app.require_subcommand(1);
  app.set_version_flag("--version", describeProgram(descriptor),
                       "Print what this program was compiled from and for");
  addMetricList(app, [] {
    declareDataMetrics();
    declareStepMetrics();
    declareJobMetrics();
    declareTrainingMetrics();
    declareEvaluationMetrics();
    return processMetrics().description();
  });
  app.add_flag_callback(
      "--print-record",
      [&descriptor] { throw CLI::CallForVersion(recordText(descriptor), 0); },
      "Print the record of the model as JSON, which 'pdl-data check' reads");
  app.set_help_flag("-h,--help", "Print this help");
  app.footer(
      "'trainer COMMAND --help' lists the flags of a command.\n"
      "Exit status: 0 done, 1 permanent failure (bad data, damaged files), "
      "2 wrong flags, 3 failure that\na restart may mend (a server that is "
      "gone, a full disk), 128 + N ended early by signal N.");
  commands.push_back({trainCommand(descriptor, flags), runTrain});
  commands.push_back({evaluateCommand(descriptor, flags), runEvaluate});
  commands.push_back({predictCommand(descriptor, flags), runPredict});
  for (Entry &each : commands)
    each.app = addCommand(app, each.table);
}

/// Reads the command line. Returns the exit status if the program has to end.
std::optional<int> TrainerProgram::parse(int argc, char **argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    if (!app.get_subcommands().empty())
      return refuseWords(error);
    return fail(ExitCode::Usage,
                std::string(argc > 1 ? argv[1] : "nothing") +
                    " is no command; give train, evaluate or predict, or "
                    "--help");
  }
  for (const Entry &each : commands)
    if (each.app->parsed())
      command = &each;
  return std::nullopt;
}

/// Reports wrong words of the command line. If the only faults are unknown
/// words after `train`, all flags have been parsed, so the failure is also
/// reported to the other processes.
int TrainerProgram::refuseWords(const CLI::ParseError &error) {
  const std::string message = wrongWords(app, error) +
                              "; 'trainer --help' and 'trainer COMMAND --help' "
                              "list what can be given";
  const int status = fail(ExitCode::Usage, message);
  if (dynamic_cast<const CLI::ExtrasError *>(&error) &&
      commands.front().app->parsed()) {
    takeOptions();
    (void)takeClusterFlags(descriptor, flags.cluster, options);
    notifyOthers(descriptor, options, Status::invalidArgument(message));
  }
  return status;
}

/// Derives options from several flags. All texts have passed their checks.
void TrainerProgram::takeOptions() {
  // Models write names as @name.
  if (options.program.starts_with('@'))
    options.program.erase(0, 1);
  options.groups = flags.replicas.groups;
  options.workers = flags.replicas.workers;
}

/// Reports a wrong flag to the user and to the other processes of the job.
int TrainerProgram::refuse(const Status &status) {
  const int exit = failUsage(status);
  notifyOthers(descriptor, options, status);
  return exit;
}

/// Takes the flags about other processes, and creates the descriptors whose
/// fingerprints processes of a job compare.
Status TrainerProgram::takeJob() {
  if (trains())
    PDLRT_RETURN_IF_ERROR(takeClusterFlags(descriptor, flags.cluster, options));
  PDLRT_RETURN_IF_ERROR(checkOffered(*command->app, command->table.flags));
  const GradientPacking packing = options.distributed
                                      ? options.distributed->gradientPacking
                                      : GradientPacking::None;
  training.emplace(descriptor, packing);
  if (options.distributed && owner)
    options.ownerProgram = &owned.emplace(*owner, packing).descriptor();
  return {};
}

int TrainerProgram::run(int argc, char **argv) {
  takeLogFormat(argc, argv);
  setLogOrigin({"trainer", 0});
  if (const std::optional<int> status = parse(argc, argv))
    return *status;
  setLogOrigin({"trainer", flags.cluster.rank});
  watchStopSignals();
  takeOptions();
  const Status summary =
      openSummary(flags.summary, "trainer " + command->table.name, descriptor,
                  flags.cluster, *command->app);
  if (const Status status = checkInitialValues(options, trains()); !status.ok())
    return failUsage(status);
  if (const Status status = takeJob(); !status.ok())
    return refuse(status);
  if (!summary.ok())
    return refuse(summary);
  if (const Status status = checkInitialFile(options); !status.ok())
    return refuse(status);
  if (const Status status = findDataFiles(options); !status.ok())
    return refuse(status);
  const Status compute = takeCompute(descriptor, options);
  if (!compute.ok() && (options.emulateBFloat16 || !options.distributed))
    return options.emulateBFloat16 ? failUsage(compute) : fail(compute);
  if (const Status status = checkSessionFiles(
          options, trains(), flags.cluster.tokenFile, flags.summary);
      !status.ok())
    return refuse(status);
  if (const Status status = startMonitor(); !status.ok()) {
    const int exit = fail(status);
    notifyOthers(descriptor, options, status);
    return exit;
  }
  return runCommand(compute);
}

/// Starts the monitoring endpoint if the user requested one.
Status TrainerProgram::startMonitor() {
  if (flags.metricsAddress.empty())
    return {};
  auto started = Monitor::start(
      flags.metricsAddress,
      {.role = "trainer",
       .rank = options.distributed ? options.distributed->rank : 0,
       .model = descriptor.model_name,
       .mode = modeOf(descriptor).name});
  if (!started)
    return std::move(started).status();
  monitor = std::move(*started);
  return {};
}

/// Runs the command. `compute`: the result of `takeCompute`.
int TrainerProgram::runCommand(const Status &compute) {
  // If flags do not fit the data, the command itself fails with the same error.
  // It also tells the other processes, so that they do not wait.
  Status wrongFlags =
      checkReadingFlags(command->table.name, descriptor, options);
  if (wrongFlags.ok())
    wrongFlags = checkDeviceFlags(descriptor, options);
  if (wrongFlags.ok())
    wrongFlags = checkProgramFlag(descriptor, options);
  if (wrongFlags.ok() && trains())
    wrongFlags = checkTrainingFlags(descriptor, options);
  if (wrongFlags.ok() && command->table.name == "evaluate" &&
      !options.output.empty())
    wrongFlags = checkObservedFile(descriptor, options);
  if (!wrongFlags.ok() && !options.distributed)
    return failUsage(wrongFlags);
  JobConnection connection;
  if (options.distributed) {
    if (const Status opened = connection.open(training->descriptor(), options);
        !opened.ok())
      return statusOf(exitCodeOf(opened.code()));
    if (!compute.ok()) {
      announceFailure(training->descriptor(), *options.distributed,
                      *options.transport, compute);
      return fail(compute);
    }
  }
  std::optional<uint64_t> linesBefore;
  options.onError = [&](const std::string &message) {
    processReadiness().fail(message);
    fail(ExitCode::Failure, message);
    linesBefore = loggedLines();
  };
  const Status status = runTraced();
  if (status.ok())
    return finish();
  // Repeat the error if other lines were printed after it.
  if (linesBefore != loggedLines())
    fail(status);
  return exitStatusOf(status, wrongFlags.ok());
}

/// Runs the command. If --trace was given, also writes the trace of all
/// threads, even if the command fails.
Status TrainerProgram::runTraced() {
  const auto run = [&] {
    return command->run(training->descriptor(), options);
  };
  if (options.trace.empty())
    return run();
  const int rank = options.distributed ? options.distributed->rank : 0;
  return traced(options.trace,
                fmt::format("trainer {} of {}", rank, descriptor.model_name),
                rank, run);
}

/// Writes the rest of the standard output. Returns the exit status for a
/// command that has succeeded.
int TrainerProgram::finish() {
  std::FILE *output = standardOutput();
  const bool isPrinted = std::fflush(output) == 0 && !std::ferror(output);
  if (!isPrinted && (isOutputUnread() || isReaderGone(STDOUT_FILENO))) {
    logWarning(
        "no process reads the standard output any more; what was printed "
        "last is lost");
    // The printed text is the result of the other commands.
    if (!trains() && stopSignal() == 0)
      return statusOf(exitCodeOf(PDL_IO_ERROR));
  } else if (!isPrinted) {
    return fail(Status::ioError(
        "cannot write to the standard output; is the disk full?"));
  }
  return stopSignal() ? statusOfSignal(stopSignal())
                      : statusOf(ExitCode::Success);
}

} // namespace

/// Returns the descriptor of the owner in a trainer's process, or null if the
/// mode has none.
static Expected<const pdl_descriptor *>
loadOwner(const pdl_descriptor &trainer,
          const pdl_descriptor *(*query)(uint32_t version)) {
  if (trainer.role != PDL_ROLE_TRAINER || !modeOf(trainer).trainersOwn())
    return static_cast<const pdl_descriptor *>(nullptr);
  if (!query)
    return Status::failedPrecondition(
        fmt::format("this program was linked without its part that owns state "
                    "(owner.o); translate the model with --mode={} --emit=exe",
                    modeOf(trainer).name));
  return loadDescriptor(query);
}

int pdlrt::runCommandLine(
    int argc, char **argv, const pdl_descriptor *(*query)(uint32_t version),
    const pdl_descriptor *(*ownerQuery)(uint32_t version)) {
  return runProgram(
      "use a smaller --batch-size, fewer --replicas, or a machine with more "
      "memory",
      [&] {
        Expected<const pdl_descriptor *> descriptor = loadDescriptor(query);
        if (!descriptor)
          return fail(descriptor.status());
        Expected<const pdl_descriptor *> owner =
            loadOwner(**descriptor, ownerQuery);
        if (!owner)
          return fail(owner.status());
        return TrainerProgram(**descriptor, *owner).run(argc, argv);
      });
}
