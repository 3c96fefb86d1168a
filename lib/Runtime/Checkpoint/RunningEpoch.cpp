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

/// What visit(name, elements of a replica, data) returns for the sums of each
/// metric: the first that is no success.
template <typename Visit>
static Status forEachTensor(const pdl_descriptor &descriptor, int64_t replicas,
                            RunningEpoch &running, Visit visit) {
  Status status;
  forEachMetric(
      descriptor, replicas, running.metrics, [&](const MetricBlock &block) {
        if (status.ok())
          status = visit(std::string("metric.") +
                             descriptor.metrics[block.index].name + ".sums",
                         block.size, block.sums);
      });
  return status;
}

Status pdlrt::saveRunningEpoch(const pdl_descriptor &descriptor,
                               const RunningEpoch &running, int replicas,
                               CheckpointWriter &writer) {
  SafetensorsWriter tensors;
  const double loss[] = {running.lossSum, running.weightSum};
  PDLRT_RETURN_IF_ERROR(tensors.addCopy("loss", TensorType::F64, {2}, loss));
  RunningEpoch copy = running;
  PDLRT_RETURN_IF_ERROR(forEachTensor(
      descriptor, replicas, copy,
      [&](const std::string &name, int64_t elements, const void *data) {
        return tensors.addCopy(name, TensorType::F64, {replicas, elements},
                               data);
      }));
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

Expected<RunningEpoch> pdlrt::loadRunningEpoch(const pdl_descriptor &descriptor,
                                               int replicas,
                                               const Checkpoint &checkpoint) {
  Expected<const SafetensorsFile *> file = checkpoint.only(PartKind::Trainer);
  if (!file)
    return file.status();
  double loss[2];
  PDLRT_RETURN_IF_ERROR(
      copyTensor(checkpoint, **file, "loss", TensorType::F64, {2}, loss));
  RunningEpoch running = {loss[0], loss[1], MetricSums(descriptor, replicas)};
  PDLRT_RETURN_IF_ERROR(forEachTensor(
      descriptor, replicas, running,
      [&](const std::string &name, int64_t elements, void *data) {
        return copyTensor(checkpoint, **file, name, TensorType::F64,
                          {replicas, elements}, data);
      }));
  return running;
}
