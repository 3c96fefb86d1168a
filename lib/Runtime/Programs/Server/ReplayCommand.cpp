//===- ReplayCommand.cpp - Command `pserver replay` -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Server/ReplayCommand.h"

#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Files/PlaceFlags.h"
#include "pdlrt/Job/JobFlags.h"
#include "pdlrt/Server/Replay.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace pdlrt;

/// Returns the table of the command's flags.
static FlagTable replayFlags(ReplayOptions &options) {
  std::vector<Flag> all = {
      {.names = "logs",
       .placeholder = "FILE",
       .value = FlagValue::words(options.logs),
       .help = "Logs of the servers of one job, in any order",
       .isRequired = true},
      {.names = "-o,--output",
       .placeholder = "FOLDER",
       .value = placeValue(options.output),
       .help = "Write the state of all servers as a checkpoint, for "
               "pdl-checkpoint; needs the logs of all servers"},
      {.names = "--checkpoint",
       .placeholder = "FOLDER",
       .value = placeValue(options.checkpoint),
       .help = "The checkpoint from which the job resumed (--resume), such as "
               "saved/step-000000000100"},
      {.names = "--init-from",
       .placeholder = "FILE",
       .value = placeValue(options.initFrom),
       .help = "The file of values from which the job started",
       .excludes = {"--checkpoint"}},
      {.names = "--init-values-only",
       .value = FlagValue::isGiven(options.initValuesOnly),
       .help = "The job was started with this flag",
       .needs = {"--init-from"}},
      {.names = "--accept-old-layout",
       .value = FlagValue::isGiven(options.acceptOldLayout),
       .help = "The job was started with this flag"},
      {.names = "--requests",
       .placeholder = "N",
       .value = FlagValue::number(options.requests, 0, INT64_MAX),
       .help = "Replay only the first N requests of each log"},
      {.names = "--threads",
       .placeholder = "N",
       .value = FlagValue::number(options.threads, 1, maxThreads),
       .help = "Number of threads. Never changes a result"}};
  return {{mainOptions, std::move(all)}};
}

int pdlrt::runReplayCommand(int argc, char **argv,
                            const pdl_descriptor &descriptor) {
  ReplayOptions options;
  options.threads =
      int(std::clamp<unsigned>(std::thread::hardware_concurrency(), 1, 1024));
  CLI::App app("Applies again, without a network, what servers of mode async "
               "have logged with --log-applied, and compares the state with "
               "the one that each server ended with.",
               "pserver replay");
  app.set_help_flag("-h,--help", "Print this help");
  addFlags(app, replayFlags(options));
  app.footer("Example:\n"
             "  pserver replay logs/applied-0.log logs/applied-1.log -o again\n"
             "  pdl-checkpoint diff saved again\n"
             "Exit status: 0 replayed, and equal; 1 a bad log, or another "
             "state; 2 bad flags.");
  if (std::optional<int> status =
          parseFlags(app, argc, argv, "'pserver replay --help' lists"))
    return *status;
  if (!options.output.empty() && std::filesystem::exists(options.output))
    return fail(Status::failedPrecondition(
        options.output + ": is there already; name another folder"));
  if (descriptor.role != PDL_ROLE_PSERVER)
    return fail(ExitCode::Failure,
                "this program was not translated as a pserver; translate "
                "the model with --mode=async --emit=trainer,pserver");
  const Status status =
      replayLogs(descriptor, options, [](const std::string &line) {
        std::printf("%s\n", line.c_str());
      });
  return status.ok() ? 0 : fail(status);
}
