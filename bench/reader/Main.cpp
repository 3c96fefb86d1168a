//===- Main.cpp - Measures the throughput of readers ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows as in the Criteo data: a label, 13 numbers of which some are missing,
// and 26 texts of 8 hexadecimal digits that become ids by xxh64. They are
// written to a file and read from the page cache on one thread; the result is
// CPU time. For comparison, measures the limits: only reading the file's bytes,
// and only finding the ends of its cells.
//
//===----------------------------------------------------------------------===//

#include "../handwritten/Measure.h"
#include "OtherFormats.h"
#include "pdlrt/Data/BatchSource.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <immintrin.h>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

using namespace pdlbench;
using namespace pdlrt;

static constexpr int64_t numbers = 13, texts = 26, cells = 1 + numbers + texts;

/// Returns a random row. Each id column has a large vocabulary of mostly rare
/// ids.
static std::string makeRow(std::mt19937_64 &random) {
  std::string row(1, char('0' + (random() % 4 == 0)));
  std::geometric_distribution<int64_t> size(0.25);
  for (int64_t i = 0; i < numbers; ++i) {
    row += '\t';
    if (random() % 5 == 0)
      continue;
    int64_t value = int64_t(random() % 10);
    for (int64_t digits = std::min<int64_t>(size(random), 5); digits > 0;
         --digits)
      value = 10 * value + int64_t(random() % 10);
    row += std::to_string(value);
  }
  for (int64_t i = 0; i < texts; ++i) {
    const uint64_t rank = random() % (random() % 100000 + 1);
    char text[10];
    std::snprintf(text, sizeof(text), "\t%08x",
                  unsigned(rank * 2654435761u + uint64_t(i)));
    row += text;
  }
  return row += '\n';
}

/// Descriptor of a program that reads such rows.
struct Record {
  pdl_field fields[3] = {};
  int32_t all[3] = {0, 1, 2};
  pdl_program program = {};
  pdl_descriptor descriptor = {};

  Record() {
    for (pdl_field &field : fields) {
      field.struct_size = sizeof(field);
      field.kind = PDL_FIELD_DENSE;
      field.element_type = PDL_F32;
      field.width = 1;
    }
    fields[0].name = "label";
    fields[1].name = "numbers";
    fields[1].width = numbers;
    fields[1].missing_kind = PDL_MISSING_VALUE;
    fields[2].name = "texts";
    fields[2].kind = PDL_FIELD_IDS;
    fields[2].element_type = PDL_I64;
    fields[2].width = texts;
    fields[2].hash_kind = PDL_HASH_XXH64;
    fields[2].salt_kind = PDL_SALT_SLOT;
    fields[2].missing_kind = PDL_MISSING_TOKEN;
    fields[2].missing_token = "none";
    program.struct_size = sizeof(program);
    program.name = "read";
    program.field_count = 3;
    program.fields = all;
    descriptor.struct_size = sizeof(descriptor);
    descriptor.field_count = 3;
    descriptor.fields = fields;
    descriptor.program_count = 1;
    descriptor.programs = &program;
  }
};

/// Descriptor of a program that reads a label, and ids with their numbers.
struct SparseRecord {
  pdl_field fields[3] = {};
  int32_t all[3] = {0, 1, 2};
  pdl_program program = {};
  pdl_descriptor descriptor = {};

  explicit SparseRecord(bool hasFields) {
    for (pdl_field &field : fields) {
      field.struct_size = sizeof(field);
      field.kind = PDL_FIELD_RAGGED;
      field.element_type = PDL_F32;
      field.width = hasFields ? texts : 1;
      field.missing_kind = PDL_MISSING_EMPTY;
    }
    fields[0].name = "label";
    fields[0].kind = PDL_FIELD_DENSE;
    fields[0].width = 1;
    fields[0].missing_kind = PDL_MISSING_ERROR;
    fields[1].name = "ids";
    fields[1].element_type = PDL_I64;
    fields[1].hash_kind = PDL_HASH_XXH64;
    fields[1].salt_kind = PDL_SALT_SLOT;
    fields[2].name = "values";
    program.struct_size = sizeof(program);
    program.name = "read";
    program.field_count = 3;
    program.fields = all;
    descriptor.struct_size = sizeof(descriptor);
    descriptor.field_count = 3;
    descriptor.fields = fields;
    descriptor.program_count = 1;
    descriptor.programs = &program;
  }
};

static void fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

static int64_t readAll(const std::string &path, std::vector<char> &buffer) {
  const int file = open(path.c_str(), O_RDONLY);
  int64_t total = 0;
  for (ssize_t count; (count = read(file, buffer.data(), buffer.size())) > 0;)
    total += count;
  close(file);
  return total;
}

static int64_t inflateAll(const std::string &path, std::vector<char> &buffer) {
  gzFile file = gzopen(path.c_str(), "rb");
  gzbuffer(file, 1 << 18);
  int64_t total = 0;
  for (int count;
       (count = gzread(file, buffer.data(), unsigned(buffer.size()))) > 0;)
    total += count;
  gzclose(file);
  return total;
}

/// Counts the cells that end in `text`.
static int64_t countCells(const std::string &text) {
  int64_t count = 0;
  const __m256i tab = _mm256_set1_epi8('\t'), line = _mm256_set1_epi8('\n');
  for (size_t i = 0; i + 32 <= text.size(); i += 32) {
    const __m256i bytes =
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(text.data() + i));
    count += __builtin_popcount(unsigned(_mm256_movemask_epi8(_mm256_or_si256(
        _mm256_cmpeq_epi8(bytes, tab), _mm256_cmpeq_epi8(bytes, line)))));
  }
  return count;
}

static volatile int64_t sink;

static int64_t unpackAll(const std::string &path, std::vector<char> &buffer) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  ZSTD_DStream *stream = ZSTD_createDStream();
  std::vector<char> packed(ZSTD_DStreamInSize());
  int64_t total = 0;
  for (size_t count;
       (count = std::fread(packed.data(), 1, packed.size(), file)) > 0;)
    for (ZSTD_inBuffer input = {packed.data(), count, 0};
         input.pos < input.size;) {
      ZSTD_outBuffer output = {buffer.data(), buffer.size(), 0};
      ZSTD_decompressStream(stream, &output, &input);
      total += int64_t(output.pos);
    }
  ZSTD_freeDStream(stream);
  std::fclose(file);
  return total;
}

template <typename AnyRecord>
static void readBatches(const std::string &path, const AnyRecord &record,
                        const std::string &cache = "", bool background = false,
                        const std::string &format = "") {
  DataOptions options;
  options.format = format;
  options.files = {path};
  options.cache = cache;
  options.unpackInBackground = background;
  options.batchSize = 1000;
  auto source = BatchSource::open(options, record.descriptor, record.program);
  if (!source)
    fail(source.status().message());
  Batch batch;
  while (true) {
    Expected<bool> more = (*source)->next(0, batch);
    if (!more)
      fail(more.status().message());
    if (!*more)
      return;
    sink = batch.size();
  }
}

/// Measures the formats other than delimited text.
static void measureOthers(const std::string &path, const std::string &text,
                          int64_t rows) {
  const Record record;
  for (const FormatRows &other : inOtherFormats(text, numbers)) {
    std::ofstream(path, std::ios::binary) << other.bytes;
    const SparseRecord sparse(other.format == "libffm");
    const double seconds = bestSeconds(2, [&] {
      if (other.isSparse)
        readBatches(path, sparse, "", false, other.format);
      else
        readBatches(path, record, "", false, other.format);
    });
    // A feature of a sparse format has an id and a number.
    const auto values = double(rows * (other.isSparse ? 1 + 2 * texts : cells));
    std::printf("%-38s %7.1f M values/s %6.2f GB/s %6.1f ns a value %6.0f k "
                "rows/s\n",
                (other.format + " to batches").c_str(), values / seconds / 1e6,
                double(other.bytes.size()) / seconds / 1e9,
                1e9 * seconds / values, double(rows) / seconds / 1e3);
  }
  std::filesystem::remove(path);
}

int main(int argc, char **argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 200'000;
  if (argc > 2 || rows < 1000) {
    std::fprintf(stderr,
                 "usage: %s [ROWS]\nReads ROWS rows (default 200000) from a "
                 "file that it writes to the folder for temporary files.\n",
                 argv[0]);
    return argc == 2 && std::string(argv[1]) == "--help" ? 0 : 2;
  }
  const std::string folder = std::filesystem::temp_directory_path();
  const std::string path =
      folder + "/pdl-bench-reader-" + std::to_string(getpid()) + ".tsv";
  const std::string packed = path + ".gz";
  std::string text;
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < rows; ++i)
    text += makeRow(random);
  std::ofstream(path) << text;
  gzFile file = gzopen(packed.c_str(), "wb");
  gzwrite(file, text.data(), unsigned(text.size()));
  gzclose(file);
  const std::string zstd = path + ".zst";
  {
    std::string bytes(ZSTD_compressBound(text.size()), '\0');
    bytes.resize(
        ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 3));
    std::ofstream(zstd, std::ios::binary) << bytes;
  }

  const Record record;
  std::vector<char> buffer(1 << 18);
  const double budget = 2;
  const double scan = bestSeconds(budget, [&] { sink = countCells(text); });
  const double plain =
      bestSeconds(budget, [&] { sink = readAll(path, buffer); });
  const double inflated =
      bestSeconds(budget, [&] { sink = inflateAll(packed, buffer); });
  const double ours = bestSeconds(budget, [&] { readBatches(path, record); });
  const double oursPacked =
      bestSeconds(budget, [&] { readBatches(packed, record); });
  const double unpacked =
      bestSeconds(budget, [&] { sink = unpackAll(zstd, buffer); });
  const double oursZstd =
      bestSeconds(budget, [&] { readBatches(zstd, record); });
  // Uses elapsed time, because two threads run.
  const auto background = [&](const std::string &file) {
    double best = 1e30;
    for (int i = 0; i < 5; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      readBatches(file, record, "", true);
      best = std::min(best, std::chrono::duration<double>(
                                std::chrono::steady_clock::now() - begin)
                                .count());
    }
    return best;
  };
  const double gzipInBackground = background(packed),
               zstdInBackground = background(zstd);
  const std::string cache = path + ".cache";
  const double written = bestSeconds(budget, [&] {
    std::filesystem::remove_all(cache);
    readBatches(path, record, cache);
  });
  const double cached =
      bestSeconds(budget, [&] { readBatches(path, record, cache); });
  const std::string cacheFile =
      std::filesystem::directory_iterator(cache)->path();
  const auto cacheBytes = double(std::filesystem::file_size(cacheFile));
  const double plainCache =
      bestSeconds(budget, [&] { sink = readAll(cacheFile, buffer); });
  std::filesystem::remove_all(cache);
  std::filesystem::remove(path);
  std::filesystem::remove(packed);
  std::filesystem::remove(zstd);

  const double values = double(rows * cells);
  double bytes = double(text.size());
  auto print = [&](const char *what, double seconds) {
    std::printf("%-38s %7.1f M values/s %6.2f GB/s %6.1f ns a value\n", what,
                values / seconds / 1e6, bytes / seconds / 1e9,
                1e9 * seconds / values);
  };
  print("limit: where cells end, in memory", scan);
  print("limit: bytes of the file", plain);
  print("limit: zlib's gzread", inflated);
  print("text to batches", ours);
  print("gzip to batches", oursPacked);
  print("the same, unpacked beside (clock)", gzipInBackground);
  print("limit: zstd's stream", unpacked);
  print("zstd to batches", oursZstd);
  print("the same, unpacked beside (clock)", zstdInBackground);
  print("text to batches and a cache", written);
  bytes = cacheBytes;
  print("limit: bytes of the cache", plainCache);
  print("cache to batches", cached);
  measureOthers(path, text, rows);
}
