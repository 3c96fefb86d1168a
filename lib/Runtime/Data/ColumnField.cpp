//===- ColumnField.cpp - Converts columns of a field ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnField.h"

#include <algorithm>

using namespace pdlrt;

ColumnField::ColumnField(const pdl_field &field, std::vector<int32_t> sources,
                         bool isWhole)
    : field(&field), sources(std::move(sources)), isWhole(isWhole),
      isSuitable(ElementConverter::suits(field) &&
                 std::ranges::all_of(this->sources, [](int32_t column) {
                   return column >= 0;
                 })) {
  for (int64_t slot = 0; slot < field.width; ++slot)
    converters.emplace_back(field, slot);
}

void ColumnField::beginBatch(const std::vector<ColumnValues> &columns,
                             const std::vector<bool> &isNew) {
  if (!isSuitable)
    return;
  for (size_t slot = 0; slot < converters.size(); ++slot) {
    const auto column = size_t(sources[isWhole ? 0 : slot]);
    if (isNew[column])
      converters[slot].setDictionary(columns[column]);
  }
}

/// Sets the numbers of elements of lists. Returns false if a list has no
/// elements, or is null, and this does not mean an empty bag; or if lists do
/// not follow one another.
bool ColumnField::findSizes(const Lists &lists, int64_t begin, int64_t count,
                            int64_t *sizes) const {
  if (!lists.isDense())
    return false;
  const bool mayBeEmpty = field->missing_kind == PDL_MISSING_EMPTY;
  int64_t from = lists.begin(begin);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t to = lists.end(begin + i);
    sizes[i] = to - from;
    from = to;
    if (sizes[i] == 0 ? !mayBeEmpty : lists.isNull(begin + i))
      return false;
  }
  return true;
}

/// Appends fields with one value in each slot.
template <typename T>
bool ColumnField::appendPlain(const std::vector<ColumnValues> &columns,
                              int64_t begin, int64_t count,
                              RecordColumns::Column &into) {
  const int64_t width = field->width;
  T *const out = into.extend<T>(size_t(count * width));
  for (int64_t slot = 0; slot < width; ++slot) {
    const ColumnValues &values =
        columns[size_t(sources[isWhole ? 0 : size_t(slot)])];
    ElementRange range = {begin, 1, count, width};
    if (values.depth > 0) {
      const Lists &lists = values.lists[0];
      if (width == 1 || !lists.isDense())
        return false;
      for (int64_t i = begin; slot == 0 && i < begin + count; ++i)
        if (lists.isNull(i) || lists.end(i) - lists.begin(i) != width)
          return false;
      range.first = lists.begin(begin) + slot;
      range.step = width;
    }
    if (!converters[size_t(slot)].convert(values, range, out + slot, nullptr))
      return false;
  }
  return true;
}

/// Appends bags of one slot that are lists.
template <typename T>
bool ColumnField::appendLists(const ColumnValues &values, int64_t begin,
                              int64_t count, RecordColumns::Column &into) {
  const Lists &lists = values.lists[0];
  slotSizes.resize(1);
  slotSizes[0].resize(size_t(count));
  if (!findSizes(lists, begin, count, slotSizes[0].data()))
    return false;
  const int64_t first = lists.begin(begin);
  const int64_t total = lists.end(begin + count - 1) - first;
  T *const out = into.extend<T>(size_t(total));
  // A missing value of a bag needs CellParser.
  missing.assign(size_t(total), 0);
  if (!converters[0].convert(values, {first, 1, total, 1}, out,
                             missing.data()) ||
      std::ranges::find(missing, 1) != missing.end())
    return false;
  const size_t before = into.splits.size();
  into.splits.resize(before + size_t(count));
  int64_t *const splits = into.splits.data() + before;
  for (int64_t i = 0, end = splits[-1]; i < count; ++i)
    splits[i] = end += slotSizes[0][size_t(i)];
  return true;
}

/// Appends bags of several slots, or of single values.
template <typename T>
bool ColumnField::appendBags(const std::vector<ColumnValues> &columns,
                             int64_t begin, int64_t count,
                             RecordColumns::Column &into) {
  const auto width = size_t(field->width);
  slotValues.resize(width);
  slotSizes.resize(width);
  int64_t total = 0;
  for (size_t slot = 0; slot < width; ++slot) {
    const ColumnValues &values = columns[size_t(sources[slot])];
    std::vector<int64_t> &sizes = slotSizes[slot];
    sizes.assign(size_t(count), 1);
    ElementRange range = {begin, 1, count, 1};
    if (values.depth > 0) {
      const Lists &lists = values.lists[0];
      if (!findSizes(lists, begin, count, sizes.data()))
        return false;
      range.first = lists.begin(begin);
      range.count = lists.end(begin + count - 1) - range.first;
    }
    missing.assign(size_t(range.count), 0);
    slotValues[slot].resize(size_t(range.count) * sizeof(T));
    if (!converters[slot].convert(
            values, range, reinterpret_cast<T *>(slotValues[slot].data()),
            missing.data()))
      return false;
    total += range.count;
    if (std::ranges::find(missing, 1) == missing.end())
      continue;
    if (values.depth > 0 || field->missing_kind == PDL_MISSING_ERROR)
      return false;
    // The replacement is already in place.
    for (int64_t i = 0; field->missing_kind == PDL_MISSING_EMPTY && i < count;
         ++i) {
      sizes[size_t(i)] -= missing[size_t(i)];
      total -= missing[size_t(i)];
    }
  }
  T *out = into.extend<T>(size_t(total));
  const size_t before = into.splits.size();
  into.splits.resize(before + size_t(count) * width);
  int64_t *splits = into.splits.data() + before;
  int64_t end = splits[-1];
  std::vector<const T *> next(width);
  for (size_t slot = 0; slot < width; ++slot)
    next[slot] = reinterpret_cast<const T *>(slotValues[slot].data());
  for (size_t i = 0; i < size_t(count); ++i)
    for (size_t slot = 0; slot < width; ++slot) {
      const auto size = size_t(slotSizes[slot][i]);
      out = std::copy_n(next[slot], size, out);
      // A missing single value was converted too.
      const bool isSingle = columns[size_t(sources[slot])].depth == 0;
      next[slot] += isSingle ? 1 : size;
      *splits++ = end += int64_t(size);
    }
  return true;
}

template <typename T>
bool ColumnField::appendAs(const std::vector<ColumnValues> &columns,
                           int64_t begin, int64_t count,
                           RecordColumns::Column &into) {
  if (field->kind != PDL_FIELD_RAGGED)
    return appendPlain<T>(columns, begin, count, into);
  const ColumnValues &first = columns[size_t(sources[0])];
  if (isWhole && (field->width > 1 || first.depth > 1))
    return false;
  // A text that stands alone may have several values.
  if (field->separator && std::ranges::any_of(sources, [&](int32_t column) {
        const ColumnValues &values = columns[size_t(column)];
        return values.depth == 0 && isText(values.type());
      }))
    return false;
  return field->width == 1 && first.depth == 1
             ? appendLists<T>(first, begin, count, into)
             : appendBags<T>(columns, begin, count, into);
}

bool ColumnField::append(const std::vector<ColumnValues> &columns,
                         int64_t begin, int64_t count,
                         RecordColumns::Column &into) {
  if (!isSuitable || count == 0)
    return false;
  const size_t values = into.values.size(), splits = into.splits.size();
  const bool isDone = field->element_type == PDL_I64
                          ? appendAs<int64_t>(columns, begin, count, into)
                      : field->element_type == PDL_F32
                          ? appendAs<float>(columns, begin, count, into)
                          : appendAs<double>(columns, begin, count, into);
  if (isDone)
    return true;
  into.values.resize(values);
  into.splits.resize(splits);
  return false;
}
