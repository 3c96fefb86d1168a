//===- PassedRows.cpp - Counts and digests the rows of a pass -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/PassedRows.h"

#include "pdlrt/Data/DataMetrics.h"

#include <xxhash.h>

using namespace pdlrt;

static constexpr size_t keptMessages = 10;

void PassedRows::clear(int64_t count, int64_t digest) {
  rows = count;
  contentDigest = digest;
  bad = 0;
  messages.clear();
  copiedCells.clear();
}

uint64_t PassedRows::contentOf(const void *bytes, size_t size,
                               uint64_t before) {
  // Each digest is the seed of the next. For long pieces, a seed costs as much
  // as some hundred bytes, so the first piece has none.
  if (before == 0)
    return XXH3_64bits(bytes, size);
  return XXH3_64bits_withSeed(bytes, size, before + 1);
}

void PassedRows::addContent(uint64_t content) {
  contentDigest = int64_t(XXH3_64bits_withSeed(&content, sizeof(content),
                                               uint64_t(contentDigest) + 1) >>
                          1);
}

Status PassedRows::addBad(const std::string &message, std::string_view copied) {
  if (log) {
    log->bad.push_back({current(), message, std::string(copied)});
    return {};
  }
  countBadRow();
  if (++bad > badLimit) {
    if (badLimit == 0)
      return Status::invalidArgument(
          message + "; mend the row, or skip bad rows with --max-bad-rows N");
    return Status::invalidArgument(
        message + "; this is bad row " + std::to_string(bad) +
        ", and --max-bad-rows " + std::to_string(badLimit) + " allows no more");
  }
  if (messages.size() < keptMessages)
    messages.push_back(message);
  if (!copied.empty())
    copiedCells.emplace(current(), copied);
  return {};
}

std::map<int64_t, std::string> PassedRows::takeCopiedCells(int64_t row) {
  std::map<int64_t, std::string> taken;
  while (!copiedCells.empty() && copiedCells.begin()->first < row)
    taken.insert(taken.end(), copiedCells.extract(copiedCells.begin()));
  return taken;
}
