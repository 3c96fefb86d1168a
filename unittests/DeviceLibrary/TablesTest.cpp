//===- TablesTest.cpp - Tables of device threads --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests each kernel with any number of threads. Whole tables are tested in
// unittests/Runtime/Table.
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

#include "pdlabi/device.h"
#include "pdlabi/table.h"
#include "pdlrt/Kernels/Storage.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <barrier>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <thread>

using namespace pdltest;
using pdlrt::TableOptions;

namespace {

TableOptions makeOptions(int32_t type, int32_t storage, int64_t width) {
  TableOptions options;
  options.id = 0xabcdef0123456789;
  options.elementType = type;
  options.storage = storage;
  options.width = width;
  options.initializer = {PDL_INIT_NORMAL, 0.5, 2};
  options.slotInitialValues = {0.1, 0.2, 0.3};
  options.rowSlotCount = 1;
  options.frozenPart = 2;
  options.seed = 0x1020304050607080;
  return options;
}

/// Returns distinct keys, including 0.
std::vector<int64_t> makeKeys(int64_t count, std::mt19937 &random) {
  std::set<int64_t> keys = {0, -1, 1, std::numeric_limits<int64_t>::min()};
  while (int64_t(keys.size()) < count)
    keys.insert(random() % 2 ? int64_t(random())
                             : int64_t(uint64_t(random()) << 32 | random()));
  std::vector<int64_t> result(keys.begin(), keys.end());
  std::ranges::shuffle(result, random);
  return result;
}

/// Table in host memory of exactly the size that it needs. Memory before and
/// after it may not be touched.
class HostTable {
public:
  HostTable(const TableOptions &options, int64_t slots, int64_t rows,
            Fence fence)
      : keys(std::vector<int64_t>(size_t(slots + 1)), fence),
        numbers(std::vector<uint32_t>(size_t(slots + 1)), fence),
        slotValues(Fenced<double>::input(options.slotInitialValues, fence)),
        table(options.describe()) {
    const auto layout = options.layout();
    const size_t bytes = layout.regionBytes();
    const size_t count =
        (size_t(rows) + layout.rowsOfRegion() - 1) / layout.rowsOfRegion();
    // A multiple of the sizes of all regions that hold several rows.
    constexpr size_t alignment = 65536;
    std::vector<char *> places;
    for (size_t r = 0; r < count; ++r) {
      regions.emplace_back(
          std::aligned_alloc(alignment,
                             (bytes + alignment - 1) / alignment * alignment),
          &std::free);
      std::memset(regions.back().get(), 0x77, bytes);
      places.push_back(static_cast<char *>(regions.back().get()));
    }
    list =
        std::make_unique<Fenced<char *>>(Fenced<char *>::input(places, fence));
    table.slots = slots;
    table.keys = keys.data();
    table.numbers = numbers.data();
    table.regions = list->data();
    table.slot_values = slotValues.data();
  }
  const pdl_device_table *operator->() const { return &table; }
  const pdl_device_table *get() const { return &table; }

private:
  Fenced<int64_t> keys;
  Fenced<uint32_t> numbers;
  Fenced<double> slotValues;
  std::unique_ptr<Fenced<char *>> list;
  std::vector<std::unique_ptr<void, void (*)(void *)>> regions;
  pdl_device_table table;
};

template <typename T> class TablesTest : public testing::Test {
protected:
  std::mt19937 random{17};
};
TYPED_TEST_SUITE(TablesTest, ElementTypes);

/// Results of the launches of a pull.
struct Pulled {
  std::vector<void *> rows;
  std::vector<uint32_t> numbers;
  int64_t used;
};

template <typename T>
Pulled pull(const HostTable &table, const std::vector<int64_t> &keys,
            int64_t used, int64_t threads, Fence fence, std::mt19937 &random) {
  const auto count = int64_t(keys.size());
  const auto given = Fenced<int64_t>::input(keys, fence);
  const Fenced<void *> rows(std::vector<void *>(keys.size()), fence);
  const Fenced<uint32_t> numbers(std::vector<uint32_t>(keys.size()), fence);
  const auto before = Fenced<int64_t>::input({used}, fence);
  const Fenced<int64_t> after(std::vector<int64_t>(1), fence);
  const Fenced<int32_t> counts(
      std::vector<int32_t>(
          size_t(pdldevice_table_count_turns(count, nullptr, nullptr))),
      fence);
  const int64_t parts = pdlabi::partsOfTableRow(table->width, table->slot_count,
                                                table->row_slot_count);
  runThreads(threads, random, [&](int64_t first, int64_t stride) {
    pdldevice_table_find(table.get(), count, given.data(), rows.data(), first,
                         stride);
  });
  runThreads(threads, random, [&](int64_t first, int64_t stride) {
    pdldevice_table_count(count, rows.data(), counts.data(), first, stride);
  });
  runThreads(threads, random, [&](int64_t first, int64_t stride) {
    pdldevice_table_place(table.get(), count, counts.data(), before.data(),
                          after.data(), rows.data(), numbers.data(), first,
                          stride);
  });
  runThreads(threads, random, [&](int64_t first, int64_t stride) {
    PDL_DEVICE_FUNCTION(T, table_insert)
    (table.get(), parts, count, given.data(), rows.data(), numbers.data(),
     /*time=*/5, /*open=*/0, first, stride);
  });
  return {{rows.values().begin(), rows.values().end()},
          {numbers.values().begin(), numbers.values().end()},
          after.values().front()};
}

// For any number of threads, rows have the same numbers, in the order of new
// keys, and the same bits as on the host.
TYPED_TEST(TablesTest, PullsGiveTheSameRows) {
  const int32_t type = typeCode<TypeParam>;
  for (const int32_t storage : {PDL_STORE_ELEMENT, PDL_STORE_F16})
    for (const int64_t width : {1, 6, 700}) {
      if (type == PDL_F64 && storage != PDL_STORE_ELEMENT)
        continue;
      const TableOptions options = makeOptions(type, storage, width);
      const auto host = pdlrt::createHashTable(options);
      const std::vector<int64_t> keys = makeKeys(700, this->random);
      const std::vector<int64_t> first(keys.begin(), keys.begin() + 400),
          second(keys.begin() + 250, keys.end());
      for (int64_t threads : threadCounts)
        for (Fence fence : fences) {
          // A single slot stays free.
          const HostTable table(options, 700, 700, fence);
          const Pulled one =
              pull<TypeParam>(table, first, 0, threads, fence, this->random);
          const Pulled two = pull<TypeParam>(table, second, one.used, threads,
                                             fence, this->random);
          ASSERT_EQ(one.used, 400);
          ASSERT_EQ(two.used, 700);
          std::vector<char> want(host->rowBytes());
          for (size_t i = 0; i < keys.size(); ++i) {
            const bool isFirst = i < 400;
            void *row = isFirst ? one.rows[i] : two.rows[i - 250];
            const uint32_t number =
                isFirst ? one.numbers[i] : two.numbers[i - 250];
            ASSERT_EQ(number, i + 1);
            if (i >= 250 && isFirst) {
              ASSERT_EQ(two.rows[i - 250], row);
              ASSERT_EQ(two.numbers[i - 250], 0u);
            }
            const auto layout = options.layout();
            ASSERT_EQ(row,
                      table->regions[i / layout.rowsOfRegion()] +
                          layout.offsetOf(uint32_t(i % layout.rowsOfRegion())));
            host->initialRow(keys[i], want.data());
            ASSERT_EQ(std::memcmp(row, want.data(), want.size()), 0) << i;
            ASSERT_EQ(*layout.places().headerOf(row), 0x10000u | 5 << 17);
          }
        }
    }
}

// All keys of an index with one free slot are found, and are moved to a larger
// one.
TYPED_TEST(TablesTest, AFullIndexIsRehashed) {
  const TableOptions options =
      makeOptions(typeCode<TypeParam>, PDL_STORE_ELEMENT, 2);
  const std::vector<int64_t> keys = makeKeys(500, this->random);
  std::vector<int64_t> others;
  for (const int64_t key : makeKeys(2000, this->random))
    if (std::ranges::find(keys, key) == keys.end())
      others.push_back(key);
  for (int64_t threads : threadCounts)
    for (Fence fence : fences) {
      const HostTable table(options, 500, 500, fence);
      const Pulled pulled =
          pull<TypeParam>(table, keys, 0, threads, fence, this->random);
      const HostTable larger(options, 777, 1, fence);
      runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
        pdldevice_table_rehash(larger.get(), 500, table->keys, table->numbers,
                               first, stride);
      });
      std::map<int64_t, uint32_t> found;
      for (int64_t slot = 0; slot < 777; ++slot)
        if (larger->keys[slot] != 0)
          ASSERT_TRUE(
              found.emplace(larger->keys[slot], larger->numbers[slot]).second);
        else
          ASSERT_EQ(larger->numbers[slot], 0u);
      found[0] = larger->numbers[777];
      ASSERT_EQ(found.size(), 500u);
      for (size_t i = 0; i < keys.size(); ++i)
        ASSERT_EQ(found[keys[i]], pulled.numbers[i]);
      // Missing keys are not found.
      std::vector<void *> rows(others.size(), this);
      runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
        pdldevice_table_find(table.get(), int64_t(others.size()), others.data(),
                             rows.data(), first, stride);
      });
      ASSERT_EQ(std::ranges::count(rows, nullptr), int64_t(others.size()));
    }
}

// As on a GPU, threads insert into slots concurrently; here all of them want
// the same one.
TYPED_TEST(TablesTest, ThreadsInsertAtOnce) {
  const TableOptions options =
      makeOptions(typeCode<TypeParam>, PDL_STORE_ELEMENT, 1);
  const auto layout = options.layout();
  constexpr int64_t threads = 4, count = 1500;
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < count; ++i) {
    keys.push_back(int64_t(pdlabi::unmixKey(uint64_t(i + 1))));
    ASSERT_EQ(pdlabi::homeSlotOf(keys.back(), count + 1), 0);
  }
  for (int round = 0; round < 20; ++round) {
    const HostTable table(options, count + 1, count, Fence::after);
    std::vector<void *> rows;
    std::vector<uint32_t> numbers;
    for (int64_t i = 0; i < count; ++i) {
      rows.push_back(table->regions[i / layout.rowsOfRegion()] +
                     layout.offsetOf(uint32_t(i % layout.rowsOfRegion())));
      numbers.push_back(uint32_t(i + 1));
    }
    std::barrier start(threads);
    std::vector<std::jthread> all;
    for (int64_t thread = 0; thread < threads; ++thread)
      all.emplace_back([&, thread] {
        start.arrive_and_wait();
        PDL_DEVICE_FUNCTION(TypeParam, table_insert)
        (table.get(), /*parts=*/1, count, keys.data(), rows.data(),
         numbers.data(), /*time=*/0, /*open=*/1, thread, threads);
      });
    all.clear();
    std::vector<void *> found(keys.size());
    pdldevice_table_find(table.get(), count, keys.data(), found.data(), 0, 1);
    ASSERT_EQ(found, rows);
  }
}

// Rows are copied word by word in both directions, and listed with their keys.
TYPED_TEST(TablesTest, CopiesAndLists) {
  const TableOptions options =
      makeOptions(typeCode<TypeParam>, PDL_STORE_ELEMENT, 5);
  const std::vector<int64_t> keys = makeKeys(300, this->random);
  const auto words = int64_t(options.rowBytes() / 4);
  for (int64_t threads : threadCounts)
    for (Fence fence : fences) {
      const HostTable table(options, 400, 300, fence);
      const Pulled pulled =
          pull<TypeParam>(table, keys, 0, threads, fence, this->random);
      const auto rows = Fenced<void *>::input(pulled.rows, fence);
      std::vector<uint32_t> values(size_t(300 * words));
      for (uint32_t &value : values)
        value = uint32_t(this->random());
      const auto from = Fenced<uint32_t>::input(values, fence);
      const Fenced<uint32_t> to(std::vector<uint32_t>(values.size()), fence);
      runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
        pdldevice_table_write(words, 300, rows.data(), from.data(), first,
                              stride);
      });
      runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
        pdldevice_table_read(words, 300, rows.data(), to.data(), first, stride);
      });
      ASSERT_TRUE(std::ranges::equal(to.values(), values));
      // Headers are stored elsewhere. Some are saved, and then used.
      const std::vector<void *> some(pulled.rows.begin(),
                                     pulled.rows.begin() + 100);
      runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
        pdldevice_table_note(table.get(), 300, nullptr, pdlabi::TableSaved, 0,
                             first, stride);
      });
      runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
        pdldevice_table_note(table.get(), 100, some.data(),
                             pdlabi::TableUpdated, 6, first, stride);
      });
      for (size_t i = 0; i < keys.size(); ++i)
        ASSERT_EQ(*table->places.headerOf(pulled.rows[i]),
                  i < 100 ? 0x10001u | 6 << 17 : 5u << 17);
      for (const int64_t onlyDirty : {0, 1}) {
        std::map<int64_t, void *> listed;
        for (int64_t begin = 0; begin < 401; begin += 133) {
          const int64_t count = std::min<int64_t>(133, 401 - begin);
          const Fenced<int64_t> outKeys(std::vector<int64_t>(size_t(count)),
                                        fence);
          const Fenced<void *> outRows(std::vector<void *>(size_t(count)),
                                       fence);
          runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
            pdldevice_table_list(table.get(), begin, count, onlyDirty,
                                 outKeys.data(), outRows.data(), first, stride);
          });
          for (int64_t i = 0; i < count; ++i)
            if (void *row = outRows.data()[i])
              ASSERT_TRUE(listed.emplace(outKeys.data()[i], row).second);
        }
        ASSERT_EQ(listed.size(), onlyDirty ? 100u : 300u);
        for (size_t i = 0; i < listed.size(); ++i)
          ASSERT_EQ(listed[keys[i]], pulled.rows[i]);
      }
    }
}

// Checks all rows by number: their keys, addresses, and gradients of rows that
// have one.
TYPED_TEST(TablesTest, SpreadsGradientsToAllRows) {
  const TableOptions options =
      makeOptions(typeCode<TypeParam>, PDL_STORE_ELEMENT, 3);
  constexpr int64_t all = 200, width = 4;
  const std::vector<int64_t> keys = makeKeys(all, this->random);
  std::vector<int64_t> touched;
  for (size_t i = 0; i < all; i += 3)
    touched.push_back(keys[i]);
  std::ranges::shuffle(touched, this->random);
  const auto count = int64_t(touched.size());
  for (int64_t threads : threadCounts)
    for (Fence fence : fences) {
      const HostTable table(options, 250, all, fence);
      const Pulled pulled =
          pull<TypeParam>(table, keys, 0, threads, fence, this->random);
      const Fenced<int64_t> keysOfRows(std::vector<int64_t>(all), fence);
      runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
        pdldevice_table_keys(table.get(), 250, keysOfRows.data(), first,
                             stride);
      });
      ASSERT_TRUE(std::ranges::equal(keysOfRows.values(), keys));
      const auto given = Fenced<int64_t>::input(touched, fence);
      const Fenced<uint32_t> marks(std::vector<uint32_t>(all), fence);
      runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
        pdldevice_table_mark(table.get(), count, given.data(), marks.data(),
                             first, stride);
      });
      std::vector<TypeParam> values;
      for (int64_t i = 0; i < count * width; ++i)
        values.push_back(anyNumber<TypeParam>(Numbers::normal, this->random));
      const auto gradients = Fenced<TypeParam>::input(values, fence);
      for (int64_t begin = 0; begin < all; begin += 70) {
        const int64_t some = std::min<int64_t>(70, all - begin);
        const Fenced<void *> rows(std::vector<void *>(size_t(some)), fence);
        const Fenced<TypeParam> out(
            std::vector<TypeParam>(size_t(some * width), TypeParam(-7)), fence);
        runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
          PDL_DEVICE_FUNCTION(TypeParam, table_spread)
          (table.get(), begin, some, width, marks.data(), gradients.data(),
           rows.data(), out.data(), first, stride);
        });
        std::vector<TypeParam> want;
        for (int64_t n = begin; n < begin + some; ++n) {
          ASSERT_EQ(rows.data()[n - begin], pulled.rows[size_t(n)]);
          const auto found = std::ranges::find(touched, keys[size_t(n)]);
          for (int64_t e = 0; e < width; ++e)
            want.push_back(
                found == touched.end()
                    ? TypeParam(0)
                    : values[size_t((found - touched.begin()) * width + e)]);
        }
        expectSameBits<TypeParam>(out.values(), want);
      }
    }
}

// Rows of 16 bits are widened, with their slots after their values, and rounded
// with the random bits that the host draws.
TEST(StoredRowsTest, WidensAndRoundsAsTheHost) {
  std::mt19937 random(5);
  for (const int32_t storage : {PDL_STORE_BF16, PDL_STORE_F16})
    for (const int64_t width : {1, 8, 13, 70}) {
      const TableOptions options = makeOptions(PDL_F32, storage, width);
      const auto elements = int64_t(options.rowElements());
      const std::vector<int64_t> keys = makeKeys(60, random);
      for (const int64_t update : {int64_t(1), (int64_t(3) << 33) + 5})
        for (int64_t threads : threadCounts)
          for (Fence fence : fences) {
            const HostTable table(options, 80, 60, fence);
            const Pulled pulled =
                pull<float>(table, keys, 0, threads, fence, random);
            const auto rows = Fenced<void *>::input(pulled.rows, fence);
            const auto given = Fenced<int64_t>::input(keys, fence);
            const Fenced<float> wide(std::vector<float>(size_t(60 * elements)),
                                     fence);
            const Fenced<void *> places(std::vector<void *>(60), fence);
            runThreads(threads, random, [&](int64_t first, int64_t stride) {
              pdldevice_table_widen(table.get(), elements, 60, rows.data(),
                                    wide.data(), places.data(), first, stride);
            });
            std::vector<char> bytes;
            std::vector<void *> copies;
            for (int64_t i = 0; i < 60; ++i) {
              std::vector<float> want(size_t(elements), 0);
              const auto *row = static_cast<const char *>(pulled.rows[i]);
              pdlrt::widenStored(storage, width, row, want.data());
              std::memcpy(want.data() + width, row + options.valueBytes(),
                          size_t(elements - width) * sizeof(float));
              ASSERT_EQ(places.data()[i], wide.data() + i * elements);
              expectSameBits<float>({wide.data() + i * elements, want.size()},
                                    want);
              bytes.insert(bytes.end(), row, row + options.rowBytes());
            }
            for (int64_t i = 0; i < 60; ++i)
              copies.push_back(bytes.data() + size_t(i) * options.rowBytes());
            for (int64_t i = 0; i < 60 * elements; ++i)
              wide.data()[i] = anyNumber<float>(Numbers::normal, random);
            for (const bool isFinite : {true, false}) {
              if (!isFinite) // finite in f32, but not in f16
                wide.data()[37 * elements] =
                    storage == PDL_STORE_F16
                        ? 70000.f
                        : std::numeric_limits<float>::infinity();
              const Fenced<int32_t> found(std::vector<int32_t>(1), fence);
              runThreads(threads, random, [&](int64_t first, int64_t stride) {
                pdldevice_table_round(table.get(), width, elements, 60, update,
                                      given.data(), wide.data(), rows.data(),
                                      found.data(), first, stride);
              });
              ASSERT_EQ(found.values().front(), !isFinite);
              ASSERT_EQ(pdlrt::storeAtRandom(storage,
                                             {options.seed, options.id, update},
                                             60, width, elements, keys.data(),
                                             wide.data(), copies.data()),
                        isFinite);
              for (int64_t i = 0; i < 60; ++i) {
                std::memcpy(static_cast<char *>(copies[i]) +
                                options.valueBytes(),
                            wide.data() + i * elements + width,
                            size_t(elements - width) * sizeof(float));
                ASSERT_EQ(
                    std::memcmp(pulled.rows[i], copies[i], options.rowBytes()),
                    0)
                    << "row " << i;
              }
            }
          }
    }
}

// Missing rows give their initial value, or zeros.
TYPED_TEST(TablesTest, GathersAnyWidth) {
  for (const int64_t width : {1, 5, 64}) {
    const TableOptions options =
        makeOptions(typeCode<TypeParam>, PDL_STORE_ELEMENT, width);
    const auto host = pdlrt::createHashTable(options);
    const std::vector<int64_t> keys = makeKeys(150, this->random);
    for (int64_t threads : threadCounts)
      for (Fence fence : fences) {
        const HostTable table(options, 200, 150, fence);
        Pulled pulled =
            pull<TypeParam>(table, keys, 0, threads, fence, this->random);
        for (size_t i = 0; i < keys.size(); i += 3)
          pulled.rows[i] = nullptr;
        const auto given = Fenced<int64_t>::input(keys, fence);
        const auto rows = Fenced<void *>::input(pulled.rows, fence);
        for (const int32_t unknown : {PDL_UNKNOWN_INITIAL, PDL_UNKNOWN_ZERO}) {
          const Fenced<TypeParam> out(
              std::vector<TypeParam>(size_t(150 * width), TypeParam(-7)),
              fence);
          runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
            PDL_DEVICE_FUNCTION(TypeParam, table_gather)
            (table.get(), width, 150, given.data(), rows.data(), 0,
             PDL_STORE_ELEMENT, unknown, out.data(), first, stride);
          });
          std::vector<TypeParam> want(size_t(150 * width));
          for (size_t i = 0; i < keys.size(); ++i)
            if (i % 3 != 0 || unknown == PDL_UNKNOWN_INITIAL)
              host->initialElements(keys[i], &want[i * size_t(width)]);
          expectSameBits<TypeParam>(out.values(), want);
        }
      }
  }
}

} // namespace
