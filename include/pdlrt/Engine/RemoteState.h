//===- RemoteState.h - State that all trainers of a job share ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which a trainer uses state on servers. It does not
// depend on how messages are transported.
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

/// The distinct keys of one lookup of a program, and memory for the values of
/// their rows.
struct RowRequest {
  int64_t keyCount = 0;
  const int64_t *keys = nullptr;
  /// Output: the values of the keys' rows, in the order of the keys.
  void *rows = nullptr;
};

/// The contribution of a sender to a round. In mode sync, the sender is a
/// trainer, and all trainers take part in a round. In mode async, the sender is
/// a worker, and each of its steps is a round of its own.
struct RoundRequest {
  /// True in the first round of a pass, in which senders have no gradients yet
  /// and only send keys.
  bool first = false;
  /// The sum of gradients over the replicas of the sender; null: no gradients.
  /// Its keys must be the keys in `next` of the previous round, in the same
  /// order.
  const PartialSum *sum = nullptr;
  /// Keys that the next step reads, by lookup of the program.
  std::span<const RowRequest> next;
  /// True if this trainer has a batch for the next step.
  bool hasNextBatch = false;
  /// True if this trainer was asked to shut down.
  bool stop = false;
  /// True if this trainer requests a checkpoint after the step of these
  /// gradients.
  bool save = false;
};

/// The state of a job on its servers, as one trainer uses it. All trainers of a
/// job make the same calls in the same order, except for `pull`. In mode async,
/// each worker has its own object and calls independently. Calls block. After
/// an error, the trainer must end. Not thread-safe.
class RemoteState {
public:
  virtual ~RemoteState();

  /// Does one round of all senders. The servers apply the sums. Then updates
  /// this trainer's copy of the parameters, and writes the rows of the keys in
  /// `roundRequest.next`.
  virtual Expected<RoundOutcome> exchange(const RoundRequest &roundRequest) = 0;

  /// Returns an object that sends dense gradients during a step; the next
  /// `exchange` does not send them again. Returns null if gradients cannot be
  /// sent early.
  virtual EarlyGradients *early();

  /// `beginPull` and `endPull` do a round without gradients in two parts.
  /// `beginPull` requests the state for the next step. `endPull` waits for it
  /// and writes it; call it when no thread reads the copy of the parameters.
  /// Make no other call between the two.
  virtual Status beginPull(const RoundRequest &roundRequest);
  virtual Expected<RoundOutcome> endPull(const RoundRequest &roundRequest);

  /// Reads the rows of `requests`, which has one entry per lookup of `program`,
  /// a frozen program. If `allValues`, also reads all parameters. Does not
  /// change the state on servers. Sets `unknown[l][i]` to 1 if key i of lookup
  /// l has no row. Leaves other elements, which the caller must have set to 0.
  virtual Status pull(const pdl_program &program, bool allValues,
                      std::span<const RowRequest> requests,
                      std::span<uint8_t *const> unknown) = 0;

  /// Call if the trainer has failed in another part. Exchanges that wait, and
  /// later ones, then return an error soon. Thread-safe.
  virtual void giveUp() {}

  /// Returns the costs of all calls for `program` so far.
  virtual ExchangeCosts costsOf(const pdl_program &program) const = 0;
};

/// Sends the gradients of one worker to servers while its next steps run. Not
/// thread-safe. After an error, the trainer must end.
class PushSink {
public:
  virtual ~PushSink();

  /// Copies the gradients of a step and sends them in the background. The
  /// caller can reuse the memory of `sum` afterwards. Blocks while too many
  /// pushes are in flight. `stop` is true if this trainer was asked to shut
  /// down.
  virtual Status push(const PartialSum &sum, bool stop) = 0;
  /// Blocks until the servers have applied all pushes.
  virtual Status drain() = 0;
  /// Returns true if servers have responded to all pushes, which means that all
  /// are applied.
  virtual bool isEmpty() const = 0;
  /// Returns true if a server has reported that a shutdown was requested.
  virtual bool stopSeen() const = 0;

  virtual ExchangeCosts costs() const = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_REMOTESTATE_H
