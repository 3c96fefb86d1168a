//===- BatchContext.h - Runs a program's stages on one batch ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_BATCHCONTEXT_H
#define PDLRT_ENGINE_BATCHCONTEXT_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Data/Batch.h"
#include "pdlrt/Engine/ComputeBuffers.h"
#include "pdlrt/Kernels/ObservedSamples.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/PreparedRows.h"
#include "pdlrt/Sum/PartialSum.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// The samples of one replica in one step. The memory is borrowed.
struct StepInput {
  /// Indexed by program field.
  const pdl_field_data *fields = nullptr;
  /// 0: the replica has no batch in this step.
  int64_t samples = 0;
  /// Origin of the batch, for messages.
  int64_t batchIndex = 0;
  std::string_view file;
  /// The batch that was read; null if the samples do not come from a reader.
  const Batch *batch = nullptr;
};

/// Runs the stages of a program on one batch. The lookups that `prepare` writes
/// remain valid until the next `prepare` of this context. Results of `compute`
/// remain valid until another batch is computed in the same buffers. A context
/// is not thread-safe. Different contexts can run concurrently, except for
/// `compute` in the same buffers.
class BatchContext {
public:
  /// The arguments must outlive the context. `metrics` and `groups` are indexed
  /// by descriptor metric; `compute` adds to them.
  BatchContext(Model &model, const pdl_program &program,
               ComputeBuffers &buffers, double *const *metrics,
               pdlabi::GroupedSamples *groups);
  BatchContext(const BatchContext &) = delete;
  BatchContext &operator=(const BatchContext &) = delete;

  /// Records that there is no batch in this step.
  void skip();
  /// Reads ids, and finds or inserts the rows of the batch. For tables on
  /// servers, only deduplicates the keys. On failure, no state that a program
  /// can read has changed.
  Status prepare(const StepInput &input);
  /// Computes outputs, gradients, loss and weight, and adds to the metrics.
  /// Call after a successful `prepare`, while the input's fields exist. Fails
  /// only if memory for the results is exhausted or a device fails.
  Status compute();

  /// Registers the listener that is called when `compute` has written a
  /// gradient: see Worker.
  void reportGradients(GradientListener *who, int replica) {
    worker.reportGradients(who, replica);
  }

  /// Sets the object to which `compute` copies the observations of metrics;
  /// null: none. It must outlive its use.
  void keepObserved(ObservedSamples *who) { observed = who; }

  /// Returns the prepared samples; 0 samples if there is no batch.
  const StepInput &input() const { return stepInput; }
  /// Returns the name of a result of `compute` that is not finite: "the loss",
  /// "the gradient of @w". Returns "" if all results are finite.
  std::string findNonFinite() const;
  /// Returns true if `compute` had too little memory to keep all samples of a
  /// metric of groups.
  bool lostSamples() const { return worker.lostSamples(); }
  /// Returns the losses and gradients of `compute`, in borrowed buffers. A
  /// dense gradient can be read as soon as it was announced.
  const PartialSum &contribution() const { return ownPartialSum; }
  /// Returns the values of a program output, samples x width elements.
  const void *output(int32_t index) const {
    return buffers.outputPointers[index];
  }
  /// Returns the values of all outputs.
  const void *const *outputs() const { return buffers.outputPointers.data(); }
  /// Returns a lookup by its program index. Without a batch, it has no keys.
  const pdl_lookup &lookup(int32_t index) const { return lookups[index]; }
  /// Returns, after `prepare` and for a table on servers, the array of row
  /// addresses, one per key. The caller fills it before `compute`.
  void **remoteRows(int32_t lookup);
  /// Returns, after `compute` in a program for a device, the device memory per
  /// sample and per distinct key, in bytes. `contexts`: number of contexts that
  /// share the buffers.
  struct DeviceNeeds {
    double ofSample = 0, ofKey = 0;
  };
  Expected<DeviceNeeds> deviceNeeds(size_t contexts) const;
  /// Visits the rows that `prepare` has inserted for its batch
  /// (PreparedRows.h).
  void listNewRows(const PreparedRows::Visit &visit) const {
    if (stepInput.samples > 0)
      worker.listNewRows(visit);
  }
  /// Counters of its pulls since the last reset.
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
  /// Sample numbers of a batch that does not come from a reader.
  std::vector<int64_t> madeUpSamples;
  StepInput stepInput;
  ObservedSamples *observed = nullptr;

  std::vector<pdl_lookup> lookups;
  AlignedBuffer prepareArena;
  PartialSum ownPartialSum;
  /// Only in programs for a device.
  std::unique_ptr<DeviceInput> deviceInput;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_BATCHCONTEXT_H
