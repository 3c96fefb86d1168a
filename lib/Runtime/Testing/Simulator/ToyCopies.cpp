//===- ToyCopies.cpp - Copies in mode geo ---------------------------------===//
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

void pdlrt::takeNews(const ToyResponse &response, ToyState &copy) {
  for (const auto &[key, count] : response.counters)
    copy.counters[key] = count;
  if (response.hasDense)
    copy.dense = response.dense;
}

ToyResponse ToyNews::exchange(uint32_t trainer, const ToyRequest &request,
                              ToyState &state) {
  const std::vector<int64_t> others = changedKeys.since(seen[trainer]);
  addChanges(request, state);
  ToyResponse response;
  response.trainer = trainer;
  response.step = request.step;
  for (const int64_t key : others)
    response.counters.emplace_back(key, state.counters[key]);
  response.hasDense = denseClock > seen[trainer];
  if (response.hasDense)
    response.dense = state.dense;
  if (request.hasPart) {
    denseClock = ++clock;
    std::set<int64_t> own;
    for (const auto &[key, increment] : request.increments)
      own.insert(key);
    changedKeys.note(clock, std::vector<int64_t>(own.begin(), own.end()));
  }
  seen[trainer] = clock;
  changedKeys.forget(seen);
  return response;
}
