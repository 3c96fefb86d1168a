//===- Updater.h - From merged gradients to new state -----------*- C++ -*-===//
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
#include "pdlrt/Sum/Contribution.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pdlrt {

/// Applies the merged gradients of a step: joint norms of clips, the `once`
/// function of each group, then the rule of each symbol. Bits do not depend on
/// the scheduler: dense parameters are cut into ranges, tables into shards, and
/// partial norms are added in the order of (symbol, unit). One thread at a
/// time.
///
/// A symbol without a group is left alone: others apply its rule.
///
/// What a group gives its rule is tested before anything is written: the sum of
/// weights, the norms of clips, and the scalars that `once` writes are finite,
/// and those that the rule divides by are not 0. What the rule writes is tested
/// while it is written.
class Updater {
public:
  /// All outlive the updater.
  Updater(Model &model, const pdl_program &program, Scheduler &scheduler);

  /// One update of every group of the program whose objective has weight; at
  /// least one has. The dense blocks of `merged` are what the model holds.
  /// Errors as of `finish`. Throws std::bad_alloc before anything is written,
  /// and nothing afterwards.
  Status apply(const Contribution &merged);

  // The same in parts, for a model that holds a part of each gradient: `begin`,
  // then what is asked of partial norms, then `finish`. `merged` stays
  // unchanged meanwhile.

  /// Takes up the gradients of a step: keys of tables that admit them are
  /// counted, and get rows. An error says which table is full. Throws
  /// std::bad_alloc.
  Status begin(const Contribution &merged);
  /// Makes room for the rows that tables got since `begin`; throws
  /// std::bad_alloc.
  void makeRoom();
  /// Partial squared norms of an update's gradient: of each 64 rows of a
  /// parameter, of each of a table's 1024 shards. Valid until the next call;
  /// throws std::bad_alloc.
  const std::vector<double> &partialNorms(int32_t update,
                                          const Contribution &merged);
  /// Updates the state. `norms`: by clip of the descriptor, the squared norm of
  /// the whole gradient. An error says which group cannot be updated, and then
  /// nothing has changed; or which symbol got a number that is not finite, or
  /// what a device failed at, and then the state must not be used any more.
  /// Throws std::bad_alloc for the
  /// sentence of an error only.
  Status finish(const Contribution &merged, const std::vector<double> &norms);

private:
  /// Ranges of a step's keys, where their order matters to nobody.
  static constexpr int64_t keyTasks = 16;
  /// Of a table whose updates make rows: the keys of a step that have one now.
  struct Admitted {
    BlockGradient block;
    AlignedBuffer occurrences, keys, rows, gradients, seen;
    std::vector<TableScratch> scratch;
  };
  /// The rows of a table that a step touches, grouped by logical shard and in
  /// it by key.
  struct ShardedRows {
    AlignedBuffer order, rows, gradients, keys, seen;
    std::vector<int64_t> splits;
  };
  /// Scratch memory of a task that updates all rows of a range of shards; each
  /// task has its own, because tasks of several tables run beside each other.
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
    /// Index of its `ShardScratch`; -1 if it updates touched rows only.
    int32_t scratch;
    /// Parameter: where the range begins in the value and in each slot.
    std::vector<void *> state;
    /// Table with values of 16 bits: some rows as the rule's kernel takes them.
    AlignedBuffer wide;
    /// Whether the last update wrote a number that is not finite; table: the
    /// first key of such a row.
    bool wroteNonFinite = false;
    int64_t key = 0;
  };

  /// On the scheduler's threads if that many elements are worth it.
  void forEachTask(int64_t elements, int64_t count, TaskRef task);
  /// Whether it is a table whose rows are all updated, with a gradient or not.
  bool updatesAllRows(const pdl_symbol &symbol) const;
  /// Whether a table's rows are updated in the order of shards.
  bool needsShards(int32_t update) const;
  bool makesRows(int32_t update) const;
  Status admitKeys(int32_t update, const Contribution &merged);
  /// The gradient of a step that an update is made of: without keys that have
  /// no row.
  const BlockGradient &blockOf(int32_t update,
                               const Contribution &merged) const {
    return makesRows(update) ? admitted[update].block : merged.blocks[update];
  }
  /// Begins the periods of tables that are due.
  Status shrinkTables(const Contribution &merged);
  void groupRowsByShard(int32_t update, const BlockGradient &block);
  /// Makes room for all rows of the table, so that the task itself cannot run
  /// out of memory.
  void reserveScratch(const Task &task);
  Status partialNormsOnDevice(int32_t update, const Contribution &merged);
  Expected<double> squaredNorm(int32_t clip, const Contribution &merged);
  /// An error where a group must not be updated; else its scalars are set.
  Status computeScalars(int32_t group, const Contribution &merged,
                        const std::vector<double> &norms);
  /// Warns once of a group whose learning rate has come to 0.
  void warnOfNoRate(int32_t group);
  /// Adds the rules that a device applies.
  Status applyOnDevice(const Contribution &merged);
  /// Waits for them.
  Status finishOnDevice();
  void applyDense(Task &task, const Contribution &merged);
  void applyTouched(Task &task, const BlockGradient &block);
  void applyAllRows(Task &task, ShardScratch &scratch);
  /// One call of a table's kernel.
  /// `seen`: null unless its group compensates delays.
  void applyRows(Task &task, int64_t count, void *const *rows,
                 const void *const *gradients, const void *const *seen,
                 const int64_t *keys);
  /// The same where values have 16 bits: rows are widened, updated, and their
  /// values rounded at random. Whether all is finite.
  bool applyWidened(Task &task, int64_t count, void *const *rows,
                    const void *const *gradients, const int64_t *keys) const;
  /// Keeps in mind which of some rows that were just written is not finite.
  void noteNonFinite(Task &task, int64_t count, void *const *rows,
                     const int64_t *keys) const;
  /// `key`: of a table's row, where it is known.
  Status refuseNewValue(int32_t symbol, std::optional<int64_t> key) const;
  const pdl_symbol &symbolOf(int32_t update) const;
  /// What divides the gradients of a group.
  double weightOf(int32_t group, const Contribution &merged) const {
    return divisorOf(model.descriptor(), group,
                     merged.objectives[objectiveOf[group]].weight,
                     merged.steps);
  }
  bool isUpdated(int32_t group, const Contribution &merged) const {
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
  /// Those whose rule devices apply, those whose rule the host applies, and of
  /// these the parameters that devices have a copy of.
  std::vector<int32_t> onDevice, onHost, copiedToDevice;
  /// By group: the objective of its updates, -1 without any; and its scalars.
  std::vector<int32_t> objectiveOf;
  std::vector<AlignedBuffer> scalars;
  /// By group: whether a warning has said that its rate is 0.
  std::vector<bool> warnedOfNoRate;
  /// By group: the number of the last update.
  std::vector<int64_t> updateNumbers;
  /// By update.
  std::vector<ShardedRows> sharded;
  std::vector<Admitted> admitted;
  std::vector<Task> tasks;
  std::vector<ShardScratch> shardScratch;
  std::vector<double> partials;
  /// By clip: the squared norm of the step.
  std::vector<double> norms;
  AlignedBuffer zeroRow;
};

/// The error of a step in which the sum of gradients of a symbol is not finite.
Status refuseSum(const pdl_descriptor &descriptor, int32_t symbol);

/// Whether finite sums may have quotients that are not: some sum of weights is
/// less than 1.
bool hasSmallWeight(const Contribution &merged);

/// An error where a sum of gradients that is to be applied, or its quotient by
/// the sum of weights, is not finite.
Status checkFiniteSums(const pdl_descriptor &descriptor,
                       std::span<const GradientBlock> blocks,
                       const Contribution &merged);

} // namespace pdlrt

#endif // PDLRT_STATE_UPDATER_H
