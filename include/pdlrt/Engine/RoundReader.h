//===- RoundReader.h - Batches of all replicas, round by round --*- C++ -*-===//
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

/// Reads the next round while a step runs, if asked to. What it yields does not
/// depend on that. One thread at a time.
class RoundReader {
public:
  /// Opens the data of the groups of `layout` that live in this process. The
  /// descriptor outlives the reader. `readAhead`: on a thread of its own, which
  /// has others unpack.
  /// `keptRounds`: how many rounds stay valid, the current one included.
  static Expected<std::unique_ptr<RoundReader>>
  open(const DataOptions &options, const pdl_descriptor &descriptor,
       const pdl_program &program, const ReplicaLayout &layout, bool readAhead,
       int keptRounds = 1);
  ~RoundReader();

  Status beginEpoch(int64_t epoch);
  /// Goes on in a running epoch where `positions`, one for each local group,
  /// say; `badRows` of the epoch had been met there.
  Status restore(const std::vector<DataPosition> &positions, int64_t badRows);
  /// By local group, where the round after the current one begins.
  const std::vector<DataPosition> &positions() const { return front().ends; }

  /// Goes to the next round; false at the end of the epoch. After an error the
  /// reader stays at it. With `DataOptions::flushAfter` a round may have no
  /// sample, where only bad rows have come.
  Expected<bool> next();
  /// Whether `next` would go to a round with samples, and not wait for it:
  /// never without a thread that reads ahead.
  bool isNextReady();

  /// The current round, by replica (local group * workers + worker). Valid for
  /// as many further calls of `next` as rounds are kept.
  std::span<const StepInput> inputs() const { return front().inputs; }
  const Batch &batch(int replica) const { return front().batches[replica]; }
  /// Samples in the current round.
  int64_t sampleCount() const { return front().samples; }

  /// Bad rows of the epoch up to the current round, and the first sentences
  /// about those that were met since it began here. What was read ahead of that
  /// round does not count, so that the number of threads changes nothing.
  int64_t badRowCount() const { return badRowOffset + front().badRows; }
  const std::vector<std::string> &badRowSentences() const {
    return front().sentences;
  }

  /// Of the first local group, behind the current round.
  struct SettledRows {
    /// `BatchSource::settledRows`.
    int64_t count = 0;
    /// `BatchSource::takeCopiedCellsOfBadRows`.
    std::map<int64_t, std::string> copiedCells;
  };
  /// The cells are given once.
  SettledRows takeSettledRows() { return std::move(front().settled); }

private:
  struct Round {
    std::vector<Batch> batches;
    std::vector<StepInput> inputs;
    /// By group, where the reader stands after the round.
    std::vector<DataPosition> ends;
    int64_t samples = 0;
    SettledRows settled;
    /// Whether the epoch ends with it.
    bool isLast = false;
    /// Bad rows that were met here up to the end of the round.
    int64_t badRows = 0;
    std::vector<std::string> sentences;
  };

  RoundReader(int groups, int workers, int keptRounds);
  Round &front() { return kept[current]; }
  const Round &front() const { return kept[current]; }
  /// The place of the next round: that of the oldest one.
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
  /// What is read in advance.
  Round back;
  /// How the last fill of `back` ended.
  Status backStatus;
  /// What the epoch had met before it was gone on with, less what of it is
  /// read again.
  int64_t badRowOffset = 0;

  bool readAhead = false;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  /// `back` is being filled, or is about to be.
  bool filling = false;
  /// `back` holds a round that was not yet taken.
  bool ready = false;
  bool stopping = false;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ROUNDREADER_H
