//===- RoundReader.h - Batches of all replicas ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_ROUNDREADER_H
#define PDLRT_ENGINE_ROUNDREADER_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Data/Batch.h"
#include "pdlrt/Data/BatchSource.h"
#include "pdlrt/Engine/ReplicaSet.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pdlrt {

/// Reads rounds: a round has one batch for each replica of this process. Can
/// read the next round in the background while a step runs; this does not
/// change the batches. Not thread-safe.
class RoundReader {
public:
  /// Opens the data of the groups of `layout` that run in this process. If
  /// `readAhead`, reads in a background thread, which starts other threads for
  /// decompression. `keptRounds` is the number of rounds that stay valid,
  /// including the current one. The descriptor must outlive the reader.
  static Expected<std::unique_ptr<RoundReader>>
  open(const DataOptions &options, const pdl_descriptor &descriptor,
       const pdl_program &program, const ReplicaLayout &layout, bool readAhead,
       int keptRounds = 1);
  ~RoundReader();

  Status beginEpoch(int64_t epoch);
  /// Moves to `positions`, one for each local group, in the middle of an epoch.
  /// `badRows` is the number of bad rows of the epoch before these positions.
  /// `rest` is as in `BatchSource::restore`.
  Status restore(const std::vector<DataPosition> &positions, int64_t badRows,
                 const std::shared_ptr<const EpochRest> &rest = nullptr);
  /// Sets the results of `positions` and `badRowCount` without moving the
  /// readers: for an epoch of which no further round will be read.
  void stayAt(const std::vector<DataPosition> &positions, int64_t badRows);
  /// Returns, for each local group, the position at which the round after the
  /// current one begins.
  const std::vector<DataPosition> &positions() const { return front().ends; }

  /// Moves to the next round. Returns false at the end of the epoch. After an
  /// error, the current round stays the same. With `DataOptions::flushAfter`, a
  /// round has no samples if only bad rows arrived.
  Expected<bool> next();
  /// Returns true if `next` would return a round with samples without waiting.
  /// Always returns false if there is no background thread.
  bool isNextReady();

  /// Returns the batches of the current round, by replica (local group *
  /// workers + worker). They are valid during the next `keptRounds` - 1 calls
  /// of `next`.
  std::span<const StepInput> inputs() const { return front().inputs; }
  const Batch &batch(int replica) const { return front().batches[replica]; }
  /// Returns the number of samples in the current round.
  int64_t sampleCount() const { return front().samples; }

  /// `badRowCount` returns the number of bad rows of the epoch up to the
  /// current round. `badRowMessages` returns the messages about the first ones
  /// that this process has read. Rows that were read in advance of the current
  /// round are not counted, so the results do not depend on the number of
  /// threads.
  int64_t badRowCount() const { return badRowOffset + front().badRows; }
  const std::vector<std::string> &badRowMessages() const {
    return front().messages;
  }

  /// The rows of the first local group up to the current round: their number,
  /// and the copied text of the bad ones.
  struct SettledRows {
    /// `BatchSource::settledRows`.
    int64_t count = 0;
    /// `BatchSource::takeCopiedCellsOfBadRows`.
    std::map<int64_t, std::string> copiedCells;
  };
  /// Returns the settled rows. Moves `copiedCells` out, so a second call
  /// returns no cells.
  SettledRows takeSettledRows() { return std::move(front().settled); }

private:
  struct Round {
    std::vector<Batch> batches;
    std::vector<StepInput> inputs;
    /// Position of each group's reader after the round.
    std::vector<DataPosition> ends;
    int64_t samples = 0;
    SettledRows settled;
    /// True if the epoch ends with this round.
    bool isLast = false;
    /// Number of bad rows that this process has read up to the end of the
    /// round.
    int64_t badRows = 0;
    std::vector<std::string> messages;
  };

  RoundReader(int groups, int workers, int keptRounds);
  Round &front() { return kept[current]; }
  const Round &front() const { return kept[current]; }
  /// Returns the index of the next round, which replaces the oldest one.
  size_t following() const { return (current + 1) % kept.size(); }
  Status fill(Round &round);
  void waitUntilIdle();
  void requestFill();
  void readInBackground();
  void noteBadRows(Round &round) const;

  const int workers;
  std::vector<std::unique_ptr<BatchSource>> sources;
  std::vector<Round> kept;
  size_t current = 0;
  /// The round that is read in the background. While `filling`, it belongs to
  /// the background thread, otherwise to the caller.
  Round back;
  /// Number of bad rows of the epoch before the position from which it was
  /// resumed. Bad rows that are read again after the resume are subtracted.
  int64_t badRowOffset = 0;

  bool readAhead = false;
  std::thread thread;
  Mutex mutex;
  ConditionVariable changed;
  /// Status of reading `back`.
  Status backStatus PDLRT_GUARDED_BY(mutex);
  /// True if the background thread is reading `back`, or will start to.
  bool filling PDLRT_GUARDED_BY(mutex) = false;
  /// True if `back` has a round that `next` has not returned yet.
  bool ready PDLRT_GUARDED_BY(mutex) = false;
  bool stopping PDLRT_GUARDED_BY(mutex) = false;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ROUNDREADER_H
