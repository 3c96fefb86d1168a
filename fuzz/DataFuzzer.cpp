//===- DataFuzzer.cpp - Fuzzes files of samples ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/TestRecord.h"
#include "Fuzzer.h"
#include "pdlrt/Files/Safetensors.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <unistd.h>

using namespace pdlrt;

namespace {

/// Fields of all kinds.
struct Fields {
  Fields() {
    record.setValues(record.dense("label"), {"no", "yes"}, {0, 1});
    record.dense("x", 2).missing_kind = PDL_MISSING_VALUE;
    record.ids("id").hash_kind = PDL_HASH_NONE;
    record.ragged("bag", 2).separator = '|';
    descriptor = &record.descriptor();
    program = &record.program();
  }
  test::TestRecord record;
  const pdl_descriptor *descriptor;
  const pdl_program *program;
};

} // namespace

/// The first byte selects how the others are read.
static constexpr const char *suffixes[] = {".csv", ".tsv", ".csv.gz",
                                           ".safetensors"};

std::vector<std::string> fuzzSeeds() {
  const std::vector<float> numbers(4, 1.f);
  const std::vector<int64_t> ids(4, 3), splits = {0, 1, 2, 3, 4};
  SafetensorsWriter writer;
  writer.setMetadata("ids", "keys");
  (void)writer.add("label", TensorType::F32, {2}, numbers.data());
  (void)writer.add("x", TensorType::F32, {2, 2}, numbers.data());
  (void)writer.add("id", TensorType::I64, {2, 1}, ids.data());
  (void)writer.add("bag.values", TensorType::I64, {4}, ids.data());
  (void)writer.add("bag.splits", TensorType::I64, {5}, splits.data());
  const std::string path = asFile("");
  (void)writer.write(path);
  std::stringstream tensors;
  tensors << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string rows = "yes,1,2,3,a|b,c\nno,\"1.5\",,-7,\"d\"\"e\",\r\n";
  return {'\0' + rows,
          '\4' + ("label,x,x,id,bag,bag\n" + rows),
          '\10' + rows,
          "\1yes\t1\t2\t3\ta|b\tc\n",
          '\3' + tensors.str(),
          '\20' + rows,
          "\61yes\t1\t2\t3\ta|b\tc\nno\t\t2\t3\t\t\n"};
}

static void fuzzSource(const Fields &fields, DataOptions &options,
                       uint8_t how) {
  options.header = how & 4;
  options.shuffleWindow = how & 8 && !options.flushAfter ? 5 : 0;
  options.batchSize = 3;
  options.maxBadRows = std::numeric_limits<int64_t>::max();
  auto source = BatchSource::open(options, *fields.descriptor, *fields.program);
  if (!source)
    return;
  Batch batch;
  while (true) {
    Expected<bool> more = (*source)->next(0, batch);
    if (!more || !*more)
      return;
    if (batch.size() > 3 || batch.fields()[0].value_count != batch.size())
      __builtin_trap();
  }
}

/// Returns the path of a pipe that contains as many of the bytes as fit into
/// it. Data are read from it as in `predict --data -`.
static std::string asPipe(std::string_view bytes, int &descriptor) {
  int ends[2];
  if (pipe(ends) != 0)
    __builtin_trap();
  constexpr size_t room = 4096;
  if (write(ends[1], bytes.data(), std::min(bytes.size(), room)) < 0)
    __builtin_trap();
  close(ends[1]);
  descriptor = ends[0];
  return "/proc/self/fd/" + std::to_string(ends[0]);
}

void fuzzOne(const std::string &bytes) {
  if (bytes.empty())
    return;
  static Fields fields;
  const auto how = uint8_t(bytes[0]);
  DataOptions options;
  int pipeEnd = -1;
  const bool isStream = how & 16 && how % 4 < 2;
  options.files = {isStream ? asPipe(std::string_view(bytes).substr(1), pipeEnd)
                            : asFile(bytes.substr(1), suffixes[how % 4])};
  if (isStream) {
    options.delimiter = how % 4 == 0 ? ',' : '\t';
    options.flushAfter = 0;
    if (how & 32)
      options.copyColumns = {"1"};
  }
  fuzzSource(fields, options, how);
  if (pipeEnd >= 0)
    close(pipeEnd);
}
