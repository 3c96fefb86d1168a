//===- Updater.h - Applies merged gradients ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_UPDATER_H
#define PDLRT_STATE_UPDATER_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/RateWatch.h"
#include "pdlrt/Sum/PartialSum.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pdlrt {

/// Applies the merged gradients of a step: computes the joint norms of clips,
/// calls the `once` function of each group, then applies the optimizer rule to
/// each symbol. Work is divided into ranges of parameters and shards of tables,
/// and partial norms are added in the order of (symbol, unit), so results do
/// not depend on the number of threads. Not thread-safe.
///
/// A symbol without a group is not changed here; another component applies its
/// rule.
///
/// Before anything is written, the inputs of each group's rule are checked. The
/// sum of weights, the norms of clips, and the scalars that `once` writes must
/// be finite, and scalars by which the rule divides must not be 0. The numbers
/// that a rule writes are checked while they are written.
class Updater {
public:
  /// The referenced objects must outlive the updater.
  Updater(Model &model, const pdl_program &program, Scheduler &scheduler);

  /// Does one update with the gradients `merged`. Updates each group of the
  /// program whose objective has a nonzero weight; there must be at least one.
  /// A dense block of `merged` must contain exactly those rows of its parameter
  /// that this process holds. Errors are those of `begin` and `finish`, and of
  /// devices that compute norms. Throws std::bad_alloc only before values and
  /// slots are updated; keys may have been counted and rows inserted by then.
  Status apply(const PartialSum &merged);

  // The following functions do the same update in several calls, for a model
  // that has only a part of each gradient: `begin`, then any number of calls of
  // `partialNorms`, then `finish`. `merged` must be the same in all calls.

  /// Starts an update with the gradients of a step. For tables with feature
  /// admission, counts the keys and inserts the admitted ones. Returns an error
  /// with its name if a table is full. Throws std::bad_alloc.
  Status begin(const PartialSum &merged);
  /// Allocates scratch memory for all rows, including rows that were inserted
  /// since `begin`, so that `finish` need not allocate. Throws std::bad_alloc.
  void makeRoom();
  /// Returns the partial sums of the squared norm of the gradient of update
  /// `update`: one for each 64 rows of a parameter, or for each of a table's
  /// 1024 shards. Valid until the next call. Throws std::bad_alloc.
  const std::vector<double> &partialNorms(int32_t update,
                                          const PartialSum &merged);
  /// Updates the state. `norms` has the squared norm of the whole gradient for
  /// each clip of the descriptor. If a group cannot be updated, returns an
  /// error with the name of the group; then nothing has changed. If a rule
  /// writes a number that is not finite, or a device fails, returns an error;
  /// then the state must not be used any more. Throws std::bad_alloc only while
  /// writing an error message.
  Status finish(const PartialSum &merged, const std::vector<double> &norms);

private:
  /// Number of ranges into which the keys of a step are split for tables whose
  /// rows can be updated in any order.
  static constexpr int64_t keyTasks = 16;
  /// The keys of a step that have a row after admission, for a table whose rows
  /// are inserted by updates.
  struct Admitted {
    BlockGradient block;
    AlignedBuffer occurrences, keys, rows, gradients, seen;
    std::vector<TableScratch> scratch;
  };
  /// The rows of a table that a step updates, in the order of shards, then of
  /// keys.
  struct ShardedRows {
    AlignedBuffer order, rows, gradients, keys, seen;
    std::vector<int64_t> splits;
  };
  /// Scratch memory of a task that updates all rows of a range of shards. Tasks
  /// of several tables run concurrently, so each task has its own.
  struct ShardScratch {
    RowList all;
    std::vector<void *> rows;
    std::vector<const void *> gradients;
    std::vector<int64_t> keys;
  };
  /// One piece of an update: a range of elements of a parameter, of shards of a
  /// table, or of keys of a step.
  struct Task {
    int32_t update;
    int64_t begin, end;
    /// Index of the task's `ShardScratch`; -1 if the task does not update all
    /// rows.
    int32_t scratch;
    /// Parameter: addresses of the range in the value and in the slots.
    std::vector<void *> state;
    /// Table with 16-bit values: memory for some rows in f32, the format of the
    /// rule's kernel.
    AlignedBuffer wide;
    /// True if the task has written a number that is not finite in the last
    /// update. For a table, `key` is then the key of the first such row.
    bool wroteNonFinite = false;
    int64_t key = 0;
  };

  /// Runs `count` tasks: on the scheduler's threads if `elements` is large
  /// enough, otherwise on the calling thread.
  void forEachTask(int64_t elements, int64_t count, TaskRef task);
  /// Returns true for a table of which each update changes all rows, also those
  /// without a gradient.
  bool updatesAllRows(const pdl_symbol &symbol) const;
  /// Returns true if the rows of an update must be grouped by shard.
  bool needsShards(int32_t update) const;
  bool makesRows(int32_t update) const;
  Status admitKeys(int32_t update, const PartialSum &merged);
  /// Returns the gradient of an update, without keys that have no row.
  const BlockGradient &blockOf(int32_t update, const PartialSum &merged) const {
    return makesRows(update) ? admitted[update].block : merged.blocks[update];
  }
  /// Starts a new period (clause `shrink`) in each table whose current period
  /// has ended.
  Status shrinkTables(const PartialSum &merged);
  void groupRowsByShard(int32_t update, const BlockGradient &block);
  /// Allocates the scratch memory that a task needs for all rows of its shards,
  /// so that the task itself does not allocate.
  void reserveScratch(const Task &task);
  Status partialNormsOnDevice(int32_t update, const PartialSum &merged);
  Expected<double> squaredNorm(int32_t clip, const PartialSum &merged);
  /// Calls `once` of a group, which computes its scalars. Returns an error if
  /// the group must not be updated.
  Status computeScalars(int32_t group, const PartialSum &merged,
                        const std::vector<double> &norms);
  /// Adds the rules that devices apply to the work of the devices.
  Status applyOnDevice(const PartialSum &merged);
  /// Waits for the rules that devices apply.
  Status finishOnDevice();
  void applyDense(Task &task, const PartialSum &merged);
  void applyTouched(Task &task, const BlockGradient &block);
  void applyAllRows(Task &task, ShardScratch &scratch);
  /// Calls the kernel of a table's rule for `count` rows. `seen` has the values
  /// from which the gradients were computed; null unless the group compensates
  /// delays.
  void applyRows(Task &task, int64_t count, void *const *rows,
                 const void *const *gradients, const void *const *seen,
                 const int64_t *keys);
  /// Like `applyRows`, for 16-bit values: converts the rows to f32, calls the
  /// kernel, and rounds the values stochastically. Returns true if all results
  /// are finite.
  bool applyWidened(Task &task, int64_t count, void *const *rows,
                    const void *const *gradients, const int64_t *keys) const;
  /// Records in `task` the first of `count` rows whose new value is not finite.
  void noteNonFinite(Task &task, int64_t count, void *const *rows,
                     const int64_t *keys) const;
  /// Returns the error for a symbol to which a rule has written a number that
  /// is not finite. `key` is the key of the row in a table, if it is known.
  Status refuseNewValue(int32_t symbol, std::optional<int64_t> key) const;
  const pdl_symbol &symbolOf(int32_t update) const;
  /// Returns the number by which a group's gradients are divided (`divisorOf`).
  double weightOf(int32_t group, const PartialSum &merged) const {
    return divisorOf(model.descriptor(), group,
                     merged.objectives[objectiveOf[group]].weight,
                     merged.steps);
  }
  bool isUpdated(int32_t group, const PartialSum &merged) const {
    return group >= 0 && objectiveOf[group] >= 0 && weightOf(group, merged) > 0;
  }
  const void *scalarsOf(const pdl_symbol &symbol) const {
    return scalars[symbol.group].data();
  }

  Model &model;
  const pdl_program &program;
  Scheduler &scheduler;

  /// Indices of the program's updates in the order of symbols.
  std::vector<int32_t> bySymbol;
  /// Indices of updates. `onDevice`: devices apply the rule. `onHost`: the host
  /// applies the rule. `copiedToDevice`: those of `onHost` that are of
  /// parameters with copies on devices.
  std::vector<int32_t> onDevice, onHost, copiedToDevice;
  /// Two vectors by group: the objective of its updates (-1 if there are none),
  /// and its scalars.
  std::vector<int32_t> objectiveOf;
  std::vector<AlignedBuffer> scalars;
  RateWatch rates;
  /// Number of the last update, by group.
  std::vector<int64_t> updateNumbers;
  /// Rows grouped by shard, by update.
  std::vector<ShardedRows> sharded;
  std::vector<Admitted> admitted;
  std::vector<Task> tasks;
  std::vector<ShardScratch> shardScratch;
  std::vector<double> partials;
  /// Squared norms of the step, by clip.
  std::vector<double> norms;
  AlignedBuffer zeroRow;
};

/// Returns the error for a step in which the sum of the gradients of a symbol
/// is not finite.
Status refuseSum(const pdl_descriptor &descriptor, int32_t symbol);

/// Returns true if some sum of weights is less than 1. Then a finite sum of
/// gradients, divided by the weight, may be infinite.
bool hasSmallWeight(const PartialSum &merged);

/// Returns an error if a sum of gradients is not finite, or if it is not finite
/// after the division by the sum of weights.
Status checkFiniteSums(const pdl_descriptor &descriptor,
                       std::span<const GradientBlock> blocks,
                       const PartialSum &merged);

} // namespace pdlrt

#endif // PDLRT_STATE_UPDATER_H
