//===- DeviceTablesTest.cpp - Tables that stay on a device ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the same steps on the host's tables and on those of fake devices.
//
//===----------------------------------------------------------------------===//

#include "OneGroup.h"
#include "Table/TableDevice.h"
#include "pdlrt/Kernels/Storage.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/DeviceState.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/SpreadTables.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

constexpr int64_t width = 5;
/// An elementwise momentum rule, and a rule on rows, which has the number of
/// samples after each gradient.
enum : int32_t { ByElement, ByRow, symbolCount };
constexpr int64_t gradientWidth[] = {width, width + 1};

using Scalars = pdltest::OneGroup::Scalars;

bool updateElement(float *row, int64_t e, float gradient, const Scalars &s) {
  float &value = row[e], &slot = row[width + e];
  slot = 0.5f * slot + gradient / s.weight;
  value -= s.rate * slot;
  return std::isfinite(value) && std::isfinite(slot);
}

bool updateRow(float *row, const float *gradient, const Scalars &s) {
  float &squares = row[width];
  squares += gradient[0] * gradient[0] + gradient[width];
  bool finite = true;
  for (int64_t e = 0; e < width; ++e) {
    row[e] -= s.rate * gradient[e] / std::sqrt(1 + squares);
    finite &= std::isfinite(row[e]);
  }
  return finite;
}

template <bool isByRow>
int32_t updateRows(int64_t count, int64_t, void *const *rows,
                   const void *const *gradients, const void *scalars) {
  bool finite = true;
  const auto &s = *static_cast<const Scalars *>(scalars);
  for (int64_t i = 0; i < count; ++i) {
    auto *row = static_cast<float *>(rows[i]);
    const auto *gradient = static_cast<const float *>(gradients[i]);
    if (isByRow)
      finite &= updateRow(row, gradient, s);
    for (int64_t e = 0; e < width && !isByRow; ++e)
      finite &= updateElement(row, e, gradient[e], s);
  }
  return !finite;
}

template <typename T> T *pointer(uint64_t argument) {
  return reinterpret_cast<T *>(argument);
}

template <bool isByRow>
void runOnDevice(const uint64_t *arguments, int64_t first, int64_t stride) {
  for (auto turn = first; turn < int64_t(arguments[0]); turn += stride) {
    const int64_t i = isByRow ? turn : turn / width, e = turn % width;
    auto *row = static_cast<float *>(pointer<void *>(arguments[1])[i]);
    const auto *gradient =
        pointer<float>(arguments[2]) + i * gradientWidth[isByRow];
    const auto &s = *pointer<Scalars>(arguments[3]);
    if (!(isByRow ? updateRow(row, gradient, s)
                  : updateElement(row, e, gradient[e], s)))
      *pointer<int32_t>(arguments[4]) = 1;
  }
}

struct Program : pdltest::OneGroup {
  pdl_symbol symbols[symbolCount] = {};
  pdl_update_descriptor updates[2] = {{ByElement, 0, 0}, {ByRow, 1, 0}};
  std::vector<DeviceKernel> kernels = pdltest::tableKernelsOf(/*isFloat=*/true);
  std::vector<pdl_device_kernel> described;

  Program() {
    using enum DeviceArgument;
    const std::vector<DeviceArgument> arguments = {Number, Read, Read, Read,
                                                   Written};
    kernels.push_back({"rows_by_element", arguments, runOnDevice<false>});
    kernels.push_back({"rows_by_row", arguments, runOnDevice<true>});
    for (const DeviceKernel &kernel : kernels)
      described.push_back({kernel.name, 0, nullptr, nullptr});
    static const int64_t shape[] = {width};
    static const double slotValues[] = {0.125};
    static const char *const slotNames[] = {"m"};
    for (int32_t s = 0; s < symbolCount; ++s) {
      pdl_symbol &symbol = symbols[s];
      symbol.struct_size = sizeof(symbol);
      symbol.name = s == ByElement ? "elements" : "rows";
      symbol.id = uint64_t(s) + 1;
      symbol.kind = PDL_SYMBOL_TABLE;
      symbol.rank = 1;
      symbol.shape = shape;
      symbol.row_width = width;
      symbol.gradient_width = gradientWidth[s];
      symbol.initializer = {PDL_INIT_UNIFORM, -0.5, 0.5};
      symbol.device_kernel = int32_t(kernels.size()) - symbolCount + s;
      symbol.slot_count = 1;
      symbol.slot_names = slotNames;
      symbol.slot_initial_values = slotValues;
      symbol.row_kernel = s == ByRow ? updateRows<true> : updateRows<false>;
    }
    symbols[ByRow].row_slot_count = 1;
    symbols[ByRow].kernel_unit = PDL_UNIT_ROW;
    symbols[ByRow].unknown = PDL_UNKNOWN_ZERO;
    describe(symbols, updates);
    descriptor.device_kernel_count = int32_t(described.size());
    descriptor.device_kernels = described.data();
  }
};

class DeviceTablesTest : public testing::Test {
protected:
  /// Opens `count` devices and computes on the last one.
  void open(const FakeFaults &faults = {}, size_t count = 1) {
    std::vector<Device *> all;
    devices.clear();
    for (size_t d = 0; d < count; ++d) {
      devices.push_back(createFakeDevice(faults));
      ASSERT_TRUE(devices.back()->load({"", program.kernels}).ok());
      all.push_back(devices.back().get());
    }
    device = all.back();
    compute = std::move(*device->createStream("compute"));
    onHost = std::make_unique<Model>(program.descriptor, 7);
    onDevice = std::make_unique<Model>(program.descriptor, 7);
    onDevice->computeOn(all);
    onDevice->placeTablesOnDevice();
  }
  /// Users of the device are destroyed before it.
  void close() {
    for (int32_t s = 0; s < symbolCount; ++s)
      lookups[s] = {}, memory[s] = {};
    deviceUpdater.reset();
    onDevice.reset();
    compute.reset();
  }
  void begin() {
    ASSERT_TRUE(onDevice->keepOnDevice().ok());
    onDevice->deviceState()->keepGradients(devices.size(), 1);
    hostUpdater =
        std::make_unique<Updater>(*onHost, program.program, scheduler);
    deviceUpdater =
        std::make_unique<Updater>(*onDevice, program.program, scheduler);
  }
  SpreadTables &tables() { return *onDevice->deviceState()->tables(); }

  /// Draws distinct keys and their gradients.
  void draw(int step, int64_t count) {
    std::mt19937_64 random(step);
    for (int32_t s = 0; s < symbolCount; ++s) {
      std::set<int64_t> distinct;
      if (count > 0)
        distinct = {0, -1};
      while (int64_t(distinct.size()) < count)
        distinct.insert(int64_t(random() % 64) << (random() % 50));
      keys[s].assign(distinct.begin(), distinct.end());
      gradients[s].resize(keys[s].size() * size_t(gradientWidth[s]));
      for (size_t i = 0; i < gradients[s].size(); ++i)
        gradients[s][i] =
            float(std::sin(double(100 * step + 10 * s) + double(i)));
    }
  }
  /// Returns the contribution in host memory, with rows in host memory.
  PartialSum onHostOf(Model &model, std::vector<void *> (&rows)[2],
                      std::vector<const void *> (&pointers)[2]) {
    PartialSum merged;
    merged.present = true;
    merged.objectives = {{0, 2.0}};
    for (int32_t s = 0; s < symbolCount; ++s) {
      const auto count = int64_t(keys[s].size());
      rows[s].assign(keys[s].size(), nullptr);
      pointers[s].clear();
      for (int64_t i = 0; i < count; ++i)
        pointers[s].push_back(gradients[s].data() + i * gradientWidth[s]);
      int64_t inserted = 0;
      TableScratch scratch;
      if (&model == onHost.get())
        EXPECT_TRUE(model.table(s)
                        ->findOrInsert(count, keys[s].data(), rows[s].data(),
                                       scratch, inserted)
                        .ok());
      BlockGradient &block = merged.blocks.emplace_back();
      block.keyCount = count;
      block.keys = keys[s].data();
      block.rows = rows[s].data();
      block.gradients = pointers[s].data();
    }
    return merged;
  }
  void apply(Updater &updater, const PartialSum &merged) {
    const Status status = updater.apply(merged);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  /// Runs one step on the host and on the device. `stays`: true if the
  /// gradients are on the device.
  void step(int number, bool stays, int64_t count = 20) {
    draw(number, count);
    std::vector<void *> rows[2];
    std::vector<const void *> pointers[2];
    apply(*hostUpdater, onHostOf(*onHost, rows, pointers));
    PartialSum merged = onHostOf(*onDevice, rows, pointers);
    for (int32_t s = 0; s < symbolCount; ++s) {
      const auto count = int64_t(keys[s].size());
      ASSERT_TRUE(tables().pull(s, count, keys[s].data(), lookups[s]).ok());
      if (!stays || count == 0)
        continue;
      const size_t bytes = gradients[s].size() * sizeof(float);
      ASSERT_TRUE(
          reserve(*device, memory[s], DeviceBuffer::Kind::OfDevice, bytes)
              .ok());
      ASSERT_TRUE(
          compute->copyIn(memory[s].data(), gradients[s].data(), bytes).ok());
      ASSERT_TRUE(compute->synchronize().ok());
      merged.blocks[s].gradients = nullptr;
      merged.blocks[s].onDevice = memory[s].data();
      merged.blocks[s].keysOnDevice = lookups[s].keysOfDevice();
      merged.blocks[s].rowsOnDevice = lookups[s].rowsOfDevice();
    }
    apply(*deviceUpdater, merged);
  }

  /// The rows of a table in order: keys, and the bits of values and slots.
  using Rows = std::vector<std::pair<int64_t, std::vector<uint32_t>>>;
  static void add(const EmbeddingTable &table, std::span<const TableRow> rows,
                  Rows &all) {
    for (const TableRow &row : rows) {
      const auto *words = static_cast<const uint32_t *>(row.row);
      all.push_back(
          {row.key, {words, words + table.rowBytes() / sizeof(uint32_t)}});
    }
  }
  static Rows rowsOf(const Model &model, int32_t symbol) {
    Rows all;
    const EmbeddingTable &table = *model.table(symbol);
    RowList rows;
    for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
      table.collectShard(shard, rows);
      add(table, rows, all);
    }
    return all;
  }
  std::vector<float> gather(DeviceRows &lookup, bool frozen) {
    DeviceBuffer out;
    const size_t elements = size_t(lookup.count * width);
    EXPECT_TRUE(reserve(*device, out, DeviceBuffer::Kind::OfDevice,
                        elements * sizeof(float))
                    .ok());
    EXPECT_TRUE(tables().gather(lookup, frozen, out.data(), *compute).ok());
    std::vector<float> values(elements);
    EXPECT_TRUE(
        compute->copyOut(values.data(), out.data(), elements * sizeof(float))
            .ok());
    EXPECT_TRUE(compute->synchronize().ok());
    return values;
  }
  static void widenTo(float (&to)[width], const void *row, int32_t storage) {
    if (storage == PDL_STORE_ELEMENT)
      std::memcpy(to, row, sizeof(to));
    else
      widenStored(storage, width, row, to);
  }
  std::string refusal() {
    const Status status = onDevice->keepOnDevice();
    return status.ok() ? "" : status.message();
  }

  Program program;
  Scheduler scheduler{1};
  // A device must outlive its memory.
  std::vector<std::unique_ptr<Device>> devices;
  Device *device = nullptr;
  std::unique_ptr<DeviceStream> compute;
  /// Starts a new test with tables whose values have the storage `storage`.
  /// Rules get `atOnce` bytes of rows at a time.
  void beginAnew(int32_t storage, size_t atOnce) {
    close();
    for (pdl_symbol &symbol : program.symbols)
      symbol.storage = storage;
    open();
    begin();
    tables().limitPieces(atOnce);
  }

  DeviceRows lookups[symbolCount];
  DeviceBuffer memory[symbolCount];
  std::unique_ptr<Model> onHost, onDevice;
  std::unique_ptr<Updater> hostUpdater, deviceUpdater;
  std::vector<int64_t> keys[symbolCount];
  std::vector<float> gradients[symbolCount];
};

// `atOnce` is the number of bytes of rows that a rule gets at a time, if not
// all.
TEST_F(DeviceTablesTest, UpdatesToTheBitsOfTheHost) {
  for (const int32_t storage :
       {PDL_STORE_ELEMENT, PDL_STORE_BF16, PDL_STORE_F16})
    for (const bool stays : {false, true})
      for (const size_t atOnce : {1, 300, 1 << 20}) {
        SCOPED_TRACE(testing::Message() << "storage " << storage << ", stays "
                                        << stays << ", at once " << atOnce);
        beginAnew(storage, atOnce);
        for (int i = 0; i < 6; ++i)
          step(i, stays);
        ASSERT_TRUE(onDevice->bringToHost().ok());
        for (int32_t s : {ByElement, ByRow}) {
          EXPECT_GT(rowsOf(*onHost, s).size(), 20u);
          EXPECT_EQ(rowsOf(*onDevice, s), rowsOf(*onHost, s));
          const auto size = onDevice->tableSize(s);
          ASSERT_TRUE(size.ok());
          EXPECT_EQ(size->rows, onHost->table(s)->size());
          EXPECT_GT(size->bytes, 0u);
        }
      }
}

TEST_F(DeviceTablesTest, GoesOnFromTheHostAndBringsWhatIsNew) {
  open();
  // The rows look as if loaded from a checkpoint.
  draw(0, 30);
  std::vector<void *> rows(keys[0].size());
  for (Model *model : {onHost.get(), onDevice.get()}) {
    TableScratch scratch;
    int64_t inserted = 0;
    ASSERT_TRUE(model->table(0)
                    ->findOrInsert(int64_t(rows.size()), keys[0].data(),
                                   rows.data(), scratch, inserted)
                    .ok());
    for (size_t i = 0; i < rows.size(); ++i)
      static_cast<float *>(rows[i])[1] = float(i);
  }
  begin();
  step(0, true);
  ASSERT_TRUE(onDevice->bringToHost().ok());
  EXPECT_EQ(rowsOf(*onDevice, 0), rowsOf(*onHost, 0));
  // Rows that were not written since are not copied again.
  RowList all;
  float *spoilt = nullptr;
  for (int shard = 0; shard < EmbeddingTable::shardCount && !spoilt; ++shard) {
    onDevice->table(0)->collectShard(shard, all);
    for (const TableRow &row : all)
      if (row.key != 0 && row.key != -1)
        spoilt = static_cast<float *>(row.row);
  }
  ASSERT_NE(spoilt, nullptr);
  const float before = std::exchange(*spoilt, 1e9f);
  ASSERT_TRUE(onDevice->bringToHost().ok());
  EXPECT_EQ(*spoilt, 1e9f);
  *spoilt = before;
  step(1, false);
  ASSERT_TRUE(onDevice->bringToHost().ok());
  EXPECT_EQ(rowsOf(*onDevice, 0), rowsOf(*onHost, 0));
}

TEST_F(DeviceTablesTest, ReadersOfASnapshotReadItsState) {
  open();
  begin();
  step(0, true);
  ASSERT_TRUE(onDevice->bringToHost().ok());
  const auto before = rowsOf(*onDevice, ByElement);
  EmbeddingTable &table = *onDevice->table(ByElement);
  TableSnapshot &snapshot = table.beginSnapshot(size_t(1) << 20);
  step(1, true);
  ASSERT_TRUE(onDevice->bringToHost().ok());
  EXPECT_NE(rowsOf(*onDevice, ByElement), before);
  Rows read;
  RowList rows;
  for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
    snapshot.collectShard(shard, rows);
    snapshot.read(
        rows, [&](std::span<const TableRow> some) { add(table, some, read); });
  }
  table.endSnapshot();
  EXPECT_EQ(read, before);
}

TEST_F(DeviceTablesTest, FrozenLookupsMakeNoRows) {
  open();
  begin();
  step(0, true);
  const std::vector<int64_t> known = keys[ByRow];
  std::vector<int64_t> asked = {known[0], 12345678901, known[1], 98765432109};
  const auto count = int64_t(asked.size());
  for (int32_t s : {ByElement, ByRow}) {
    DeviceRows lookup;
    ASSERT_TRUE(tables().find(s, count, asked.data(), lookup).ok());
    auto **found = static_cast<void **>(lookup.rowsOnHost.data());
    EXPECT_EQ(found[1], nullptr);
    EXPECT_EQ(found[3], nullptr);
    const std::vector<float> values = gather(lookup, /*frozen=*/true);
    std::vector<float> expected(values.size());
    for (int64_t i = 0; i < count; ++i) {
      std::vector<void *> row(1);
      TableScratch scratch;
      if (onHost->table(s)->find(1, &asked[i], row.data(), scratch) == 0)
        std::copy_n(static_cast<const float *>(row[0]), width,
                    expected.begin() + i * width);
      else if (s == ByElement)
        onHost->table(s)->initialElements(asked[i], &expected[i * width]);
    }
    EXPECT_EQ(values, expected) << s;
    EXPECT_EQ(onDevice->tableSize(s)->rows, onHost->table(s)->size());
  }
}

TEST_F(DeviceTablesTest, ALookupIsUsedAgainWhileItsKeysMayBeOnTheirWay) {
  open();
  begin();
  DeviceRows lookup;
  for (int64_t count : {3, 300, 5, 700}) {
    std::vector<int64_t> asked;
    for (int64_t i = 0; i < count; ++i)
      asked.push_back(i * 31 + count);
    ASSERT_TRUE(tables().pull(0, count, asked.data(), lookup).ok());
    const std::vector<float> values = gather(lookup, /*frozen=*/false);
    for (int64_t i = 0; i < count; ++i) {
      float expected[width];
      onHost->table(0)->initialElements(asked[i], expected);
      EXPECT_TRUE(
          std::equal(expected, expected + width, values.begin() + i * width));
    }
    ASSERT_TRUE(tables().pull(0, 0, nullptr, lookup).ok());
    EXPECT_EQ(gather(lookup, false).size(), 0u);
  }
}

TEST_F(DeviceTablesTest, SaysWhatIsNotFinite) {
  open();
  begin();
  step(0, true);
  draw(1, 5);
  gradients[ByRow][3] = std::numeric_limits<float>::infinity();
  std::vector<void *> rows[2];
  std::vector<const void *> pointers[2];
  const PartialSum merged = onHostOf(*onDevice, rows, pointers);
  for (int32_t s = 0; s < symbolCount; ++s)
    ASSERT_TRUE(
        tables()
            .pull(s, int64_t(keys[s].size()), keys[s].data(), lookups[s])
            .ok());
  const Status status = deviceUpdater->apply(merged);
  EXPECT_THAT(status.message(), HasSubstr("gave a key of @rows a value"));
}

// Each device has some rows, and gives them to the computing one.
TEST_F(DeviceTablesTest, SeveralDevicesHaveTheBitsOfTheHost) {
  for (const size_t count : {2, 3})
    for (const int32_t untouched : {PDL_UNTOUCHED_LAZY, PDL_UNTOUCHED_DENSE})
      for (const int32_t storage : {PDL_STORE_ELEMENT, PDL_STORE_BF16}) {
        SCOPED_TRACE(testing::Message()
                     << count << " devices, untouched " << untouched
                     << ", storage " << storage);
        close();
        program.group.untouched = untouched;
        for (pdl_symbol &symbol : program.symbols)
          symbol.storage = storage;
        open({}, count);
        // The rows look as if loaded from a checkpoint.
        draw(7, 30);
        for (Model *model : {onHost.get(), onDevice.get()}) {
          std::vector<void *> rows(keys[0].size());
          TableScratch scratch;
          int64_t inserted = 0;
          ASSERT_TRUE(model->table(0)
                          ->findOrInsert(int64_t(rows.size()), keys[0].data(),
                                         rows.data(), scratch, inserted)
                          .ok());
        }
        begin();
        for (int i = 0; i < 5; ++i)
          step(i, /*stays=*/false, i == 2 ? 0 : 20);
        for (int32_t s : {ByElement, ByRow}) {
          const auto size = onDevice->tableSize(s);
          ASSERT_TRUE(size.ok());
          EXPECT_EQ(size->rows, onHost->table(s)->size());
        }
        ASSERT_TRUE(onDevice->bringToHost().ok());
        for (int32_t s : {ByElement, ByRow})
          EXPECT_EQ(rowsOf(*onDevice, s), rowsOf(*onHost, s));
        for (const int64_t more : {0, 1, 40}) {
          std::vector<int64_t> asked = keys[0];
          for (int64_t i = 0; i < more; ++i)
            asked.push_back(int64_t(1) << 55 | i << 3);
          DeviceRows &lookup = lookups[0];
          ASSERT_TRUE(tables()
                          .find(0, int64_t(asked.size()), asked.data(), lookup)
                          .ok());
          const std::vector<float> values = gather(lookup, /*frozen=*/true);
          for (size_t i = 0; i < asked.size(); ++i) {
            void *row = nullptr;
            TableScratch scratch;
            float want[width];
            const bool isMissing =
                onHost->table(0)->find(1, &asked[i], &row, scratch) != 0;
            if (isMissing)
              onHost->table(0)->initialElements(asked[i], want);
            else
              widenTo(want, row, storage);
            EXPECT_EQ(isMissing,
                      !static_cast<void **>(lookup.rowsOnHost.data())[i]);
            EXPECT_TRUE(
                std::equal(want, want + width, &values[i * size_t(width)]))
                << i;
          }
        }
      }
}

TEST_F(DeviceTablesTest, MemoryOfSeveralDevicesAddsUp) {
  std::vector<int64_t> many;
  for (int64_t i = 0; i < 60000; ++i)
    many.push_back(i);
  size_t ofOne = 0;
  for (const size_t count : {1, 3}) {
    close();
    open({}, count);
    begin();
    ASSERT_TRUE(
        tables().pull(0, int64_t(many.size()), many.data(), lookups[0]).ok());
    ASSERT_EQ(onDevice->tableSize(0)->rows, int64_t(many.size()));
    for (const std::unique_ptr<Device> &each : devices) {
      if (count == 1)
        ofOne = each->maxBytes();
      else
        EXPECT_LT(each->maxBytes(), ofOne / 2);
    }
  }
}

TEST_F(DeviceTablesTest, AFurtherDeviceThatFailsIsAnError) {
  open({}, 2);
  FakeFaults faults;
  faults.launches = 6;
  devices.push_back(createFakeDevice(faults));
  ASSERT_TRUE(devices.back()->load({"", program.kernels}).ok());
  onDevice->computeOn({devices.front().get(), devices.back().get()});
  begin();
  draw(0, 20);
  Status status;
  for (int i = 0; i < 4 && status.ok(); ++i) {
    status =
        tables().pull(0, int64_t(keys[0].size()), keys[0].data(), lookups[0]);
    if (status.ok())
      status =
          tables().find(0, int64_t(keys[0].size()), keys[0].data(), lookups[1]);
  }
  EXPECT_THAT(status.message(), HasSubstr("told to fail"));
}

// The rule writes finite numbers, but their stored form is not finite.
TEST_F(DeviceTablesTest, SaysWhatIsNotFiniteIn16Bits) {
  program.symbols[ByElement].storage = PDL_STORE_F16;
  open();
  begin();
  step(0, true);
  draw(1, 5);
  gradients[ByElement][3] = 1e7f;
  std::vector<void *> rows[2];
  std::vector<const void *> pointers[2];
  const PartialSum merged = onHostOf(*onDevice, rows, pointers);
  for (int32_t s = 0; s < symbolCount; ++s)
    ASSERT_TRUE(
        tables()
            .pull(s, int64_t(keys[s].size()), keys[s].data(), lookups[s])
            .ok());
  const Status status = deviceUpdater->apply(merged);
  EXPECT_THAT(status.message(), HasSubstr("gave a key of @elements a value"));
  EXPECT_THAT(status.message(), HasSubstr("in f16, whose largest is 65504"));
}

// Rows without a gradient are updated too, and are copied if they were saved
// before.
TEST_F(DeviceTablesTest, UpdatesAllRowsToTheBitsOfTheHost) {
  program.group.untouched = PDL_UNTOUCHED_DENSE;
  for (const int32_t storage : {PDL_STORE_ELEMENT, PDL_STORE_BF16})
    for (const bool stays : {false, true})
      for (const size_t atOnce : {1, 300, 1 << 20}) {
        SCOPED_TRACE(testing::Message() << "storage " << storage << ", stays "
                                        << stays << ", at once " << atOnce);
        beginAnew(storage, atOnce);
        // There is no row yet.
        step(0, stays, /*count=*/0);
        for (int i = 1; i < 6; ++i) {
          step(i, stays, i == 3 ? 0 : 20);
          if (i != 2 && i != 5)
            continue;
          ASSERT_TRUE(onDevice->bringToHost().ok());
          for (int32_t s : {ByElement, ByRow}) {
            EXPECT_GT(rowsOf(*onHost, s).size(), 20u);
            EXPECT_EQ(rowsOf(*onDevice, s), rowsOf(*onHost, s));
          }
        }
      }
}

TEST_F(DeviceTablesTest, RefusesWhatADeviceDoesNotDo) {
  open();
  program.symbols[ByElement].device_kernel = -1;
  EXPECT_THAT(refusal(), HasSubstr("table @elements cannot be on a device: the "
                                   "rule of its group"));
  EXPECT_THAT(refusal(), HasSubstr("use --table-placement host"));
}

TEST_F(DeviceTablesTest, ADeviceThatFailsIsAnError) {
  for (int64_t launches = 0; launches < 8; ++launches) {
    close();
    FakeFaults faults;
    faults.launches = launches;
    open(faults);
    begin();
    draw(0, 5);
    std::vector<void *> rows[2];
    std::vector<const void *> pointers[2];
    const PartialSum merged = onHostOf(*onDevice, rows, pointers);
    Status status =
        tables().pull(0, int64_t(keys[0].size()), keys[0].data(), lookups[0]);
    if (status.ok())
      status =
          tables().pull(1, int64_t(keys[1].size()), keys[1].data(), lookups[1]);
    if (status.ok())
      status = deviceUpdater->apply(merged);
    EXPECT_FALSE(status.ok()) << launches;
  }
}

} // namespace
