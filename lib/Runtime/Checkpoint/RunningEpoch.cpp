//===- RunningEpoch.cpp - What an epoch has counted so far ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/RunningEpoch.h"

#include <string>

using namespace pdlrt;

/// An array of a metric, by a name that changes with the metric's kind.
static std::string tensorName(const pdl_metric &metric, const char *array) {
  return "metric." + std::string(metric.name) + "." +
         std::to_string(metric.kind) + "." + array;
}

/// What visit(name, type, elements of a replica, data) returns for each array
/// of a metric: the first that is no success.
template <typename Visit>
static Status forEachTensor(const pdl_descriptor &descriptor,
                            const MetricBlock &block, Visit visit) {
  const pdl_metric &metric = descriptor.metrics[block.index];
  if (block.countSize)
    PDLRT_RETURN_IF_ERROR(visit(tensorName(metric, "counts"), TensorType::I64,
                                block.countSize, block.counts));
  if (block.sumSize)
    PDLRT_RETURN_IF_ERROR(visit(tensorName(metric, "sums"), TensorType::F64,
                                block.sumSize, block.sums));
  return {};
}

Status pdlrt::saveRunningEpoch(const pdl_descriptor &descriptor,
                               const RunningEpoch &running, int replicas,
                               CheckpointWriter &writer) {
  SafetensorsWriter tensors;
  const double loss[] = {running.lossSum, running.weightSum};
  PDLRT_RETURN_IF_ERROR(tensors.addCopy("loss", TensorType::F64, {2}, loss));
  RunningEpoch copy = running;
  Status status;
  forEachMetric(
      descriptor, replicas, copy.metrics, [&](const MetricBlock &block) {
        if (status.ok())
          status = forEachTensor(descriptor, block,
                                 [&](const std::string &name, TensorType type,
                                     int64_t elements, const void *data) {
                                   return tensors.addCopy(
                                       name, type, {replicas, elements}, data);
                                 });
      });
  PDLRT_RETURN_IF_ERROR(std::move(status));
  CheckpointPart part;
  part.file = "trainer.safetensors";
  part.kind = PartKind::Trainer;
  return writer.addPart(part, tensors);
}

static Status copyTensor(const Checkpoint &checkpoint,
                         const SafetensorsFile &file, const std::string &name,
                         TensorType type, const std::vector<int64_t> &shape,
                         void *out) {
  Expected<const TensorView *> tensor =
      checkpoint.tensorOf(file, name, type, shape);
  if (!tensor)
    return tensor.status();
  return (*tensor)->copyTo(out);
}

/// Whether the file has the metric's arrays. Where they are of another number
/// of replicas, reading them says so.
static bool holdsMetric(const pdl_descriptor &descriptor,
                        const MetricBlock &block, const SafetensorsFile &file) {
  return forEachTensor(descriptor, block,
                       [&](const std::string &name, TensorType type,
                           int64_t elements, const void *) {
                         const TensorView *found = file.find(name);
                         return found && found->type == type &&
                                        found->shape.size() == 2 &&
                                        found->shape[1] == elements
                                    ? Status()
                                    : Status::invalid(name);
                       })
      .ok();
}

Expected<RunningEpoch> pdlrt::loadRunningEpoch(const pdl_descriptor &descriptor,
                                               int replicas,
                                               const Checkpoint &checkpoint) {
  Expected<const SafetensorsFile *> file = checkpoint.only(PartKind::Trainer);
  if (!file)
    return file.status();
  double loss[2];
  PDLRT_RETURN_IF_ERROR(
      copyTensor(checkpoint, **file, "loss", TensorType::F64, {2}, loss));
  RunningEpoch running = {
      loss[0], loss[1], MetricSums(descriptor, replicas), {}};
  Status status;
  forEachMetric(
      descriptor, replicas, running.metrics, [&](const MetricBlock &block) {
        if (!status.ok())
          return;
        if (!holdsMetric(descriptor, block, **file)) {
          running.newMetrics.emplace_back(descriptor.metrics[block.index].name);
          return;
        }
        status =
            forEachTensor(descriptor, block,
                          [&](const std::string &name, TensorType type,
                              int64_t elements, void *data) {
                            return copyTensor(checkpoint, **file, name, type,
                                              {replicas, elements}, data);
                          });
      });
  PDLRT_RETURN_IF_ERROR(std::move(status));
  return running;
}
