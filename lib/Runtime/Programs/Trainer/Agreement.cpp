//===- Agreement.cpp - Agreement of the trainers' flags -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/Agreement.h"

#include "pdlrt/Programs/Trainer/TrainingCheckpoints.h"

#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <xxhash.h>

using namespace pdlrt;

/// Returns the flags that must be equal in all trainers, with their values as
/// text.
static std::vector<std::pair<std::string, std::string>>
commonFlags(const SessionOptions &options) {
  auto numberOr = [](const std::optional<int64_t> &number, const char *none) {
    return number ? std::to_string(*number) : std::string(none);
  };
  std::vector<std::pair<std::string, std::string>> flags =
      dataSettings(options);
  flags.emplace_back("--epochs", numberOr(options.epochs, "none"));
  flags.emplace_back("--steps", numberOr(options.steps, "none"));
  flags.emplace_back("--evaluate-data", options.evaluateFiles.empty()
                                            ? "none"
                                            : filesText(options.evaluateFiles));
  flags.emplace_back("--evaluate-rows", options.evaluateRows
                                            ? rowsText(*options.evaluateRows)
                                            : "none");
  flags.emplace_back("--evaluate-every",
                     numberOr(options.evaluateEvery, "none"));
  flags.emplace_back("--patience", numberOr(options.patience, "none"));
  flags.emplace_back("--min-delta",
                     fmt::format("{}", options.minDelta.value_or(0)));
  flags.emplace_back("--monitor",
                     options.monitor.empty() ? "none" : options.monitor);
  flags.emplace_back("--keep-best",
                     options.keepBest.empty() ? "none" : options.keepBest);
  flags.emplace_back("--checkpoint",
                     options.checkpoint.empty() ? "none" : "a folder");
  flags.emplace_back("--checkpoint-steps",
                     numberOr(options.checkpointSteps, "none"));
  flags.emplace_back("--checkpoint-minutes",
                     options.checkpointMinutes
                         ? fmt::format("{}", *options.checkpointMinutes)
                         : "none");
  flags.emplace_back("--checkpoint-event-time",
                     numberOr(options.checkpointEventTime, "none"));
  flags.emplace_back("--checkpoint-at-end",
                     options.checkpointAtEnd ? "yes" : "no");
  flags.emplace_back("--resume", options.resume ? "yes" : "no");
  if (options.distributed) {
    flags.emplace_back("--geo-steps",
                       std::to_string(options.distributed->geoSteps));
    const PushOptions &pushes = options.distributed->pushes;
    flags.emplace_back("--push-queue", std::to_string(pushes.queued));
    flags.emplace_back("--max-merge", std::to_string(pushes.maxMerge));
  }
  return flags;
}

int64_t pdlrt::digestOfFlags(const SessionOptions &options) {
  std::string all;
  for (const auto &[flag, value] : commonFlags(options))
    all += flag + "=" + value + "\n";
  return int64_t(XXH64(all.data(), all.size(), 0));
}

Status pdlrt::checkAgreement(const SessionOptions &options, Job &job) {
  if (!options.distributed)
    return {};
  const auto flags = commonFlags(options);
  // Names and sizes of the files are compared with the flags.
  const CopiedFiles files[] = {CopiedFiles(options.data.files),
                               CopiedFiles(options.evaluateFiles)};
  std::vector<int64_t> counts;
  std::vector<ContentCounts> contents;
  for (const CopiedFiles &list : files) {
    contents.push_back(countContent(list));
    counts.insert(counts.end(), contents.back().begin(), contents.back().end());
  }
  const size_t flagsBegin = counts.size();
  for (const auto &[flag, value] : flags)
    counts.push_back(int64_t(XXH64(value.data(), value.size(), 0) >> 16));
  const std::vector<int64_t> own = counts;
  PDLRT_RETURN_IF_ERROR(job.sum(counts, {}));
  const int64_t trainers = options.distributed->trainers;
  for (size_t i = flagsBegin; i < counts.size(); ++i)
    if (counts[i] != own[i] * trainers)
      return Status::failedPrecondition(fmt::format(
          "the trainers were not all started with the same {}; this one has "
          "{}: give all of them the same",
          flags[i - flagsBegin].first, flags[i - flagsBegin].second));
  for (size_t i = 0; i < contents.size(); ++i)
    PDLRT_RETURN_IF_ERROR(checkSameContent(
        files[i], contents[i],
        std::span(counts).subspan(i * contents[i].size(), contents[i].size()),
        trainers));
  return {};
}

ContentCounts pdlrt::countContent(const CopiedFiles &files) {
  const std::optional<int64_t> digest =
      files.isEmpty() ? std::nullopt : files.digest();
  return digest ? ContentCounts{*digest, 1} : ContentCounts();
}

Status pdlrt::checkSameContent(const CopiedFiles &files,
                               const ContentCounts &own,
                               std::span<const int64_t> sums,
                               int64_t processes) {
  if (sums[1] != processes || sums[0] == own[0] * processes)
    return {};
  return Status::failedPrecondition(fmt::format(
      "trainers read files of the same names and sizes with different content: "
      "those of this trainer, {}, have the digest {:012x}; copy the same files "
      "to all hosts, and do not change them while they are read",
      files.names(), own[0]));
}
