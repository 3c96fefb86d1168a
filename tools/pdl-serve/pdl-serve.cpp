//===- pdl-serve.cpp - Models that answer requests ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batcher.h"
#include "GrpcServer.h"
#include "HttpServer.h"
#include "Repository.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/StopSignal.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

using namespace pdlserve;
using pdlrt::Status;

namespace {

struct Options {
  std::string folder;
  std::vector<std::string> http, grpc;
  BatchOptions batch;
  double batchDelay = 0.0;
  HttpOptions connections;
  double idle = 300, request = 120;
  size_t maxRequestMebibytes = 64;
  /// 0: a multiple of that of a request.
  size_t maxMemoryMebibytes = 0;
  int64_t maxSamples = int64_t(1) << 16;
  LoadOptions load;
  std::string verify = "head";
  std::vector<std::string> required;
  double interval = 0.5;
  double grace = 30;
};

} // namespace

/// What an operator wants to know first.
static const char *const description =
    "Answers requests with models, over HTTP and gRPC, by the V2 inference "
    "protocol.\n\n"
    "  pdl-serve MODELS [flags]\n\n"
    "MODELS/NAME/VERSION/ holds a library, which pdl-translate --emit=library "
    "made, and its values: a folder\n`checkpoints` (or a link to one), whose "
    "newest checkpoint is taken as soon as it is whole, a folder\n`export` of "
    "pdl-checkpoint export, one dump (*.safetensors), or a file `servers.json` "
    "that says which servers of a\nrunning job have them (a library of "
    "--servers). VERSION is a whole number from 1 on. Whatever\nelse lies "
    "there is passed over: prepare a "
    "version under another name, such as .2, and rename it. What is\ntaken out "
    "of the folder answers no more. "
    "What cannot be loaded is told here and in the metrics,\nand what was "
    "loaded before goes on.\n\n"
    "  GET  /v2/health/live, /v2/health/ready     GET /v2      GET /metrics\n"
    "  GET  /v2/models/NAME[/versions/VERSION][/ready]\n"
    "  POST /v2/models/NAME[/versions/VERSION]/infer\n\n"
    "NAME stands for its program @predict, or else its first; NAME@PROGRAM for "
    "another. Without a version the\nhighest one answers. SIGTERM and Ctrl-C "
    "take no more requests, finish those that were taken, and end with\n"
    "status 0.";

static void addFlags(CLI::App &app, Options &options) {
  app.add_option("models", options.folder, "The folder of models")
      ->required()
      ->transform(pdlrt::notEmpty());
  app.add_option("--http", options.http,
                 "Where HTTP is answered: HOST:PORT or unix:PATH, or "
                 "several with commas (default: 127.0.0.1:8000, and gRPC at "
                 "127.0.0.1:8001, if neither flag is given)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--grpc", options.grpc, "Where gRPC is answered, likewise")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--max-batch", options.batch.mostSamples,
                 "Samples that are scored together at most; a request with "
                 "more is scored by itself")
      ->transform(pdlrt::wholeNumber(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--batch-delay", options.batchDelay,
                 "Seconds, such as 0.001, that a request waits for others at "
                 "most. At 0 only what came while all workers were busy is "
                 "scored together")
      ->check(pdlrt::secondsFlag())
      ->capture_default_str();
  app.add_option("--workers", options.batch.workers,
                 "Threads that score (default: one for each processor); a "
                 "version that asks servers has as many of its own")
      ->transform(pdlrt::wholeNumber(1, 1024));
  app.add_option("--http-threads", options.connections.threads,
                 "Threads that read and write HTTP (default: one for four "
                 "processors)")
      ->transform(pdlrt::wholeNumber(1, 256));
  app.add_option("--max-waiting", options.batch.mostWaiting,
                 "Requests that wait at most, of each version that asks "
                 "servers and of all others together; more are refused (503, "
                 "UNAVAILABLE)")
      ->transform(pdlrt::wholeNumber(1, UINT32_MAX))
      ->capture_default_str();
  app.add_option("--max-request", options.maxRequestMebibytes,
                 "MiB that a request has at most")
      ->transform(pdlrt::wholeNumber(1, 2047))
      ->capture_default_str();
  app.add_option("--max-memory", options.maxMemoryMebibytes,
                 "MiB that all requests in flight and all connections take "
                 "together; more are refused (503, UNAVAILABLE). Default: 16 "
                 "times --max-request, at least 256")
      ->transform(pdlrt::wholeNumber(1, 1 << 24));
  app.add_option("--max-samples", options.maxSamples,
                 "Samples that a request has at most")
      ->transform(pdlrt::wholeNumber(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--max-connections", options.connections.maxConnections,
                 "Connections that are open at most, of HTTP and of gRPC each. "
                 "Of HTTP the one that is idle longest gives way")
      ->transform(pdlrt::wholeNumber(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--request-timeout", options.request,
                 "Seconds from the first byte of a request to its last one, "
                 "after which it is refused (408, CANCELLED)")
      ->check(pdlrt::secondsFlag())
      ->capture_default_str();
  app.add_option("--verify", options.verify,
                 "How much of an export's tables is compared with its "
                 "checksums before it is mapped: head, or full, which reads "
                 "all of it")
      ->check(CLI::IsMember({"head", "full"}))
      ->capture_default_str();
  app.add_flag("--take-unchecked-libraries", options.load.takesUnchecked,
               "Loads libraries without a checksum, which an older PDL made");
  app.add_option("--require", options.required,
                 "Models (NAME) and versions (NAME/VERSION) that answer when "
                 "the server is ready, with commas between (default: all "
                 "versions that are found at the start)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--idle-timeout", options.idle,
                 "Seconds after which a connection is closed if nothing has "
                 "come")
      ->check(pdlrt::secondsFlag())
      ->capture_default_str();
  app.add_flag("--accept-old-layout", options.load.acceptsOldLayout,
               "Load checkpoints, exports and dumps of before keys were part "
               "of the layout, and say what cannot be checked of them");
  app.add_option("--interval", options.interval,
                 "Seconds between two looks at the folder")
      ->check(pdlrt::secondsFlag())
      ->capture_default_str();
  app.add_option("--grace", options.grace,
                 "Seconds that taken requests have at the end")
      ->check(pdlrt::secondsFlag())
      ->capture_default_str();
}

/// Waits until a signal asks for the end, while the folder is looked at in the
/// background. Returns false if the thread that looks does not come to an end.
static bool watch(Repository &repository, GrpcServer &grpc, double interval) {
  const auto time = std::chrono::milliseconds(
      int64_t(std::clamp(interval * 1000.0, 10.0, double(INT32_MAX))));
  std::promise<void> hasEnded;
  std::future<void> end = hasEnded.get_future();
  std::thread looking([&repository, &grpc, time,
                       hasEnded = std::move(hasEnded)]() mutable {
    while (!pdlrt::stopSignal()) {
      try {
        repository.look();
        // Behind the signal it is the other thread's.
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
  // A folder on a disk that does not answer holds up nobody.
  const bool isDone =
      end.wait_for(std::chrono::seconds(1)) == std::future_status::ready;
  isDone ? looking.join() : looking.detach();
  return isDone;
}

static int serve(Options options) {
  std::error_code error;
  if (!std::filesystem::is_directory(options.folder, error))
    return pdlrt::fail(2, options.folder + " is no folder of models; " +
                              "make it, with NAME/VERSION/ below it");
  if (options.http.empty() && options.grpc.empty()) {
    options.http = {"127.0.0.1:8000"};
    options.grpc = {"127.0.0.1:8001"};
  }
  options.load.verifiesTables = options.verify == "full";
  options.batch.delay = pdlrt::secondsOf(options.batchDelay);
  options.connections.idle = pdlrt::secondsOf(options.idle);
  options.connections.request = pdlrt::secondsOf(options.request);
  options.connections.maxBody = options.maxRequestMebibytes << 20;
  if (options.maxMemoryMebibytes == 0)
    options.maxMemoryMebibytes =
        std::max<size_t>(256, 16 * options.maxRequestMebibytes);
  const size_t memory = options.maxMemoryMebibytes << 20;
  // gRPC holds the bytes of messages until they are there as a whole.
  const size_t readByGrpc = options.grpc.empty() ? 0 : memory / 4;
  // A client that goes away is an error of that write.
  std::signal(SIGPIPE, SIG_IGN);
  pdlrt::watchStopSignals();
  pdlrt::raiseFileLimit();

  std::atomic<bool> isStopping{false};
  Metrics metrics;
  MemoryBudget budget(memory - readByGrpc);
  Repository repository(options.folder, options.load, options.required,
                        metrics);
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
      return pdlrt::fail(2, "--http: " + taken.status().message());
    pdlrt::logInfo("answers HTTP at " + *taken);
  }
  if (!options.grpc.empty()) {
    auto taken = grpc.start(options.grpc);
    if (!taken)
      return pdlrt::fail(2, "--grpc: " + taken.status().message());
    for (const std::string &address : *taken)
      pdlrt::logInfo("answers gRPC at " + address);
  }
  // Whether the server is alive is answered from here on; models come later.
  http.start();
  const bool hasLookedToTheEnd = watch(repository, grpc, options.interval);

  isStopping = true;
  grpc.updateHealth();
  pdlrt::logInfo("finishes the requests that were taken, and ends");
  const auto until = Clock::now() + pdlrt::secondsOf(options.grace);
  http.stop();
  batcher->hurry();
  const bool isGrpcDone = grpc.stop(until);
  const bool isHttpDone = http.waitUntilClosed(until);
  if (!isGrpcDone || !isHttpDone)
    // Threads that still score, or wait for servers, end with the process.
    std::_Exit(pdlrt::fail(1, fmt::format("requests were not finished within "
                                          "{} seconds; give more with --grace",
                                          options.grace)));
  http.join();
  batcher.reset();
  // Loads that are under way end with the process.
  if (!hasLookedToTheEnd || repository.isLoading())
    std::_Exit(0);
  return 0;
}

static int run(int argc, char **argv) {
  Options options;
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  options.batch.workers = processors;
  options.connections.threads = std::max(1U, processors / 4);
  CLI::App app(description, "pdl-serve");
  addFlags(app, options);
  if (const auto status =
          pdlrt::parseFlags(app, argc, argv, "'pdl-serve --help' lists"))
    return *status;
  return serve(std::move(options));
}

int main(int argc, char **argv) {
  return pdlrt::runProgram(
      2, "serve fewer models, or use a machine with more of it",
      [&] { return run(argc, argv); });
}
