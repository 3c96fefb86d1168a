//===- RemoteState.h - State that all trainers of a job share ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a trainer asks of the servers, without a word about how it travels.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_REMOTESTATE_H
#define PDLRT_ENGINE_REMOTESTATE_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/EarlyGradients.h"
#include "pdlrt/Engine/RoundOutcome.h"
#include "pdlrt/Engine/StepCosts.h"
#include "pdlrt/Sum/Contribution.h"

#include <cstdint>
#include <span>

namespace pdlrt {

/// Distinct keys of one lookup of a program, and room for their rows.
struct RowRequest {
  int64_t keyCount = 0;
  const int64_t *keys = nullptr;
  /// Written: the value of each key, one after the other.
  void *rows = nullptr;
};

/// What a trainer brings to a round of sync training, or a worker to a step of
/// async training, which is a round of its own.
struct RoundOffer {
  /// The first round of a pass: all trainers bring keys only.
  bool first = false;
  /// The sum over this process's replicas; its keys are those of the previous
  /// round's `next`, in that order. Null: nothing to contribute.
  const Contribution *sum = nullptr;
  /// By lookup of the program: what the next step reads.
  std::span<const RowRequest> next;
  /// Whether this trainer has a batch for the next step.
  bool contributesNext = false;
  /// Whether this trainer was asked to stop.
  bool stop = false;
  /// Whether it wants a checkpoint after the step whose gradients these are.
  bool save = false;
};

/// The state of a job on its servers, as one trainer sees it. Every trainer of
/// a job makes the same calls in the same order, `pull` aside (mode async: each
/// worker as it likes). Calls block. On
/// an error, one sentence, the job is over for this trainer. One thread at a
/// time.
class RemoteState {
public:
  virtual ~RemoteState();

  /// One round of all trainers: applies the sums, then writes this trainer's
  /// mirrors of the parameters and the rows of `offer.next`.
  virtual Expected<RoundOutcome> exchange(const RoundOffer &offer) = 0;

  /// Who takes dense gradients of steps before they are computed; what it has
  /// taken the next `exchange` does not send again. Null: nobody.
  virtual EarlyGradients *early();

  /// A round without a sum in two halves: asks for what the next step reads,
  /// and later writes it, when nobody reads the mirrors. No call between them.
  virtual Status beginPull(const RoundOffer &offer);
  virtual Expected<RoundOutcome> endPull(const RoundOffer &offer);

  /// Reads rows for a frozen program, and with `allValues` the parameters too;
  /// changes nothing. `requests`: by lookup of
  /// `program`. `unknown[l][i]` becomes 1 where key i of lookup l has no row,
  /// else 0.
  virtual Status pull(const pdl_program &program, bool allValues,
                      std::span<const RowRequest> requests,
                      std::span<uint8_t *const> unknown) = 0;

  /// The trainer has failed elsewhere: exchanges that wait, or will, end soon
  /// with an error. By any thread.
  virtual void giveUp() {}

  /// What the calls for a program have cost so far.
  virtual ExchangeCosts costsOf(const pdl_program &program) const = 0;
};

/// Where the gradients of a worker's steps go that does not wait for them: they
/// travel beside its next steps. One thread at a time. After an error the job
/// is over for this trainer.
class PushSink {
public:
  virtual ~PushSink();

  /// Takes what a step gives; its memory may then be used again. Blocks while
  /// as much is on its way as may be. `stop`: this trainer was asked to stop.
  virtual Status push(const Contribution &sum, bool stop) = 0;
  /// Blocks until servers have applied all of it.
  virtual Status drain() = 0;
  /// Whether they have, as far as is known.
  virtual bool isEmpty() const = 0;
  /// Whether servers have said that somebody was asked to stop.
  virtual bool stopSeen() const = 0;

  virtual ExchangeCosts costs() const = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_REMOTESTATE_H
