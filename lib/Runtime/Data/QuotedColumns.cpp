//===- QuotedColumns.cpp - Finds columns with quoted cells ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/QuotedColumns.h"

#include <numeric>

using namespace pdlrt;

static bool isQuoted(std::string_view cell) {
  return cell.size() >= 2 && cell.front() == '"' && cell.back() == '"';
}

void QuotedColumns::noteRow(const std::vector<std::string_view> &cells) {
  if (rows++ == 0) {
    columns.resize(cells.size());
    std::iota(columns.begin(), columns.end(), 0);
  }
  std::erase_if(columns, [&](size_t column) {
    return column >= cells.size() || !isQuoted(cells[column]);
  });
  isOver = columns.empty() || rows == rowsLookedAt;
}

std::optional<size_t> QuotedColumns::take(bool atEnd) {
  if (columns.empty() || !(isOver || atEnd))
    return std::nullopt;
  const size_t found = columns.front();
  columns.clear();
  isOver = true;
  return found;
}
