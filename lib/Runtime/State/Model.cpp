//===- Model.cpp - The state of a program ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/Model.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/State/DeviceState.h"
#include "pdlrt/State/PreparedRows.h"
#include "pdlrt/Table/InitialValues.h"
#include "pdlrt/Table/RowStore.h"

#include <cstring>

using namespace pdlrt;

void Model::makeTable(int32_t index) {
  ownedTables[index] = createHashTable(
      TableOptions::of(programDescriptor.symbols[index], initialSeed));
  tablePointers[index] = ownedTables[index].get();
}

/// Creates a parameter with its initial values. Initial values depend on the
/// row's number in the whole parameter, so they are the same for each
/// distribution of rows.
void Model::makeParameter(int32_t index) {
  const pdl_symbol &symbol = programDescriptor.symbols[index];
  const int32_t type = symbol.element_type;
  const int64_t elements = heldElements(index);
  const size_t bytes = elements * elementSize(type);
  const size_t rowBytes = symbol.row_width * elementSize(type);
  states[index].resize(1 + symbol.slot_count);
  auto *value = static_cast<char *>(states[index][0].reserve(bytes));
  values[index] = value;
  for (const RowBlock &run : heldRows[index])
    for (int64_t row = 0; row < run.rowCount; ++row, value += rowBytes)
      fillInitialValues(type, symbol.initializer, initialSeed, symbol.id,
                        run.firstRow + row, symbol.row_width, value);
  for (int32_t i = 0; i < symbol.slot_count; ++i) {
    const int64_t count = heldElements(index, 1 + i);
    fillConstant(type, symbol.slot_initial_values[i], count,
                 states[index][1 + i].reserve(count * elementSize(type)));
  }
  frozenValues[index] = part(index, symbol.frozen_part);
  if (symbol.frozen_part > 0 && bytes > 0)
    std::memcpy(frozenValues[index], values[index], bytes);
}

void Model::quiesce(QuiescentTables which) {
  const MutexLock lock(ownStepMutex);
  for (int32_t s = 0; s < programDescriptor.symbol_count; ++s)
    if (EmbeddingTable *table = tablePointers[s];
        table && (which == QuiescentTables::All ||
                  table->options().life.makesRowsInUpdates())) {
      const int32_t group = programDescriptor.symbols[s].group;
      const int64_t updates =
          group >= 0 ? stepCounts[group] - restoredCounts[group] : 0;
      const auto time = uint16_t(updates / updatesOfTime);
      table->quiesce(time);
      if (ownDeviceState && ownDeviceState->tables())
        ownDeviceState->tables()->quiesce(s, time);
    }
}

Status Model::boundTables(const TableBound &bound) {
  tableBound = bound;
  if (bound.maxBytes == 0)
    return {};
  std::shared_ptr<RowStore> store;
  if (spillsRows()) {
    Expected<std::shared_ptr<RowStore>> opened =
        RowStore::open(bound.spillFolder);
    if (!opened)
      return opened.status();
    store = *std::move(opened);
  }
  for (size_t s = 0; s < tablePointers.size(); ++s) {
    if (!tablePointers[s])
      continue;
    if (store) {
      ownedTables[s] = createSpillingTable(tablePointers[s]->options(), store);
      tablePointers[s] = ownedTables[s].get();
    }
    tablePointers[s]->setBounded();
  }
  return {};
}

void Model::spillRestoredRows(int32_t symbol, int first, int end) const {
  if (spillsRows() && bytesInUse(tablePointers) > tableBound.maxBytes)
    tablePointers[symbol]->spillRestored(first, end);
}

void Model::restoreStepCount(int32_t group, int64_t count) {
  stepCounts[group] = restoredCounts[group] = count;
  for (int32_t s = 0; s < programDescriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = programDescriptor.symbols[s];
    if (tablePointers[s] && symbol.group == group && symbol.shrink_every > 0)
      tablePointers[s]->resumePeriod(count / symbol.shrink_every);
  }
}

int64_t Model::heldElements(int32_t symbol, int32_t part) const {
  int64_t rowCount = 0;
  for (const RowBlock &run : heldRows[symbol])
    rowCount += run.rowCount;
  return rowCount * partWidth(programDescriptor.symbols[symbol], part);
}

Model::Model(const pdl_descriptor &descriptor, uint64_t seed,
             StateLocation location)
    : programDescriptor(descriptor), initialSeed(seed),
      heldRows(descriptor.symbol_count), heldShards(descriptor.symbol_count),
      states(descriptor.symbol_count), values(descriptor.symbol_count),
      frozenValues(descriptor.symbol_count),
      ownedTables(descriptor.symbol_count),
      tablePointers(descriptor.symbol_count),
      stepCounts(descriptor.group_count),
      restoredCounts(descriptor.group_count) {
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = descriptor.symbols[s];
    if (symbol.kind == PDL_SYMBOL_TABLE) {
      if (location == StateLocation::Here)
        makeTable(s);
      continue;
    }
    heldRows[s] = {{0, symbol.row_count}};
    if (location != StateLocation::Servers) {
      makeParameter(s);
      continue;
    }
    const size_t bytes = heldElements(s) * elementSize(symbol);
    states[s].resize(1);
    values[s] = frozenValues[s] = states[s][0].reserve(bytes);
    std::memset(values[s], 0, bytes);
  }
}

Model::Model(const pdl_descriptor &descriptor, uint64_t seed,
             const Placement &placement, int32_t server)
    : programDescriptor(descriptor), initialSeed(seed),
      heldRows(descriptor.symbol_count), heldShards(descriptor.symbol_count),
      states(descriptor.symbol_count), values(descriptor.symbol_count),
      frozenValues(descriptor.symbol_count),
      ownedTables(descriptor.symbol_count),
      tablePointers(descriptor.symbol_count),
      stepCounts(descriptor.group_count),
      restoredCounts(descriptor.group_count) {
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    if (descriptor.symbols[s].kind == PDL_SYMBOL_TABLE) {
      makeTable(s);
      heldShards[s].resize(EmbeddingTable::shardCount);
      for (int64_t shard : placement.unitsOf(s, server))
        heldShards[s][shard] = true;
      continue;
    }
    heldRows[s] = placement.rowsOf(s, server);
    makeParameter(s);
  }
}

Model::~Model() = default;

Status Model::keepOnDevice() {
  if (computeDevices.empty())
    return {};
  if (!ownDeviceState)
    ownDeviceState = std::make_unique<DeviceState>(computeDevices, *this);
  return placesTables ? ownDeviceState->keepTables() : Status();
}

Expected<TableSize> Model::tableSize(int32_t symbol) const {
  if (!ownDeviceState || !ownDeviceState->tables())
    withholdPrepared();
  return noteTableSize(symbol);
}

void Model::noteTableSizes() const {
  for (int32_t s = 0; s < programDescriptor.symbol_count; ++s)
    if (tablePointers[s])
      // A metric ends no save: an error of a device appears in the save itself.
      static_cast<void>(noteTableSize(s));
}

/// Returns the current size of a table, and updates its metrics.
Expected<TableSize> Model::noteTableSize(int32_t symbol) const {
  const EmbeddingTable &table = *tablePointers[symbol];
  Expected<TableSize> size =
      ownDeviceState && ownDeviceState->tables()
          ? ownDeviceState->tables()->sizeOf(symbol)
          : TableSize{table.size() - int64_t(table.withheld().size()),
                      table.memoryBytes()};
  if (!size)
    return size;
  tableMetrics.resize(size_t(programDescriptor.symbol_count));
  std::optional<TableMetrics> &metrics = tableMetrics[size_t(symbol)];
  if (!metrics)
    metrics.emplace(programDescriptor.symbols[symbol].name);
  metrics->rows.set(double(size->rows));
  metrics->bytes.set(double(size->bytes));
  return size;
}

void Model::withholdPrepared() const {
  std::vector<std::vector<TableRow>> rows(programDescriptor.symbol_count);
  if (preparedRows)
    preparedRows->listPrepared([&](int32_t symbol, const TableRow &row) {
      rows[symbol].push_back(row);
    });
  for (int32_t s = 0; s < programDescriptor.symbol_count; ++s)
    if (EmbeddingTable *held = table(s))
      held->withhold(rows[s]);
}

Status Model::bringToHost() const {
  return ownDeviceState ? ownDeviceState->bringToHost() : Status();
}
