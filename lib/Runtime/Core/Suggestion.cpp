//===- Suggestion.cpp - Suggestions for misspelled names ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Suggestion.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

using namespace pdlrt;

/// Computes the Levenshtein distance, one row of the table at a time.
static size_t distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

const std::string *pdlrt::nearestName(const std::string &name,
                                      const std::vector<std::string> &known) {
  // A third of the characters may be wrong, and at least one.
  size_t nearest = std::max<size_t>(1, name.size() / 3) + 1;
  const std::string *best = nullptr;
  for (const std::string &candidate : known)
    if (const size_t found = distance(name, candidate); found < nearest) {
      nearest = found;
      best = &candidate;
    }
  return best;
}

std::string pdlrt::suggestName(const std::string &name,
                               const std::vector<std::string> &known) {
  const std::string *nearest = nearestName(name, known);
  return nearest ? "; did you mean '" + *nearest + "'?" : std::string();
}
