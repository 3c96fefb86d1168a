//===- UpdaterRows.cpp - Rows inserted by updates, and periods ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tables whose rows are inserted by updates. Before a step is applied, the
// keys that it admits get rows. After a step, periods may end.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/Updater.h"

#include "pdlabi/admission.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/FallibleTasks.h"

#include <algorithm>
#include <new>
#include <string>
#include <vector>

using namespace pdlrt;

bool Updater::makesRows(int32_t update) const {
  const EmbeddingTable *table = model.table(program.updates[update].symbol);
  return table && symbolOf(update).group >= 0 &&
         table->options().life.makesRowsInUpdates();
}

/// Returns by how much an update raises the count of a key without a row: the
/// number of its occurrences, or its score in units, depending on the table's
/// admission. The last elements of `gradient`, after those of the row, are the
/// counts of the key in this step.
template <typename T>
static int64_t countOf(const pdl_symbol &symbol, const T *gradient) {
  if (symbol.admission == PDL_ADMIT_COUNT) {
    const auto number = double(gradient[symbol.gradient_width - 1]);
    return int64_t(std::clamp(number, 0.0, double(1 << 30)));
  }
  if (symbol.admission != PDL_ADMIT_SCORE)
    return 0;
  double score = 0;
  for (int64_t i = symbol.row_width; i < symbol.gradient_width; ++i)
    if (const double weight = symbol.admission_weights[i - symbol.row_width];
        weight != 0)
      score += weight * double(gradient[i]);
  return pdlabi::scoreUnits(score, symbol.admission_score);
}

static int64_t countOf(const pdl_symbol &symbol, const void *gradient) {
  return symbol.element_type == PDL_F32
             ? countOf(symbol, static_cast<const float *>(gradient))
             : countOf(symbol, static_cast<const double *>(gradient));
}

Status Updater::admitKeys(int32_t update, const PartialSum &merged) {
  const TraceSpan span("admit");
  const pdl_symbol &symbol = symbolOf(update);
  const BlockGradient &block = merged.blocks[update];
  Admitted &own = admitted[update];
  own.block = {};
  if (!isUpdated(symbol.group, merged) || block.keyCount == 0)
    return {};
  EmbeddingTable &table = *model.table(program.updates[update].symbol);
  const int64_t count = block.keyCount;
  auto *occurrences = own.occurrences.reserveFor<int64_t>(count);
  auto *rows = own.rows.reserveFor<void *>(count);
  auto *keys = own.keys.reserveFor<int64_t>(count);
  auto *gradients = own.gradients.reserveFor<const void *>(count);
  const void **seen =
      block.seenRows ? own.seen.reserveFor<const void *>(count) : nullptr;
  own.scratch.resize(keyTasks);
  std::vector<Status> statuses(keyTasks);
  const auto admitSome = [&](int64_t task) {
    const int64_t begin = count * task / keyTasks;
    const int64_t end = count * (task + 1) / keyTasks;
    for (int64_t i = begin; i < end; ++i)
      occurrences[i] = countOf(symbol, block.gradients[i]);
    int64_t inserted = 0;
    statuses[task] =
        table.admit(end - begin, block.keys + begin, occurrences + begin,
                    rows + begin, own.scratch[task], inserted);
  };
  runFallibly(
      [&](const auto &task) {
        forEachTask(count * symbol.row_width, keyTasks, task);
      },
      admitSome);
  for (Status &status : statuses)
    PDLRT_RETURN_IF_ERROR(std::move(status));
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (!rows[i])
      continue;
    keys[kept] = block.keys[i];
    rows[kept] = rows[i];
    gradients[kept] = block.gradients[i];
    if (seen)
      seen[kept] = block.seenRows[i];
    ++kept;
  }
  own.block.keyCount = kept;
  own.block.keys = keys;
  own.block.rows = rows;
  own.block.gradients = gradients;
  own.block.seenRows = seen;
  return {};
}

Status Updater::shrinkTables(const PartialSum &merged) {
  for (int32_t i : onHost) {
    const pdl_symbol &symbol = symbolOf(i);
    EmbeddingTable *table = model.table(program.updates[i].symbol);
    if (!table || !table->options().life.hasPeriods() ||
        !isUpdated(symbol.group, merged))
      continue;
    const int64_t period = updateNumbers[symbol.group] / symbol.shrink_every;
    if (period <= table->period())
      continue;
    constexpr int64_t maxOfFloat = int64_t(1) << 24;
    if (symbol.element_type == PDL_F32 && period > maxOfFloat)
      return Status::invalidArgument(
          std::string("@") + symbol.name + " has had " +
          std::to_string(maxOfFloat) +
          " periods, and its rows have no room for the number of another one; "
          "shrink it every so many updates more");
    try {
      table->beginPeriod(period);
    } catch (const std::bad_alloc &error) {
      return Status::outOfMemory(
          std::string("out of memory while @") + symbol.name +
          " was shrunk; go on from the last checkpoint on a machine with more "
          "memory, or with more servers");
    }
  }
  return {};
}
