//===- Main.cpp - Measures operations of tables ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the table operations of a step, in batches of 26,000 ids: finding
// distinct keys and their rows, new rows, and updates. The limits are rows of
// the same size in one array, which are read in the same order without a
// search, and absl::flat_hash_map from keys to places in such an array.
// Everything runs on one thread; the result is its CPU time.
//
//===----------------------------------------------------------------------===//

#include "../handwritten/Measure.h"
#include "pdlabi/abi/calls.h"
#include "pdlabi/hash.h"
#include "pdlrt/Core/AddressBlocks.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Table/EmbeddingTable.h"
#include "pdlrt/Table/KeyIndex.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace pdlbench;
using namespace pdlrt;

static constexpr int64_t batchSize = 26000;
/// A row is a cache line: 16 floats without slots.
static constexpr int64_t width = 16;

/// Returns key `i` of a table; the keys are spread over all 64 bits.
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

/// Draws numbers of keys with probabilities proportional to 1 / rank^1.05
/// (Zipf). Uses the inverse of the integral, which is accurate enough because
/// ranks are shuffled.
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

/// Returns batches of key numbers below `count`.
static std::vector<std::vector<int64_t>> makeBatches(int64_t count, bool zipf,
                                                     int batches) {
  std::mt19937_64 random(7);
  ZipfDraws draw(count);
  std::vector<std::vector<int64_t>> result(batches);
  for (std::vector<int64_t> &batch : result)
    for (int64_t i = 0; i < batchSize; ++i) {
      const int64_t rank =
          zipf ? std::min(draw(random), count - 1) : int64_t(random() % count);
      // Keys with adjacent ranks are not adjacent in memory.
      batch.push_back(
          int64_t(pdlabi::mixKey(uint64_t(rank)) % uint64_t(count)));
    }
  return result;
}

/// Adds the gathered values, so that the compiler does not remove the gather.
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

/// Returns the throughput in millions of keys per second.
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
  pdl_lookup lookup = {};
  lookup.key_count = batchSize;
  lookup.rows = rows.data();
  const double both = bestSeconds(0.5, [&] {
    for (const std::vector<int64_t> &batch : keys) {
      int64_t inserted = 0;
      if (!table
               .findOrInsert(batchSize, batch.data(), rows.data(), scratch,
                             inserted)
               .ok())
        std::abort();
      pdlrt_gather(PDL_F32, &lookup, width, out.data());
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

/// Returns the memory per key of a table in addition to values and slots, in
/// bytes.
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
  // With typical initial values of models, and with zeros.
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
      // The overhead of an almost empty table is dominated by its first pages
      // and shards.
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

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

static void once(const pdl_once_arguments *, void *) {}

/// Rules with all their arithmetic on elements, in the form that the compiler
/// generates.
static int32_t adam(int64_t count, int64_t, void *const *rows,
                    const void *const *gradients, const void *) {
  constexpr float beta1 = 0.9f, beta2 = 0.999f, rate = 1e-3f, epsilon = 1e-8f;
  for (int64_t r = 0; r < count; ++r) {
    auto *__restrict value = static_cast<float *>(rows[r]);
    float *__restrict first = value + width;
    float *__restrict second = first + width;
    auto *__restrict gradient = static_cast<const float *>(gradients[r]);
#pragma clang loop vectorize(enable) unroll(disable)
    for (int64_t i = 0; i < width; ++i) {
      const float g = gradient[i];
      first[i] = beta1 * first[i] + (1 - beta1) * g;
      second[i] = beta2 * second[i] + (1 - beta2) * g * g;
      value[i] -= rate * first[i] / (std::sqrt(second[i]) + epsilon);
    }
  }
  return 0;
}

static int32_t adagrad(int64_t count, int64_t, void *const *rows,
                       const void *const *gradients, const void *) {
  for (int64_t r = 0; r < count; ++r) {
    auto *__restrict value = static_cast<float *>(rows[r]);
    float *__restrict sums = value + width;
    auto *__restrict gradient = static_cast<const float *>(gradients[r]);
#pragma clang loop vectorize(enable) unroll(disable)
    for (int64_t i = 0; i < width; ++i) {
      sums[i] += gradient[i] * gradient[i];
      value[i] -= 0.01f * gradient[i] / (std::sqrt(sums[i]) + 1e-8f);
    }
  }
  return 0;
}

/// An optimizer rule that updates one table, like a program of a compiled
/// model.
struct Rule {
  const char *name;
  int32_t slots;
  decltype(&adam) kernel;
};

static void printUpdates(const Rule &rule, int64_t count) {
  static const int64_t shape[] = {width};
  static const double zeros[2] = {};
  pdl_symbol symbol = {};
  symbol.struct_size = sizeof(symbol);
  symbol.name = "bench";
  symbol.kind = PDL_SYMBOL_TABLE;
  symbol.element_type = PDL_F32;
  symbol.rank = 1;
  symbol.shape = shape;
  symbol.row_count = 1;
  symbol.row_width = symbol.gradient_width = width;
  symbol.initializer = {PDL_INIT_CONSTANT, 0.5, 0};
  symbol.slot_count = rule.slots;
  symbol.slot_initial_values = zeros;
  symbol.row_kernel = rule.kernel;
  pdl_group group = {};
  group.struct_size = sizeof(group);
  group.name = "all";
  group.clip = -1;
  group.element_type = PDL_F32;
  group.once = once;
  const pdl_update_descriptor update = {0, 0, 0};
  const pdl_lookup_descriptor lookup = {0};
  pdl_program program = {};
  program.struct_size = sizeof(program);
  program.name = "train";
  program.lookup_count = program.update_count = program.objective_count = 1;
  program.lookups = &lookup;
  program.updates = &update;
  pdl_descriptor descriptor = {};
  descriptor.symbol_count = descriptor.group_count = descriptor.program_count =
      1;
  descriptor.symbols = &symbol;
  descriptor.groups = &group;
  descriptor.programs = &program;

  Model model(descriptor, 1);
  EmbeddingTable &table = *model.table(0);
  Scheduler scheduler(1);
  Updater updater(model, program, scheduler);
  const int64_t stride = width * (1 + rule.slots);
  AddressBlocks memory;
  auto *array = reinterpret_cast<float *>(
      memory.take(size_t(count * stride) * sizeof(float)));
  std::fill_n(array, count * stride, 0.5f);

  // The keys of each batch are distinct, as in a step.
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), int64_t(0));
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(5));
  const std::vector<float> gradients(batchSize * width, 0.25f);
  std::vector<const void *> pointers(batchSize);
  for (int64_t i = 0; i < batchSize; ++i)
    pointers[i] = gradients.data() + i * width;
  struct Batch {
    std::vector<int64_t> keys;
    std::vector<void *> rows, places;
  };
  std::vector<Batch> batches(count / batchSize);
  TableScratch scratch;
  for (size_t b = 0; b < batches.size(); ++b) {
    Batch &batch = batches[b];
    batch.rows.resize(batchSize);
    for (int64_t i = 0; i < batchSize; ++i) {
      const int64_t number = numbers[int64_t(b) * batchSize + i];
      batch.keys.push_back(keyOf(number));
      batch.places.push_back(array + number * stride);
    }
    int64_t inserted = 0;
    if (!table
             .findOrInsert(batchSize, batch.keys.data(), batch.rows.data(),
                           scratch, inserted)
             .ok())
      std::abort();
  }
  // Exchange rows between batches: the rows of a real step were not all created
  // in the same step.
  std::mt19937_64 random(9);
  for (Batch &batch : batches) {
    Batch &other = batches[random() % batches.size()];
    for (int64_t i = 0; i < batchSize; i += 2) {
      std::swap(batch.keys[i], other.keys[i]);
      std::swap(batch.rows[i], other.rows[i]);
    }
  }
  const double ours = bestSeconds(0.5, [&] {
    for (Batch &batch : batches) {
      PartialSum merged;
      merged.present = true;
      merged.objectives = {{0, 1}};
      merged.blocks.push_back({nullptr, batchSize, batch.keys.data(),
                               batch.rows.data(), pointers.data()});
      if (!updater.apply(merged).ok())
        std::abort();
    }
  });
  constexpr int64_t atOnce = 32;
  const double limit = bestSeconds(0.5, [&] {
    for (Batch &batch : batches)
      for (int64_t i = 0; i < batchSize; i += atOnce) {
        const int64_t end = std::min(batchSize, i + atOnce);
        for (int64_t next = end; next < std::min(batchSize, end + atOnce);
             ++next)
          for (int64_t at = 0; at < stride; at += 16)
            __builtin_prefetch(static_cast<float *>(batch.places[next]) + at,
                               1);
        rule.kernel(end - i, width, batch.places.data() + i,
                    pointers.data() + i, nullptr);
      }
  });
  std::printf("  %s, rows of %lld bytes: %6.1f; without a table %6.1f (%2.0f "
              "%%)\n",
              rule.name,
              static_cast<long long>(stride * int64_t(sizeof(float))),
              rate(ours, batches.size()), rate(limit, batches.size()),
              100 * limit / ours);
}

/// Prints the throughput of fresh memory, the upper limit for new rows.
static void printFreshMemory() {
  constexpr size_t bytes = size_t(1) << 30;
  AddressBlocks memory;
  const double start = threadSeconds();
  char *fresh = memory.take(bytes);
  for (size_t at = 0; at < bytes; at += 4096)
    fresh[at] = 1;
  const double seconds = threadSeconds() - start;
  constexpr double bytesOfKey = width * sizeof(float) + 20;
  std::printf("memory that is new from the system: %.1f GB/s, or %.1f M new "
              "keys a second\n",
              double(bytes) / seconds / 1e9,
              double(bytes) / seconds / bytesOfKey / 1e6);
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
  printFreshMemory();
  for (int64_t count = 10'000; count <= most; count *= 10)
    printTable(count);
  // Larger tables of several gigabytes give the same results.
  const int64_t rows = std::min<int64_t>(most, 3'000'000);
  if (rows < batchSize)
    return 0;
  std::printf("updates of %lld rows, M rows a second\n",
              static_cast<long long>(rows));
  printUpdates({"Adam", 2, adam}, rows);
  printUpdates({"Adagrad", 1, adagrad}, rows);
}
