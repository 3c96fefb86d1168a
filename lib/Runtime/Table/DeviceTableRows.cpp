//===- DeviceTableRows.cpp - Copies all rows of a table -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keys of an index are in no useful order. So the host reads the index
// piece by piece, keeps the keys of some shards with the addresses of their
// rows, and sorts them. The device then gathers these rows, which are copied to
// the host in one piece. On the host, an entry takes 16 bytes. If all entries
// would take too much memory, shards are divided into ranges, and the index is
// read once for each range.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/DeviceTable.h"

#include "Table/SortRows.h"
#include "pdlabi/hash.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;
using pdlabi::TableKernel;

/// Minimum number of keys that are on the host at a time: a fraction of the
/// number of all rows, with this divisor.
static constexpr int64_t listedShare = 16;
static constexpr int64_t wordBytes = 4;

static uint64_t addressOf(const void *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

namespace {

/// Memory for entries of type T on the device, and memory of the same size on
/// the host.
template <typename T> class Staging {
public:
  Status allocate(Device &device, int64_t count) {
    for (const auto &[kind, memory] :
         {std::pair{DeviceBuffer::Kind::OfDevice, &there},
          std::pair{DeviceBuffer::Kind::OfHost, &here}}) {
      Expected<DeviceBuffer> given = device.allocate(
          kind, size_t(std::max<int64_t>(count, 1)) * sizeof(T));
      if (!given)
        return std::move(given).status();
      *memory = std::move(*given);
    }
    return {};
  }
  T *onDevice() const { return static_cast<T *>(there.data()); }
  T *onHost() const { return static_cast<T *>(here.data()); }
  Status copyIn(DeviceStream &stream, int64_t count) const {
    return stream.copyIn(onDevice(), onHost(), size_t(count) * sizeof(T));
  }
  Status copyOut(DeviceStream &stream, int64_t count) const {
    return stream.copyOut(onHost(), onDevice(), size_t(count) * sizeof(T));
  }

private:
  DeviceBuffer there, here;
};

} // namespace

/// Returns the number of rows in a piece, at most `count`.
int64_t DeviceTable::rowsAtOnce(int64_t count) const {
  return std::clamp<int64_t>(pieces.bytes / std::max<int64_t>(rowBytes, 1), 1,
                             std::max<int64_t>(count, 1));
}

/// Calls `visit` for each row in any order. The address in the row is that on
/// the device.
Status DeviceTable::list(DeviceStream &stream, Rows which,
                         const std::function<void(const TableRow &)> &visit) {
  PDLRT_RETURN_IF_ERROR(settle(stream));
  const int64_t slots = described.slots + 1;
  const int64_t atOnce =
      std::min<int64_t>(slots, pieces.bytes / int64_t(sizeof(TableRow)));
  Staging<int64_t> keysThere;
  Staging<void *> rowsThere;
  PDLRT_RETURN_IF_ERROR(keysThere.allocate(device, atOnce));
  PDLRT_RETURN_IF_ERROR(rowsThere.allocate(device, atOnce));
  const bool onlyDirty = which == Rows::Dirty;
  for (int64_t begin = 0; begin < slots; begin += atOnce) {
    const int64_t count = std::min(atOnce, slots - begin);
    PDLRT_RETURN_IF_ERROR(
        launch(stream, TableKernel::List, count,
               {addressOf(description.data()), uint64_t(begin), uint64_t(count),
                onlyDirty, addressOf(keysThere.onDevice()),
                addressOf(rowsThere.onDevice())},
               Use::Read, onlyDirty ? Use::Read : Use::None));
    PDLRT_RETURN_IF_ERROR(keysThere.copyOut(stream, count));
    PDLRT_RETURN_IF_ERROR(rowsThere.copyOut(stream, count));
    PDLRT_RETURN_IF_ERROR(stream.synchronize());
    for (int64_t i = 0; i < count; ++i)
      if (void *row = rowsThere.onHost()[i])
        visit({keysThere.onHost()[i], row});
  }
  return {};
}

Status DeviceTable::countShards(DeviceStream &stream, Rows which,
                                std::vector<int64_t> &counts) {
  counts.assign(EmbeddingTable::shardCount, 0);
  return list(stream, which, [&](const TableRow &row) {
    ++counts[EmbeddingTable::shardOf(row.key)];
  });
}

/// Copies sorted rows to the host, piece by piece.
Status DeviceTable::bring(DeviceStream &stream, std::span<TableRow> rows,
                          const Visit &visit) {
  const int64_t atOnce = rowsAtOnce(int64_t(rows.size()));
  const int64_t words = rowBytes / wordBytes;
  Staging<void *> places;
  Staging<uint32_t> values;
  PDLRT_RETURN_IF_ERROR(places.allocate(device, atOnce));
  PDLRT_RETURN_IF_ERROR(values.allocate(device, atOnce * words));
  while (!rows.empty()) {
    const std::span<TableRow> piece =
        rows.first(std::min(size_t(atOnce), rows.size()));
    const auto count = int64_t(piece.size());
    for (int64_t i = 0; i < count; ++i)
      places.onHost()[i] = piece[i].row;
    PDLRT_RETURN_IF_ERROR(places.copyIn(stream, count));
    PDLRT_RETURN_IF_ERROR(
        launch(stream, TableKernel::Read, words * count,
               {uint64_t(words), uint64_t(count), addressOf(places.onDevice()),
                addressOf(values.onDevice())},
               Use::None, Use::Read));
    PDLRT_RETURN_IF_ERROR(values.copyOut(stream, words * count));
    PDLRT_RETURN_IF_ERROR(stream.synchronize());
    for (int64_t i = 0; i < count; ++i)
      piece[i].row = values.onHost() + i * words;
    for (size_t begin = 0, end = 0; begin < piece.size(); begin = end) {
      const int shard = EmbeddingTable::shardOf(piece[begin].key);
      while (end < piece.size() &&
             EmbeddingTable::shardOf(piece[end].key) == shard)
        ++end;
      PDLRT_RETURN_IF_ERROR(visit(shard, piece.subspan(begin, end - begin)));
    }
    rows = rows.subspan(piece.size());
  }
  return {};
}

Status DeviceTable::collect(DeviceStream &stream, Rows which, int first,
                            int end, const Visit &visit) {
  std::vector<int64_t> counts;
  PDLRT_RETURN_IF_ERROR(countShards(stream, which, counts));
  const int64_t most = std::max(pieces.rowsListed, knownRows / listedShare);
  std::vector<TableRow> rows;
  while (first < end) {
    // At least one shard, and as many as memory allows.
    int groupEnd = first;
    int64_t listed = 0;
    std::vector<int64_t> next;
    while (groupEnd < end &&
           (groupEnd == first || listed + counts[groupEnd] <= most)) {
      next.push_back(listed);
      listed += counts[groupEnd++];
    }
    rows.resize(size_t(listed));
    PDLRT_RETURN_IF_ERROR(list(stream, which, [&](const TableRow &row) {
      const int shard = EmbeddingTable::shardOf(row.key);
      if (shard >= first && shard < groupEnd)
        rows[next[shard - first]++] = row;
    }));
    const std::span<TableRow> all(rows);
    for (int64_t begin = 0; int64_t place : next) {
      sortByKey(all.subspan(begin, place - begin));
      begin = place;
    }
    PDLRT_RETURN_IF_ERROR(bring(stream, all, visit));
    first = groupEnd;
  }
  return {};
}

Status DeviceTable::restore(DeviceStream &stream, int64_t count,
                            const int64_t *keysToFind, const void *rows) {
  PDLRT_RETURN_IF_ERROR(settle(stream));
  const int64_t atOnce = rowsAtOnce(count);
  const int64_t words = rowBytes / wordBytes;
  Staging<int64_t> keysThere;
  Staging<uint32_t> values;
  DeviceBuffer places;
  PDLRT_RETURN_IF_ERROR(keysThere.allocate(device, atOnce));
  PDLRT_RETURN_IF_ERROR(values.allocate(device, atOnce * words));
  PDLRT_RETURN_IF_ERROR(reserve(device, places, DeviceBuffer::Kind::OfDevice,
                                size_t(atOnce) * sizeof(void *)));
  auto **const rowsThere = static_cast<void **>(places.data());
  const auto *next = static_cast<const char *>(rows);
  for (int64_t begin = 0; begin < count; begin += atOnce) {
    const int64_t some = std::min(atOnce, count - begin);
    const auto bytes = size_t(some * rowBytes);
    std::memcpy(keysThere.onHost(), keysToFind + begin,
                size_t(some) * sizeof(int64_t));
    if (bytes > 0)
      std::memcpy(values.onHost(), next, bytes);
    next += bytes;
    PDLRT_RETURN_IF_ERROR(keysThere.copyIn(stream, some));
    PDLRT_RETURN_IF_ERROR(values.copyIn(stream, words * some));
    PDLRT_RETURN_IF_ERROR(
        insert(stream, some, keysThere.onDevice(), rowsThere, NewRow::Open));
    PDLRT_RETURN_IF_ERROR(
        launch(stream, TableKernel::Write, words * some,
               {uint64_t(words), uint64_t(some), addressOf(rowsThere),
                addressOf(values.onDevice())},
               Use::None, Use::Written));
    PDLRT_RETURN_IF_ERROR(launch(stream, TableKernel::Note, some,
                                 {addressOf(description.data()), uint64_t(some),
                                  addressOf(rowsThere),
                                  uint64_t(pdlabi::TableSaved), uint64_t(now)},
                                 Use::None, Use::Written));
    // The memory is reused.
    PDLRT_RETURN_IF_ERROR(settle(stream));
  }
  return {};
}
