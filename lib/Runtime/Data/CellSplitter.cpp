//===- CellSplitter.cpp - The cells of a row ------------------------------===//
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

const char *CellSplitter::split(std::string_view row) {
  found.clear();
  if (delimiter == ',' && std::memchr(row.data(), '"', row.size()))
    return splitQuoted(row);

  const char *cell = row.data();
  const char *end = row.data() + row.size();
  const char *p = cell;
  // Cells are short: looking at 32 bytes at once beats a search for each.
  const __m256i wanted = _mm256_set1_epi8(delimiter);
  for (; end - p >= 32; p += 32) {
    const __m256i bytes =
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
    uint32_t hits = static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, wanted)));
    for (; hits; hits &= hits - 1) {
      const char *hit = p + __builtin_ctz(hits);
      found.push_back(
          trim(std::string_view(cell, static_cast<size_t>(hit - cell))));
      cell = hit + 1;
    }
  }
  for (; p != end; ++p) {
    if (*p != delimiter)
      continue;
    found.push_back(
        trim(std::string_view(cell, static_cast<size_t>(p - cell))));
    cell = p + 1;
  }
  found.push_back(
      trim(std::string_view(cell, static_cast<size_t>(end - cell))));
  return nullptr;
}

/// RFC 4180: a cell that begins with a quote ends with one; inside, a doubled
/// quote stands for one, and delimiters and line breaks are text.
const char *CellSplitter::splitQuoted(std::string_view row) {
  unquoted.clear();
  // Cells point into the text: it must not move while the row is split.
  unquoted.reserve(row.size());
  size_t p = 0;
  while (true) {
    while (p < row.size() && (row[p] == ' ' || row[p] == '\t'))
      ++p;
    if (p < row.size() && row[p] == '"') {
      const size_t begin = ++p;
      const size_t textBegin = unquoted.size();
      bool doubled = false;
      while (true) {
        const size_t quote = row.find('"', p);
        if (quote == std::string_view::npos)
          return "the quote is never closed";
        if (quote + 1 < row.size() && row[quote + 1] == '"') {
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
          if (text[i] == '"')
            ++i;
        }
        text = std::string_view(unquoted).substr(textBegin);
      }
      while (p < row.size() && (row[p] == ' ' || row[p] == '\t'))
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
