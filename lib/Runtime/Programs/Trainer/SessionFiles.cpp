//===- SessionFiles.cpp - Checks of a session's files ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/SessionFiles.h"

#include "Data/InputFile.h"
#include "Data/RecordReader.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Programs/Trainer/Predictions.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace pdlrt;

static Status refuseSecondPass(const std::string &path,
                               const std::string &why) {
  return Status::invalidArgument(onceText(path) + ", " + why);
}

/// Checks that data which can be read only once are read in one pass only.
static Status checkPasses(const SessionOptions &options, bool trains) {
  std::vector<std::string> once;
  for (const std::vector<std::string> *files :
       {&options.data.files, &options.evaluateFiles})
    for (const std::string &path : *files) {
      if (canBeReadAgain(path))
        continue;
      if (std::find(once.begin(), once.end(), path) != once.end())
        return refuseSecondPass(path, "but is named twice");
      once.push_back(path);
    }
  if (once.empty() || !trains)
    return {};
  // A file that can be read only once does not suffice for several epochs. With
  // --resume it may, if a checkpoint has all epochs except the last one;
  // TrainCommand checks that.
  if (const auto epochs = options.epochs.value_or(1);
      epochs > 1 && !options.resume)
    return refuseSecondPass(once.front(),
                            "but --epochs " + std::to_string(epochs) +
                                " needs it again; write it to a file, or add "
                                "--resume where a checkpoint has the epochs "
                                "before");
  if (options.steps && !options.epochs)
    return refuseSecondPass(once.front(),
                            "but --steps may need several passes; add "
                            "--epochs 1, or write it to a file");
  const auto tested =
      std::ranges::find_if_not(options.evaluateFiles, canBeReadAgain);
  if (options.evaluateEvery && tested != options.evaluateFiles.end())
    return refuseSecondPass(*tested,
                            "but --evaluate-every reads it several times; "
                            "write it to a file, or leave the flag out");
  const bool testsOnData =
      options.evaluateRows && options.evaluateFiles.empty();
  if (testsOnData)
    return refuseSecondPass(once.front(),
                            "but --evaluate-rows needs it again; give "
                            "--evaluate-data, or write it to a file");
  return {};
}

/// If a cache is requested, checks that the data have rows that it can store.
static Status checkCache(const SessionOptions &options) {
  const bool readsStandardInput =
      std::ranges::any_of(options.data.files, isStandardInput) ||
      std::ranges::any_of(options.evaluateFiles, isStandardInput);
  if (options.data.cache.empty() || !readsStandardInput)
    return {};
  return Status::invalidArgument(
      "--cache keeps the rows of files, but standard input "
      "can be read but once; leave --cache out");
}

Status pdlrt::checkSessionFiles(const SessionOptions &options, bool trains,
                                const std::string &tokenFile,
                                const std::string &summary) {
  std::vector<NamedFile> inputs = {{"--init-from", options.initFrom},
                                   {"--token-file", tokenFile}};
  const auto pathOf = [](const std::string &name) {
    return isStandardInput(name) ? std::string("/dev/stdin") : name;
  };
  for (const std::string &name : options.data.files)
    inputs.push_back({"--data", pathOf(name)});
  for (const std::string &name : options.evaluateFiles)
    inputs.push_back({"--evaluate-data", pathOf(name)});
  if (options.distributed && options.distributed->mayRejoin)
    PDLRT_RETURN_IF_ERROR(
        checkLocal("with --on-failure wait, --checkpoint", options.checkpoint));
  if (!options.keepBest.empty())
    PDLRT_RETURN_IF_ERROR(
        checkLocal("with --keep-best, --checkpoint", options.checkpoint));
  for (const auto &[flag, path] :
       {NamedFile{"--emergency-checkpoint", options.emergencyCheckpoint},
        NamedFile{"--tensorboard", options.tensorboard},
        NamedFile{"--cache", options.data.cache}})
    PDLRT_RETURN_IF_ERROR(checkLocal(flag, path));
  PDLRT_RETURN_IF_ERROR(checkOutputs({{"--dump", options.dump},
                                      {"--dump-batches", options.dumpBatches},
                                      {"--dump-inputs", options.dumpInputs},
                                      {"--log-losses", options.logLosses},
                                      {"--log-metrics", options.logMetrics},
                                      {"--trace", options.trace},
                                      {"--costs", options.costs},
                                      {"--summary", summary},
                                      {"--output", options.output}},
                                     inputs));
  if (formatOf(options) == PredictionFormat::Safetensors)
    PDLRT_RETURN_IF_ERROR(
        checkReplaceable(options.output.empty() ? "-" : options.output));
  PDLRT_RETURN_IF_ERROR(checkCache(options));
  return checkPasses(options, trains);
}
