//===- pdl-serve.cpp - Inference server -----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batcher.h"
#include "GrpcServer.h"
#include "HttpServer.h"
#include "ModelCache.h"
#include "Repository.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/Store.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::Flag;
using pdlrt::FlagValue;
using pdlrt::Status;

namespace {

/// Part of an export's tables that is compared with checksums.
enum class Verify { Head, Full };

struct Options {
  std::string folder;
  std::vector<std::string> http, grpc;
  BatchOptions batch;
  double batchDelay = 0.0;
  HttpOptions connections;
  double idle = 300, request = 120;
  size_t maxRequestMebibytes = 64;
  /// Absent: a multiple of the maximum size of a request.
  std::optional<size_t> maxMemoryMebibytes;
  int64_t maxSamples = int64_t(1) << 16;
  LoadOptions load;
  Verify verify = Verify::Head;
  std::vector<std::string> required;
  std::string cacheFolder;
  std::optional<uint64_t> cacheBytes;
  /// Absent: `folderInterval` or `storeInterval`.
  std::optional<double> interval;
  double grace = 30;
};

} // namespace

/// Default of --interval for a folder of this host and for a store, in seconds.
static constexpr double folderInterval = 0.5, storeInterval = 10;

/// Help text. The information that operators need most is at its beginning.
static const char *const description =
    "Serves predictions of models over HTTP and gRPC, with the V2 inference "
    "protocol.\n\n"
    "  pdl-serve MODELS [flags]\n\n"
    "MODELS/NAME/VERSION/ contains a library, made by pdl-translate "
    "--emit=library, and its values. These are one of:\n"
    "  checkpoints    a folder of checkpoints, or a link to one; the newest "
    "complete checkpoint is served\n"
    "  export         a folder that pdl-checkpoint export wrote\n"
    "  *.safetensors  one dump\n"
    "  servers.json   the servers of a running job that have the values (a "
    "library of --servers)\n"
    "VERSION is a whole number from 1. Other names are ignored: prepare a "
    "version under another name,\nsuch as .2, and rename it. A version that is "
    "removed from the folder is no longer served. If a version\ncannot be "
    "loaded, the log and the metrics report it, and the values loaded before "
    "stay in use.\n\n"
    "  GET  /v2/health/live, /v2/health/ready     GET /v2      GET /metrics\n"
    "  GET  /v2/models/NAME[/versions/VERSION][/ready]\n"
    "  POST /v2/models/NAME[/versions/VERSION]/infer\n\n"
    "NAME is the model's program @predict, or else its first program; "
    "NAME@PROGRAM is another one. Without a\nversion, the highest one "
    "responds. "
    "After SIGTERM or Ctrl-C, no new requests are accepted, accepted ones\nare "
    "finished, and the exit status is 0.";

/// Returns the flags that select what is served, and at which addresses.
static std::vector<Flag> servingFlags(Options &options) {
  return {
      {.names = "models",
       .placeholder = "FOLDER",
       .value = FlagValue::text(options.folder),
       .help = "The folder of models: a path, or an address such as "
               "s3://bucket/models, of one model too",
       .isRequired = true},
      {.names = "--http",
       .placeholder = "ADDRESS",
       .value = FlagValue::commaList(options.http),
       .help = "Addresses for HTTP: HOST:PORT or unix:PATH, separated by "
               "commas (default: 127.0.0.1:8000, and gRPC at 127.0.0.1:8001, "
               "if neither flag is given)"},
      {.names = "--grpc",
       .placeholder = "ADDRESS",
       .value = FlagValue::commaList(options.grpc),
       .help = "Addresses for gRPC, in the same form"},
      {.names = "--verify",
       .placeholder = "EXTENT",
       .value = FlagValue::choice(
           options.verify, {{"head", Verify::Head}, {"full", Verify::Full}}),
       .help = "How much of an export's tables is compared with its checksums "
               "before it is mapped: head, or full, which reads all of it"},
      {.names = "--take-unchecked-libraries",
       .value = FlagValue::isGiven(options.load.takesUnchecked),
       .help = "Load libraries without a checksum, which an older PDL made"},
      {.names = "--require",
       .placeholder = "NAMES",
       .value = FlagValue::commaList(options.required),
       .help = "Models (NAME) and versions (NAME/VERSION) that must be loaded "
               "before the server is ready, separated by commas (default: all "
               "versions that are found at the start)"},
      {.names = "--accept-old-layout",
       .value = FlagValue::isGiven(options.load.acceptsOldLayout),
       .help = "Load checkpoints, exports and dumps that were written before "
               "the layout contained the keys of tables, and report what "
               "cannot be checked"},
      {.names = "--weights",
       .placeholder = "TYPE",
       .value = FlagValue::choice(options.load.weights,
                                  {{"compiled", PDL_SERVING_WEIGHTS_COMPILED},
                                   {"int8", PDL_SERVING_WEIGHTS_INT8}}),
       .help = "Weights of large products: compiled, as in the library, or "
               "int8, which is faster and less exact (docs/Numerics.md)"},
      {.names = "--interval",
       .placeholder = "SECONDS",
       .value = FlagValue::real(options.interval, 0, 1e9),
       .help = "Seconds between two examinations of the folder (default: 0.5; "
               "10 for an address)",
       .shownDefault = ""},
      {.names = "--model-cache",
       .placeholder = "FOLDER",
       .value = FlagValue::text(options.cacheFolder),
       .help = "Folder of this host for copies of models at an address. Only "
               "one process may use it"},
      {.names = "--model-cache-bytes",
       .placeholder = "N",
       .value = FlagValue::number(options.cacheBytes, 1, uint64_t(1) << 50),
       .help = "Maximum size of the copies. Each version needs room for its "
               "old and its new values while these are replaced"},
      {.names = "--grace",
       .placeholder = "SECONDS",
       .value = FlagValue::seconds(options.grace),
       .help = "Seconds that accepted requests have to finish after a stop "
               "signal"}};
}

/// Returns the rows of flags about batches and threads.
static std::vector<Flag> batchingFlags(Options &options) {
  return {{.names = "--max-batch",
           .placeholder = "N",
           .value = FlagValue::number(options.batch.maxSamples, 1, 1 << 20),
           .help = "Maximum number of samples of several requests that are "
                   "scored together; a request with more is scored alone"},
          {.names = "--batch-delay",
           .placeholder = "SECONDS",
           .value = FlagValue::seconds(options.batchDelay),
           .help = "Maximum time, such as 0.001, that a request waits for "
                   "others. With 0, only requests that arrive while all "
                   "workers are busy are scored together"},
          {.names = "--workers",
           .placeholder = "N",
           .value = FlagValue::number(options.batch.workers, 1, 1024),
           .help = "Threads that score requests (default: one for each "
                   "processor). A version that reads rows from servers has as "
                   "many of its own",
           .shownDefault = ""},
          {.names = "--http-threads",
           .placeholder = "N",
           .value = FlagValue::number(options.connections.threads, 1, 256),
           .help = "Threads that read and write HTTP (default: one for four "
                   "processors)",
           .shownDefault = ""}};
}

/// Returns the rows of flags about limits of clients.
static std::vector<Flag> limitFlags(Options &options) {
  return {
      {.names = "--max-waiting",
       .placeholder = "N",
       .value = FlagValue::number(options.batch.maxWaiting, 1, UINT32_MAX),
       .help = "Maximum number of waiting requests of each version that reads "
               "rows from servers, and of all others together. More are "
               "refused (503, UNAVAILABLE)"},
      {.names = "--max-request",
       .placeholder = "MIB",
       .value = FlagValue::number(options.maxRequestMebibytes, 1, 2047),
       .help = "Maximum size of a request in MiB"},
      {.names = "--max-memory",
       .placeholder = "MIB",
       .value = FlagValue::number(options.maxMemoryMebibytes, 1, 1 << 24),
       .help = "Maximum memory in MiB of all requests in flight and all "
               "connections together. More requests are refused (503, "
               "UNAVAILABLE). Default: 16 times --max-request, at least 256"},
      {.names = "--max-samples",
       .placeholder = "N",
       .value = FlagValue::number(options.maxSamples, 1, 1 << 24),
       .help = "Maximum number of samples of a request"},
      {.names = "--max-connections",
       .placeholder = "N",
       .value =
           FlagValue::number(options.connections.maxConnections, 1, 1 << 20),
       .help = "Maximum number of open connections, of HTTP and of gRPC each. "
               "The HTTP connection that is idle longest is closed for a new "
               "one"},
      {.names = "--request-timeout",
       .placeholder = "SECONDS",
       .value = FlagValue::seconds(options.request),
       .help = "Maximum time from the first byte of a request to its last one; "
               "then it is refused (408, CANCELLED)"},
      {.names = "--idle-timeout",
       .placeholder = "SECONDS",
       .value = FlagValue::seconds(options.idle),
       .help = "Seconds after which an idle connection is closed"}};
}

static std::chrono::milliseconds millisecondsOf(double seconds) {
  return std::chrono::milliseconds(
      int64_t(std::clamp(seconds * 1000.0, 10.0, double(INT32_MAX))));
}

/// Returns the cache for the models, or null if they are on this host.
static Expected<std::unique_ptr<ModelCache>> openCache(const Options &options) {
  const bool isStored = !pdlrt::schemeOf(options.folder).empty();
  const bool hasCache = !options.cacheFolder.empty() || options.cacheBytes;
  if (!isStored && hasCache)
    return Status::invalidArgument(
        "--model-cache and --model-cache-bytes are for models at an address "
        "such as s3://bucket/models; leave them out");
  if (!isStored)
    return std::unique_ptr<ModelCache>();
  if (options.cacheFolder.empty() || !options.cacheBytes)
    return Status::invalidArgument(
        options.folder + ": models at an address are copied first; give a "
                         "folder of this host with --model-cache, and its "
                         "largest size with --model-cache-bytes");
  return ModelCache::open(options.folder, options.cacheFolder,
                          *options.cacheBytes);
}

/// Watches the folder on another thread until a stop signal arrives. Returns
/// false if that thread does not end soon after the signal.
static bool watch(Repository &repository, ModelCache *cache, GrpcServer &grpc,
                  double interval) {
  if (cache)
    cache->start(millisecondsOf(interval), [&] { repository.wake(); });
  // Copies are on this host.
  const auto time = millisecondsOf(cache ? folderInterval : interval);
  std::promise<void> hasEnded;
  std::future<void> end = hasEnded.get_future();
  std::thread looking([&repository, &grpc, time,
                       hasEnded = std::move(hasEnded)]() mutable {
    while (!pdlrt::stopSignal()) {
      try {
        repository.look();
        // After the signal, only the main thread updates the health status.
        if (!pdlrt::stopSignal())
          grpc.updateHealth();
      } catch (const std::exception &error) {
        pdlrt::logWarningOnce(
            std::string("the folder of models cannot be looked at for now: ") +
            error.what());
      }
      repository.waitForChange(time);
    }
    hasEnded.set_value();
  });
  pollfd signal = {pdlrt::stopDescriptor(), POLLIN, 0};
  while (!pdlrt::stopSignal())
    (void)::poll(&signal, 1, -1);
  repository.wake();
  // A folder on a disk that does not respond must not delay the shutdown.
  const bool isDone =
      end.wait_for(std::chrono::seconds(1)) == std::future_status::ready;
  isDone ? looking.join() : looking.detach();
  return isDone;
}

static int serve(Options options) {
  auto cache = openCache(options);
  if (!cache)
    return cache.status().code() == PDL_INVALID_ARGUMENT
               ? pdlrt::failUsage(cache.status())
               : pdlrt::fail(cache.status());
  ModelCache *const copies = cache->get();
  std::error_code error;
  if (!copies && !std::filesystem::is_directory(options.folder, error))
    return pdlrt::fail(pdlrt::Status::notFound(
        options.folder +
        " is no folder of models; make it, with NAME/VERSION/ below it"));
  if (options.http.empty() && options.grpc.empty()) {
    options.http = {"127.0.0.1:8000"};
    options.grpc = {"127.0.0.1:8001"};
  }
  options.load.verifiesTables = options.verify == Verify::Full;
  options.batch.delay = pdlrt::secondsOf(options.batchDelay);
  options.connections.idle = pdlrt::secondsOf(options.idle);
  options.connections.request = pdlrt::secondsOf(options.request);
  options.connections.maxBody = options.maxRequestMebibytes << 20;
  const size_t memory = options.maxMemoryMebibytes.value_or(std::max<size_t>(
                            256, 16 * options.maxRequestMebibytes))
                        << 20;
  // gRPC holds the bytes of incomplete messages outside of the budget.
  const size_t readByGrpc = options.grpc.empty() ? 0 : memory / 4;
  pdlrt::watchStopSignals();
  pdlrt::raiseFileLimit();

  std::atomic<bool> isStopping{false};
  ServingMetrics metrics;
  MemoryBudget budget(memory - readByGrpc);
  Repository repository(copies ? copies->models() : options.folder,
                        options.load, options.required, metrics, copies);
  auto batcher = std::make_unique<Batcher>(options.batch, metrics);
  HttpApi api(repository, *batcher, budget, metrics, isStopping,
              {options.maxSamples, options.connections.threads});
  HttpServer http(api, budget, metrics, options.connections);
  GrpcServer grpc(repository, *batcher, budget, metrics, isStopping,
                  {options.connections.maxBody, readByGrpc,
                   options.connections.maxConnections, options.maxSamples,
                   options.connections.idle, options.connections.request});
  for (const std::string &address : options.http) {
    auto taken = http.listen(address);
    if (!taken)
      return pdlrt::failUsage(std::move(taken).status().withContext("--http"));
    pdlrt::logInfo("answers HTTP at " + *taken);
  }
  if (!options.grpc.empty()) {
    auto taken = grpc.start(options.grpc);
    if (!taken)
      return pdlrt::failUsage(std::move(taken).status().withContext("--grpc"));
    for (const std::string &address : *taken)
      pdlrt::logInfo("answers gRPC at " + address);
  }
  // Respond to liveness probes from here on. Models are loaded later.
  http.start();
  const bool hasLookedToTheEnd =
      watch(repository, copies, grpc,
            options.interval.value_or(copies ? storeInterval : folderInterval));
  const bool haveDownloadsEnded = !copies || copies->stop();

  isStopping = true;
  grpc.updateHealth();
  pdlrt::logInfo("finishes the requests that were taken, and ends");
  const auto until = Clock::now() + pdlrt::secondsOf(options.grace);
  http.stop();
  batcher->hurry();
  const bool isGrpcDone = grpc.stop(until);
  const bool isHttpDone = http.waitUntilClosed(until);
  if (!isGrpcDone || !isHttpDone)
    // Threads that still score or wait for servers end together with the
    // process.
    std::_Exit(pdlrt::fail(pdlrt::Status::deadlineExceeded(
        fmt::format("requests were not finished within "
                    "{} seconds; give more with --grace",
                    options.grace))));
  http.join();
  batcher.reset();
  // Loads that are still running end together with the process.
  if (!hasLookedToTheEnd || !haveDownloadsEnded || repository.isLoading())
    std::_Exit(0);
  return 0;
}

static int run(int argc, char **argv) {
  pdlrt::takeLogFormat(argc, argv);
  pdlrt::setLogOrigin({"pdl-serve", std::nullopt});
  Options options;
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  options.batch.workers = processors;
  options.connections.threads = std::max(1U, processors / 4);
  CLI::App app(description, "pdl-serve");
  pdlrt::addHelpAndVersion(app);
  pdlrt::addFlags(app, {{"Serving", servingFlags(options)},
                        {"Batches and threads", batchingFlags(options)},
                        {"Limits", limitFlags(options)},
                        {"Monitoring", {pdlrt::logFormatFlag()}}});
  pdlrt::addMetricList(app, [] { return ServingMetrics().description(); });
  if (const auto status =
          pdlrt::parseFlags(app, argc, argv, "'pdl-serve --help' lists"))
    return *status;
  return serve(std::move(options));
}

int main(int argc, char **argv) {
  return pdlrt::runProgram(
      "serve fewer models, or use a machine with more of it",
      [&] { return run(argc, argv); });
}
