//===- RoundReader.h - Batches of all replicas ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_ROUNDREADER_H
#define PDLRT_ENGINE_ROUNDREADER_H

#include "pdlrt/Data/Batch.h"
#include "pdlrt/Data/BatchSource.h"
#include "pdlrt/Engine/ReplicaSet.h"

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pdlrt {

/// Reads a batch for each replica, round by round. Can read the next round in
/// the background while a step runs; the batches do not depend on that. Not
/// thread-safe.
class RoundReader {
public:
  /// Opens the data of the groups of `layout` that run in this process. The
  /// descriptor must outlive the reader. `readAhead`: reads in a background
  /// thread, which starts other threads for decompression. `keptRounds`: number
  /// of rounds that stay valid, including the current one.
  static Expected<std::unique_ptr<RoundReader>>
  open(const DataOptions &options, const pdl_descriptor &descriptor,
       const pdl_program &program, const ReplicaLayout &layout, bool readAhead,
       int keptRounds = 1);
  ~RoundReader();

  Status beginEpoch(int64_t epoch);
  /// Goes on in a running epoch where `positions`, one for each local group,
  /// say; `badRows` of the epoch had been met there. `rest`: as in
  /// `BatchSource::restore`.
  Status restore(const std::vector<DataPosition> &positions, int64_t badRows,
                 const std::shared_ptr<const EpochRest> &rest = nullptr);
  /// Is at these positions, from which no round of the epoch is read.
  void stayAt(const std::vector<DataPosition> &positions, int64_t badRows);
  /// Indexed by local group, where the round after the current one begins.
  const std::vector<DataPosition> &positions() const { return front().ends; }

  /// Moves to the next round. Returns false at the end of the epoch. After an
  /// error the reader stays at the current round. With
  /// `DataOptions::flushAfter`, a round may have no sample if only bad rows
  /// arrived.
  Expected<bool> next();
  /// Returns true if `next` would move to a round with samples without waiting.
  /// Always false without a read-ahead thread.
  bool isNextReady();

  /// Returns the current round, by replica (local group * workers + worker).
  /// Valid for as many further calls of `next` as rounds are kept.
  std::span<const StepInput> inputs() const { return front().inputs; }
  const Batch &batch(int replica) const { return front().batches[replica]; }
  /// Returns the number of samples in the current round.
  int64_t sampleCount() const { return front().samples; }

  /// Returns the number of bad rows of the epoch up to the current round, and
  /// the first error messages of those found since the epoch began here. Rows
  /// that were read ahead of the current round are not counted, so the result
  /// does not depend on the number of threads.
  int64_t badRowCount() const { return badRowOffset + front().badRows; }
  const std::vector<std::string> &badRowMessages() const {
    return front().messages;
  }

  /// Rows of the first local group, up to the current round.
  struct SettledRows {
    /// `BatchSource::settledRows`.
    int64_t count = 0;
    /// `BatchSource::takeCopiedCellsOfBadRows`.
    std::map<int64_t, std::string> copiedCells;
  };
  /// Returns these rows. The cells are moved out; a second call returns none.
  SettledRows takeSettledRows() { return std::move(front().settled); }

private:
  struct Round {
    std::vector<Batch> batches;
    std::vector<StepInput> inputs;
    /// Indexed by group: the reader's position after the round.
    std::vector<DataPosition> ends;
    int64_t samples = 0;
    SettledRows settled;
    /// True if the epoch ends with this round.
    bool isLast = false;
    /// Number of bad rows found here up to the end of the round.
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
  /// The round that is read ahead.
  Round back;
  /// Status of the last fill of `back`.
  Status backStatus;
  /// Number of bad rows of the epoch before it was resumed, minus those that
  /// are read again.
  int64_t badRowOffset = 0;

  bool readAhead = false;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  /// `back` is being filled, or is about to be.
  bool filling = false;
  /// `back` has a round that was not taken yet.
  bool ready = false;
  bool stopping = false;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ROUNDREADER_H
