//===- DeviceTable.cpp - A table in device memory -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only the device knows how many keys of a pull are new. The host gets to know
// it when it waits for another reason. Until then, the host assumes that all
// keys are new, and allocates memory for all of them before the pull starts. So
// a pull that has started cannot fail.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/DeviceTable.h"

#include "pdlabi/device.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <utility>

using namespace pdlrt;
using pdlabi::TableKernel;

/// Rows have 32-bit numbers; 0 is not used.
static constexpr int64_t maxRows = std::numeric_limits<uint32_t>::max();
/// At most four of five slots of the index are taken. A search for an existing
/// key then reads three slots on average, and a search for a missing key 13.
static constexpr int64_t slotsOfFive = 5, takenOfFive = 4;
static constexpr int64_t minSlots = 1024;
/// Divisors of the current size by which the index and the rows grow. Rows also
/// grow by at least `minSlabBytes`.
static constexpr int64_t indexShare = 4, rowShare = 8;
static constexpr int64_t minSlabBytes = int64_t(256) << 10;

static uint64_t at(const void *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}
static uint64_t at(const DeviceBuffer &buffer) { return at(buffer.data()); }

template <typename T> static T *as(const DeviceBuffer &buffer) {
  return static_cast<T *>(buffer.data());
}

static Status allocate(Device &device, DeviceBuffer::Kind kind, int64_t bytes,
                       DeviceBuffer &memory) {
  Expected<DeviceBuffer> given =
      device.allocate(kind, size_t(std::max<int64_t>(bytes, 1)));
  if (!given)
    return std::move(given).status();
  memory = std::move(*given);
  return {};
}

/// Allocates memory for `good` elements or, if there is not enough, for
/// `needed` elements. Sets `count` to the number of elements.
static Status allocateMax(Device &device, int64_t good, int64_t needed,
                          int64_t bytesOfEach, int64_t extraBytes,
                          DeviceBuffer &memory, int64_t &count) {
  count = std::max(good, needed);
  Status status = allocate(device, DeviceBuffer::Kind::OfDevice,
                           count * bytesOfEach + extraBytes, memory);
  if (status.code() != PDL_OUT_OF_MEMORY || count == needed)
    return status;
  count = needed;
  return allocate(device, DeviceBuffer::Kind::OfDevice,
                  count * bytesOfEach + extraBytes, memory);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Expected<TableKernels> TableKernels::find(std::span<const DeviceKernel> kernels,
                                          int32_t elementType) {
  TableKernels found;
  for (size_t k = 0; k < found.numbers.size(); ++k) {
    const std::string name =
        pdlabi::kernelName(pdlabi::tableKernels[k], elementType == PDL_F64);
    const auto place = std::ranges::find_if(
        kernels, [&](const DeviceKernel &each) { return name == each.name; });
    if (place == kernels.end())
      return Status::internal("the program has no kernel " + name +
                              ", which tables on a device need; translate the "
                              "model again");
    found.numbers[k] = size_t(place - kernels.begin());
  }
  return found;
}

std::vector<DeviceUse> DeviceTable::rowMemory(bool isWritten) const {
  std::vector<DeviceUse> uses;
  for (const DeviceBuffer &slab : slabs)
    uses.push_back({slab.data(), isWritten});
  return uses;
}

Status DeviceTable::launch(DeviceStream &stream, TableKernel kernel,
                           int64_t turns,
                           std::initializer_list<uint64_t> arguments, Use index,
                           Use rows) {
  std::vector<DeviceUse> beside;
  if (rows != Use::None)
    beside = rowMemory(rows == Use::Written);
  if (index != Use::None)
    for (const DeviceBuffer *part : {&keys, &numbers})
      beside.push_back({part->data(), index == Use::Written});
  for (const DeviceBuffer *part : {&regionList, &slotValues})
    if (part->data())
      beside.push_back({part->data(), false});
  return stream.launch(kernels[kernel], turns, arguments, beside);
}

//===----------------------------------------------------------------------===//
// Construction and growth
//===----------------------------------------------------------------------===//

DeviceTable::DeviceTable(Device &device, const TableKernels &kernels,
                         TableOptions options, const DeviceTablePieces &pieces)
    : device(device), kernels(kernels), tableOptions(std::move(options)),
      pieces(pieces), layout(tableOptions.layout()),
      rowBytes(int64_t(tableOptions.rowBytes())),
      parts(pdlabi::partsOfTableRow(
          tableOptions.width, int64_t(tableOptions.slotInitialValues.size()),
          int64_t(tableOptions.rowSlotCount))),
      rowElements(int64_t(tableOptions.rowElements())),
      described(tableOptions.describe()) {}

Expected<std::unique_ptr<DeviceTable>>
DeviceTable::create(Device &device, const TableKernels &kernels,
                    TableOptions options, DeviceStream &stream,
                    const DeviceTablePieces &pieces) {
  std::unique_ptr<DeviceTable> table(
      new DeviceTable(device, kernels, std::move(options), pieces));
  using enum DeviceBuffer::Kind;
  const std::vector<double> &values = table->tableOptions.slotInitialValues;
  const auto valueBytes = int64_t(values.size() * sizeof(double));
  constexpr int64_t counterBytes = 2 * sizeof(int64_t);
  PDLRT_RETURN_IF_ERROR(
      allocate(device, OfDevice, sizeof(pdl_device_table), table->description));
  PDLRT_RETURN_IF_ERROR(
      allocate(device, OfDevice, valueBytes, table->slotValues));
  PDLRT_RETURN_IF_ERROR(
      allocate(device, OfDevice, counterBytes, table->counters));
  PDLRT_RETURN_IF_ERROR(
      allocate(device, OfHost, counterBytes, table->counterOnHost));
  table->described.slot_values = as<double>(table->slotValues);
  PDLRT_RETURN_IF_ERROR(stream.copyIn(table->slotValues.data(), values.data(),
                                      size_t(valueBytes)));
  PDLRT_RETURN_IF_ERROR(stream.clear(table->counters.data(), counterBytes));
  Status status = table->grow(stream, 1);
  // Work that was added uses memory of the table, so wait for it.
  if (!status.ok()) {
    (void)stream.synchronize();
    return status;
  }
  return table;
}

/// New memory of a growing table. If a member is not set, the table keeps its
/// old memory.
struct DeviceTable::Growth {
  DeviceBuffer slab, regionList, keys, numbers;
  std::vector<char *> regions;
  int64_t slots = 0;
};

bool DeviceTable::hasRoom(int64_t rows) const {
  return rows <= int64_t(regions.size()) * layout.rowsOfRegion() &&
         rows * slotsOfFive <= described.slots * takenOfFive;
}

Status DeviceTable::growRows(int64_t rows, Growth &growth) {
  const int64_t each = layout.rowsOfRegion();
  const auto bytes = int64_t(layout.regionBytes());
  const auto before = int64_t(regions.size());
  const int64_t needed = (rows + each - 1) / each - before;
  if (needed <= 0)
    return {};
  // Regions with several rows begin at multiples of their size.
  const int64_t alignment = each > 1 ? bytes : 1;
  int64_t count = 0;
  PDLRT_RETURN_IF_ERROR(
      allocateMax(device, std::max(before / rowShare, minSlabBytes / bytes),
                  needed, bytes, alignment - 1, growth.slab, count));
  auto *next = reinterpret_cast<char *>((at(growth.slab) + alignment - 1) /
                                        alignment * alignment);
  growth.regions = regions;
  for (int64_t i = 0; i < count; ++i, next += bytes)
    growth.regions.push_back(next);
  const size_t listBytes = growth.regions.size() * sizeof(char *);
  if (regionList.size() >= listBytes)
    return {};
  return allocate(device, DeviceBuffer::Kind::OfDevice, int64_t(2 * listBytes),
                  growth.regionList);
}

Status DeviceTable::growIndex(int64_t rows, Growth &growth) {
  const int64_t before = described.slots;
  const int64_t needed = (rows * slotsOfFive + takenOfFive - 1) / takenOfFive;
  if (needed <= before)
    return {};
  PDLRT_RETURN_IF_ERROR(allocateMax(
      device, std::max(before + before / indexShare, minSlots), needed,
      sizeof(int64_t), sizeof(int64_t), growth.keys, growth.slots));
  return allocate(device, DeviceBuffer::Kind::OfDevice,
                  (growth.slots + 1) * int64_t(sizeof(uint32_t)),
                  growth.numbers);
}

/// Grows the table to at least `rows` rows. Does nothing if it is large enough.
/// Kernels that use the table must have ended.
Status DeviceTable::grow(DeviceStream &stream, int64_t rows) {
  if (rows > maxRows)
    return Status::outOfMemory(fmt::format(
        "table @{} has as many rows as the numbers of one device's rows allow, "
        "{}; use --table-placement host",
        tableOptions.name, maxRows));
  Growth growth;
  Status status = growRows(rows, growth);
  if (status.ok())
    status = growIndex(rows, growth);
  if (status.code() == PDL_OUT_OF_MEMORY)
    return Status::outOfMemory(fmt::format(
        "the device has no room for table @{} to grow from {} to {} rows of {} "
        "bytes; use --table-placement host",
        tableOptions.name, knownRows, rows, rowBytes));
  PDLRT_RETURN_IF_ERROR(std::move(status));
  // From here on, only the stream can fail.
  if (growth.regionList.data())
    std::swap(regionList, growth.regionList);
  if (growth.slab.data()) {
    slabs.push_back(std::move(growth.slab));
    regions = std::move(growth.regions);
    described.regions = as<char *const>(regionList);
    PDLRT_RETURN_IF_ERROR(stream.copyIn(regionList.data(), regions.data(),
                                        regions.size() * sizeof(char *)));
  }
  const int64_t slotsBefore = described.slots;
  if (growth.keys.data()) {
    std::swap(keys, growth.keys);
    std::swap(numbers, growth.numbers);
    described.slots = growth.slots;
    described.keys = as<int64_t>(keys);
    described.numbers = as<uint32_t>(numbers);
    PDLRT_RETURN_IF_ERROR(stream.clear(keys.data(), keys.size()));
    PDLRT_RETURN_IF_ERROR(stream.clear(numbers.data(), numbers.size()));
  }
  PDLRT_RETURN_IF_ERROR(
      stream.copyIn(description.data(), &described, sizeof(described)));
  if (growth.keys.data())
    PDLRT_RETURN_IF_ERROR(launch(stream, TableKernel::Rehash, slotsBefore + 1,
                                 {at(description), uint64_t(slotsBefore),
                                  at(growth.keys), at(growth.numbers)},
                                 Use::Written, Use::None));
  // The old memory is freed after this.
  return stream.synchronize();
}

/// Makes room for `count` more rows. If memory is exhausted, counts how many of
/// the keys have no row, and makes room only for these.
Status DeviceTable::makeRoom(DeviceStream &stream, int64_t count,
                             const int64_t *keysToFind, void **rows) {
  if (hasRoom(knownRows + pendingKeys + count))
    return {};
  PDLRT_RETURN_IF_ERROR(settle(stream));
  if (hasRoom(knownRows + count))
    return {};
  Status grown = grow(stream, knownRows + count);
  if (grown.code() != PDL_OUT_OF_MEMORY)
    return grown;
  const Expected<int64_t> missing =
      countMissing(stream, count, keysToFind, rows);
  if (!missing)
    return missing.status();
  return grow(stream, knownRows + *missing);
}

size_t DeviceTable::memoryBytes() const {
  size_t sum = 0;
  for (const DeviceBuffer *buffer :
       {&description, &slotValues, &keys, &numbers, &regionList, &counters,
        &chunkCounts, &newNumbers})
    sum += buffer->size();
  for (const DeviceBuffer &slab : slabs)
    sum += slab.size();
  return sum;
}

//===----------------------------------------------------------------------===//
// Rows of a step
//===----------------------------------------------------------------------===//

void DeviceTable::noteWaited() {
  if (pendingKeys > 0)
    knownRows = *as<int64_t>(counterOnHost);
  pendingKeys = 0;
}

Status DeviceTable::settle(DeviceStream &stream) {
  PDLRT_RETURN_IF_ERROR(stream.synchronize());
  noteWaited();
  return {};
}

Status DeviceTable::reserveScratch(DeviceStream &stream, int64_t count) {
  const auto numberBytes = size_t(count) * sizeof(uint32_t);
  const auto chunkBytes =
      size_t(pdldevice_table_count_turns(count, nullptr, nullptr)) *
      sizeof(int32_t);
  if (newNumbers.size() >= numberBytes && chunkCounts.size() >= chunkBytes)
    return {};
  PDLRT_RETURN_IF_ERROR(settle(stream));
  // Free the old memory only after the new memory was allocated. If that fails,
  // calls with fewer keys can continue.
  for (const auto &[memory, bytes] :
       {std::pair{&newNumbers, numberBytes}, {&chunkCounts, chunkBytes}}) {
    if (memory->size() >= bytes)
      continue;
    DeviceBuffer larger;
    PDLRT_RETURN_IF_ERROR(
        reserve(device, larger, DeviceBuffer::Kind::OfDevice, bytes));
    *memory = std::move(larger);
  }
  return {};
}

Status DeviceTable::find(DeviceStream &stream, int64_t count,
                         const int64_t *keysToFind, void **rows) {
  return launch(stream, TableKernel::Find, count,
                {at(description), uint64_t(count), at(keysToFind), at(rows)},
                Use::Read, Use::None);
}

Expected<int64_t> DeviceTable::countMissing(DeviceStream &stream, int64_t count,
                                            const int64_t *keysToFind,
                                            void **rows) {
  const int64_t chunks = pdldevice_table_count_turns(count, rows, nullptr);
  std::vector<int32_t> counts(chunks);
  PDLRT_RETURN_IF_ERROR(find(stream, count, keysToFind, rows));
  PDLRT_RETURN_IF_ERROR(launch(stream, TableKernel::Count, chunks,
                               {uint64_t(count), at(rows), at(chunkCounts)},
                               Use::None, Use::None));
  PDLRT_RETURN_IF_ERROR(stream.copyOut(counts.data(), chunkCounts.data(),
                                       counts.size() * sizeof(int32_t)));
  PDLRT_RETURN_IF_ERROR(stream.synchronize());
  return std::accumulate(counts.begin(), counts.end(), int64_t(0));
}

Status DeviceTable::insert(DeviceStream &stream, int64_t count,
                           const int64_t *keysToFind, void **rows,
                           NewRow content) {
  if (count <= 0)
    return {};
  PDLRT_RETURN_IF_ERROR(reserveScratch(stream, count));
  PDLRT_RETURN_IF_ERROR(makeRoom(stream, count, keysToFind, rows));
  const int64_t chunks = pdldevice_table_count_turns(count, rows, nullptr);
  auto *used = as<int64_t>(counters) + current;
  auto *next = as<int64_t>(counters) + (1 - current);
  PDLRT_RETURN_IF_ERROR(find(stream, count, keysToFind, rows));
  PDLRT_RETURN_IF_ERROR(launch(stream, TableKernel::Count, chunks,
                               {uint64_t(count), at(rows), at(chunkCounts)},
                               Use::None, Use::None));
  PDLRT_RETURN_IF_ERROR(
      launch(stream, TableKernel::Place, chunks,
             {at(description), uint64_t(count), at(chunkCounts), at(used),
              at(next), at(rows), at(newNumbers)},
             Use::None, Use::None));
  PDLRT_RETURN_IF_ERROR(
      launch(stream, TableKernel::Insert, parts * count,
             {at(description), uint64_t(parts), uint64_t(count), at(keysToFind),
              at(rows), at(newNumbers), uint64_t(now), content == NewRow::Open},
             Use::Written, Use::Written));
  current = 1 - current;
  pendingKeys += count;
  return stream.copyOut(counterOnHost.data(), next, sizeof(int64_t));
}

Status DeviceTable::pull(DeviceStream &stream, int64_t count,
                         const int64_t *keysToFind, void **rows) {
  return insert(stream, count, keysToFind, rows, NewRow::Initial);
}

Status DeviceTable::gather(DeviceStream &stream, int64_t count,
                           const int64_t *keysToFind, void *const *rows,
                           Part part, int32_t unknown, void *out) {
  const bool isFrozen = part == Part::Frozen;
  const size_t offset = isFrozen ? tableOptions.frozenOffset() : 0;
  const int32_t storage =
      isFrozen ? tableOptions.frozenStorage() : tableOptions.storage;
  return launch(stream, TableKernel::Gather, count * tableOptions.width,
                {at(description), uint64_t(tableOptions.width), uint64_t(count),
                 at(keysToFind), at(rows), offset, uint64_t(storage),
                 uint64_t(unknown), at(out)},
                Use::None, Use::Read);
}

Expected<int64_t> DeviceTable::countRows(DeviceStream &stream) {
  if (pendingKeys > 0)
    PDLRT_RETURN_IF_ERROR(settle(stream));
  return knownRows;
}

Status DeviceTable::mark(DeviceStream &stream, int64_t rows, int64_t count,
                         const int64_t *keysToFind, uint32_t *marks) {
  PDLRT_RETURN_IF_ERROR(stream.clear(marks, size_t(rows) * sizeof(uint32_t)));
  return launch(stream, TableKernel::Mark, count,
                {at(description), uint64_t(count), at(keysToFind), at(marks)},
                Use::Read, Use::None);
}

Status DeviceTable::spread(DeviceStream &stream, int64_t first, int64_t count,
                           int64_t gradientWidth, const uint32_t *marks,
                           const void *gradients, void **rows, void *out) {
  return launch(stream, TableKernel::Spread, count * gradientWidth,
                {at(description), uint64_t(first), uint64_t(count),
                 uint64_t(gradientWidth), at(marks), at(gradients), at(rows),
                 at(out)},
                Use::None, Use::None);
}

Status DeviceTable::listKeys(DeviceStream &stream, int64_t *keysOfRows) {
  return launch(stream, TableKernel::Keys, described.slots + 1,
                {at(description), uint64_t(described.slots), at(keysOfRows)},
                Use::Read, Use::None);
}

Status DeviceTable::widen(DeviceStream &stream, int64_t count,
                          void *const *rows, float *wide, void **places) {
  return launch(stream, TableKernel::Widen, rowElements * count,
                {at(description), uint64_t(rowElements), uint64_t(count),
                 at(rows), at(wide), at(places)},
                Use::None, Use::Read);
}

Status DeviceTable::round(DeviceStream &stream, int64_t count, int64_t update,
                          const int64_t *keysOfRows, const float *wide,
                          void *const *rows, int32_t *found) {
  const int64_t width = tableOptions.width;
  return launch(stream, TableKernel::Round,
                pdlabi::partsOfWideRow(width, rowElements) * count,
                {at(description), uint64_t(width), uint64_t(rowElements),
                 uint64_t(count), uint64_t(update), at(keysOfRows), at(wide),
                 at(rows), at(found)},
                Use::None, Use::Written);
}

Status DeviceTable::noteUpdates(DeviceStream &stream, int64_t count,
                                void *const *rows) {
  return launch(stream, TableKernel::Note, count,
                {at(description), uint64_t(count), at(rows),
                 uint64_t(pdlabi::TableUpdated), uint64_t(now)},
                Use::None, Use::Written);
}

Status DeviceTable::noteAll(DeviceStream &stream, pdlabi::TableEvent event) {
  const Expected<int64_t> count = countRows(stream);
  if (!count)
    return count.status();
  return launch(stream, TableKernel::Note, *count,
                {at(description), uint64_t(*count), /*rows=*/0, uint64_t(event),
                 uint64_t(now)},
                Use::None, Use::Written);
}

Status DeviceTable::noteWrites(DeviceStream &stream) {
  return noteAll(stream, pdlabi::TableWritten);
}

Status DeviceTable::noteSaved(DeviceStream &stream) {
  return noteAll(stream, pdlabi::TableSaved);
}
