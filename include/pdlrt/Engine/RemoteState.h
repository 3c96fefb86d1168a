//===- RemoteState.h - State that all trainers of a job share ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The requests of a trainer to the servers, independent of the transport.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_REMOTESTATE_H
#define PDLRT_ENGINE_REMOTESTATE_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/EarlyGradients.h"
#include "pdlrt/Engine/RoundOutcome.h"
#include "pdlrt/Engine/StepCosts.h"
#include "pdlrt/Sum/PartialSum.h"

#include <cstdint>
#include <span>

namespace pdlrt {

/// Distinct keys of one lookup of a program, and memory for their rows.
struct RowRequest {
  int64_t keyCount = 0;
  const int64_t *keys = nullptr;
  /// Output: the values of the keys, in order.
  void *rows = nullptr;
};

/// The contribution of a trainer to a round of sync training, or of a worker to
/// a step of async training, which is a round of one worker.
struct RoundRequest {
  /// The first round of a pass: all trainers send only keys.
  bool first = false;
  /// The sum over this process's replicas. Its keys are those of the previous
  /// round's `next`, in that order. Null: no gradients.
  const PartialSum *sum = nullptr;
  /// Indexed by lookup of the program: keys that the next step reads.
  std::span<const RowRequest> next;
  /// True if this trainer has a batch for the next step.
  bool hasNextBatch = false;
  /// True if this trainer was asked to shut down.
  bool stop = false;
  /// True if this trainer requests a checkpoint after the step of these
  /// gradients.
  bool save = false;
};

/// The state of a job on its servers, as seen by one trainer. All trainers of a
/// job make the same calls in the same order, except `pull`; in mode async,
/// each worker calls independently. Calls block. After an error the job is over
/// for this trainer. Not thread-safe.
class RemoteState {
public:
  virtual ~RemoteState();

  /// Does one round of all trainers: applies the sums, then updates this
  /// trainer's mirrors of the parameters and writes the rows of
  /// `roundRequest.next`.
  virtual Expected<RoundOutcome> exchange(const RoundRequest &roundRequest) = 0;

  /// Returns the receiver of dense gradients during a step, which the next
  /// `exchange` does not send again. Null if there is none.
  virtual EarlyGradients *early();

  /// Do a round without gradients in two parts. `beginPull` requests the state
  /// for the next step. `endPull` writes it, when no thread reads the mirrors.
  /// No other call may come between them.
  virtual Status beginPull(const RoundRequest &roundRequest);
  virtual Expected<RoundOutcome> endPull(const RoundRequest &roundRequest);

  /// Reads rows for a frozen program, and with `allValues` also the parameters.
  /// Changes nothing. `requests`: by lookup of `program`. Sets `unknown[l][i]`
  /// to 1 if key i of lookup l has no row, else to 0.
  virtual Status pull(const pdl_program &program, bool allValues,
                      std::span<const RowRequest> requests,
                      std::span<uint8_t *const> unknown) = 0;

  /// Reports that the trainer has failed elsewhere: waiting and future
  /// exchanges end soon with an error. Thread-safe.
  virtual void giveUp() {}

  /// Returns the costs of all calls for a program so far.
  virtual ExchangeCosts costsOf(const pdl_program &program) const = 0;
};

/// Receives the gradients of a worker that does not wait for its pushes: they
/// are sent while its next steps run. Not thread-safe. After an error the job
/// is over for this trainer.
class PushSink {
public:
  virtual ~PushSink();

  /// Copies the gradients of a step, so that their memory can be reused. Blocks
  /// while the maximum amount is in flight. `stop`: this trainer was asked to
  /// shut down.
  virtual Status push(const PartialSum &sum, bool stop) = 0;
  /// Blocks until servers have applied all pushes.
  virtual Status drain() = 0;
  /// Returns true if all pushes are known to be applied.
  virtual bool isEmpty() const = 0;
  /// Returns true if servers have reported a shutdown request.
  virtual bool stopSeen() const = 0;

  virtual ExchangeCosts costs() const = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_REMOTESTATE_H
