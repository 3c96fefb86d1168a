//===- StepProgress.cpp - Progress of a job's senders ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/StepProgress.h"

#include <algorithm>

using namespace pdlrt;

void StepProgress::note(const Envelope &request, const StepFacts &facts) {
  Sender &sender = own[request.trainer][request.worker];
  sender.steps += facts.contributes ? 1 : 0;
  sender.rests = !facts.goesOn;
}

void StepProgress::meet() {
  for (std::map<uint32_t, Sender> &each : own)
    each.clear();
  meets.assign(meets.size(), false);
}

bool StepProgress::takesPart(uint32_t trainer) const {
  const std::map<uint32_t, Sender> &known = own[trainer];
  return !meets[trainer] &&
         (known.empty() ||
          std::any_of(known.begin(), known.end(),
                      [](const auto &each) { return !each.second.rests; }));
}

std::optional<int64_t> StepProgress::slowestOf(uint32_t trainer) const {
  std::optional<int64_t> least;
  if (meets[trainer])
    return least;
  if (own[trainer].empty())
    least = 0;
  for (const auto &[worker, sender] : own[trainer])
    if (!sender.rests)
      least = std::min(least.value_or(sender.steps), sender.steps);
  return least;
}

std::optional<int64_t> StepProgress::slowest() const {
  std::optional<int64_t> least;
  for (uint32_t trainer = 0; trainer < own.size(); ++trainer)
    if (const std::optional<int64_t> steps = slowestOf(trainer))
      least = std::min(least.value_or(*steps), *steps);
  return least;
}

std::vector<uint32_t> StepProgress::slowestTrainers() const {
  std::vector<uint32_t> all;
  const std::optional<int64_t> least = slowest();
  for (uint32_t trainer = 0; least && trainer < own.size(); ++trainer)
    if (slowestOf(trainer) == least)
      all.push_back(trainer);
  return all;
}

int64_t StepProgress::stepsOf(const Envelope &sender) const {
  const auto found = own[sender.trainer].find(sender.worker);
  return found == own[sender.trainer].end() ? 0 : found->second.steps;
}
