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

/// The samples of one replica in one step. The pointers refer to memory of the
/// reader or of the caller.
struct StepInput {
  /// Indexed by field of the program.
  const pdl_field_data *fields = nullptr;
  /// Number of samples. 0: the replica has no batch in this step.
  int64_t samples = 0;
  /// Index of the batch, and its file or another name of its origin, for
  /// messages.
  int64_t batchIndex = 0;
  std::string_view file;
  /// The batch that was read; null if the samples do not come from a reader.
  const Batch *batch = nullptr;
};

/// Runs the stages of a program on one batch. The lookups that `prepare` writes
/// are valid until the next `prepare` of this context. Results of `compute` are
/// valid until another batch is computed in the same ComputeBuffers. A context
/// is not thread-safe. Different contexts can be used concurrently, except for
/// calls of `compute` with the same ComputeBuffers.
class BatchContext {
public:
  /// `compute` adds to `metrics` and to the samples in `groups`, which are
  /// arrays with one entry per metric of the descriptor. The arguments must
  /// outlive the context.
  BatchContext(Model &model, const pdl_program &program,
               ComputeBuffers &buffers, double *const *metrics,
               pdlabi::GroupedSamples *groups);
  BatchContext(const BatchContext &) = delete;
  BatchContext &operator=(const BatchContext &) = delete;

  /// Makes the context one without a batch: 0 samples.
  void skip();
  /// Reads ids, and finds or inserts the rows of the batch. For tables on
  /// servers, only deduplicates the keys. After an error, no state that a
  /// program can read has changed.
  Status prepare(const StepInput &input);
  /// Computes outputs, gradients, loss and weight, and adds to the metrics.
  /// Call after a successful `prepare`, while the memory of its `input` is
  /// valid. Returns an error if memory for the results is exhausted, a device
  /// fails, or an op refuses an id (nn.log_probability).
  Status compute();

  /// Registers the listener that is called when `compute` has written a
  /// gradient (Worker::reportGradients).
  void reportGradients(GradientListener *who, int replica) {
    worker.reportGradients(who, replica);
  }

  /// Sets the object to which `compute` copies the samples that metrics
  /// observe; null: none. The object must stay valid while `compute` uses it.
  void keepObserved(ObservedSamples *who) { observed = who; }

  /// Returns the input of the last `prepare`; it has 0 samples if there is no
  /// batch.
  const StepInput &input() const { return stepInput; }
  /// Returns the name of a result of `compute` that is not finite, such as "the
  /// loss" or "the gradient of @w". Returns an empty text if all results are
  /// finite.
  std::string findNonFinite() const;
  /// Returns true if memory did not suffice for `compute` to store all samples
  /// of a grouped metric.
  bool lostSamples() const { return worker.lostSamples(); }
  /// Returns the losses and gradients of `compute`. They refer to the
  /// ComputeBuffers. A dense gradient can be read as soon as the listener was
  /// called for it.
  const PartialSum &contribution() const { return ownPartialSum; }
  /// Returns the values of an output of the program: samples x width elements.
  const void *output(int32_t index) const {
    return buffers.outputPointers[index];
  }
  /// Returns the values of all outputs, by index of the output.
  const void *const *outputs() const { return buffers.outputPointers.data(); }
  /// Returns the lookup with index `index` in the program. If there is no
  /// batch, it has no keys.
  const pdl_lookup &lookup(int32_t index) const { return lookups[index]; }
  /// Returns the array of row addresses, one per key, of a lookup in a table on
  /// servers. Call after `prepare`. The caller must set the addresses before
  /// `compute`.
  void **remoteRows(int32_t lookup);
  /// Device memory that a batch needs per sample and per distinct key, in
  /// bytes. `deviceNeeds` returns it; call it after `compute` in a program for
  /// a device. Its argument `contexts` is the number of contexts that share the
  /// ComputeBuffers.
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
  /// Returns the counters of this context's pulls since the last reset.
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
  /// Set in programs for a device.
  std::unique_ptr<DeviceInput> deviceInput;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_BATCHCONTEXT_H
