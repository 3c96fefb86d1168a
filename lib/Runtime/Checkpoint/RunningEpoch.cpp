//===- RunningEpoch.cpp - What an epoch has counted so far ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/RunningEpoch.h"

#include "pdlabi/metrics.h"

#include <fmt/format.h>
#include <string>

using namespace pdlrt;

/// The name of a metric's sums, which changes with the metric's kind, and with
/// its parameter where their number does not.
static std::string tensorName(const pdl_metric &metric) {
  if (pdlabi::sumCountTellsParameter(metric.kind))
    return fmt::format("metric.{}.{}.sums", metric.name, metric.kind);
  return fmt::format("metric.{}.{}.{}.sums", metric.name, metric.kind,
                     metric.parameter);
}

Status pdlrt::saveRunningEpoch(const pdl_descriptor &descriptor,
                               const RunningEpoch &running, int replicas,
                               CheckpointWriter &writer) {
  SafetensorsWriter tensors;
  const double loss[] = {running.lossSum, running.weightSum};
  PDLRT_RETURN_IF_ERROR(tensors.addCopy("loss", TensorType::F64, {2}, loss));
  MetricSums metrics = running.metrics;
  Status status;
  forEachMetric(descriptor, replicas, metrics, [&](const MetricBlock &block) {
    if (status.ok())
      status =
          tensors.addCopy(tensorName(descriptor.metrics[block.index]),
                          TensorType::F64, {replicas, block.size}, block.sums);
  });
  PDLRT_RETURN_IF_ERROR(std::move(status));
  CheckpointPart part;
  part.file = "trainer.safetensors";
  part.kind = PartKind::Trainer;
  return writer.addPart(part, tensors);
}

static Status copyTensor(const Checkpoint &checkpoint,
                         const SafetensorsFile &file, const std::string &name,
                         const std::vector<int64_t> &shape, double *out) {
  Expected<const TensorView *> tensor =
      checkpoint.tensorOf(file, name, TensorType::F64, shape);
  if (!tensor)
    return tensor.status();
  return (*tensor)->copyTo(out);
}

/// Whether the file has the metric's sums. Where they are of another number of
/// replicas, reading them says so.
static bool holdsMetric(const pdl_metric &metric, int64_t size,
                        const SafetensorsFile &file) {
  const TensorView *found = file.find(tensorName(metric));
  return found && found->type == TensorType::F64 && found->shape.size() == 2 &&
         found->shape[1] == size;
}

Expected<RunningEpoch> pdlrt::loadRunningEpoch(const pdl_descriptor &descriptor,
                                               int replicas,
                                               const Checkpoint &checkpoint) {
  Expected<const SafetensorsFile *> file = checkpoint.only(PartKind::Trainer);
  if (!file)
    return file.status();
  double loss[2];
  PDLRT_RETURN_IF_ERROR(copyTensor(checkpoint, **file, "loss", {2}, loss));
  RunningEpoch running = {
      loss[0], loss[1], MetricSums(descriptor, replicas), {}};
  Status status;
  forEachMetric(descriptor, replicas, running.metrics,
                [&](const MetricBlock &block) {
                  const pdl_metric &metric = descriptor.metrics[block.index];
                  if (!holdsMetric(metric, block.size, **file))
                    running.newMetrics.emplace_back(metric.name);
                  else if (status.ok())
                    status = copyTensor(checkpoint, **file, tensorName(metric),
                                        {replicas, block.size}, block.sums);
                });
  PDLRT_RETURN_IF_ERROR(std::move(status));
  return running;
}
