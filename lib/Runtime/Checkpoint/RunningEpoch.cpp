//===- RunningEpoch.cpp - What an epoch has counted so far ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/RunningEpoch.h"

#include "pdlabi/metrics.h"
#include "pdlabi/names.h"

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

/// The name of a part of the samples that a metric of groups keeps of a
/// replica.
static std::string groupTensor(const pdl_metric &metric, int replica,
                               const char *part) {
  return fmt::format("metric.{}.{}.{}.{}", metric.name, metric.kind, replica,
                     part);
}

/// Calls visit(metric, replica, its place in `RunningEpoch::groups`).
template <typename Visit>
static void forEachGroups(const pdl_descriptor &descriptor, int replicas,
                          Visit visit) {
  for (int32_t m = 0; m < descriptor.metric_count; ++m)
    for (int r = 0; r < replicas; ++r)
      if (pdlabi::observesGroups(descriptor.metrics[m].kind))
        visit(descriptor.metrics[m], r, size_t(m) * replicas + r);
}

static Status saveGroups(const pdl_metric &metric, int replica,
                         const pdlabi::GroupedSamples &samples,
                         SafetensorsWriter &tensors) {
  const std::vector<int64_t> shape = {int64_t(samples.size())};
  const std::vector<int32_t> labels(samples.labels.begin(),
                                    samples.labels.end());
  PDLRT_RETURN_IF_ERROR(tensors.add(groupTensor(metric, replica, "groups"),
                                    TensorType::I64, shape,
                                    samples.groups.data()));
  PDLRT_RETURN_IF_ERROR(tensors.add(groupTensor(metric, replica, "predictions"),
                                    TensorType::F64, shape,
                                    samples.predictions.data()));
  PDLRT_RETURN_IF_ERROR(tensors.addCopy(groupTensor(metric, replica, "labels"),
                                        TensorType::I32, shape, labels.data()));
  return tensors.add(groupTensor(metric, replica, "weights"), TensorType::F64,
                     shape, samples.weights.data());
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
  forEachGroups(descriptor, replicas,
                [&](const pdl_metric &metric, int replica, size_t place) {
                  if (status.ok() && !running.groups.empty())
                    status = saveGroups(metric, replica, running.groups[place],
                                        tensors);
                });
  PDLRT_RETURN_IF_ERROR(std::move(status));
  CheckpointPart part;
  part.file = "trainer.safetensors";
  part.kind = PartKind::Trainer;
  return writer.addPart(part, tensors);
}

static Status copyTensor(const Checkpoint &checkpoint,
                         const SafetensorsFile &file, const std::string &name,
                         const std::vector<int64_t> &shape, void *out,
                         TensorType type = TensorType::F64) {
  Expected<const TensorView *> tensor =
      checkpoint.tensorOf(file, name, type, shape);
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

static Status loadGroups(const pdl_metric &metric, int replica,
                         const Checkpoint &checkpoint,
                         const SafetensorsFile &file,
                         pdlabi::GroupedSamples &samples) {
  const TensorView *groups = file.find(groupTensor(metric, replica, "groups"));
  // The program that trained does not observe the metric.
  if (!groups)
    return {};
  const int64_t count = groups->elementCount;
  std::vector<int32_t> labels(count);
  samples.groups.resize(count);
  samples.predictions.resize(count);
  samples.weights.resize(count);
  const auto copy = [&](const char *part, TensorType type, void *out) {
    return copyTensor(checkpoint, file, groupTensor(metric, replica, part),
                      {count}, out, type);
  };
  PDLRT_RETURN_IF_ERROR(copy("groups", TensorType::I64, samples.groups.data()));
  PDLRT_RETURN_IF_ERROR(
      copy("predictions", TensorType::F64, samples.predictions.data()));
  PDLRT_RETURN_IF_ERROR(copy("labels", TensorType::I32, labels.data()));
  PDLRT_RETURN_IF_ERROR(
      copy("weights", TensorType::F64, samples.weights.data()));
  for (int32_t label : labels)
    samples.labels.push_back(label != 0);
  return {};
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
  running.groups.resize(size_t(descriptor.metric_count) * replicas);
  Status status;
  forEachMetric(descriptor, replicas, running.metrics,
                [&](const MetricBlock &block) {
                  const pdl_metric &metric = descriptor.metrics[block.index];
                  if (!holdsMetric(metric, block.size, **file)) {
                    if (pdlabi::isMetricOfModel(metric.name))
                      running.newMetrics.emplace_back(metric.name);
                  } else if (status.ok())
                    status = copyTensor(checkpoint, **file, tensorName(metric),
                                        {replicas, block.size}, block.sums);
                });
  forEachGroups(descriptor, replicas,
                [&](const pdl_metric &metric, int replica, size_t place) {
                  if (status.ok() &&
                      holdsMetric(metric, metricSumSize(metric), **file))
                    status = loadGroups(metric, replica, checkpoint, **file,
                                        running.groups[place]);
                });
  PDLRT_RETURN_IF_ERROR(std::move(status));
  return running;
}
