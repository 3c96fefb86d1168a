//===- BatchContext.h - One batch on its way through a program --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_BATCHCONTEXT_H
#define PDLRT_ENGINE_BATCHCONTEXT_H

#include "pdlabi/abi.h"
#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Data/Batch.h"
#include "pdlrt/Engine/ComputeBuffers.h"
#include "pdlrt/Kernels/ObservedSamples.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/PreparedRows.h"
#include "pdlrt/Sum/Contribution.h"

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
  /// Where it was read; null for one that was made up.
  const Batch *batch = nullptr;
};

/// Runs the stages of a program on one batch. The lookups that `prepare` writes
/// stay alive until the next batch is prepared here; what `compute` writes,
/// until a batch is computed in the same buffers. One thread at a time;
/// contexts run beside each other, but for `compute` in the same buffers.
class BatchContext {
public:
  /// All outlive the context. `metrics` and `groups`: by descriptor metric;
  /// `compute` adds to them.
  BatchContext(Model &model, const pdl_program &program,
               ComputeBuffers &buffers, double *const *metrics,
               pdlabi::GroupedSamples *groups);
  BatchContext(const BatchContext &) = delete;
  BatchContext &operator=(const BatchContext &) = delete;

  /// Says that there is no batch in this step.
  void skip();
  /// Reads and inserts what the batch needs; of tables on servers, finds the
  /// keys. On failure no state that a program can read has changed.
  Status prepare(const StepInput &input);
  /// Fills outputs, gradients, loss and weight, and adds to the metrics. After
  /// a successful `prepare`, while the input's fields are there. Fails only
  /// where there is no memory for what it writes, or a device fails.
  Status compute();

  /// Who is told when `compute` has written a gradient: see Worker.
  void tellOfGradients(GradientListener *who, int replica) {
    worker.tellOfGradients(who, replica);
  }

  /// Where `compute` copies what metrics observe to; null: nowhere. It lives
  /// longer than its use.
  void keepObserved(ObservedSamples *who) { observed = who; }

  /// The samples prepared; 0 without a batch.
  const StepInput &input() const { return stepInput; }
  /// The name of what is not finite after `compute`: "the loss", "the gradient
  /// of @w"; empty if all is finite.
  std::string findNonFinite() const;
  /// Whether `compute` had no memory to keep all samples of a metric of groups.
  bool lostSamples() const { return worker.lostSamples(); }
  /// After `compute`: borrows its buffers. A dense gradient that is announced
  /// is there before.
  const Contribution &contribution() const { return ownContribution; }
  /// By program output, samples x width elements.
  const void *output(int32_t index) const {
    return buffers.outputPointers[index];
  }
  /// The same of all of them.
  const void *const *outputs() const { return buffers.outputPointers.data(); }
  /// By program lookup; of no keys without a batch.
  const pdl_lookup &lookup(int32_t index) const { return lookups[index]; }
  /// After `prepare`, of a table on servers: where each key's row is said to
  /// be, to be filled before `compute`.
  void **remoteRows(int32_t lookup);
  /// After `compute`, in a program for a device, with so many such contexts in
  /// the same buffers: what a sample and a distinct key need there, bytes.
  struct DeviceNeeds {
    double ofSample = 0, ofKey = 0;
  };
  Expected<DeviceNeeds> deviceNeeds(size_t contexts) const;
  /// Lists the rows that `prepare` has made for its batch (PreparedRows.h).
  void listNewRows(const PreparedRows::Visit &visit) const {
    if (stepInput.samples > 0)
      worker.listNewRows(visit);
  }
  /// What its pulls met since the last reset.
  PullCounts &pullCounts() { return worker.pullCounts(); }

private:
  size_t arenaBytes(const pdl_affine_size &size) const;
  void prepareDraws(const StepInput &input);
  Expected<void *> reserveGradient(int32_t update, size_t bytes);
  Status reserveComputeBuffers();
  void noteGradientsOnDevice();

  Model &model;
  const pdl_program &program;
  ComputeBuffers &buffers;
  Worker worker;
  pdl_step_context context = {};
  pdl_draws draws = {};
  /// The numbers of the samples of a batch that was made up.
  std::vector<int64_t> madeUpSamples;
  StepInput stepInput;
  ObservedSamples *observed = nullptr;

  std::vector<pdl_lookup> lookups;
  AlignedBuffer prepareArena;
  Contribution ownContribution;
  /// In programs for a device.
  std::unique_ptr<DeviceInput> deviceInput;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_BATCHCONTEXT_H
