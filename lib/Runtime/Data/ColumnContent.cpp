//===- ColumnContent.cpp - Digests of values of columns -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnContent.h"

#include "pdlabi/hash.h"

#include <bit>
#include <type_traits>

using namespace pdlrt;

/// Content of a missing value.
static constexpr uint64_t nullContent = pdlabi::secondKeyFactor;

static uint64_t addContent(uint64_t digest, uint64_t content) {
  digest = (digest ^ content) * pdlabi::firstKeyFactor;
  return digest ^ digest >> 32;
}

template <typename T> static uint64_t contentOfNumber(T value) {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, HalfFloat>)
    return value.bits;
  else
    return uint64_t(int64_t(value));
}

/// Returns the content of a value that is not null.
static uint64_t contentOfElement(const Elements &elements, int64_t i) {
  if (isText(elements.type()))
    return pdlabi::hashText(elements.textAt(i), 0);
  if (elements.type() == ElementType::Bool)
    return elements.boolAt(i);
  return elements.visitNumbers([&](auto zero) {
    return contentOfNumber(elements.at<decltype(zero)>(i));
  });
}

void ColumnContent::setDictionary(const ColumnValues &values) {
  dictionary = 0;
  if (!values.hasDictionary)
    return;
  const Elements &entries = values.dictionary;
  for (int64_t i = 0; i < entries.size(); ++i)
    dictionary = addContent(dictionary, entries.isNull(i)
                                            ? nullContent
                                            : contentOfElement(entries, i));
}

uint64_t ColumnContent::contentOf(const ColumnValues &values, int64_t i) const {
  if (values.hasDictionary) {
    const int64_t index = values.indexOf(i);
    return index < 0 ? nullContent : dictionary + uint64_t(index);
  }
  return values.elements.isNull(i) ? nullContent
                                   : contentOfElement(values.elements, i);
}

uint64_t ColumnContent::contentOfList(const ColumnValues &values, int level,
                                      int64_t i, uint64_t before) const {
  if (level == values.depth)
    return addContent(before, contentOf(values, i));
  const Lists &lists = values.lists[size_t(level)];
  if (lists.isNull(i))
    return addContent(before, nullContent);
  const int64_t begin = lists.begin(i), end = lists.end(i);
  before = addContent(before, uint64_t(end - begin));
  for (int64_t k = begin; k < end; ++k)
    before = contentOfList(values, level + 1, k, before);
  return before;
}

template <typename ContentAt>
void ColumnContent::addEach(int64_t begin, int64_t count, uint64_t *digests,
                            ContentAt contentAt) {
  for (int64_t row = 0; row < count; ++row)
    digests[row] = addContent(digests[row], contentAt(begin + row));
}

void ColumnContent::add(const ColumnValues &values, int64_t begin,
                        int64_t count, uint64_t *digests) const {
  const Elements &elements = values.elements;
  if (values.depth > 0) {
    for (int64_t row = 0; row < count; ++row)
      digests[row] = contentOfList(values, 0, begin + row, digests[row]);
    return;
  }
  // The most frequent layouts without branches for each value.
  if (values.hasDictionary && elements.type() == ElementType::Int32 &&
      !elements.mayBeNull())
    return addEach(begin, count, digests, [&](int64_t i) {
      return dictionary + uint64_t(elements.at<int32_t>(i));
    });
  if (values.hasDictionary || elements.mayBeNull() || isText(elements.type()) ||
      elements.type() == ElementType::Bool)
    return addEach(begin, count, digests,
                   [&](int64_t i) { return contentOf(values, i); });
  elements.visitNumbers([&](auto zero) {
    addEach(begin, count, digests, [&](int64_t i) {
      return contentOfNumber(elements.at<decltype(zero)>(i));
    });
  });
}
