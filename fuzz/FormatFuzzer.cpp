//===- FormatFuzzer.cpp - Fuzzes formats whose rows name their values -----===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FileFormat.h"
#include "Data/JsonScanner.h"
#include "Data/TFRecordFile.h"
#include "Data/TestRecord.h"
#include "Fuzzer.h"

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

using namespace pdlrt;

namespace {

/// Fields that suit all of the formats.
struct NamedFields {
  NamedFields() {
    record.dense("label").missing_kind = PDL_MISSING_VALUE;
    pdl_field &bag = record.ragged("bag");
    bag.separator = '|';
    bag.missing_element_kind = PDL_MISSING_TOKEN;
    bag.missing_element_token = "gap";
    record.raggedNumbers("numbers").missing_element_kind = PDL_MISSING_VALUE;
    descriptor = &record.descriptor();
    program = &record.program();
  }
  test::TestRecord record;
  const pdl_descriptor *descriptor;
  const pdl_program *program;
};

} // namespace

/// The first byte selects the format. TFRecord gets whole records, because
/// random bytes never have the right checksums.
static constexpr const char *flags[] = {
    "jsonl", "multislot", "slots", "signs", "libsvm", "libffm", "tfrecord"};
static constexpr size_t flagCount = std::size(flags);

std::vector<std::string> fuzzSeeds() {
  return {
      std::string(1, '\0') +
          "{\"label\":1,\"bag\":[\"a\",7,null,true],\"numbers\":[0.5,2e3]}\n"
          "{\"bag\":\"a|b\\u00e9\\ud83d\\ude00\\n\",\"z\":{\"y\":[[],{}]}}\n",
      "\1"
      "1 1 2 7 8 1 0.5\n1 0 0 2 3 4\n",
      "\2"
      "1 2 bag:7 numbers:3 bag:8\nlabel:1 bag:x\n",
      "\3"
      "1:label 7:bag 8:bag 3:numbers\n",
      "\4"
      "# comment\n1 qid:3 2:0.5 7:1\n0 # none\n",
      "\5"
      "1 0:5:0.5 2:7:1\n0 1:6:3\n",
      std::string("\6\x0a\x31\x0a\x0e\x0a\x05label\x12\x05\x1a\x03\x0a\x01\x01"
                  "\x0a\x0f\x0a\x03"
                  "bag\x12\x08\x0a\x06\x0a\x01u\x0a\x01v"
                  "\x0a\x0e\x0a\x07numbers\x12\x03\x12\x01\x0a")};
}

/// Returns the bytes as records of a TFRecord file, one for each line.
static std::string asRecords(std::string_view bytes) {
  std::string file;
  const auto append = [&](auto value) {
    char copy[sizeof(value)];
    std::memcpy(copy, &value, sizeof(value));
    file.append(copy, sizeof(value));
  };
  while (!bytes.empty()) {
    const std::string_view record = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(record.size() + 1, bytes.size()));
    append(uint64_t(record.size()));
    append(maskedCrc32c(std::string_view(file).substr(file.size() - 8)));
    file += record;
    append(maskedCrc32c(record));
  }
  return file;
}

/// Another parser must accept the same JSON, if its strings are UTF-8.
static void compareJson(std::string_view text) {
  JsonScanner scanner(text);
  const bool isValid = scanner.skipValue(0).ok() &&
                       (scanner.peek(), scanner.at() == text.size());
  const bool isOther = nlohmann::json::accept(text);
  constexpr size_t maxDepth = JsonScanner::maxDepth;
  const bool isPlain = std::ranges::all_of(text, [](char c) { return c > 0; });
  const bool mayBeDeep = size_t(std::ranges::count(text, '[') +
                                std::ranges::count(text, '{')) > maxDepth;
  // Numbers that are too large for a double are refused only by the other one.
  const bool mayBeLarge =
      text.find_first_of("eE") != std::string_view::npos || text.size() > 300;
  if (isPlain && !mayBeDeep && !mayBeLarge && isValid != isOther)
    __builtin_trap();
}

void fuzzOne(const std::string &bytes) {
  if (bytes.empty())
    return;
  static const NamedFields fields;
  const auto how = uint8_t(bytes[0]);
  const std::string_view flag = flags[how % flagCount];
  const std::string text = bytes.substr(1);
  if (flag == "jsonl")
    compareJson(text);
  DataOptions options;
  options.format = flag;
  options.files = {
      asFile(flag == "tfrecord" && how < 128 ? asRecords(text) : text)};
  options.batchSize = 3;
  options.shuffleWindow = how & 64 ? 5 : 0;
  options.copyTexts = how & 32;
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
