//===- DeviceTables.cpp - The tables of a model on a device ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All work on tables is in one stream, in the order of the calls. For a step,
// these are its pull, then its gather, which waits for earlier work of the
// stage, and its rules. The pull of the next step is added concurrently with
// the step. So only a gather waits for another stream.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/DeviceTables.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <utility>

using namespace pdlrt;

/// Number of bytes of rows that are copied to the device at a time.
static constexpr size_t bytesAtOnce = size_t(4) << 20;

DeviceTables::DeviceTables(Device &device, const Model &model, TableShare share)
    : device(device), descriptor(model.descriptor()), share(share),
      entries(descriptor.symbol_count), scalars(device, descriptor) {
  for (int32_t s = 0; s < descriptor.symbol_count; ++s)
    entries[s].onHost = model.table(s);
}

/// Returns an error if a device does not support the operations on a table.
static Status checkTable(const pdl_symbol &symbol) {
  if (symbol.group < 0)
    return {};
  if (symbol.admission != PDL_ADMIT_ALL || symbol.shrink_every > 0)
    return Status::invalidArgument(fmt::format(
        "table @{} cannot be on a device: it admits keys or shrinks, which "
        "devices cannot do yet; use --table-placement host",
        symbol.name));
  if (symbol.device_kernel >= 0)
    return {};
  return Status::invalidArgument(fmt::format(
      "table @{} cannot be on a device: the rule of its group has functions of "
      "f64, which devices have not; use --table-placement host",
      symbol.name));
}

Expected<std::unique_ptr<DeviceTables>>
DeviceTables::create(Device &device, const Model &model, TableShare share) {
  const pdl_descriptor &descriptor = model.descriptor();
  for (int32_t s = 0; s < descriptor.symbol_count; ++s)
    if (model.table(s))
      PDLRT_RETURN_IF_ERROR(checkTable(descriptor.symbols[s]));
  std::unique_ptr<DeviceTables> tables(new DeviceTables(device, model, share));
  {
    const MutexLock lock(tables->mutex);
    PDLRT_RETURN_IF_ERROR(openOnce(device, tables->stream, "tables"));
  }
  return tables;
}

// Not analyzed: the constructor sets `onHost`, and nothing changes it.
bool DeviceTables::holds(int32_t symbol) const PDLRT_NO_THREAD_SAFETY_ANALYSIS {
  return entries[symbol].onHost != nullptr;
}

Status DeviceTables::settle() {
  PDLRT_RETURN_IF_ERROR(stream->synchronize());
  ++waits;
  for (Entry &entry : entries)
    if (entry.table)
      entry.table->noteWaited();
  return {};
}

//===----------------------------------------------------------------------===//
// Between host and device
//===----------------------------------------------------------------------===//

Status DeviceTables::moveRows(EmbeddingTable &from, DeviceTable &to) {
  const size_t rowBytes = from.rowBytes();
  RowList rows;
  std::vector<int64_t> keys;
  std::vector<char> values;
  const auto move = [&]() PDLRT_REQUIRES(mutex) -> Status {
    PDLRT_RETURN_IF_ERROR(
        to.restore(*stream, int64_t(keys.size()), keys.data(), values.data()));
    keys.clear();
    values.clear();
    return {};
  };
  for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
    if (!share.hasShard(shard))
      continue;
    from.collectShard(shard, rows);
    for (const TableRow &row : rows) {
      keys.push_back(row.key);
      const auto *begin = static_cast<const char *>(row.row);
      values.insert(values.end(), begin, begin + rowBytes);
      if (values.size() >= bytesAtOnce)
        PDLRT_RETURN_IF_ERROR(move());
    }
  }
  return move();
}

/// Creates a table on the device, with the content of the host's table.
Status DeviceTables::openTable(int32_t symbol) {
  Entry &entry = entries[symbol];
  if (entry.table)
    return {};
  const TraceSpan span("copy table to device");
  std::vector<DeviceKernel> kernels;
  for (int32_t i = 0; i < descriptor.device_kernel_count; ++i)
    kernels.push_back({descriptor.device_kernels[i].name, {}, nullptr});
  const Expected<TableKernels> found =
      TableKernels::find(kernels, entry.onHost->options().elementType);
  if (!found)
    return found.status();
  Expected<std::unique_ptr<DeviceTable>> table =
      DeviceTable::create(device, *found, entry.onHost->options(), *stream);
  if (!table)
    return std::move(table).status();
  (*table)->quiesce(entry.onHost->time());
  PDLRT_RETURN_IF_ERROR(moveRows(*entry.onHost, **table));
  entry.table = std::move(*table);
  return {};
}

Status DeviceTables::bringToHost() {
  const MutexLock lock(mutex);
  std::vector<int64_t> keys;
  std::vector<void *> places;
  for (Entry &entry : entries) {
    if (!entry.table)
      continue;
    const TraceSpan span("copy table from device");
    EmbeddingTable &table = *entry.onHost;
    const auto put = [&](int shard, std::span<const TableRow> rows) -> Status {
      keys.clear();
      for (const TableRow &row : rows)
        keys.push_back(row.key);
      places.resize(rows.size());
      PDLRT_RETURN_IF_ERROR(table.insertShard(shard, int64_t(rows.size()),
                                              keys.data(), places.data(),
                                              NewRow::Open));
      // A save may be reading the rows of a snapshot.
      if (TableSnapshot *snapshot = table.snapshot())
        snapshot->preserve(int64_t(rows.size()), keys.data(), places.data());
      for (size_t i = 0; i < rows.size(); ++i) {
        std::memcpy(places[i], rows[i].row, table.rowBytes());
        table.layout().headerOf(places[i]).noteWrite();
      }
      return {};
    };
    PDLRT_RETURN_IF_ERROR(entry.table->collect(
        *stream, DeviceTable::Rows::Dirty, 0, EmbeddingTable::shardCount, put));
    PDLRT_RETURN_IF_ERROR(entry.table->noteSaved(*stream));
  }
  return settle();
}

Expected<TableSize> DeviceTables::sizeOf(int32_t symbol) {
  const MutexLock lock(mutex);
  PDLRT_RETURN_IF_ERROR(openTable(symbol));
  PDLRT_RETURN_IF_ERROR(settle());
  const DeviceTable &table = *entries[symbol].table;
  return TableSize{table.size(), table.memoryBytes()};
}

void DeviceTables::quiesce(int32_t symbol, uint16_t time) {
  const MutexLock lock(mutex);
  if (entries[symbol].table)
    entries[symbol].table->quiesce(time);
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

Status DeviceTables::sendKeys(int32_t symbol, int64_t count,
                              const int64_t *keys, DeviceRows &lookup) {
  PDLRT_RETURN_IF_ERROR(openTable(symbol));
  // If the host has not waited since the last transfer of this lookup, waits,
  // because the transfer may still use the memory.
  if (lookup.sentAt == waits)
    PDLRT_RETURN_IF_ERROR(settle());
  lookup.symbol = symbol;
  lookup.count = count;
  const size_t bytes =
      std::max<size_t>(size_t(count) * sizeof(int64_t), sizeof(int64_t));
  static_assert(sizeof(void *) == sizeof(int64_t));
  using enum DeviceBuffer::Kind;
  PDLRT_RETURN_IF_ERROR(reserve(device, lookup.keysOnHost, OfHost, bytes));
  PDLRT_RETURN_IF_ERROR(reserve(device, lookup.keys, OfDevice, bytes));
  PDLRT_RETURN_IF_ERROR(reserve(device, lookup.rows, OfDevice, bytes));
  if (count == 0)
    return {};
  std::memcpy(lookup.keysOnHost.data(), keys, size_t(count) * sizeof(int64_t));
  lookup.sentAt = waits;
  return stream->copyIn(lookup.keys.data(), lookup.keysOnHost.data(),
                        size_t(count) * sizeof(int64_t));
}

Status DeviceTables::pull(int32_t symbol, int64_t count, const int64_t *keys,
                          DeviceRows &lookup) {
  const MutexLock lock(mutex);
  PDLRT_RETURN_IF_ERROR(sendKeys(symbol, count, keys, lookup));
  return entries[symbol].table->pull(*stream, count, lookup.keysOfDevice(),
                                     lookup.rowsOfDevice());
}

Status DeviceTables::find(int32_t symbol, int64_t count, const int64_t *keys,
                          DeviceRows &lookup) {
  const MutexLock lock(mutex);
  PDLRT_RETURN_IF_ERROR(sendKeys(symbol, count, keys, lookup));
  const size_t bytes = size_t(count) * sizeof(void *);
  PDLRT_RETURN_IF_ERROR(reserve(device, lookup.rowsOnHost,
                                DeviceBuffer::Kind::OfHost,
                                std::max(bytes, sizeof(void *))));
  if (count == 0)
    return {};
  PDLRT_RETURN_IF_ERROR(entries[symbol].table->find(
      *stream, count, lookup.keysOfDevice(), lookup.rowsOfDevice()));
  PDLRT_RETURN_IF_ERROR(
      stream->copyOut(lookup.rowsOnHost.data(), lookup.rows.data(), bytes));
  return settle();
}

Status DeviceTables::addGather(const DeviceRows &lookup, bool frozen,
                               void *out) {
  return entries[lookup.symbol].table->gather(
      *stream, lookup.count, lookup.keysOfDevice(), lookup.rowsOfDevice(),
      frozen ? DeviceTable::Part::Frozen : DeviceTable::Part::Value,
      descriptor.symbols[lookup.symbol].unknown, out);
}

Status DeviceTables::gather(DeviceRows &lookup, bool frozen, void *out,
                            DeviceStream &compute) {
  if (lookup.count == 0)
    return {};
  const MutexLock lock(mutex);
  const Expected<std::unique_ptr<DeviceEvent>> before = compute.record();
  if (!before)
    return before.status();
  PDLRT_RETURN_IF_ERROR(stream->wait(**before));
  PDLRT_RETURN_IF_ERROR(addGather(lookup, frozen, out));
  const Expected<std::unique_ptr<DeviceEvent>> finished = stream->record();
  if (!finished)
    return finished.status();
  return compute.wait(**finished);
}

Status DeviceTables::gatherToHost(DeviceRows &lookup, bool frozen) {
  if (lookup.count == 0)
    return {};
  const MutexLock lock(mutex);
  const pdl_symbol &symbol = descriptor.symbols[lookup.symbol];
  const size_t bytes =
      size_t(lookup.count) * size_t(symbol.row_width) * elementSize(symbol);
  using enum DeviceBuffer::Kind;
  // The last caller has waited for its result.
  PDLRT_RETURN_IF_ERROR(reserve(device, lookup.values, OfDevice, bytes));
  PDLRT_RETURN_IF_ERROR(reserve(device, lookup.valuesOnHost, OfHost, bytes));
  PDLRT_RETURN_IF_ERROR(addGather(lookup, frozen, lookup.values.data()));
  return stream->copyOut(lookup.valuesOnHost.data(), lookup.values.data(),
                         bytes);
}

Status DeviceTables::wait() {
  const MutexLock lock(mutex);
  return settle();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

Status DeviceTables::sendGradients(int32_t symbol,
                                   const BlockGradient &gradient) {
  Entry &entry = entries[symbol];
  const int64_t count = gradient.keyCount;
  PDLRT_RETURN_IF_ERROR(sendKeys(symbol, count, gradient.keys, entry.lookup));
  PDLRT_RETURN_IF_ERROR(entry.table->find(*stream, count,
                                          entry.lookup.keysOfDevice(),
                                          entry.lookup.rowsOfDevice()));
  const size_t each = size_t(gradientElements(descriptor.symbols[symbol])) *
                      elementSize(descriptor.symbols[symbol]);
  const size_t bytes = size_t(count) * each;
  using enum DeviceBuffer::Kind;
  PDLRT_RETURN_IF_ERROR(reserve(device, entry.gradientsOnHost, OfHost, bytes));
  PDLRT_RETURN_IF_ERROR(reserve(device, entry.gradients, OfDevice, bytes));
  auto *to = static_cast<char *>(entry.gradientsOnHost.data());
  for (int64_t i = 0; i < count; ++i, to += each)
    std::memcpy(to, gradient.gradients[i], each);
  return stream->copyIn(entry.gradients.data(), entry.gradientsOnHost.data(),
                        bytes);
}

/// Grows scratch memory; waits first, because work may use the old memory.
Status DeviceTables::reserveScratch(DeviceBuffer &memory, size_t bytes) {
  if (memory.size() >= bytes)
    return {};
  PDLRT_RETURN_IF_ERROR(settle());
  return reserve(device, memory, DeviceBuffer::Kind::OfDevice, bytes);
}

int64_t DeviceTables::rowsOfPiece(int64_t count, size_t bytesOfRow) const {
  return std::clamp<int64_t>(int64_t(pieceBytes / bytesOfRow), 1, count);
}

Status DeviceTables::launchRule(int32_t index, const RuleRows &rows,
                                const void *scalarsOfGroup,
                                std::span<const DeviceUse> extraUses) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  const int64_t turns = symbol.kernel_unit == PDL_UNIT_ROW
                            ? rows.count
                            : rows.count * symbol.row_width;
  const std::array arguments = {
      uint64_t(turns), reinterpret_cast<uint64_t>(rows.rows),
      reinterpret_cast<uint64_t>(rows.gradients),
      reinterpret_cast<uint64_t>(scalarsOfGroup),
      reinterpret_cast<uint64_t>(nonFinite.onDevice(size_t(index)))};
  return stream->launch(size_t(symbol.device_kernel), turns, arguments,
                        extraUses, symbol.name);
}

// As on the host, the rule's kernel supports only rows of elements.
Status DeviceTables::applyWidened(int32_t index, const RuleRows &rows,
                                  const void *scalarsOfGroup, int64_t update) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  DeviceTable &table = *entries[index].table;
  const size_t rowBytes = size_t(rowElements(symbol)) * sizeof(float);
  const size_t gradientBytes = size_t(symbol.gradient_width) * sizeof(float);
  const int64_t atOnce = rowsOfPiece(rows.count, rowBytes);
  PDLRT_RETURN_IF_ERROR(reserveScratch(wideRows, size_t(atOnce) * rowBytes));
  PDLRT_RETURN_IF_ERROR(
      reserveScratch(widePlaces, size_t(atOnce) * sizeof(void *)));
  auto *wide = static_cast<float *>(wideRows.data());
  auto **places = static_cast<void **>(widePlaces.data());
  const std::array<DeviceUse, 1> extraUses = {{{wide, /*isWritten=*/true}}};
  for (int64_t first = 0; first < rows.count; first += atOnce) {
    const int64_t some = std::min(atOnce, rows.count - first);
    PDLRT_RETURN_IF_ERROR(
        table.widen(*stream, some, rows.rows + first, wide, places));
    PDLRT_RETURN_IF_ERROR(launchRule(
        index,
        {some, nullptr, places, rows.gradients + size_t(first) * gradientBytes},
        scalarsOfGroup, extraUses));
    PDLRT_RETURN_IF_ERROR(table.round(*stream, some, update, rows.keys + first,
                                      wide, rows.rows + first,
                                      nonFinite.onDevice(size_t(index))));
  }
  return {};
}

Status DeviceTables::applyTo(int32_t index, const RuleRows &rows,
                             const void *scalarsOfGroup, int64_t update) {
  return descriptor.symbols[index].storage == PDL_STORE_ELEMENT
             ? launchRule(index, rows, scalarsOfGroup,
                          entries[index].table->rowMemory(true))
             : applyWidened(index, rows, scalarsOfGroup, update);
}

// Processes rows in the order of their numbers, so no index is needed. Keys are
// needed only if values are rounded, because the random bits depend on them.
Status DeviceTables::applyToAll(int32_t index, const RuleRows &touched,
                                const void *scalarsOfGroup, int64_t update) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  DeviceTable &table = *entries[index].table;
  const Expected<int64_t> count = table.countRows(*stream);
  if (!count)
    return count.status();
  if (*count == 0)
    return {};
  const bool needsKeys = symbol.storage != PDL_STORE_ELEMENT;
  const size_t gradientBytes =
      size_t(symbol.gradient_width) * elementSize(symbol);
  const int64_t atOnce = rowsOfPiece(*count, gradientBytes);
  PDLRT_RETURN_IF_ERROR(
      reserveScratch(marks, size_t(*count) * sizeof(uint32_t)));
  if (needsKeys)
    PDLRT_RETURN_IF_ERROR(
        reserveScratch(keysOfRows, size_t(*count) * sizeof(int64_t)));
  PDLRT_RETURN_IF_ERROR(
      reserveScratch(spreadGradients, size_t(atOnce) * gradientBytes));
  PDLRT_RETURN_IF_ERROR(
      reserveScratch(spreadRows, size_t(atOnce) * sizeof(void *)));
  auto *markOfRow = static_cast<uint32_t *>(marks.data());
  auto *keyOfRow = static_cast<int64_t *>(keysOfRows.data());
  auto **rows = static_cast<void **>(spreadRows.data());
  auto *gradients = static_cast<char *>(spreadGradients.data());
  PDLRT_RETURN_IF_ERROR(
      table.mark(*stream, *count, touched.count, touched.keys, markOfRow));
  if (needsKeys)
    PDLRT_RETURN_IF_ERROR(table.listKeys(*stream, keyOfRow));
  // Without gradients, no mark refers to one.
  const void *given = touched.gradients ? touched.gradients : gradients;
  for (int64_t first = 0; first < *count; first += atOnce) {
    const int64_t some = std::min(atOnce, *count - first);
    PDLRT_RETURN_IF_ERROR(table.spread(*stream, first, some,
                                       symbol.gradient_width, markOfRow, given,
                                       rows, gradients));
    PDLRT_RETURN_IF_ERROR(applyTo(
        index, {some, needsKeys ? keyOfRow + first : nullptr, rows, gradients},
        scalarsOfGroup, update));
  }
  return table.noteWrites(*stream);
}

Status DeviceTables::apply(int32_t index, const BlockGradient &gradient,
                           const void *scalarsOfGroup, int64_t update) {
  const int64_t count = gradient.keyCount;
  const pdl_symbol &symbol = descriptor.symbols[index];
  const bool isOfAll =
      descriptor.groups[symbol.group].untouched == PDL_UNTOUCHED_DENSE;
  if (count == 0 && !isOfAll)
    return {};
  const MutexLock lock(mutex);
  Entry &entry = entries[index];
  PDLRT_RETURN_IF_ERROR(openTable(index));
  if (!std::exchange(isUpdating, true)) {
    PDLRT_RETURN_IF_ERROR(nonFinite.reserve(device, entries.size()));
    PDLRT_RETURN_IF_ERROR(nonFinite.clear(*stream));
  }
  RuleRows rows = {count, gradient.keysOnDevice, gradient.rowsOnDevice,
                   static_cast<const char *>(gradient.onDevice)};
  if (count > 0 && !rows.gradients) {
    PDLRT_RETURN_IF_ERROR(sendGradients(index, gradient));
    rows = {count, entry.lookup.keysOfDevice(), entry.lookup.rowsOfDevice(),
            static_cast<const char *>(entry.gradients.data())};
  }
  const Expected<const void *> sent =
      scalars.send(*stream, symbol.group, scalarsOfGroup);
  if (!sent)
    return sent.status();
  PDLRT_RETURN_IF_ERROR(isOfAll ? applyToAll(index, rows, *sent, update)
                                : applyTo(index, rows, *sent, update));
  return entry.table->noteUpdates(*stream, count, rows.rows);
}

Expected<int32_t> DeviceTables::finish() {
  const MutexLock lock(mutex);
  if (!std::exchange(isUpdating, false))
    return -1;
  const TraceSpan span("wait for rules of tables");
  PDLRT_RETURN_IF_ERROR(nonFinite.bringToHost(*stream));
  PDLRT_RETURN_IF_ERROR(settle());
  scalars.endUpdate();
  return nonFinite.firstSet();
}
