//===- CacheBlock.cpp - Some rows of a cache ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CacheBlock.h"

#include <algorithm>
#include <cstring>
#include <xxhash.h>

using namespace pdlrt;

namespace {

constexpr size_t unit = sizeof(uint64_t);

/// Returns the size including padding zeros.
size_t filledUp(size_t bytes) { return (bytes + unit - 1) / unit * unit; }

/// Splits parts off the start of bytes that may have any content.
class Parts {
public:
  explicit Parts(std::span<const std::byte> bytes) : rest(bytes) {}

  /// Returns the next `count` elements, or null if there are fewer.
  template <typename T> const T *take(uint64_t count) {
    if (count > rest.size() / sizeof(T))
      return nullptr;
    const size_t bytes = filledUp(size_t(count) * sizeof(T));
    if (bytes > rest.size())
      return nullptr;
    const auto *part = reinterpret_cast<const T *>(rest.data()); // NOLINT
    rest = rest.subspan(bytes);
    return part;
  }
  bool empty() const { return rest.empty(); }

private:
  std::span<const std::byte> rest;
};

/// Returns true if the splits begin at 0 and never decrease.
bool areSplits(const int64_t *splits, size_t count) {
  return splits[0] == 0 && std::is_sorted(splits, splits + count);
}

void append(AlignedVector<std::byte> &bytes, const void *part, size_t size) {
  bytes.append(static_cast<const std::byte *>(part), size);
  constexpr std::byte zeros[unit] = {};
  bytes.append(zeros, filledUp(size) - size);
}

void appendNumber(AlignedVector<std::byte> &bytes, size_t number) {
  const uint64_t wide = number;
  append(bytes, &wide, sizeof(wide));
}

} // namespace

void CacheBlock::encode(const Fields &fields, const RecordColumns &records,
                        const RowLog &log, AlignedVector<std::byte> &bytes) {
  bytes.clear();
  // Placeholders for the checksum and the size.
  appendNumber(bytes, 0);
  appendNumber(bytes, 0);
  appendNumber(bytes, log.contents.size());
  appendNumber(bytes, log.bad.size());
  append(bytes, log.contents.data(), log.contents.size() * sizeof(uint64_t));
  for (size_t i = 0; i < fields.size(); ++i) {
    const RecordColumns::Column &column = records.column(i);
    if (fields[i]->kind == PDL_FIELD_RAGGED)
      append(bytes, column.splits.data(),
             column.splits.size() * sizeof(int64_t));
    append(bytes, column.values.data(), column.values.size());
  }
  int64_t end = 0;
  for (int64_t r = 0; r < records.recordCount(); ++r) {
    end += int64_t(records.copiedTextOf(r).size());
    append(bytes, &end, sizeof(end));
  }
  append(bytes, records.allCopiedText().data(), records.allCopiedText().size());
  std::string texts;
  for (const RowLog::BadRow &row : log.bad) {
    appendNumber(bytes, size_t(row.row));
    appendNumber(bytes, row.message.size());
    appendNumber(bytes, row.copied.size());
    texts += row.message + row.copied;
  }
  append(bytes, texts.data(), texts.size());
  const uint64_t size = bytes.size();
  std::memcpy(bytes.data() + unit, &size, unit);
  const uint64_t sum = XXH3_64bits(bytes.data() + unit, size - unit);
  std::memcpy(bytes.data(), &sum, unit);
}

bool CacheBlock::view(const Fields &fields, std::span<const std::byte> bytes) {
  contents = {};
  columns.clear();
  bad.clear();
  Parts parts(bytes);
  const uint64_t *head = parts.take<uint64_t>(headBytes / unit);
  if (!head || head[1] != bytes.size() ||
      head[0] != XXH3_64bits(bytes.data() + unit, bytes.size() - unit))
    return false;
  const uint64_t rows = head[2], badCount = head[3];
  const uint64_t *found = parts.take<uint64_t>(rows);
  if (!found || badCount > rows)
    return false;
  const uint64_t records = rows - badCount;
  for (const pdl_field *field : fields) {
    const size_t size = RecordColumns::elementSize(*field);
    uint64_t bags, count;
    if (__builtin_mul_overflow(records, uint64_t(field->width), &bags))
      return false;
    Column column{nullptr, nullptr, size * size_t(field->width)};
    count = bags;
    if (field->kind == PDL_FIELD_RAGGED) {
      column.splits = parts.take<int64_t>(bags + 1);
      if (!column.splits || !areSplits(column.splits, size_t(bags) + 1))
        return false;
      count = uint64_t(column.splits[bags]);
      column.bytes = size;
    }
    column.values =
        size == sizeof(float)
            ? reinterpret_cast<const std::byte *>(parts.take<float>(count))
            : reinterpret_cast<const std::byte *>(parts.take<int64_t>(count));
    if (!column.values)
      return false;
    columns.push_back(column);
  }
  const int64_t *ends = parts.take<int64_t>(records);
  if (!ends || (records > 0 && ends[0] < 0) ||
      !std::is_sorted(ends, ends + records))
    return false;
  copiedText = parts.take<char>(records ? uint64_t(ends[records - 1]) : 0);
  const uint64_t *sizes = parts.take<uint64_t>(3 * badCount);
  if (!copiedText || !sizes)
    return false;
  uint64_t textBytes = 0;
  for (uint64_t b = 0; b < badCount; ++b) {
    const uint64_t *entry = sizes + 3 * b;
    const bool ascends = b == 0 || entry[0] > entry[-3];
    if (!ascends || entry[0] >= rows || entry[1] > bytes.size() ||
        entry[2] > bytes.size())
      return false;
    textBytes += entry[1] + entry[2];
  }
  const char *texts = parts.take<char>(textBytes);
  if (!texts || !parts.empty())
    return false;
  for (uint64_t b = 0; b < badCount; ++b) {
    const uint64_t *entry = sizes + 3 * b;
    bad.push_back({int64_t(entry[0]), std::string_view(texts, entry[1]),
                   std::string_view(texts + entry[1], entry[2])});
    texts += entry[1] + entry[2];
  }
  copiedEnds = {ends, records};
  contents = {found, rows};
  return true;
}

/// Appends the good rows [row, row + count); the first one is good row
/// `record`.
void CacheBlock::appendGood(int64_t row, int64_t record, int64_t count,
                            int32_t file, RecordColumns &into,
                            PassedRows &passed) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column &from = columns[i];
    RecordColumns::Column &to = into.column(i);
    if (!from.splits) {
      to.values.append(from.values + size_t(record) * from.bytes,
                       size_t(count) * from.bytes);
      continue;
    }
    const int64_t width = to.field->width;
    const int64_t *splits = from.splits + record * width;
    const int64_t bags = count * width;
    const int64_t shift = to.splits[to.splits.size() - 1] - splits[0];
    const size_t before = to.splits.size();
    to.splits.resize(before + size_t(bags));
    for (int64_t bag = 1; bag <= bags; ++bag)
      to.splits[before + size_t(bag - 1)] = splits[bag] + shift;
    to.values.append(from.values + size_t(splits[0]) * from.bytes,
                     size_t(splits[bags] - splits[0]) * from.bytes);
  }
  int64_t begin = record > 0 ? copiedEnds[size_t(record - 1)] : 0;
  for (int64_t r = 0; r < count; ++r) {
    passed.beginRow(contents[size_t(row + r)]);
    const int64_t end = copiedEnds[size_t(record + r)];
    into.commitRecord(file, passed.current(), passed.currentSample(),
                      {copiedText + begin, size_t(end - begin)});
    begin = end;
  }
}

Status CacheBlock::replay(int64_t first, int64_t count, int32_t file,
                          RecordColumns &into, PassedRows &passed) const {
  auto next = std::lower_bound(
      bad.begin(), bad.end(), first,
      [](const BadRow &row, int64_t wanted) { return row.row < wanted; });
  const int64_t end = first + count;
  while (first < end) {
    const int64_t stop = next == bad.end() ? end : std::min(end, next->row);
    if (first < stop) {
      appendGood(first, first - (next - bad.begin()), stop - first, file, into,
                 passed);
      first = stop;
      continue;
    }
    passed.beginRow(content(first++));
    PDLRT_RETURN_IF_ERROR(
        passed.addBad(std::string(next->message), next->copied));
    ++next;
  }
  return {};
}
