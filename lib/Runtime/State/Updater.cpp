//===- Updater.cpp - Applies merged gradients -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/Updater.h"

#include "pdlabi/names.h"
#include "pdlabi/norm.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Finite.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Kernels/Storage.h"
#include "pdlrt/State/DeviceState.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace pdlrt;

/// Number of elements of a parameter per task; a multiple of the alignment.
static constexpr int64_t elementsInTask = 16384;
/// Minimum number of elements of a step for which several threads are used.
/// With fewer elements, waking threads costs more time than it saves.
static constexpr int64_t elementsWorthThreads = 16384;
static constexpr int64_t shardsInTask = 16;
/// The number of rows per task of a parameter is a multiple of this constant,
/// so that each slot's part of a task begins at a cache line.
static constexpr int64_t rowsAlignment = 16;
/// Number of rows for which the row kernel of a table is called at a time. The
/// rows of two such calls fit into the L1 cache.
static constexpr int64_t rowsInCall = 32;
static constexpr int64_t cacheLineBytes = 64;
/// Number of bytes of rows that are widened at a time, so that they stay in the
/// L1 cache.
static constexpr int64_t widenedBytes = 16384;
static constexpr int64_t shardTasks = EmbeddingTable::shardCount / shardsInTask;

/// Returns the number of rows per call of a table's row kernel.
static int64_t rowsInCallOf(const pdl_symbol &symbol) {
  if (symbol.storage == PDL_STORE_ELEMENT)
    return rowsInCall;
  const int64_t rowBytes = rowElements(symbol) * int64_t(elementSize(symbol));
  return std::clamp<int64_t>(widenedBytes / rowBytes, 1, rowsInCall);
}

/// Returns the number of rows with about `elementsInTask` elements.
static int64_t wholeRowsInTask(int64_t width) {
  return std::max<int64_t>(1, elementsInTask / width / rowsAlignment) *
         rowsAlignment;
}

/// Returns the number of elements of a parameter for which its kernel is called
/// at a time. `held`: number of elements of the parameter in this model.
static int64_t atOnceOf(const pdl_symbol &symbol, int64_t held) {
  switch (symbol.kernel_unit) {
  case PDL_UNIT_PARAMETER:
    return held;
  case PDL_UNIT_ROW:
    return wholeRowsInTask(symbol.row_width) * symbol.row_width;
  default:
    return elementsInTask;
  }
}

const pdl_symbol &Updater::symbolOf(int32_t update) const {
  return model.descriptor().symbols[program.updates[update].symbol];
}

Updater::Updater(Model &model, const pdl_program &program, Scheduler &scheduler)
    : model(model), program(program), scheduler(scheduler),
      objectiveOf(model.descriptor().group_count, -1),
      scalars(model.descriptor().group_count), rates(model.descriptor()),
      updateNumbers(model.descriptor().group_count),
      sharded(program.update_count), admitted(program.update_count) {
  const pdl_descriptor &descriptor = model.descriptor();
  size_t maxRowBytes = 1;
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_symbol &symbol = symbolOf(i);
    const size_t size = elementSize(symbol);
    // A symbol without a group has no rule in this process; another component
    // applies its rule.
    if (symbol.group < 0)
      continue;
    bySymbol.push_back(i);
    objectiveOf[symbol.group] = program.updates[i].objective;
    if (symbol.kind == PDL_SYMBOL_TABLE) {
      maxRowBytes = std::max(maxRowBytes, symbol.gradient_width * size);
      if (const DeviceState *state = model.deviceState();
          state && state->applies(program.updates[i].symbol)) {
        onDevice.push_back(i);
        continue;
      }
      onHost.push_back(i);
      const bool allRows = updatesAllRows(symbol);
      const size_t first = tasks.size();
      for (int64_t t = 0; t < keyTasks && !needsShards(i); ++t)
        tasks.push_back({i, t, t + 1, -1, {}, {}});
      for (int64_t t = 0; t < shardTasks && needsShards(i); ++t) {
        const int32_t scratch = allRows ? int32_t(shardScratch.size()) : -1;
        if (allRows)
          shardScratch.emplace_back();
        tasks.push_back(
            {i, t * shardsInTask, (t + 1) * shardsInTask, scratch, {}, {}});
      }
      if (symbol.storage != PDL_STORE_ELEMENT)
        for (Task &task : std::span(tasks).subspan(first))
          task.wide.reserve(size_t(rowsInCallOf(symbol)) *
                            size_t(rowElements(symbol)) * size);
      continue;
    }
    const int32_t index = program.updates[i].symbol;
    if (const DeviceState *state = model.deviceState()) {
      if (state->applies(index)) {
        onDevice.push_back(i);
        continue;
      }
      copiedToDevice.push_back(i);
    }
    onHost.push_back(i);
    const int64_t elements = model.heldElements(index);
    const int64_t atOnce = atOnceOf(symbol, elements);
    for (int64_t begin = 0; begin < elements; begin += atOnce) {
      Task task = {i, begin, std::min(elements, begin + atOnce), -1, {}, {}};
      for (int32_t part = 0; part <= symbol.slot_count; ++part) {
        const bool isOfRow = part > 0 && isRowSlot(symbol, part - 1);
        const int64_t first = isOfRow ? begin / symbol.row_width : begin;
        task.state.push_back(static_cast<char *>(model.part(index, part)) +
                             first * int64_t(size));
      }
      tasks.push_back(std::move(task));
    }
  }
  std::sort(bySymbol.begin(), bySymbol.end(), [&](int32_t a, int32_t b) {
    return program.updates[a].symbol < program.updates[b].symbol;
  });
  std::memset(zeroRow.reserve(maxRowBytes), 0, maxRowBytes);
  for (int32_t g = 0; g < descriptor.group_count; ++g)
    scalars[g].reserve(descriptor.groups[g].scalar_count *
                       elementSize(descriptor.groups[g].element_type));
}

bool Updater::updatesAllRows(const pdl_symbol &symbol) const {
  return symbol.kind == PDL_SYMBOL_TABLE &&
         model.descriptor().groups[symbol.group].untouched ==
             PDL_UNTOUCHED_DENSE;
}

// Returns true if the rows of an update must be grouped by shard. Norms are
// added up in the order of shards. The host also finds rows without a gradient
// shard by shard.
bool Updater::needsShards(int32_t update) const {
  const pdl_symbol &symbol = symbolOf(update);
  if (symbol.group < 0)
    return false;
  const DeviceState *state = model.deviceState();
  const bool isOnDevice =
      state && state->applies(program.updates[update].symbol);
  return model.descriptor().groups[symbol.group].clip >= 0 ||
         (updatesAllRows(symbol) && !isOnDevice);
}

void Updater::forEachTask(int64_t elements, int64_t count, TaskRef task) {
  if (elements >= elementsWorthThreads)
    return scheduler.parallelFor(count, task);
  for (int64_t i = 0; i < count; ++i)
    task(i);
}

void Updater::groupRowsByShard(int32_t update, const BlockGradient &block) {
  ShardedRows &own = sharded[update];
  const int64_t count = block.keyCount;
  auto *order = own.order.reserveFor<int64_t>(count);
  auto *rows = own.rows.reserveFor<void *>(count);
  auto *gradients = own.gradients.reserveFor<const void *>(count);
  auto *keys = own.keys.reserveFor<int64_t>(count);
  const void **seen =
      block.seenRows ? own.seen.reserveFor<const void *>(count) : nullptr;
  own.splits.assign(EmbeddingTable::shardCount + 1, 0);
  // Counts the rows of each shard. `keys` holds their shards until the keys are
  // written below.
  for (int64_t i = 0; i < count; ++i) {
    keys[i] = EmbeddingTable::shardOf(block.keys[i]);
    ++own.splits[keys[i] + 1];
  }
  for (int s = 0; s < EmbeddingTable::shardCount; ++s)
    own.splits[s + 1] += own.splits[s];
  for (int64_t i = 0; i < count; ++i)
    order[own.splits[keys[i]]++] = i;
  for (int s = EmbeddingTable::shardCount; s > 0; --s)
    own.splits[s] = own.splits[s - 1];
  own.splits[0] = 0;

  forEachTask(count, shardTasks, [&](int64_t task) {
    for (int64_t s = task * shardsInTask; s < (task + 1) * shardsInTask; ++s) {
      const int64_t begin = own.splits[s], end = own.splits[s + 1];
      std::sort(order + begin, order + end, [&](int64_t a, int64_t b) {
        return block.keys[a] < block.keys[b];
      });
      for (int64_t i = begin; i < end; ++i) {
        keys[i] = block.keys[order[i]];
        rows[i] = block.rows[order[i]];
        gradients[i] = block.gradients[order[i]];
        if (seen)
          seen[i] = block.seenRows[order[i]];
      }
    }
  });
}

template <typename T>
static double normOfElements(const void *gradient, int64_t begin, int64_t end,
                             double weight) {
  pdlabi::SquaredNormUnit unit;
  unit.add(static_cast<const T *>(gradient) + begin, end - begin, weight);
  return unit.partial();
}

template <typename T>
static double normOfRows(const void *const *gradients, int64_t begin,
                         int64_t end, int64_t width, double weight) {
  pdlabi::SquaredNormUnit unit;
  for (int64_t i = begin; i < end; ++i)
    unit.add(static_cast<const T *>(gradients[i]), width, weight);
  return unit.partial();
}

const std::vector<double> &Updater::partialNorms(int32_t update,
                                                 const PartialSum &merged) {
  const pdl_symbol &symbol = symbolOf(update);
  const BlockGradient &block = blockOf(update, merged);
  const bool isFloat = symbol.element_type == PDL_F32;
  const double weight = weightOf(symbol.group, merged);
  // If the weight is 0, nothing is applied, so the norm is not needed.
  const bool isApplied = weight > 0;
  if (symbol.kind == PDL_SYMBOL_TABLE) {
    if (!isApplied) {
      partials.assign(EmbeddingTable::shardCount, 0);
      return partials;
    }
    const ShardedRows &rows = sharded[update];
    auto *gradients = static_cast<const void *const *>(rows.gradients.data());
    partials.resize(EmbeddingTable::shardCount);
    const int64_t elements = block.keyCount * symbol.row_width;
    forEachTask(elements, shardTasks, [&](int64_t task) {
      for (int64_t s = task * shardsInTask; s < (task + 1) * shardsInTask; ++s)
        partials[s] = (isFloat ? normOfRows<float>
                               : normOfRows<double>)(gradients, rows.splits[s],
                                                     rows.splits[s + 1],
                                                     symbol.row_width, weight);
    });
    return partials;
  }
  if (!block.dense) {
    partials.clear();
    return partials;
  }
  // A vector is one unit: it is one row in the descriptor.
  const int64_t elements = model.heldElements(program.updates[update].symbol);
  const int64_t unit = pdlabi::rowsInNormUnit * symbol.row_width;
  const int64_t units = (elements + unit - 1) / unit;
  partials.assign(units, 0);
  if (!isApplied)
    return partials;
  forEachTask(elements, units, [&](int64_t u) {
    partials[u] =
        (isFloat ? normOfElements<float>
                 : normOfElements<double>)(block.dense, u * unit,
                                           std::min(elements, (u + 1) * unit),
                                           weight);
  });
  return partials;
}

/// Computes the partial norms of a gradient that exists on devices only.
Status Updater::partialNormsOnDevice(int32_t update, const PartialSum &merged) {
  const pdl_symbol &symbol = symbolOf(update);
  const double weight = weightOf(symbol.group, merged);
  if (weight > 0)
    return model.deviceState()->partialNorms(
        program.updates[update].symbol, size_t(update), merged.blocks[update],
        pdlabi::rowsInNormUnit * symbol.row_width, weight, partials);
  partials.clear();
  return {};
}

Expected<double> Updater::squaredNorm(int32_t clip, const PartialSum &merged) {
  const pdl_descriptor &descriptor = model.descriptor();
  double sum = 0;
  for (int32_t update : bySymbol) {
    if (descriptor.groups[symbolOf(update).group].clip != clip)
      continue;
    const BlockGradient &block = blockOf(update, merged);
    if (!block.dense && block.onDevice)
      PDLRT_RETURN_IF_ERROR(partialNormsOnDevice(update, merged));
    else
      (void)partialNorms(update, merged);
    for (double partial : partials)
      sum += partial;
  }
  return sum;
}

void Updater::applyDense(Task &task, const PartialSum &merged) {
  const pdl_symbol &symbol = symbolOf(task.update);
  const BlockGradient &block = merged.blocks[task.update];
  const auto *gradient = static_cast<const char *>(block.dense);
  if (!gradient)
    return;
  const int64_t count = task.end - task.begin;
  const size_t at = task.begin * elementSize(symbol);
  task.wroteNonFinite =
      (symbol.late_dense_kernel
           ? symbol.late_dense_kernel(
                 count, task.state.data(), gradient + at, scalarsOf(symbol),
                 static_cast<const char *>(block.seen) + at)
           : symbol.dense_kernel(count, task.state.data(), gradient + at,
                                 scalarsOf(symbol))) != 0;
}

Status Updater::applyOnDevice(const PartialSum &merged) {
  for (int32_t update : onDevice) {
    const pdl_symbol &symbol = symbolOf(update);
    const BlockGradient &block = merged.blocks[update];
    if (isUpdated(symbol.group, merged) &&
        (block.dense || block.onDevice || block.keyCount > 0 ||
         updatesAllRows(symbol)))
      PDLRT_RETURN_IF_ERROR(model.deviceState()->apply(
          program.updates[update].symbol, size_t(update), block,
          scalarsOf(symbol), updateNumbers[symbol.group]));
  }
  return {};
}

Status Updater::finishOnDevice() {
  if (onDevice.empty())
    return {};
  const Expected<int32_t> symbol = model.deviceState()->finish();
  if (!symbol)
    return symbol.status();
  return *symbol < 0 ? Status() : refuseNewValue(*symbol, std::nullopt);
}

void Updater::noteNonFinite(Task &task, int64_t count, void *const *rows,
                            const int64_t *keys) const {
  if (task.wroteNonFinite)
    return;
  task.wroteNonFinite = true;
  const pdl_symbol &symbol = symbolOf(task.update);
  const int64_t width = symbol.row_width;
  const int64_t ofSlots = rowElements(symbol) - width;
  const auto isFiniteValue = [&](const void *row) {
    if (symbol.storage == PDL_STORE_ELEMENT)
      return allFinite(symbol.element_type, width, row);
    const auto *values = static_cast<const uint16_t *>(row);
    return std::all_of(values, values + width, [&](uint16_t value) {
      float wide;
      widenStored(symbol.storage, 1, &value, &wide);
      return std::isfinite(wide);
    });
  };
  for (int64_t i = 0; i < count; ++i)
    if (!isFiniteValue(rows[i]) ||
        !allFinite(symbol.element_type, ofSlots,
                   static_cast<const char *>(rows[i]) + valueBytes(symbol))) {
      task.key = keys[i];
      return;
    }
}

// The kernel supports only rows whose values and slots have the element type,
// so 16-bit values are widened, and slots are copied there and back. The copies
// cost little compared with the random numbers for rounding, and avoid a second
// kernel for each rule.
bool Updater::applyWidened(Task &task, int64_t count, void *const *rows,
                           const void *const *gradients,
                           const int64_t *keys) const {
  const pdl_symbol &symbol = symbolOf(task.update);
  const int64_t width = symbol.row_width, elements = rowElements(symbol);
  const size_t begin = valueBytes(symbol);
  const size_t slotBytes = size_t(elements - width) * sizeof(float);
  auto *wide = static_cast<float *>(task.wide.data());
  void *places[rowsInCall];
  for (int64_t i = 0; i < count; ++i) {
    float *row = wide + i * elements;
    places[i] = row;
    widenStored(symbol.storage, width, rows[i], row);
    std::memcpy(row + width, static_cast<const char *>(rows[i]) + begin,
                slotBytes);
  }
  const bool wroteFinite = symbol.row_kernel(count, width, places, gradients,
                                             scalarsOf(symbol)) == 0;
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char *>(rows[i]) + begin,
                wide + i * elements + width, slotBytes);
  const pdlabi::RoundingDraws draws = {model.seed(), symbol.id,
                                       updateNumbers[symbol.group]};
  const bool storedFinite = storeAtRandom(symbol.storage, draws, count, width,
                                          elements, keys, wide, rows);
  return wroteFinite && storedFinite;
}

void Updater::applyRows(Task &task, int64_t count, void *const *rows,
                        const void *const *gradients, const void *const *seen,
                        const int64_t *keys) {
  const pdl_symbol &symbol = symbolOf(task.update);
  bool finite;
  if (symbol.late_row_kernel)
    finite = symbol.late_row_kernel(count, symbol.row_width, rows, gradients,
                                    scalarsOf(symbol), seen) == 0;
  else if (symbol.storage == PDL_STORE_ELEMENT)
    finite = symbol.row_kernel(count, symbol.row_width, rows, gradients,
                               scalarsOf(symbol)) == 0;
  else
    finite = applyWidened(task, count, rows, gradients, keys);
  if (!finite)
    noteNonFinite(task, count, rows, keys);
}

/// Copies rows for a snapshot. Must be called before the rows are written.
static void preserve(const EmbeddingTable &table, int64_t count,
                     const int64_t *keys, void *const *rows) {
  if (TableSnapshot *snapshot = table.snapshot())
    snapshot->preserve(count, keys, rows);
}

void Updater::applyTouched(Task &task, const BlockGradient &block) {
  const pdl_symbol &symbol = symbolOf(task.update);
  int64_t begin = block.keyCount * task.begin / keyTasks;
  int64_t end = block.keyCount * task.end / keyTasks;
  void *const *rows = block.rows;
  const void *const *gradients = block.gradients;
  const void *const *seen = block.seenRows;
  const int64_t *keys = block.keys;
  if (needsShards(task.update)) {
    const ShardedRows &own = sharded[task.update];
    begin = own.splits[task.begin];
    end = own.splits[task.end];
    rows = static_cast<void *const *>(own.rows.data());
    gradients = static_cast<const void *const *>(own.gradients.data());
    keys = static_cast<const int64_t *>(own.keys.data());
    if (seen)
      seen = static_cast<const void *const *>(own.seen.data());
  }
  const EmbeddingTable &table =
      *model.table(program.updates[task.update].symbol);
  preserve(table, end - begin, keys + begin, rows + begin);
  const auto rowBytes = int64_t(table.rowBytes());
  const int64_t atOnce = rowsInCallOf(symbol);
  const RowLayout &layout = table.layout();
  const uint16_t time = table.time();
  const bool hasPeriods = table.options().life.hasPeriods();
  // Rows of a large table are not in a cache. So the rows of the kernel's next
  // call are prefetched during the current call.
  for (int64_t first = begin; first < end; first += atOnce) {
    const int64_t last = std::min(end, first + atOnce);
    const int64_t next = std::min(end, last + atOnce);
    for (int64_t i = last; i < next; ++i) {
      __builtin_prefetch(&layout.headerOf(rows[i]), 1);
      for (int64_t byte = 0; byte < rowBytes; byte += cacheLineBytes)
        __builtin_prefetch(static_cast<const char *>(rows[i]) + byte, 1);
    }
    applyRows(task, last - first, rows + first, gradients + first,
              seen ? seen + first : nullptr, keys + first);
    for (int64_t i = first; i < last; ++i)
      layout.headerOf(rows[i]).noteUpdate(time);
    if (hasPeriods)
      for (int64_t i = first; i < last; ++i)
        table.options().setPeriod(rows[i], table.period());
  }
}

void Updater::reserveScratch(const Task &task) {
  const EmbeddingTable &table =
      *model.table(program.updates[task.update].symbol);
  ShardScratch &scratch = shardScratch[task.scratch];
  size_t most = 0;
  for (int64_t s = task.begin; s < task.end; ++s)
    most = std::max(most, size_t(table.shardSize(int(s))));
  // Reserve a quarter more than needed. Otherwise a growing table would
  // allocate memory in each step.
  if (scratch.all.capacity() < most)
    scratch.all.reserve(most + most / 4);
  if (scratch.rows.capacity() < most)
    scratch.rows.reserve(most + most / 4);
  if (scratch.gradients.capacity() < most)
    scratch.gradients.reserve(most + most / 4);
  if (scratch.keys.capacity() < most)
    scratch.keys.reserve(most + most / 4);
}

void Updater::applyAllRows(Task &task, ShardScratch &scratch) {
  const pdl_symbol &symbol = symbolOf(task.update);
  const EmbeddingTable &table =
      *model.table(program.updates[task.update].symbol);
  const ShardedRows &own = sharded[task.update];
  auto *keys = static_cast<const int64_t *>(own.keys.data());
  auto *gradients = static_cast<const void *const *>(own.gradients.data());
  const RowLayout &layout = table.layout();
  const uint16_t time = table.time();
  for (int64_t s = task.begin; s < task.end; ++s) {
    table.collectShard(int(s), scratch.all);
    if (scratch.all.empty())
      continue;
    scratch.rows.clear();
    scratch.gradients.clear();
    scratch.keys.clear();
    int64_t touched = own.splits[s];
    for (const TableRow &row : scratch.all) {
      const bool isTouched =
          touched < own.splits[s + 1] && keys[touched] == row.key;
      scratch.rows.push_back(row.row);
      scratch.keys.push_back(row.key);
      scratch.gradients.push_back(isTouched ? gradients[touched++]
                                            : zeroRow.data());
    }
    const auto count = int64_t(scratch.rows.size());
    preserve(table, count, scratch.keys.data(), scratch.rows.data());
    const int64_t atOnce =
        symbol.storage == PDL_STORE_ELEMENT ? count : rowsInCallOf(symbol);
    for (int64_t first = 0; first < count; first += atOnce)
      applyRows(task, std::min(atOnce, count - first),
                scratch.rows.data() + first, scratch.gradients.data() + first,
                /*seen=*/nullptr, scratch.keys.data() + first);
    // Change the headers last. A concurrent save reads from them which rows
    // have changed.
    for (int64_t i = 0; i < count; ++i) {
      RowHeader &header = layout.headerOf(scratch.rows[i]);
      if (scratch.gradients[i] == zeroRow.data()) {
        header.noteWrite();
        continue;
      }
      header.noteUpdate(time);
      if (table.options().life.hasPeriods())
        table.options().setPeriod(scratch.rows[i], table.period());
    }
  }
}

Status Updater::apply(const PartialSum &merged) {
  const TraceSpan span("apply");
  const pdl_descriptor &descriptor = model.descriptor();
  PDLRT_RETURN_IF_ERROR(begin(merged));
  // Computing norms may run out of memory, so all norms are computed before the
  // step is counted.
  norms.assign(descriptor.clip_count, 0);
  for (int32_t c = 0; c < descriptor.clip_count; ++c) {
    const Expected<double> norm = squaredNorm(c, merged);
    if (!norm)
      return norm.status();
    norms[c] = *norm;
  }
  return finish(merged, norms);
}

Status Updater::begin(const PartialSum &merged) {
  for (int32_t i = 0; i < program.update_count; ++i) {
    if (makesRows(i))
      PDLRT_RETURN_IF_ERROR(admitKeys(i, merged));
    if (symbolOf(i).kind == PDL_SYMBOL_TABLE && needsShards(i))
      groupRowsByShard(i, blockOf(i, merged));
  }
  makeRoom();
  return {};
}

void Updater::makeRoom() {
  for (const Task &task : tasks)
    if (task.scratch >= 0)
      reserveScratch(task);
}

Status Updater::computeScalars(int32_t index, const PartialSum &merged,
                               const std::vector<double> &norms) {
  const pdl_group &group = model.descriptor().groups[index];
  pdl_once_arguments arguments = {};
  arguments.step = double(model.stepCount(index) + 1);
  arguments.weight = weightOf(index, merged);
  if (group.clip >= 0)
    arguments.squared_norm = norms[group.clip];
  arguments.senders = model.senders();
  auto refuse = [&](const std::string &what) {
    return Status::invalidArgument(fmt::format(
        "group @{} cannot be updated at its step {}: {}; nothing of this step "
        "was applied: look at the group's rate, schedule and "
        "hyper-parameters, at the weights, and at extreme gradients under a "
        "clip",
        group.name, model.stepCount(index) + 1, what));
  };
  if (!std::isfinite(arguments.weight))
    return refuse(fmt::format("the sum of weights is {}", arguments.weight));
  if (!std::isfinite(arguments.squared_norm))
    return refuse(fmt::format("the squared norm of clip @{} is {}",
                              model.descriptor().clips[group.clip].name,
                              arguments.squared_norm));
  group.once(&arguments, scalars[index].data());
  const void *written = scalars[index].data();
  for (int32_t s = 0; s < group.scalar_count; ++s) {
    const double value = group.element_type == PDL_F32
                             ? double(static_cast<const float *>(written)[s])
                             : static_cast<const double *>(written)[s];
    const pdl_scalar &scalar = group.scalars[s];
    if (!std::isfinite(value))
      return refuse(fmt::format("its {} is {}", scalar.name, value));
    if (scalar.is_divisor && value == 0)
      return refuse(
          fmt::format("its {} is 0, by which its rule divides", scalar.name));
    if (!std::strcmp(scalar.name, pdlabi::rateScalarName))
      rates.check(index, arguments, value);
  }
  return {};
}

Status Updater::refuseNewValue(int32_t index,
                               std::optional<int64_t> key) const {
  const pdl_symbol &symbol = model.descriptor().symbols[index];
  std::string where = std::string("@") + symbol.name;
  if (symbol.kind == PDL_SYMBOL_TABLE)
    where = key ? fmt::format("key {} of {}", *key, where)
                : fmt::format("a key of {}", where);
  const pdl_group &group = model.descriptor().groups[symbol.group];
  return Status::invalidArgument(fmt::format(
      "the rule of group @{} gave {} a value or slot that is not finite{} at "
      "the group's step {}; this state is not saved: lower the rate, clip the "
      "gradients, look for a division by zero in the rule, and go on from the "
      "last checkpoint",
      group.name, where,
      symbol.storage == PDL_STORE_F16 ? " in f16, whose largest is 65504," : "",
      model.stepCount(symbol.group)));
}

Status Updater::finish(const PartialSum &merged,
                       const std::vector<double> &norms) {
  const pdl_descriptor &descriptor = model.descriptor();
  {
    // In mode hogwild, other workers may update the same model. The lock gives
    // each update a number of its own.
    const MutexLock lock(model.stepMutex());
    for (int32_t g = 0; g < descriptor.group_count; ++g)
      if (isUpdated(g, merged))
        PDLRT_RETURN_IF_ERROR(computeScalars(g, merged, norms));
    for (int32_t g = 0; g < descriptor.group_count; ++g)
      if (isUpdated(g, merged))
        updateNumbers[g] = model.countStep(g);
  }
  PDLRT_RETURN_IF_ERROR(applyOnDevice(merged));
  int64_t elements = 0;
  for (int32_t i : onHost) {
    const pdl_symbol &symbol = symbolOf(i);
    if (!isUpdated(symbol.group, merged))
      continue;
    const bool isTable = symbol.kind == PDL_SYMBOL_TABLE;
    const int64_t rows = updatesAllRows(symbol)
                             ? model.table(program.updates[i].symbol)->size()
                             : blockOf(i, merged).keyCount;
    elements += isTable ? symbol.row_width * rows
                        : model.heldElements(program.updates[i].symbol);
  }
  forEachTask(elements, int64_t(tasks.size()), [&](int64_t index) {
    Task &task = tasks[index];
    task.wroteNonFinite = false;
    const pdl_symbol &symbol = symbolOf(task.update);
    if (!isUpdated(symbol.group, merged))
      return;
    const TraceSpan span(symbol.name);
    if (symbol.kind != PDL_SYMBOL_TABLE)
      applyDense(task, merged);
    else if (task.scratch >= 0)
      applyAllRows(task, shardScratch[task.scratch]);
    else
      applyTouched(task, blockOf(task.update, merged));
  });
  for (int32_t update : copiedToDevice)
    if (isUpdated(symbolOf(update).group, merged))
      model.deviceState()->changeOnHost(program.updates[update].symbol);
  PDLRT_RETURN_IF_ERROR(finishOnDevice());
  for (const Task &task : tasks)
    if (task.wroteNonFinite)
      return refuseNewValue(program.updates[task.update].symbol, task.key);
  PDLRT_RETURN_IF_ERROR(shrinkTables(merged));
  try {
    model.keepTablesWithinBound();
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory(
        "out of memory while rows were evicted; go on from the last checkpoint "
        "with a smaller --max-table-memory");
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Checks of sums
//===----------------------------------------------------------------------===//

/// Returns the symbol of a block whose merged gradient, divided by its weight,
/// is not finite; -1 if there is none. The gradients of replicas are finite,
/// but their sum may not be, and a divisor below one increases it.
static int32_t findNonFiniteSum(const pdl_descriptor &descriptor,
                                std::span<const GradientBlock> blocks,
                                const PartialSum &merged) {
  double weight = 0;
  auto areFinite = [&](int32_t type, int64_t count, const void *values) {
    return weight < 1 ? allQuotientsFinite(type, count, values, weight)
                      : allFinite(type, count, values);
  };
  for (size_t b = 0; b < blocks.size(); ++b) {
    const BlockGradient &gradient = merged.blocks[b];
    weight =
        divisorOf(descriptor, descriptor.symbols[blocks[b].symbol].group,
                  merged.objectives[blocks[b].objective].weight, merged.steps);
    // If the weight is not positive, nothing is divided by it, so the block is
    // not checked.
    if (!(weight > 0))
      continue;
    const int32_t type = blocks[b].elementType;
    const int64_t count = blocks[b].elementCount;
    bool finite = !gradient.dense || areFinite(type, count, gradient.dense);
    for (int64_t k = 0; finite && k < gradient.keyCount; ++k)
      finite = areFinite(type, count, gradient.gradients[k]);
    if (!finite)
      return blocks[b].symbol;
  }
  return -1;
}

bool pdlrt::hasSmallWeight(const PartialSum &merged) {
  // A group divides by the sum of weights or, with `merge(sum)`, by the mean
  // weight of a step. The mean is the smaller divisor.
  return std::ranges::any_of(merged.objectives, [&](const ObjectiveSums &sums) {
    return sums.weight > 0 && sums.weight / double(merged.steps) < 1;
  });
}

Status pdlrt::checkFiniteSums(const pdl_descriptor &descriptor,
                              std::span<const GradientBlock> blocks,
                              const PartialSum &merged) {
  const int32_t symbol = findNonFiniteSum(descriptor, blocks, merged);
  return symbol < 0 ? Status() : refuseSum(descriptor, symbol);
}

Status pdlrt::refuseSum(const pdl_descriptor &descriptor, int32_t symbol) {
  return Status::invalidArgument(
      std::string("the sum of all replicas' gradients of @") +
      descriptor.symbols[symbol].name +
      ", divided by the sum of weights, is not finite; nothing of this "
      "step was applied: lower the "
      "rate, or look for extreme values in the data");
}
