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
/// each symbol. Results do not depend on the scheduler: dense parameters are
/// split into ranges, tables into shards, and partial norms are added in the
/// order of (symbol, unit). Not thread-safe.
///
/// A symbol without a group is not changed: another component applies its rule.
///
/// The inputs of a group's rule are checked before anything is written. The sum
/// of weights, the norms of clips, and the scalars that `once` writes must be
/// finite, and those by which the rule divides must not be 0. The output of the
/// rule is checked while it is written.
class Updater {
public:
  /// The references must outlive the updater.
  Updater(Model &model, const pdl_program &program, Scheduler &scheduler);

  /// Does one update of every group of the program whose objective has weight;
  /// at least one must have. The dense blocks of `merged` must have the
  /// elements that the model has. Errors are those of `finish`. Throws
  /// std::bad_alloc only before anything is written.
  Status apply(const PartialSum &merged);

  // The same in steps, for a model that has a part of each gradient: `begin`,
  // then any calls of `partialNorms`, then `finish`. `merged` must not change
  // meanwhile.

  /// Starts an update with the gradients of a step. For tables with feature
  /// admission, counts the keys and inserts admitted ones. An error names a
  /// full table. Throws std::bad_alloc.
  Status begin(const PartialSum &merged);
  /// Allocates memory for the rows that tables got since `begin`. Throws
  /// std::bad_alloc.
  void makeRoom();
  /// Returns partial squared norms of an update's gradient: of each 64 rows of
  /// a parameter, or of each of a table's 1024 shards. Valid until the next
  /// call. Throws std::bad_alloc.
  const std::vector<double> &partialNorms(int32_t update,
                                          const PartialSum &merged);
  /// Updates the state. `norms`: by clip of the descriptor, the squared norm of
  /// the whole gradient. If a group cannot be updated, the error names it, and
  /// nothing has changed. If a symbol got a number that is not finite, or a
  /// device failed, the error says so, and the state must not be used any more.
  /// Throws std::bad_alloc only while composing an error message.
  Status finish(const PartialSum &merged, const std::vector<double> &norms);

private:
  /// Number of ranges into which a step's keys are split, if their order does
  /// not matter.
  static constexpr int64_t keyTasks = 16;
  /// The keys of a step that have a row now, for a table whose updates insert
  /// rows.
  struct Admitted {
    BlockGradient block;
    AlignedBuffer occurrences, keys, rows, gradients, seen;
    std::vector<TableScratch> scratch;
  };
  /// The rows of a table that a step touches, grouped by logical shard, then by
  /// key.
  struct ShardedRows {
    AlignedBuffer order, rows, gradients, keys, seen;
    std::vector<int64_t> splits;
  };
  /// Scratch memory of a task that updates all rows of a range of shards. Each
  /// task has its own, because tasks of several tables run concurrently.
  struct ShardScratch {
    RowList all;
    std::vector<void *> rows;
    std::vector<const void *> gradients;
    std::vector<int64_t> keys;
  };
  /// A range of elements of a parameter, of shards of a table, or of the keys
  /// of a step.
  struct Task {
    int32_t update;
    int64_t begin, end;
    /// Index of its `ShardScratch`; -1 if it updates only touched rows.
    int32_t scratch;
    /// Parameter: addresses of the range in the value and in each slot.
    std::vector<void *> state;
    /// Table with 16-bit values: some rows in the format of the rule's kernel.
    AlignedBuffer wide;
    /// True if the last update wrote a number that is not finite; for a table,
    /// `key` is then the first key of such a row.
    bool wroteNonFinite = false;
    int64_t key = 0;
  };

  /// Runs tasks on the scheduler's threads if the number of elements is large
  /// enough.
  void forEachTask(int64_t elements, int64_t count, TaskRef task);
  /// Returns true for a table whose rows are all updated, with or without
  /// gradient.
  bool updatesAllRows(const pdl_symbol &symbol) const;
  /// Returns true if a table's rows are updated in the order of shards.
  bool needsShards(int32_t update) const;
  bool makesRows(int32_t update) const;
  Status admitKeys(int32_t update, const PartialSum &merged);
  /// Returns the gradient of a step for an update, without keys that have no
  /// row.
  const BlockGradient &blockOf(int32_t update, const PartialSum &merged) const {
    return makesRows(update) ? admitted[update].block : merged.blocks[update];
  }
  /// Starts new periods of tables whose current period has ended.
  Status shrinkTables(const PartialSum &merged);
  void groupRowsByShard(int32_t update, const BlockGradient &block);
  /// Allocates memory for all rows of the table, so that the task itself cannot
  /// run out of memory.
  void reserveScratch(const Task &task);
  Status partialNormsOnDevice(int32_t update, const PartialSum &merged);
  Expected<double> squaredNorm(int32_t clip, const PartialSum &merged);
  /// Sets the scalars of a group. Returns an error if it must not be updated.
  Status computeScalars(int32_t group, const PartialSum &merged,
                        const std::vector<double> &norms);
  /// Adds the rules that a device applies.
  Status applyOnDevice(const PartialSum &merged);
  /// Waits for these rules.
  Status finishOnDevice();
  void applyDense(Task &task, const PartialSum &merged);
  void applyTouched(Task &task, const BlockGradient &block);
  void applyAllRows(Task &task, ShardScratch &scratch);
  /// Calls a table's kernel once. `seen`: null unless its group compensates
  /// delays.
  void applyRows(Task &task, int64_t count, void *const *rows,
                 const void *const *gradients, const void *const *seen,
                 const int64_t *keys);
  /// Calls the kernel of a table with 16-bit values: widens the rows, updates
  /// them, and rounds their values stochastically. Returns true if all are
  /// finite.
  bool applyWidened(Task &task, int64_t count, void *const *rows,
                    const void *const *gradients, const int64_t *keys) const;
  /// Records which of some newly written rows is not finite.
  void noteNonFinite(Task &task, int64_t count, void *const *rows,
                     const int64_t *keys) const;
  /// Returns the error of a value that is not finite. `key`: key of the table's
  /// row, if it is known.
  Status refuseNewValue(int32_t symbol, std::optional<int64_t> key) const;
  const pdl_symbol &symbolOf(int32_t update) const;
  /// Returns the divisor of a group's gradients.
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

  /// The program's updates in ascending order of symbol.
  std::vector<int32_t> bySymbol;
  /// Updates whose rule devices apply, those whose rule the host applies, and,
  /// of the latter, parameters with copies on devices.
  std::vector<int32_t> onDevice, onHost, copiedToDevice;
  /// Indexed by group: the objective of its updates, -1 if there are none; and
  /// its scalars.
  std::vector<int32_t> objectiveOf;
  std::vector<AlignedBuffer> scalars;
  RateWatch rates;
  /// Indexed by group: the number of the last update.
  std::vector<int64_t> updateNumbers;
  /// Indexed by update.
  std::vector<ShardedRows> sharded;
  std::vector<Admitted> admitted;
  std::vector<Task> tasks;
  std::vector<ShardScratch> shardScratch;
  std::vector<double> partials;
  /// Indexed by clip: the squared norm of the step.
  std::vector<double> norms;
  AlignedBuffer zeroRow;
};

/// Returns the error of a step in which the sum of gradients of a symbol is not
/// finite.
Status refuseSum(const pdl_descriptor &descriptor, int32_t symbol);

/// Returns true if the quotient of finite sums may be infinite, because some
/// sum of weights is less than 1.
bool hasSmallWeight(const PartialSum &merged);

/// Returns an error if a sum of gradients that would be applied, or its
/// quotient by the sum of weights, is not finite.
Status checkFiniteSums(const pdl_descriptor &descriptor,
                       std::span<const GradientBlock> blocks,
                       const PartialSum &merged);

} // namespace pdlrt

#endif // PDLRT_STATE_UPDATER_H
