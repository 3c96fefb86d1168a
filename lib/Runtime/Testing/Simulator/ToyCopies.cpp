//===- ToyCopies.cpp - Copies that a toy server puts together -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/ToyCopies.h"

#include <set>

using namespace pdlrt;

void pdlrt::addChanges(const ToyRequest &request, ToyState &state) {
  for (const auto &[key, increment] : request.increments)
    state.counters[key] += increment;
  for (size_t i = 0; request.hasPart && i < state.dense.size(); ++i)
    state.dense[i] += request.part[i];
}

void pdlrt::takeNews(const ToyAnswer &answer, ToyState &copy) {
  for (const auto &[key, count] : answer.counters)
    copy.counters[key] = count;
  if (answer.hasDense)
    copy.dense = answer.dense;
}

ToyAnswer ToyNews::exchange(uint32_t trainer, const ToyRequest &request,
                            ToyState &state) {
  const std::vector<int64_t> others = changedKeys.since(seen[trainer]);
  addChanges(request, state);
  ToyAnswer answer;
  answer.trainer = trainer;
  answer.step = request.step;
  for (const int64_t key : others)
    answer.counters.emplace_back(key, state.counters[key]);
  answer.hasDense = denseClock > seen[trainer];
  if (answer.hasDense)
    answer.dense = state.dense;
  if (request.hasPart) {
    denseClock = ++clock;
    std::set<int64_t> own;
    for (const auto &[key, increment] : request.increments)
      own.insert(key);
    changedKeys.note(clock, std::vector<int64_t>(own.begin(), own.end()));
  }
  seen[trainer] = clock;
  changedKeys.forget(seen);
  return answer;
}
