//===- DeviceTableTest.cpp - Device tables against the host's -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/DeviceTable.h"

#include "TableDevice.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>

using namespace pdlrt;
using testing::AllOf;
using testing::HasSubstr;

namespace {

TableOptions makeOptions(int32_t type = PDL_F32, int64_t width = 3,
                         int32_t storage = PDL_STORE_ELEMENT) {
  TableOptions options;
  options.name = "emb";
  options.id = 0x123456789abcdef0;
  options.elementType = type;
  options.storage = storage;
  options.width = width;
  options.initializer = {PDL_INIT_UNIFORM, -1, 1};
  options.seed = 0xfedcba9876543210;
  return options;
}

/// Returns edge cases of keys, followed by distinct keys that are spread or
/// dense.
std::vector<int64_t> makeKeys(size_t count) {
  std::vector<int64_t> keys = {0,
                               1,
                               -1,
                               std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max(),
                               int64_t(0x8000000000000001u)};
  std::mt19937_64 random(3);
  for (size_t i = keys.size(); i < count; ++i)
    keys.push_back(i % 2 ? int64_t(i) : int64_t(random()));
  std::ranges::shuffle(keys, random);
  keys.resize(count);
  return keys;
}

class DeviceTableTest : public testing::Test {
protected:
  ~DeviceTableTest() override {
    if (stream)
      (void)stream->synchronize();
  }

  void open(const TableOptions &options, const DeviceTablePieces &pieces = {},
            const FakeFaults &faults = {}) {
    table.reset();
    buffers.clear();
    stream.reset();
    kernels = pdltest::tableKernelsOf(options.elementType == PDL_F32);
    device = createFakeDevice(faults);
    ASSERT_TRUE(device->load({"", kernels}).ok());
    stream = *device->createStream("work");
    table = make(options, pieces);
    onHost = createHashTable(options);
  }
  std::unique_ptr<DeviceTable> make(const TableOptions &options,
                                    const DeviceTablePieces &pieces = {}) {
    auto made = DeviceTable::create(
        *device, *TableKernels::find(kernels, options.elementType), options,
        *stream, pieces);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::move(*made);
  }

  /// Allocates memory of the device until the end of the test.
  template <typename T> T *room(size_t count) {
    buffers.push_back(*device->allocate(
        DeviceBuffer::Kind::OfDevice, std::max<size_t>(1, count * sizeof(T))));
    return static_cast<T *>(buffers.back().data());
  }
  template <typename T> T *send(const std::vector<T> &values) {
    T *there = room<T>(values.size());
    EXPECT_TRUE(
        stream->copyIn(there, values.data(), values.size() * sizeof(T)).ok());
    EXPECT_TRUE(stream->synchronize().ok());
    return there;
  }
  template <typename T> std::vector<T> bring(const T *there, size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(stream->copyOut(values.data(), there, count * sizeof(T)).ok());
    const Status status = stream->synchronize();
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }

  /// Pulls rows from the table on the host and the table on the device. Returns
  /// the rows on the device.
  std::vector<void *> pull(const std::vector<int64_t> &keys) {
    auto **rows = room<void *>(keys.size());
    const Status status =
        table->pull(*stream, int64_t(keys.size()), send(keys), rows);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<void *> hostRows(keys.size());
    int64_t inserted = 0;
    EXPECT_TRUE(onHost
                    ->findOrInsert(int64_t(keys.size()), keys.data(),
                                   hostRows.data(), scratch, inserted)
                    .ok());
    return bring(rows, keys.size());
  }
  uint32_t headerOf(void *row) {
    const RowLayout layout = table->options().layout();
    return bring(layout.places().headerOf(row), 1).front();
  }

  struct Collected {
    std::vector<int64_t> keys;
    std::vector<char> bytes;
    bool operator==(const Collected &) const = default;
  };
  Collected collect(DeviceTable &from, DeviceTable::Rows which, int first = 0,
                    int end = EmbeddingTable::shardCount) {
    Collected all;
    int lastShard = first;
    const Status status =
        from.collect(*stream, which, first, end,
                     [&](int shard, std::span<const TableRow> rows) -> Status {
                       EXPECT_GE(shard, lastShard);
                       lastShard = shard;
                       EXPECT_FALSE(rows.empty());
                       for (const TableRow &row : rows) {
                         EXPECT_EQ(EmbeddingTable::shardOf(row.key), shard);
                         all.keys.push_back(row.key);
                         const auto *bytes = static_cast<const char *>(row.row);
                         all.bytes.insert(all.bytes.end(), bytes,
                                          bytes + onHost->rowBytes());
                       }
                       return {};
                     });
    EXPECT_TRUE(status.ok()) << status.message();
    return all;
  }
  Collected collectOnHost(int first = 0, int end = EmbeddingTable::shardCount) {
    Collected all;
    RowList rows;
    for (int s = first; s < end; ++s) {
      onHost->collectShard(s, rows);
      for (const TableRow &row : rows) {
        all.keys.push_back(row.key);
        const auto *bytes = static_cast<const char *>(row.row);
        all.bytes.insert(all.bytes.end(), bytes, bytes + onHost->rowBytes());
      }
    }
    return all;
  }
  void expectSame() {
    const Collected got = collect(*table, DeviceTable::Rows::All);
    const Collected want = collectOnHost();
    EXPECT_EQ(got.keys, want.keys);
    EXPECT_TRUE(got.bytes == want.bytes);
    EXPECT_EQ(table->size(), onHost->size());
  }

  std::vector<DeviceKernel> kernels;
  std::unique_ptr<Device> device;
  std::unique_ptr<DeviceStream> stream;
  std::vector<DeviceBuffer> buffers;
  std::unique_ptr<DeviceTable> table;
  std::unique_ptr<EmbeddingTable> onHost;
  TableScratch scratch;
  std::mt19937 random{7};
};

const pdl_initializer initializers[] = {
    {PDL_INIT_CONSTANT, 0.1, 0},
    {PDL_INIT_UNIFORM, -0.5, 0.25},
    {PDL_INIT_NORMAL, 0.5, 2},
    {PDL_INIT_TRUNCATED_NORMAL, 1, 0.125},
};

// New rows of all kinds have the same bits as the host's: value, padding and
// slots.
TEST_F(DeviceTableTest, NewRowsHaveTheBitsOfTheHosts) {
  const std::vector<int64_t> keys = makeKeys(300);
  for (const pdl_initializer &initializer : initializers)
    for (const auto &[type, storage] : {std::pair{PDL_F32, PDL_STORE_ELEMENT},
                                        {PDL_F64, PDL_STORE_ELEMENT},
                                        {PDL_F32, PDL_STORE_BF16},
                                        {PDL_F32, PDL_STORE_F16}})
      for (const int64_t width : {1, 4, 7, 16, 601})
        for (const size_t slots : {0, 2, 7}) {
          SCOPED_TRACE(testing::Message()
                       << "initializer " << initializer.kind << ", type "
                       << type << ", storage " << storage << ", width " << width
                       << ", slots " << slots);
          TableOptions options = makeOptions(type, width, storage);
          options.initializer = initializer;
          for (size_t s = 0; s < slots; ++s)
            options.slotInitialValues.push_back(double(s) + 0.1);
          options.rowSlotCount = slots == 7 ? 5 : 0;
          options.frozenPart = slots == 2 ? 2 : 0;
          open(options);
          pull(keys);
          expectSame();
        }
}

// Rows with row slots only, and rows without any data.
TEST_F(DeviceTableTest, RowsMayHaveNoValue) {
  TableOptions options = makeOptions(PDL_F32, 0);
  open(options);
  pull(makeKeys(50));
  EXPECT_EQ(collect(*table, DeviceTable::Rows::All).keys, collectOnHost().keys);
  options.slotInitialValues = {3, 4};
  options.rowSlotCount = 2;
  open(options);
  pull(makeKeys(50));
  expectSame();
}

TEST_F(DeviceTableTest, KeepsEveryKeyAcrossGrowth) {
  open(makeOptions());
  const std::vector<int64_t> keys = makeKeys(40000);
  std::map<int64_t, void *> known;
  size_t bytes = 0, growths = 0;
  for (size_t next = 0; next < keys.size();) {
    // Existing keys and new ones, in any order.
    std::set<int64_t> batch;
    const size_t most = 1 + random() % 2500;
    while (batch.size() < most && next < keys.size())
      batch.insert(random() % 3 && next > 0 ? keys[random() % next]
                                            : keys[next++]);
    std::vector<int64_t> some(batch.begin(), batch.end());
    std::ranges::shuffle(some, random);
    const std::vector<void *> rows = pull(some);
    for (size_t i = 0; i < some.size(); ++i) {
      ASSERT_NE(rows[i], nullptr);
      ASSERT_EQ(known.emplace(some[i], rows[i]).first->second, rows[i]);
    }
    growths += table->memoryBytes() != bytes;
    bytes = table->memoryBytes();
    buffers.clear();
  }
  EXPECT_GT(growths, 8u);
  std::set<void *> distinct;
  for (const auto &[key, row] : known)
    distinct.insert(row);
  EXPECT_EQ(distinct.size(), keys.size());
  expectSame();
  // Keys that were never inserted are not found, and a search inserts nothing.
  std::vector<int64_t> asked = keys;
  for (size_t i = 0; i < 1000; ++i)
    asked.push_back(int64_t(1) << 40 | int64_t(i) << 7);
  auto **rows = room<void *>(asked.size());
  ASSERT_TRUE(
      table->find(*stream, int64_t(asked.size()), send(asked), rows).ok());
  const std::vector<void *> found = bring(rows, asked.size());
  for (size_t i = 0; i < asked.size(); ++i)
    ASSERT_EQ(found[i], i < keys.size() ? known[asked[i]] : nullptr);
  EXPECT_EQ(table->size(), int64_t(keys.size()));
  // Index and headers: the memory of a key in addition to its row of 12 bytes.
  const double beside = double(table->memoryBytes()) / double(keys.size()) - 12;
  EXPECT_LT(beside, 30);
}

// A table with few of the shards uses its whole index for them.
TEST_F(DeviceTableTest, KeysOfOneShardAreSpread) {
  open(makeOptions());
  std::vector<int64_t> keys;
  for (int64_t key = 0; keys.size() < 3000; ++key)
    if (EmbeddingTable::shardOf(key) == 77)
      keys.push_back(key);
  std::set<int64_t> homes;
  for (const int64_t key : keys)
    homes.insert(pdlabi::homeSlotOf(key, 1 << 20));
  EXPECT_GT(homes.size(), 2950u);
  EXPECT_GT(*homes.rbegin() - *homes.begin(), (1 << 20) * 9 / 10);
  pull(keys);
  expectSame();
}

TEST_F(DeviceTableTest, NewRowsFollowTheOrderOfTheirKeys) {
  open(makeOptions());
  const std::vector<int64_t> keys = makeKeys(1000);
  const std::vector<void *> rows = pull(keys);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  // The table has the same bytes wherever the threads start.
  const auto again = make(makeOptions());
  auto **others = room<void *>(keys.size());
  ASSERT_TRUE(again->pull(*stream, 1000, send(keys), others).ok());
  const std::vector<void *> places = bring(others, keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(static_cast<char *>(rows[i]) - static_cast<char *>(rows[0]),
              static_cast<char *>(places[i]) - static_cast<char *>(places[0]));
}

TEST_F(DeviceTableTest, APullWaitsForNothingWhereThereIsRoom) {
  open(makeOptions());
  const std::vector<int64_t> keys = makeKeys(200);
  std::vector<int64_t> more(keys.begin(), keys.begin() + 50);
  for (int64_t i = 0; i < 30; ++i)
    more.push_back(int64_t(1) << 40 | i);
  pull(keys);
  EXPECT_EQ(table->size(), 0);
  table->noteWaited();
  EXPECT_EQ(table->size(), 200);
  const int64_t *there = send(more);
  auto **rows = room<void *>(more.size());
  const int64_t before = 5;
  auto *number = room<int64_t>(1);
  int64_t after = 0;
  ASSERT_TRUE(stream->copyIn(number, &before, 8).ok());
  ASSERT_TRUE(stream->copyOut(&after, number, 8).ok());
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(table->pull(*stream, 80, there, rows).ok());
  EXPECT_EQ(after, -1);
  EXPECT_EQ(table->size(), 200);
  ASSERT_TRUE(table->settle(*stream).ok());
  EXPECT_EQ(after, 5);
  EXPECT_EQ(table->size(), 230);
  // Calls without keys do nothing.
  EXPECT_TRUE(table->pull(*stream, 0, there, rows).ok());
  EXPECT_TRUE(table->find(*stream, 0, there, rows).ok());
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

template <typename T>
std::vector<uint64_t> bitsOf(const std::vector<T> &values) {
  std::vector<uint64_t> bits;
  for (const T value : values)
    bits.push_back(
        std::bit_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(
            value));
  return bits;
}

// Known and unknown rows are read as by the host's frozen and training
// programs.
TEST_F(DeviceTableTest, GathersWhatIsKnownAndWhatIsNot) {
  for (const pdl_initializer &initializer : initializers)
    for (const int32_t storage :
         {PDL_STORE_ELEMENT, PDL_STORE_BF16, PDL_STORE_F16})
      for (const size_t frozenPart : {0, 2}) {
        SCOPED_TRACE(testing::Message() << initializer.kind << " " << storage
                                        << " " << frozenPart);
        TableOptions options = makeOptions(PDL_F32, 7, storage);
        options.initializer = initializer;
        options.slotInitialValues = {1, 2};
        options.frozenPart = frozenPart;
        open(options);
        const std::vector<int64_t> keys = makeKeys(300);
        pull({keys.begin(), keys.begin() + 200});
        auto **rows = room<void *>(300);
        int64_t *there = send(keys);
        ASSERT_TRUE(table->find(*stream, 300, there, rows).ok());
        auto *out = room<float>(300 * 7);
        for (const int32_t unknown : {PDL_UNKNOWN_INITIAL, PDL_UNKNOWN_ZERO}) {
          ASSERT_TRUE(table
                          ->gather(*stream, 300, there, rows,
                                   DeviceTable::Part::Frozen, unknown, out)
                          .ok());
          std::vector<float> want(300 * 7);
          std::vector<void *> known(300);
          EXPECT_EQ(onHost->find(300, keys.data(), known.data(), scratch), 100);
          for (size_t i = 0; i < keys.size(); ++i)
            if (known[i])
              onHost->frozenElements(known[i], &want[i * 7]);
            else if (unknown == PDL_UNKNOWN_INITIAL)
              onHost->initialElements(keys[i], &want[i * 7]);
          EXPECT_EQ(bitsOf(bring(out, want.size())), bitsOf(want));
        }
      }
}

TEST_F(DeviceTableTest, GathersValuesNextToOtherSlots) {
  for (const int32_t type : {PDL_F32, PDL_F64}) {
    TableOptions options = makeOptions(type, 5);
    options.slotInitialValues = {1, 2};
    options.frozenPart = 2;
    open(options);
    const std::vector<int64_t> keys = makeKeys(100);
    pull(keys);
    // Values that differ from those that frozen programs read.
    std::vector<double> wide;
    std::vector<char> bytes;
    for (size_t i = 0; i < keys.size(); ++i)
      for (int e = 0; e < 15; ++e) {
        const double value = double(i * 100) + e;
        if (e < 5)
          wide.push_back(value);
        const auto narrow = float(value);
        const auto *from = type == PDL_F32
                               ? reinterpret_cast<const char *>(&narrow)
                               : reinterpret_cast<const char *>(&value);
        bytes.insert(bytes.end(), from, from + elementSize(type));
      }
    ASSERT_TRUE(table->restore(*stream, 100, keys.data(), bytes.data()).ok());
    auto **rows = room<void *>(100);
    int64_t *there = send(keys);
    ASSERT_TRUE(table->pull(*stream, 100, there, rows).ok());
    void *out = room<double>(100 * 5);
    ASSERT_TRUE(table
                    ->gather(*stream, 100, there, rows,
                             DeviceTable::Part::Value, PDL_UNKNOWN_ZERO, out)
                    .ok());
    if (type == PDL_F64)
      EXPECT_EQ(bring(static_cast<double *>(out), 500), wide);
    else
      EXPECT_EQ(bring(static_cast<float *>(out), 500),
                std::vector<float>(wide.begin(), wide.end()));
    EXPECT_EQ(collect(*table, DeviceTable::Rows::All).bytes.size(),
              bytes.size());
  }
}

//===----------------------------------------------------------------------===//
// Headers
//===----------------------------------------------------------------------===//

TEST_F(DeviceTableTest, HeadersCountAsTheHosts) {
  // Rows of every kind of region.
  for (const int64_t width : {1, 16, 37, 600}) {
    open(makeOptions(PDL_F32, width));
    const std::vector<int64_t> keys = makeKeys(500);
    table->quiesce(9);
    onHost->quiesce(9);
    const std::vector<void *> rows = pull(keys);
    std::vector<void *> hostRows(keys.size());
    onHost->find(500, keys.data(), hostRows.data(), scratch);
    const auto expectSameHeaders = [&] {
      for (size_t i = 0; i < keys.size(); i += 17) {
        uint32_t want;
        std::memcpy(&want, &onHost->layout().headerOf(hostRows[i]), 4);
        ASSERT_EQ(headerOf(rows[i]), want) << width << " " << i;
      }
    };
    expectSameHeaders();
    for (const int time : {10, 32767, 32768 + 5}) {
      table->quiesce(uint16_t(time));
      onHost->quiesce(uint16_t(time));
      EXPECT_EQ(table->time(), onHost->time());
      std::vector<void *> used;
      for (size_t i = 0; i < keys.size(); ++i)
        if (random() % 2) {
          used.push_back(rows[i]);
          onHost->layout().headerOf(hostRows[i]).noteUpdate(onHost->time());
        }
      ASSERT_TRUE(
          table->noteUpdates(*stream, int64_t(used.size()), send(used)).ok());
      expectSameHeaders();
    }
    ASSERT_TRUE(table->noteSaved(*stream).ok());
    for (void *row : hostRows)
      onHost->layout().headerOf(row).noteSaved();
    expectSameHeaders();
    ASSERT_TRUE(table->noteWrites(*stream).ok());
    for (void *row : hostRows)
      onHost->layout().headerOf(row).noteWrite();
    expectSameHeaders();
  }
}

TEST_F(DeviceTableTest, UsesAreCountedUpToTheMaximum) {
  open(makeOptions());
  std::vector<void *> rows = pull({5});
  RowHeader header;
  header.begin(0);
  void **there = send(rows);
  const uint32_t almost = 0xfffd;
  ASSERT_TRUE(stream
                  ->copyIn(table->options().layout().places().headerOf(rows[0]),
                           &almost, 4)
                  .ok());
  for (const uint32_t uses : {0xfffeu, 0xffffu, 0xffffu}) {
    ASSERT_TRUE(table->noteUpdates(*stream, 1, there).ok());
    EXPECT_EQ(headerOf(rows[0]), uses | 0x10000);
  }
}

//===----------------------------------------------------------------------===//
// All rows
//===----------------------------------------------------------------------===//

// Rows are in the order of shards and keys, however they are divided.
TEST_F(DeviceTableTest, CollectsInPieces) {
  for (const auto &[count, pieces] : {std::pair{9000, DeviceTablePieces()},
                                      {9000, DeviceTablePieces{20000, 2500}},
                                      {300, DeviceTablePieces{1000, 1}},
                                      {300, DeviceTablePieces{16, 60}}}) {
    const std::vector<int64_t> keys = makeKeys(size_t(count));
    open(makeOptions(), pieces);
    pull(keys);
    expectSame();
    std::vector<int64_t> counts;
    ASSERT_TRUE(
        table->countShards(*stream, DeviceTable::Rows::All, counts).ok());
    ASSERT_EQ(counts.size(), 1024u);
    for (int s = 0; s < EmbeddingTable::shardCount; ++s)
      ASSERT_EQ(counts[s], onHost->shardSize(s));
    for (const auto &[first, end] :
         {std::pair{0, 1}, {17, 300}, {1023, 1024}, {5, 5}})
      EXPECT_EQ(collect(*table, DeviceTable::Rows::All, first, end),
                collectOnHost(first, end));
  }
}

int listings = 0;

/// Counts the launches of this kernel.
void countListings(const uint64_t *arguments, int64_t first, int64_t stride) {
  listings += first == 0;
  pdltest::CallFromMemory<pdldevice_table_list>::run(arguments, first, stride);
}

// The host stores few keys at a time, and reads the index again for the others.
TEST_F(DeviceTableTest, ReadsTheIndexOnceForSomeOfTheKeys) {
  const auto readings = [&](int64_t rowsListed) {
    open(makeOptions(), {int64_t(1) << 20, rowsListed});
    for (DeviceKernel &kernel : kernels)
      if (kernel.name == std::string("pdldevice_table_list"))
        kernel.run = countListings;
    pull(makeKeys(9000));
    listings = 0;
    expectSame();
    return listings;
  };
  // One reading counts the keys.
  EXPECT_EQ(readings(9000), 2);
  EXPECT_EQ(readings(8999), 3);
  EXPECT_EQ(readings(2500), 5);
  // At least a 16th at a time.
  EXPECT_GT(readings(1), 16);
  EXPECT_LT(readings(1), 20);
}

TEST_F(DeviceTableTest, AnErrorOfAVisitorEndsIt) {
  open(makeOptions());
  pull(makeKeys(2000));
  int visits = 0;
  const Status status =
      table->collect(*stream, DeviceTable::Rows::All, 0, 1024,
                     [&](int, std::span<const TableRow>) {
                       return ++visits == 3
                                  ? Status::invalidArgument("the disk is full")
                                  : Status();
                     });
  EXPECT_EQ(status.message(), "the disk is full");
  EXPECT_EQ(visits, 3);
  expectSame();
}

TEST_F(DeviceTableTest, CollectsDirtyRows) {
  open(makeOptions());
  const std::vector<int64_t> keys = makeKeys(2000);
  const std::vector<void *> rows = pull(keys);
  const auto dirtyKeys = [&] {
    std::vector<int64_t> found = collect(*table, DeviceTable::Rows::Dirty).keys;
    return std::set<int64_t>(found.begin(), found.end());
  };
  EXPECT_EQ(dirtyKeys().size(), 2000u);
  ASSERT_TRUE(table->noteSaved(*stream).ok());
  EXPECT_TRUE(dirtyKeys().empty());
  std::vector<void *> used;
  std::set<int64_t> want;
  for (size_t i = 0; i < keys.size(); i += 3) {
    used.push_back(rows[i]);
    want.insert(keys[i]);
  }
  ASSERT_TRUE(
      table->noteUpdates(*stream, int64_t(used.size()), send(used)).ok());
  EXPECT_EQ(dirtyKeys(), want);
  std::vector<int64_t> counts;
  ASSERT_TRUE(
      table->countShards(*stream, DeviceTable::Rows::Dirty, counts).ok());
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t(0)),
            int64_t(want.size()));
  // A new row is dirty.
  pull({int64_t(1) << 50});
  want.insert(int64_t(1) << 50);
  EXPECT_EQ(dirtyKeys(), want);
}

TEST_F(DeviceTableTest, RestoresWhatWasCollected) {
  for (const DeviceTablePieces &pieces :
       {DeviceTablePieces(), DeviceTablePieces{5000, 400}})
    for (const int32_t storage : {PDL_STORE_ELEMENT, PDL_STORE_BF16}) {
      TableOptions options = makeOptions(PDL_F32, 5, storage);
      options.slotInitialValues = {0.5, 1};
      open(options, pieces);
      const std::vector<int64_t> keys = makeKeys(5000);
      pull(keys);
      // Rows that no initializer creates.
      Collected saved = collect(*table, DeviceTable::Rows::All);
      for (char &byte : saved.bytes)
        byte = char(random());
      const auto count = int64_t(saved.keys.size());
      const auto other = make(options, pieces);
      other->quiesce(3);
      // Some of them exist already.
      auto **rows = room<void *>(1000);
      ASSERT_TRUE(other->pull(*stream, 1000, send(keys), rows).ok());
      const Status status =
          other->restore(*stream, count, saved.keys.data(), saved.bytes.data());
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(other->size(), count);
      EXPECT_EQ(collect(*other, DeviceTable::Rows::All), saved);
      EXPECT_TRUE(collect(*other, DeviceTable::Rows::Dirty).keys.empty());
      // The table works like any other afterwards.
      table = make(options);
      ASSERT_TRUE(table->restore(*stream, 0, nullptr, nullptr).ok());
      ASSERT_TRUE(
          table->restore(*stream, 1, saved.keys.data(), saved.bytes.data())
              .ok());
      const std::vector<void *> again = pull({saved.keys[0], saved.keys[1]});
      EXPECT_EQ(headerOf(again[0]), 0u);
      EXPECT_EQ(headerOf(again[1]), 0x10000u);
    }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

// Wherever memory ends, the table stays unchanged, and existing rows are found.
TEST_F(DeviceTableTest, WithoutMemoryItStaysAsItIs) {
  const std::vector<int64_t> keys = makeKeys(60000);
  bool failed = true;
  for (int64_t allocations = 14; failed; ++allocations) {
    SCOPED_TRACE(allocations);
    // The limit includes all allocations of the table and of the test.
    open(makeOptions(), {}, {.allocations = allocations});
    auto given = device->allocate(DeviceBuffer::Kind::OfDevice,
                                  keys.size() * sizeof(int64_t)),
         places = device->allocate(DeviceBuffer::Kind::OfDevice,
                                   keys.size() * sizeof(void *));
    if (!given || !places)
      continue;
    auto *there = static_cast<int64_t *>(given->data());
    auto **rows = static_cast<void **>(places->data());
    ASSERT_TRUE(
        stream->copyIn(there, keys.data(), keys.size() * sizeof(int64_t)).ok());
    ASSERT_TRUE(stream->synchronize().ok());
    failed = false;
    size_t held = 0;
    std::map<int64_t, void *> known;
    const auto learn = [&](size_t begin, size_t count) {
      const std::vector<void *> found = bring(rows, count);
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(known.emplace(keys[begin + i], found[i]).first->second,
                  found[i]);
    };
    for (size_t count = 500; held < keys.size(); held += count, count *= 2) {
      count = std::min(count, keys.size() - held);
      const Status status =
          table->pull(*stream, int64_t(count), there + held, rows);
      failed = !status.ok();
      if (failed) {
        EXPECT_EQ(status.code(), PDL_OUT_OF_MEMORY);
        EXPECT_THAT(
            status.message(),
            testing::AnyOf(
                AllOf(HasSubstr("the device has no room for table @emb to grow "
                                "from " +
                                std::to_string(held) + " to "),
                      HasSubstr("use --table-placement host")),
                HasSubstr("use a smaller --batch-size")));
        break;
      }
      learn(held, count);
    }
    if (!failed)
      break;
    // Existing rows need no memory.
    for (size_t begin = 0; begin < held; begin += 500) {
      const size_t count = std::min<size_t>(500, held - begin);
      const Status status =
          table->pull(*stream, int64_t(count), there + begin, rows);
      ASSERT_TRUE(status.ok()) << status.message();
      learn(begin, count);
    }
    ASSERT_TRUE(table->find(*stream, int64_t(keys.size()), there, rows).ok());
    const std::vector<void *> found = bring(rows, keys.size());
    for (size_t i = 0; i < keys.size(); ++i)
      ASSERT_EQ(found[i], i < held ? known[keys[i]] : nullptr);
    ASSERT_TRUE(table->settle(*stream).ok());
    EXPECT_EQ(table->size(), int64_t(held));
  }
}

TEST_F(DeviceTableTest, WithoutMemoryThereIsNoTable) {
  for (int64_t allocations = 0; allocations < 8; ++allocations) {
    open(makeOptions());
    table.reset();
    stream.reset();
    device = createFakeDevice({.allocations = allocations});
    ASSERT_TRUE(device->load({"", kernels}).ok());
    stream = *device->createStream("work");
    const auto made = DeviceTable::create(
        *device, *TableKernels::find(kernels, PDL_F32), makeOptions(), *stream);
    EXPECT_EQ(made.status().code(), PDL_OUT_OF_MEMORY) << allocations;
    // Nothing that was freed was still in use.
    const Status after = stream->synchronize();
    EXPECT_TRUE(after.ok()) << after.message();
  }
}

TEST_F(DeviceTableTest, ALostDeviceIsSaid) {
  open(makeOptions(), {}, {.work = 12});
  auto **rows = room<void *>(100);
  const std::vector<int64_t> keys = makeKeys(100);
  const int64_t *there = send(keys);
  Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) {
    status = table->pull(*stream, 100, there, rows);
    if (status.ok())
      status = table->settle(*stream);
  }
  EXPECT_THAT(status.message(), HasSubstr("the device is lost"));
}

TEST_F(DeviceTableTest, KernelsThatAreMissingAreNamed) {
  const std::vector<DeviceKernel> all = pdltest::tableKernelsOf(true);
  const auto found = TableKernels::find(all, PDL_F32);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)[pdlabi::TableKernel::Find], 1u);
  EXPECT_EQ((*found)[pdlabi::TableKernel::Note],
            std::size(pdlabi::tableKernels));
  EXPECT_EQ(TableKernels::find(all, PDL_F64).status().message(),
            "the program has no kernel pdldevice_table_insert_f64, which "
            "tables on a device need; translate the model again");
}

} // namespace
