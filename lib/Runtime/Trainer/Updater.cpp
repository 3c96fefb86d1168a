//===- Updater.cpp - From merged gradients to new state -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Trainer/Updater.h"

#include "pdlabi/norm.h"
#include "pdlrt/Core/Descriptor.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;

/// Elements of a parameter that one task updates; a multiple of the alignment.
static constexpr int64_t elementsInTask = 16384;
/// With fewer elements to update in a step, waking threads costs more than it
/// saves.
static constexpr int64_t elementsWorthThreads = 16384;
static constexpr int64_t shardsInTask = 16;
static constexpr int64_t shardTasks = EmbeddingTable::shardCount / shardsInTask;

const pdl_symbol &Updater::symbolOf(int32_t update) const {
  return model.descriptor().symbols[program.updates[update].symbol];
}

Updater::Updater(Model &model, const pdl_program &program, Scheduler &scheduler)
    : model(model), program(program), scheduler(scheduler),
      usesGroup(model.descriptor().group_count),
      scalars(model.descriptor().group_count), sharded(program.update_count) {
  const pdl_descriptor &descriptor = model.descriptor();
  const size_t size = elementSize(descriptor.element_type);
  size_t widest = 1;
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_symbol &symbol = symbolOf(i);
    bySymbol.push_back(i);
    usesGroup[symbol.group] = true;
    if (symbol.kind == PDL_SYMBOL_TABLE) {
      widest = std::max(widest, size_t(symbol.row_width));
      for (int64_t t = 0; t < shardTasks; ++t)
        tasks.push_back({i, t * shardsInTask, (t + 1) * shardsInTask});
      continue;
    }
    const int64_t elements = elementCount(symbol);
    for (int64_t begin = 0; begin < elements; begin += elementsInTask)
      tasks.push_back({i, begin, std::min(elements, begin + elementsInTask)});
  }
  std::sort(bySymbol.begin(), bySymbol.end(), [&](int32_t a, int32_t b) {
    return program.updates[a].symbol < program.updates[b].symbol;
  });
  shardScratch.resize(shardTasks);
  std::memset(zeroRow.reserve(widest * size), 0, widest * size);
  for (int32_t g = 0; g < descriptor.group_count; ++g)
    scalars[g].reserve(descriptor.groups[g].scalar_count * size);
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
  own.splits.assign(EmbeddingTable::shardCount + 1, 0);
  for (int64_t i = 0; i < count; ++i)
    ++own.splits[EmbeddingTable::shardOf(block.keys[i]) + 1];
  for (int s = 0; s < EmbeddingTable::shardCount; ++s)
    own.splits[s + 1] += own.splits[s];
  for (int64_t i = 0; i < count; ++i)
    order[own.splits[EmbeddingTable::shardOf(block.keys[i])]++] = i;
  for (int s = EmbeddingTable::shardCount; s > 0; --s)
    own.splits[s] = own.splits[s - 1];
  own.splits[0] = 0;

  const pdl_group &group = model.descriptor().groups[symbolOf(update).group];
  // Only norms, and the search for untouched rows, need an order in a shard.
  const bool sorted = group.clip >= 0 || group.untouched == PDL_UNTOUCHED_DENSE;
  forEachTask(count, shardTasks, [&](int64_t task) {
    for (int64_t s = task * shardsInTask; s < (task + 1) * shardsInTask; ++s) {
      const int64_t begin = own.splits[s], end = own.splits[s + 1];
      if (sorted)
        std::sort(order + begin, order + end, [&](int64_t a, int64_t b) {
          return block.keys[a] < block.keys[b];
        });
      for (int64_t i = begin; i < end; ++i) {
        keys[i] = block.keys[order[i]];
        rows[i] = block.rows[order[i]];
        gradients[i] = block.gradients[order[i]];
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

void Updater::normPartials(int32_t update, const Contribution &merged) {
  const pdl_symbol &symbol = symbolOf(update);
  const BlockGradient &block = merged.blocks[update];
  const bool isFloat = model.descriptor().element_type == PDL_F32;
  const double weight = merged.weightSum;
  if (symbol.kind == PDL_SYMBOL_TABLE) {
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
    return;
  }
  if (!block.dense) {
    partials.clear();
    return;
  }
  // A vector is one unit; it is one row of the descriptor.
  const int64_t elements = elementCount(symbol);
  const int64_t unit = pdlabi::rowsInNormUnit * symbol.row_width;
  const int64_t units = (elements + unit - 1) / unit;
  partials.resize(units);
  forEachTask(elements, units, [&](int64_t u) {
    partials[u] =
        (isFloat ? normOfElements<float>
                 : normOfElements<double>)(block.dense, u * unit,
                                           std::min(elements, (u + 1) * unit),
                                           weight);
  });
}

double Updater::squaredNorm(int32_t clip, const Contribution &merged) {
  const pdl_descriptor &descriptor = model.descriptor();
  double sum = 0;
  for (int32_t update : bySymbol) {
    if (descriptor.groups[symbolOf(update).group].clip != clip)
      continue;
    normPartials(update, merged);
    for (double partial : partials)
      sum += partial;
  }
  return sum;
}

void Updater::applyDense(const Task &task, const Contribution &merged) {
  constexpr int32_t fewSlots = 8;
  const pdl_symbol &symbol = symbolOf(task.update);
  const int32_t index = program.updates[task.update].symbol;
  const size_t size = elementSize(model.descriptor().element_type);
  const void *gradient = merged.blocks[task.update].dense;
  if (!gradient)
    return;
  auto at = [&](const void *base) {
    return const_cast<char *>(static_cast<const char *>(base)) +
           task.begin * size;
  };
  void *local[1 + fewSlots];
  std::vector<void *> many;
  void **state = local;
  if (symbol.slot_count > fewSlots) {
    many.resize(1 + symbol.slot_count);
    state = many.data();
  }
  state[0] = at(model.value(index));
  for (int32_t s = 0; s < symbol.slot_count; ++s)
    state[1 + s] = at(model.slot(index, s));
  symbol.dense_kernel(task.end - task.begin, state, at(gradient),
                      scalarsOf(symbol));
}

void Updater::applyTouched(const Task &task) {
  const pdl_symbol &symbol = symbolOf(task.update);
  const ShardedRows &own = sharded[task.update];
  const int64_t begin = own.splits[task.begin], end = own.splits[task.end];
  if (begin == end)
    return;
  symbol.row_kernel(end - begin, symbol.row_width,
                    static_cast<void *const *>(own.rows.data()) + begin,
                    static_cast<const void *const *>(own.gradients.data()) +
                        begin,
                    scalarsOf(symbol));
}

void Updater::applyAllRows(const Task &task, ShardScratch &scratch) {
  const pdl_symbol &symbol = symbolOf(task.update);
  const EmbeddingTable &table =
      *model.table(program.updates[task.update].symbol);
  const ShardedRows &own = sharded[task.update];
  auto *keys = static_cast<const int64_t *>(own.keys.data());
  auto *gradients = static_cast<const void *const *>(own.gradients.data());
  for (int64_t s = task.begin; s < task.end; ++s) {
    table.collectShard(int(s), scratch.all);
    if (scratch.all.empty())
      continue;
    scratch.rows.clear();
    scratch.gradients.clear();
    int64_t touched = own.splits[s];
    for (const TableRow &row : scratch.all) {
      const bool isTouched =
          touched < own.splits[s + 1] && keys[touched] == row.key;
      scratch.rows.push_back(row.row);
      scratch.gradients.push_back(isTouched ? gradients[touched++]
                                            : zeroRow.data());
    }
    symbol.row_kernel(int64_t(scratch.rows.size()), symbol.row_width,
                      scratch.rows.data(), scratch.gradients.data(),
                      scalarsOf(symbol));
  }
}

void Updater::apply(const Contribution &merged) {
  const pdl_descriptor &descriptor = model.descriptor();
  for (int32_t i = 0; i < program.update_count; ++i)
    if (symbolOf(i).kind == PDL_SYMBOL_TABLE)
      groupRowsByShard(i, merged.blocks[i]);
  for (int32_t g = 0; g < descriptor.group_count; ++g) {
    if (!usesGroup[g])
      continue;
    const pdl_group &group = descriptor.groups[g];
    pdl_once_arguments arguments = {};
    arguments.step = double(model.countStep(g));
    arguments.weight = merged.weightSum;
    if (group.clip >= 0)
      arguments.squared_norm = squaredNorm(group.clip, merged);
    group.once(&arguments, scalars[g].data());
  }
  int64_t elements = 0;
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_symbol &symbol = symbolOf(i);
    const bool isTable = symbol.kind == PDL_SYMBOL_TABLE;
    const bool allRows = isTable && descriptor.groups[symbol.group].untouched ==
                                        PDL_UNTOUCHED_DENSE;
    const int64_t rows = allRows
                             ? model.table(program.updates[i].symbol)->size()
                             : merged.blocks[i].keyCount;
    elements += elementCount(symbol) * (isTable ? rows : 1);
  }
  forEachTask(elements, int64_t(tasks.size()), [&](int64_t index) {
    const Task &task = tasks[index];
    const pdl_symbol &symbol = symbolOf(task.update);
    if (symbol.kind != PDL_SYMBOL_TABLE)
      applyDense(task, merged);
    else if (descriptor.groups[symbol.group].untouched == PDL_UNTOUCHED_DENSE)
      applyAllRows(task, shardScratch[task.begin / shardsInTask]);
    else
      applyTouched(task);
  });
}
