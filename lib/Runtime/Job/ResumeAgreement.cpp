//===- ResumeAgreement.cpp - Agreement on a checkpoint --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/ResumeAgreement.h"

#include <algorithm>
#include <fmt/format.h>

using namespace pdlrt;

Expected<std::optional<int64_t>>
ResumeAgreement::report(int64_t rank, const Expected<int64_t> &found) {
  if (rank < 0 || rank >= int64_t(servers))
    return Status::failedPrecondition(fmt::format(
        "server {} is not one of the {} servers of this job", rank, servers));
  const MutexLock lock(mutex);
  if (!found && failure.ok())
    failure = Status(found.status())
                  .withContext(fmt::format(
                      "server {} has no checkpoint to resume from", rank));
  if (!failure.ok())
    return failure;
  steps[rank] = *found;
  if (steps.size() < servers)
    return std::optional<int64_t>();
  const auto bySteps = [](const auto &one, const auto &other) {
    return one.second < other.second;
  };
  const auto least = std::ranges::min_element(steps, bySteps);
  const auto most = std::ranges::max_element(steps, bySteps);
  if (least->second < 0 && most->second >= 0) {
    failure = Status::failedPrecondition(fmt::format(
        "server {} finds no checkpoint in its --checkpoint, and server {} one "
        "of {} steps; give all servers one folder that they share",
        least->first, most->first, most->second));
    return failure;
  }
  if (*found > least->second || most->second == least->second)
    return std::optional(least->second);
  // There is no result yet: other servers must look for an older checkpoint.
  return std::optional<int64_t>();
}

std::vector<int64_t> ResumeAgreement::missing() {
  const MutexLock lock(mutex);
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < int64_t(servers); ++rank)
    if (!steps.contains(rank))
      ranks.push_back(rank);
  return ranks;
}
