//===- Main.cpp - Keys and rows beside what memory allows -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a step asks of a table, in batches of 26,000 ids: distinct keys, their
// rows, new rows. Beside it the limit, rows of the same size in one array that
// are read in the same order, with nothing to search, and absl::flat_hash_map
// from keys to places in such an array. All on one thread, in its CPU time.
//
//===----------------------------------------------------------------------===//

#include "../handwritten/Measure.h"
#include "pdlabi/hash.h"
#include "pdlrt/Core/AddressBlocks.h"
#include "pdlrt/Table/EmbeddingTable.h"
#include "pdlrt/Table/KeyIndex.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace pdlbench;
using namespace pdlrt;

static constexpr int64_t batchSize = 26000;
/// A row is a cache line: 16 floats without slots.
static constexpr int64_t width = 16;

/// Number i of the keys that a table has: spread over all 64 bits.
static int64_t keyOf(int64_t i) {
  return int64_t(pdlabi::mixKey(uint64_t(i) + 1));
}

static std::unique_ptr<EmbeddingTable> makeTable(int32_t initializer) {
  TableOptions options;
  options.name = "bench";
  options.width = width;
  options.initializer = {initializer, -0.01, 0.01};
  return createHashTable(options);
}

/// Numbers of keys with probabilities as 1 / rank^1.05 (Zipf), by the inverse
/// of the integral, which is close enough for ranks that are shuffled anyhow.
class ZipfDraws {
public:
  explicit ZipfDraws(int64_t count) : most(std::pow(double(count), -0.05)) {}
  template <typename Random> int64_t operator()(Random &random) {
    std::uniform_real_distribution<double> unit;
    const double rank = std::pow(1 - unit(random) * (1 - most), -1 / 0.05) - 1;
    return int64_t(rank);
  }

private:
  double most;
};

/// Batches of numbers of keys, below `count`.
static std::vector<std::vector<int64_t>> makeBatches(int64_t count, bool zipf,
                                                     int batches) {
  std::mt19937_64 random(7);
  ZipfDraws draw(count);
  std::vector<std::vector<int64_t>> result(batches);
  for (std::vector<int64_t> &batch : result)
    for (int64_t i = 0; i < batchSize; ++i) {
      const int64_t rank =
          zipf ? std::min(draw(random), count - 1) : int64_t(random() % count);
      // Neighbours in rank are not neighbours in memory.
      batch.push_back(
          int64_t(pdlabi::mixKey(uint64_t(rank)) % uint64_t(count)));
    }
  return result;
}

/// Adds up what a gather has brought, so that it is not optimised away.
static float sumOf(const std::vector<float> &values) {
  float sum = 0;
  for (float value : values)
    sum += value;
  return sum;
}

static volatile float sink;

static void printDedupe() {
  std::printf("distinct keys, ns an id (inverse and occurrences by key too)\n");
  for (const int64_t ids : {batchSize, int64_t(1) << 20})
    for (const bool zipf : {false, true}) {
      std::mt19937_64 random(3);
      ZipfDraws draw(ids);
      std::vector<int64_t> keys;
      for (int64_t i = 0; i < ids; ++i)
        keys.push_back(
            keyOf(zipf ? draw(random) : int64_t(random() % uint64_t(ids))));
      KeyIndex index;
      const int64_t *list = keys.data();
      const double ours = bestSeconds(0.3, [&] {
        if (!index.assign(1, &list, &ids).ok())
          std::abort();
      });
      std::vector<int32_t> inverse(ids);
      absl::flat_hash_map<int64_t, int32_t> map;
      map.reserve(size_t(ids));
      const double theirs = bestSeconds(0.3, [&] {
        map.clear();
        map.reserve(size_t(ids));
        for (int64_t i = 0; i < ids; ++i)
          inverse[i] =
              map.try_emplace(keys[i], int32_t(map.size())).first->second;
      });
      std::printf("  %8lld ids, %-7s %8lld distinct: %5.1f;"
                  " absl (inverse alone): %5.1f\n",
                  static_cast<long long>(ids), zipf ? "Zipf" : "uniform",
                  static_cast<long long>(index.keyCount()),
                  1e9 * ours / double(ids), 1e9 * theirs / double(ids));
    }
}

/// Rows in one array, and absl's map to places in it.
struct Reference {
  AddressBlocks memory;
  float *rows;
  absl::flat_hash_map<int64_t, uint32_t> map;

  explicit Reference(int64_t count)
      : rows(reinterpret_cast<float *>(
            memory.take(size_t(count) * width * sizeof(float)))) {
    std::fill_n(rows, count * width, 0.5f);
  }
};

/// M keys a second.
static double rate(double seconds, size_t batches) {
  return double(batches) * double(batchSize) / seconds / 1e6;
}

static void printFind(EmbeddingTable &table, Reference &reference,
                      int64_t count, bool zipf) {
  const std::vector<std::vector<int64_t>> numbers =
      makeBatches(count, zipf, count > 100000 ? 40 : 10);
  std::vector<std::vector<int64_t>> keys;
  for (const std::vector<int64_t> &batch : numbers) {
    keys.emplace_back();
    for (int64_t number : batch)
      keys.back().push_back(keyOf(number));
  }
  std::vector<void *> rows(batchSize);
  std::vector<float> out(batchSize * width);
  TableScratch scratch;
  constexpr int64_t ahead = 16;
  constexpr size_t rowBytes = width * sizeof(float);
  const double find = bestSeconds(0.5, [&] {
    for (const std::vector<int64_t> &batch : keys)
      if (table.find(batchSize, batch.data(), rows.data(), scratch) != 0)
        std::abort();
  });
  const double both = bestSeconds(0.5, [&] {
    for (const std::vector<int64_t> &batch : keys) {
      int64_t inserted = 0;
      if (!table
               .findOrInsert(batchSize, batch.data(), rows.data(), scratch,
                             inserted)
               .ok())
        std::abort();
      pdlrt_gather(PDL_F32, batchSize, width, rows.data(), out.data());
    }
  });
  sink = sumOf(out);
  const double limit = bestSeconds(0.5, [&] {
    for (const std::vector<int64_t> &batch : numbers)
      for (int64_t i = 0; i < batchSize; ++i) {
        if (i + ahead < batchSize)
          __builtin_prefetch(reference.rows + batch[i + ahead] * width);
        std::memcpy(out.data() + i * width, reference.rows + batch[i] * width,
                    rowBytes);
      }
  });
  sink = sumOf(out);
  const double theirs = bestSeconds(0.5, [&] {
    for (const std::vector<int64_t> &batch : keys)
      for (int64_t i = 0; i < batchSize; ++i) {
        if (i + ahead < batchSize)
          reference.map.prefetch(batch[i + ahead]);
        std::memcpy(out.data() + i * width,
                    reference.rows +
                        reference.map.find(batch[i])->second * width,
                    rowBytes);
      }
  });
  sink = sumOf(out);
  std::printf("  %-7s find %6.1f, find + gather %6.1f; rows alone %6.1f "
              "(%2.0f %%); absl + gather %6.1f\n",
              zipf ? "Zipf" : "uniform", rate(find, keys.size()),
              rate(both, keys.size()), rate(limit, keys.size()),
              100 * limit / both, rate(theirs, keys.size()));
}

/// Of the rows that a table holds, beside values and slots, a key.
static double overhead(const EmbeddingTable &table) {
  return (double(table.memoryBytes()) -
          double(table.size()) * double(table.rowBytes())) /
         double(table.size());
}

static void printTable(int64_t count) {
  std::printf("%lld keys, rows of %lld bytes, M keys a second\n",
              static_cast<long long>(count),
              static_cast<long long>(width * sizeof(float)));
  std::vector<int64_t> batch(batchSize);
  std::vector<void *> rows(batchSize);
  TableScratch scratch;
  // With the initial values that models have, and with zeros.
  std::unique_ptr<EmbeddingTable> table;
  for (const int32_t initializer : {PDL_INIT_CONSTANT, PDL_INIT_UNIFORM}) {
    table = makeTable(initializer);
    std::vector<double> times;
    double most = 0, total = 0;
    for (int64_t begin = 0; begin < count; begin += batchSize) {
      const int64_t size = std::min(batchSize, count - begin);
      for (int64_t i = 0; i < size; ++i)
        batch[i] = keyOf(begin + i);
      int64_t inserted = 0;
      const double start = threadSeconds();
      if (!table
               ->findOrInsert(size, batch.data(), rows.data(), scratch,
                              inserted)
               .ok())
        std::abort();
      times.push_back(threadSeconds() - start);
      total += times.back();
      // A table that is almost empty has its first pages and shards.
      if (table->size() >= 1000000)
        most = std::max(most, overhead(*table));
    }
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    std::printf("  insert (%s) %5.1f; worst batch %.1f times the median",
                initializer == PDL_INIT_CONSTANT ? "a constant" : "uniform",
                double(count) / total / 1e6,
                sorted.back() / sorted[sorted.size() / 2]);
    if (most > 0)
      std::printf("; bytes a key beside the row: %.1f at most, %.1f now", most,
                  overhead(*table));
    std::printf("\n");
  }
  Reference reference(count);
  reference.map.reserve(size_t(count));
  for (int64_t i = 0; i < count; ++i)
    reference.map.emplace(keyOf(i), uint32_t(i));
  for (const bool zipf : {false, true})
    printFind(*table, reference, count, zipf);
}

int main(int argc, char **argv) {
  const int64_t most = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  if (argc > 2 || most < 10'000) {
    std::fprintf(stderr,
                 "usage: %s [KEYS]\nMeasures tables of 10^4, 10^5, ... keys, "
                 "up to KEYS (default 10^7; 10^8 need 15 GB).\n",
                 argv[0]);
    return argc == 2 && std::string(argv[1]) == "--help" ? 0 : 2;
  }
  printDedupe();
  for (int64_t count = 10'000; count <= most; count *= 10)
    printTable(count);
}
