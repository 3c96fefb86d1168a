//===- ReplayCommand.cpp - `pserver replay` -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Server/ReplayCommand.h"

#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Server/Replay.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

using namespace pdlrt;

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
  app.add_option("logs", options.logs,
                 "Logs of the servers of one job, in any order")
      ->type_name("FILE")
      ->check(notEmpty())
      ->required();
  app.add_option("-o,--output", options.output,
                 "Write the state of all servers as a checkpoint, for "
                 "pdl-checkpoint; needs the logs of all")
      ->type_name("FOLDER")
      ->check(notEmpty());
  CLI::Option *checkpoint =
      app.add_option("--checkpoint", options.checkpoint,
                     "The checkpoint that the job went on from (--resume), "
                     "such as saved/step-000000000100")
          ->type_name("FOLDER")
          ->check(notEmpty());
  CLI::Option *initFrom =
      app.add_option("--init-from", options.initFrom,
                     "The file of values that the job began with")
          ->type_name("FILE")
          ->check(notEmpty())
          ->excludes(checkpoint);
  app.add_flag("--init-values-only", options.initValuesOnly,
               "The job was started with this flag")
      ->needs(initFrom);
  app.add_flag("--accept-old-layout", options.acceptOldLayout,
               "As the job was given it");
  app.add_option("--requests", options.requests,
                 "Replay the first N requests of each log, and read no more "
                 "of it")
      ->type_name("N")
      ->transform(wholeNumber(0, INT64_MAX));
  app.add_option("--threads", options.threads,
                 "Threads to run on. Never changes a result")
      ->type_name("N")
      ->transform(wholeNumber(1, 1024))
      ->capture_default_str();
  app.footer("Example:\n"
             "  pserver replay logs/applied-0.log logs/applied-1.log -o again\n"
             "  pdl-checkpoint diff saved again\n"
             "Exit status: 0 replayed, and equal; 1 a bad log, or another "
             "state; 2 bad flags.");
  if (std::optional<int> status =
          parseFlags(app, argc, argv, "'pserver replay --help' lists"))
    return *status;
  if (!options.output.empty() && std::filesystem::exists(options.output))
    return fail(2, options.output + ": is there already; name another folder");
  if (descriptor.role != PDL_ROLE_PSERVER)
    return fail(1, "this program was not translated as a pserver; translate "
                   "the model with --mode=async --emit=trainer,pserver");
  const Status status =
      replayLogs(descriptor, options, [](const std::string &line) {
        std::printf("%s\n", line.c_str());
      });
  return status.ok() ? 0 : fail(1, status.message());
}
