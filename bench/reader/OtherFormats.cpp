//===- OtherFormats.cpp - The rows of the benchmark in other formats ------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OtherFormats.h"

#include "Data/TFRecordFile.h"

#include <cstring>
#include <sstream>

/// Returns the cells of a line.
static std::vector<std::string> cellsOf(const std::string &line) {
  std::vector<std::string> cells(1);
  for (const char c : line)
    if (c == '\t')
      cells.emplace_back();
    else
      cells.back() += c;
  return cells;
}

namespace {

/// One row, divided into its parts.
struct Parts {
  std::string label;
  std::vector<std::string> numbers, texts;
};

} // namespace

static std::string asJson(const Parts &row) {
  std::string out = "{\"label\":" + row.label;
  for (size_t i = 0; i < row.numbers.size(); ++i)
    out += ",\"numbers." + std::to_string(i) +
           "\":" + (row.numbers[i].empty() ? "null" : row.numbers[i]);
  for (size_t i = 0; i < row.texts.size(); ++i)
    out += ",\"texts." + std::to_string(i) + "\":\"" + row.texts[i] + "\"";
  return out + "}\n";
}

static std::string asMultiSlot(const Parts &row) {
  std::string out = "1 " + row.label + " " + std::to_string(row.numbers.size());
  for (const std::string &number : row.numbers)
    out += " " + (number.empty() ? "0" : number);
  for (const std::string &text : row.texts)
    out += " 1 " + text;
  return out + "\n";
}

static std::string asPairs(const Parts &row, bool isSlotFirst) {
  std::string out;
  const auto add = [&](const std::string &slot, const std::string &value) {
    out += (out.empty() ? "" : " ") +
           (isSlotFirst ? slot + ":" + value : value + ":" + slot);
  };
  add("label", row.label);
  for (const std::string &number : row.numbers)
    add("numbers", number.empty() ? "0" : number);
  for (size_t i = 0; i < row.texts.size(); ++i)
    add("texts." + std::to_string(i), row.texts[i]);
  return out + "\n";
}

static std::string asSparse(const Parts &row, bool hasFields) {
  std::string out = row.label;
  for (size_t i = 0; i < row.texts.size(); ++i) {
    const auto index = std::to_string(std::stoul(row.texts[i], nullptr, 16));
    out += " " + (hasFields ? std::to_string(i) + ":" : "") + index + ":1";
  }
  return out + "\n";
}

static std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7)
    out += char(0x80 | (value & 0x7f));
  return out += char(value);
}

static std::string message(int field, const std::string &bytes) {
  return varint(uint64_t(field) << 3 | 2) + varint(bytes.size()) + bytes;
}

template <typename T> static std::string bytesOf(T value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

static std::string asRecord(const Parts &row) {
  std::string entries;
  const auto add = [&](const std::string &name, int kind,
                       const std::string &list) {
    entries += message(1, message(1, name) + message(2, message(kind, list)));
  };
  add("label", 2, message(1, bytesOf(std::stof(row.label))));
  std::string numbers;
  for (const std::string &number : row.numbers)
    numbers += bytesOf(number.empty() ? 0.0f : std::stof(number));
  add("numbers", 2, message(1, numbers));
  for (size_t i = 0; i < row.texts.size(); ++i)
    add("texts." + std::to_string(i), 1, message(1, row.texts[i]));
  const std::string record = message(1, entries);
  const std::string size = bytesOf(uint64_t(record.size()));
  return size + bytesOf(pdlrt::maskedCrc32c(size)) + record +
         bytesOf(pdlrt::maskedCrc32c(record));
}

std::vector<FormatRows> inOtherFormats(const std::string &text,
                                       int64_t numbers) {
  std::vector<FormatRows> all = {
      {"jsonl", "", false}, {"multislot", "", false}, {"slots", "", false},
      {"signs", "", false}, {"tfrecord", "", false},  {"libsvm", "", true},
      {"libffm", "", true}};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = cellsOf(line);
    const auto first = cells.begin() + 1 + numbers;
    const Parts row = {
        cells.front(), {cells.begin() + 1, first}, {first, cells.end()}};
    all[0].bytes += asJson(row);
    all[1].bytes += asMultiSlot(row);
    all[2].bytes += asPairs(row, true);
    all[3].bytes += asPairs(row, false);
    all[4].bytes += asRecord(row);
    all[5].bytes += asSparse(row, false);
    all[6].bytes += asSparse(row, true);
  }
  return all;
}
