//===- Bookmark.h - Where a trainer that died goes on -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_BOOKMARK_H
#define LIB_RUNTIME_JOB_BOOKMARK_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/BatchSource.h"
#include "pdlrt/Engine/ReplicaSet.h"
#include "pdlrt/Engine/Report.h"
#include "pdlrt/Engine/StepEngine.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// What a trainer leaves with a request of its training, so that a new start of
/// it can send that request again and go on from there. All counts are those of
/// the moment at which the request is sent.
struct Bookmark {
  /// The request is
  enum class Place : int64_t {
    /// the first round of an epoch, or of what is left of one;
    EpochBegins,
    /// the round of a step: its gradients, and the keys of the next one;
    Step,
    /// the sum of what an epoch has counted;
    EpochEnds,
    /// where workers step by themselves, the sum in which trainers meet, before
    /// a checkpoint or when their steps of an epoch are over.
    Meets,
  };
  Place place = Place::EpochBegins;
  /// Of the flags that decide what is trained.
  int64_t flags = 0;
  int64_t epoch = 0;
  /// As TrainCommand counts them.
  int64_t totalSteps = 0, totalSamples = 0, skippedUpdates = 0;
  int64_t resumedSteps = 0, resumedSamples = 0, stepsInEpoch = 0;
  /// Of the log of losses; -1: there is none.
  int64_t lossLines = -1;
  /// Of the last checkpoint.
  int64_t savedSteps = 0, savedEpoch = 0;
  /// The most steps that any trainer had done when they last met.
  int64_t agreedSteps = 0;
  /// Of an epoch that ends: whether it came to the end of the data.
  bool epochEnded = false;
  /// Of Meets: the steps of this process are over.
  bool stepsEnded = false;
  /// Steps of the pass that are in the report, where workers step by
  /// themselves.
  int64_t passSteps = 0;
  /// Of the epoch, without the step of this request.
  Report report;
  int64_t badRows = 0;
  /// By local group, where the next round to be read begins; empty: at the
  /// epoch's begin.
  std::vector<DataPosition> positions;
  /// Of a Step.
  PendingStep step;
  /// Metrics of the local replicas, with the step of this request.
  MetricSums metrics;
};

/// What a worker that steps by itself leaves with each of its requests.
struct WorkerBookmark {
  /// The process, when it last had taken a step of all workers. Its positions
  /// are those where the pass began, empty at the epoch's begin; its metrics
  /// those of all replicas there, none at the epoch's begin.
  Bookmark process;
  WorkerMark mark;
  /// Where the round behind the worker's steps begins; as in `process`.
  std::vector<DataPosition> positions;
  int64_t badRows = 0;
  /// Of its replica, with the steps of the mark.
  std::vector<double> metrics;
};

Message encodeBookmark(const WorkerBookmark &bookmark);
Expected<WorkerBookmark> decodeWorkerBookmark(const Message &message);

Message encodeBookmark(const Bookmark &bookmark);
/// An error where the bytes are none. Any bytes are safe.
Expected<Bookmark> decodeBookmark(const Message &message);

/// Sets the metrics of the replicas of this process. An error where the
/// bookmark is of other replicas.
Status restoreMetrics(const Bookmark &bookmark, ReplicaSet &set);

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_BOOKMARK_H
