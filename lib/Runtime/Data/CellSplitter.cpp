//===- CellSplitter.cpp - Splits rows into cells --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellSplitter.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

using namespace pdlrt;

namespace {

/// Finds the delimiters of a row, and detects blanks next to them.
class EndFinder {
public:
  EndFinder(const char *row, char delimiter, uint32_t *ends)
      : row(row), ends(ends), delimiter(_mm256_set1_epi8(delimiter)) {}

  /// Finds the delimiters among bytes [at, at + 32) whose bit is set in `own`.
  /// Up to 8 entries after the last one are overwritten.
  void take(size_t at, uint32_t own) {
    const __m256i bytes =
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(row + at));
    const __m256i isEnd = _mm256_cmpeq_epi8(bytes, delimiter);
    const __m256i isLow =
        _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(' ')), bytes);
    blanks = _mm256_or_si256(blanks, _mm256_andnot_si256(isEnd, isLow));
    auto hits = static_cast<uint32_t>(_mm256_movemask_epi8(isEnd)) & own;
    const auto found = static_cast<unsigned>(__builtin_popcount(hits));
    // Always writes eight entries: the number of delimiters varies between
    // blocks, so that a branch on it would be mispredicted.
    for (unsigned written = 0; written == 0 || written < found; written += 8)
#pragma unroll
      for (unsigned k = 0; k < 8; ++k) {
        ends[count + written + k] =
            static_cast<uint32_t>(at) + static_cast<uint32_t>(_tzcnt_u32(hits));
        hits &= hits - 1;
      }
    count += found;
  }
  void takeOne(size_t at, char end) {
    if (row[at] == end)
      ends[count++] = static_cast<uint32_t>(at);
    else if (static_cast<unsigned char>(row[at]) <= ' ')
      blanks = _mm256_set1_epi8(-1);
  }
  bool hasBlanks() const { return !_mm256_testz_si256(blanks, blanks); }

  size_t count = 0;

private:
  const char *row;
  uint32_t *ends;
  __m256i delimiter, blanks = _mm256_setzero_si256();
};

} // namespace

/// Writes the positions of the delimiters in `row` to `ends` and returns their
/// number. `ends` must have space for one entry per byte and 8 more.
/// `hasBlanks`: set if there may be bytes to trim.
static size_t findEnds(std::string_view row, char delimiter, uint32_t *ends,
                       bool &hasBlanks) {
  // Cells are short, so examining 32 bytes at once is faster than a search per
  // cell.
  EndFinder finder(row.data(), delimiter, ends);
  size_t i = 0;
  for (; i + 32 <= row.size(); i += 32)
    finder.take(i, ~uint32_t(0));
  // The last 32 bytes, without those that were already examined.
  if (i < row.size() && row.size() >= 32)
    finder.take(row.size() - 32, ~uint32_t(0) << (32 - (row.size() - i)));
  else
    for (; i < row.size(); ++i)
      finder.takeOne(i, delimiter);
  hasBlanks = finder.hasBlanks();
  return finder.count;
}

const char *CellSplitter::split(std::string_view row) {
  if (syntax.quote && std::memchr(row.data(), syntax.quote, row.size())) {
    found.clear();
    return splitQuoted(row);
  }
  if (row.empty()) {
    found.assign(1, row);
    return nullptr;
  }
  ends.reserve(row.size() + 9);
  bool hasBlanks;
  const size_t count = findEnds(row, syntax.delimiter, ends.data(), hasBlanks);
  ends.data()[count] = static_cast<uint32_t>(row.size());
  found.resize(count + 1);
  const char *cell = row.data();
  for (size_t i = 0; i <= count; ++i) {
    const char *end = row.data() + ends.data()[i];
    found[i] = std::string_view(cell, static_cast<size_t>(end - cell));
    cell = end + 1;
  }
  if (hasBlanks) [[unlikely]]
    for (std::string_view &text : found)
      text = trim(text);
  return nullptr;
}

/// Splits a row according to RFC 4180. A cell that begins with a quote ends
/// with one; inside, two quotes stand for one, and delimiters and line breaks
/// are text.
const char *CellSplitter::splitQuoted(std::string_view row) {
  const auto [delimiter, mark] = syntax;
  const auto isBlank = [&](char c) {
    return (c == ' ' || c == '\t') && c != delimiter;
  };
  unquoted.clear();
  // Cells point into `unquoted`, so it must not be reallocated during the
  // split.
  unquoted.reserve(row.size());
  size_t p = 0;
  while (true) {
    while (p < row.size() && isBlank(row[p]))
      ++p;
    if (p < row.size() && row[p] == mark) {
      const size_t begin = ++p;
      const size_t textBegin = unquoted.size();
      bool doubled = false;
      while (true) {
        const size_t quote = row.find(mark, p);
        if (quote == std::string_view::npos)
          return "the quote is never closed";
        if (quote + 1 < row.size() && row[quote + 1] == mark) {
          doubled = true;
          p = quote + 2;
          continue;
        }
        p = quote + 1;
        break;
      }
      std::string_view text = row.substr(begin, p - 1 - begin);
      if (doubled) {
        for (size_t i = 0; i < text.size(); ++i) {
          unquoted.push_back(text[i]);
          if (text[i] == mark)
            ++i;
        }
        text = std::string_view(unquoted).substr(textBegin);
      }
      while (p < row.size() && isBlank(row[p]))
        ++p;
      if (p < row.size() && row[p] != delimiter)
        return "text follows the closing quote";
      found.push_back(trim(text));
    } else {
      const size_t begin = p;
      p = std::min(row.find(delimiter, p), row.size());
      found.push_back(trim(row.substr(begin, p - begin)));
    }
    if (p == row.size())
      return nullptr;
    ++p;
  }
}
