//===- Replica.h - One logical worker of one program ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRAINER_REPLICA_H
#define PDLRT_TRAINER_REPLICA_H

#include "pdlabi/abi.h"
#include "pdlrt/Comm/Communicator.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Worker.h"
#include "pdlrt/Trainer/Model.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// The samples that one replica gets in one step. Borrowed memory.
struct StepInput {
  /// By program field.
  const pdl_field_data *fields = nullptr;
  /// 0: the replica has no batch in this step.
  int64_t samples = 0;
  /// Where the batch comes from, for messages.
  int64_t batchIndex = 0;
  std::string_view file;
};

/// Runs the stages of a program on batches and holds what they write. One
/// thread at a time; replicas run beside each other.
class Replica {
public:
  /// Both outlive the replica.
  Replica(Model &model, const pdl_program &program);

  /// Reads and inserts what the batch needs. On failure no state that a program
  /// can read has changed.
  Status prepare(const StepInput &input);
  /// Fills outputs, gradients, loss and weight, and adds to the metrics. After
  /// a successful `prepare`.
  void compute();

  /// The name of what is not finite after `compute`: "the loss", "the gradient
  /// of @w"; empty if all is finite.
  std::string findNonFinite() const;

  /// After `compute`: borrows this replica's buffers until the next `prepare`.
  const Contribution &contribution() const { return ownContribution; }
  /// Says that the replica has no batch in this step.
  void skipStep() { ownContribution.present = false; }

  /// By program output, samples x width elements.
  const void *output(int32_t index) const { return outputPointers[index]; }
  /// By descriptor metric, summed since the last reset.
  const pdl_metric_data &metric(int32_t index) const { return metrics[index]; }
  /// What its pulls met since the last reset.
  PullCounts &pullCounts() { return worker.pullCounts(); }
  /// Zeroes metrics and pull counts.
  void resetCounters();

private:
  int64_t arenaBytes(const pdl_affine_size &size) const;
  void reserveComputeBuffers();

  Model &model;
  const pdl_program &program;
  Worker worker;
  pdl_step_context context = {};

  std::vector<pdl_lookup> lookups;
  std::vector<AlignedBuffer> gradients, gradientRows, outputs;
  std::vector<void *> gradientPointers, outputPointers;
  std::vector<pdl_metric_data> metrics;
  std::vector<std::vector<int64_t>> metricCounts;
  std::vector<std::vector<double>> metricSums;
  AlignedBuffer prepareArena, computeArena;
  Contribution ownContribution;
};

/// The gradients that a step of `program` exchanges, by update.
std::vector<GradientBlock> gradientBlocks(const pdl_descriptor &descriptor,
                                          const pdl_program &program);

/// True if all elements are finite. `type`: PDL_F32 or PDL_F64.
bool allFinite(int32_t type, int64_t count, const void *values);

/// True if all elements divided by `weight`, rounded to their type, are finite.
bool allQuotientsFinite(int32_t type, int64_t count, const void *values,
                        double weight);

} // namespace pdlrt

#endif // PDLRT_TRAINER_REPLICA_H
