//===- Columns.cpp - Measures the throughput of files of columns ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a Parquet or Arrow file, which bench/parquet_reading.py writes, into
// batches on one thread. The result is CPU time.
//
//===----------------------------------------------------------------------===//

#include "../handwritten/Measure.h"
#include "pdlrt/Data/BatchSource.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace pdlbench;
using namespace pdlrt;

static volatile int64_t sink;

static void fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

/// Reads all batches. Returns the number of values.
static int64_t readBatches(const std::string &path, const pdl_field &field) {
  const int32_t index = 0;
  pdl_program program = {};
  program.struct_size = sizeof(program);
  program.name = "read";
  program.field_count = 1;
  program.fields = &index;
  pdl_descriptor descriptor = {};
  descriptor.struct_size = sizeof(descriptor);
  descriptor.field_count = 1;
  descriptor.fields = &field;
  descriptor.program_count = 1;
  descriptor.programs = &program;
  DataOptions options;
  options.files = {path};
  options.batchSize = 1000;
  auto source = BatchSource::open(options, descriptor, program);
  if (!source)
    fail(source.status().message());
  Batch batch;
  int64_t values = 0;
  while (true) {
    Expected<bool> more = (*source)->next(0, batch);
    if (!more)
      fail(more.status().message());
    if (!*more)
      return values;
    values += batch.fields()[0].value_count;
    sink = batch.size();
  }
}

int main(int argc, char **argv) {
  const std::string_view kind = argc == 5 ? argv[2] : "";
  const int64_t width = argc == 5 ? std::atoll(argv[4]) : 0;
  if ((kind != "numbers" && kind != "ids" && kind != "hashed" &&
       kind != "bags") ||
      width < 1) {
    std::fprintf(stderr,
                 "usage: %s FILE numbers|ids|hashed|bags NAME WIDTH\n"
                 "Reads the columns NAME.0, NAME.1 and so on of a Parquet or "
                 "Arrow file (NAME if WIDTH is 1), and prints the number of "
                 "values in a second of CPU time.\n",
                 argv[0]);
    return 2;
  }
  pdl_field field = {};
  field.struct_size = sizeof(field);
  field.name = argv[3];
  field.kind = kind == "numbers" ? PDL_FIELD_DENSE
               : kind == "bags"  ? PDL_FIELD_RAGGED
                                 : PDL_FIELD_IDS;
  field.element_type = kind == "numbers" ? PDL_F32 : PDL_I64;
  field.width = width;
  field.hash_kind =
      kind == "numbers" || kind == "ids" ? PDL_HASH_NONE : PDL_HASH_XXH64;
  field.missing_kind = kind == "bags" ? PDL_MISSING_EMPTY : PDL_MISSING_ERROR;
  const std::string path = argv[1];
  int64_t values = 0;
  const double seconds =
      bestSeconds(2, [&] { values = readBatches(path, field); });
  std::printf("%.0f\n", double(values) / seconds);
}
