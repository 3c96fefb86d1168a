//===- JobGroups.cpp - Samples of group metrics in a job ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/JobGroups.h"

#include "pdlrt/Job/GatherGroups.h"

#include <algorithm>
#include <cstdint>
#include <utility>

using namespace pdlrt;

/// Returns the samples of this process's replicas from those of a checkpoint.
static std::vector<pdlabi::GroupedSamples>
ownGroups(const ReplicaLayout &own, std::vector<pdlabi::GroupedSamples> all) {
  const size_t replicas = size_t(own.groups) * own.workers,
               here = size_t(own.localGroups) * own.workers,
               first = size_t(own.firstGroup) * own.workers;
  if (all.empty() || here == replicas)
    return all;
  std::vector<pdlabi::GroupedSamples> mine;
  for (size_t begin = first; begin < all.size(); begin += replicas)
    for (size_t r = 0; r < here; ++r)
      mine.push_back(std::move(all[begin + r]));
  return mine;
}

Status pdlrt::restoreJobGroups(const TrainingParts &parts,
                               std::vector<pdlabi::GroupedSamples> all) {
  std::vector<pdlabi::GroupedSamples> own =
      ownGroups(parts.layout, std::move(all));
  int64_t here = 0;
  for (const pdlabi::GroupedSamples &samples : own)
    here += int64_t(samples.size());
  std::vector<int64_t> everywhere = {here};
  PDLRT_RETURN_IF_ERROR(parts.job.sum(everywhere, {}));
  const int64_t most = parts.options.maxGroupedSamples;
  const int64_t left = std::max<int64_t>(0, most - everywhere[0]);
  ReplicaSet &replicas = parts.run.engine->replicas();
  replicas.restoreGroups(std::move(own));
  replicas.limitGroupedSamples(most, here + left / parts.processes());
  return {};
}

Expected<std::vector<pdlabi::GroupedSamples>>
pdlrt::gatherJobGroups(const TrainingParts &parts) {
  const pdl_descriptor &descriptor = parts.descriptor;
  const size_t count = size_t(parts.layout.groups) * parts.layout.workers;
  std::vector<pdlabi::GroupedSamples> all(descriptor.metric_count * count);
  for (int32_t m = 0; m < descriptor.metric_count; ++m) {
    const pdl_metric &metric = descriptor.metrics[m];
    if (!pdlabi::observesGroups(metric.kind))
      continue;
    Expected<pdlabi::GroupedSamples> samples =
        gatherGroups(parts.job, parts.processes(), metric.name,
                     parts.run.engine->replicas().groupsOf(m));
    if (!samples)
      return samples.status();
    if (parts.job.rank() == 0)
      all[m * count] = std::move(*samples);
  }
  return all;
}
