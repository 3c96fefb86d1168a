//===- GatherGroups.cpp - Gathers samples of group metrics ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/GatherGroups.h"

#include <algorithm>
#include <fmt/format.h>
#include <new>
#include <numeric>
#include <vector>

using namespace pdlrt;
using pdlabi::GroupedSamples;

static constexpr int64_t samplesInRound = 65536;

namespace {

/// Some samples as numbers, which are sent in one sum.
struct Round {
  std::vector<int64_t> counts;
  std::vector<double> numbers;

  void clear(int64_t samples) {
    counts.assign(2 * samples, 0);
    numbers.assign(2 * samples, 0);
  }
  int64_t samples() const { return int64_t(counts.size()) / 2; }
  void set(int64_t at, const GroupedSamples &from, size_t place) {
    counts[at] = from.groups[place];
    counts[samples() + at] = from.labels[place];
    numbers[at] = from.predictions[place];
    numbers[samples() + at] = from.weights[place];
  }
  void addTo(GroupedSamples &all) const {
    const int64_t count = samples();
    for (int64_t i = 0; i < count; ++i)
      all.add(counts[i], numbers[i], counts[count + i] != 0,
              numbers[count + i]);
  }
};

/// Iterates over the samples of several parts.
class Walk {
public:
  explicit Walk(std::span<const GroupedSamples *const> parts) : parts(parts) {}

  /// Copies the next samples into `round`, as many as fit.
  void fill(Round &round) {
    for (int64_t i = 0; i < round.samples(); ++i, ++place) {
      while (place == parts[part]->size()) {
        ++part;
        place = 0;
      }
      round.set(i, *parts[part], place);
    }
  }

private:
  std::span<const GroupedSamples *const> parts;
  size_t part = 0, place = 0;
};

} // namespace

static Expected<GroupedSamples>
gather(Job &job, std::span<const int64_t> sizes,
       std::span<const GroupedSamples *const> own) {
  GroupedSamples all;
  Round round;
  Walk walk(own);
  for (size_t process = 0; process < sizes.size(); ++process)
    for (int64_t begin = 0; begin < sizes[process]; begin += samplesInRound) {
      round.clear(std::min(samplesInRound, sizes[process] - begin));
      if (int(process) == job.rank())
        walk.fill(round);
      PDLRT_RETURN_IF_ERROR(job.sum(round.counts, round.numbers));
      round.addTo(all);
    }
  return all;
}

Expected<GroupedSamples>
pdlrt::gatherGroups(Job &job, int processes, const std::string &metric,
                    std::span<const GroupedSamples *const> own) {
  std::vector<int64_t> sizes(processes);
  for (const GroupedSamples *samples : own)
    sizes[job.rank()] += int64_t(samples->size());
  PDLRT_RETURN_IF_ERROR(job.sum(sizes, {}));
  try {
    return gather(job, sizes, own);
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory(fmt::format(
        "out of memory for the {} samples of metric @{} in all trainers "
        "together; test fewer rows",
        std::accumulate(sizes.begin(), sizes.end(), int64_t(0)), metric));
  }
}
