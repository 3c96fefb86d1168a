//===- RecordReader.cpp - The records of one file, in order ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RecordReader.h"

using namespace pdlrt;

static constexpr size_t keptSentences = 10;

Status BadRows::add(const std::string &sentence) {
  if (++rowCount > limit) {
    if (limit == 0)
      return Status::invalid(
          sentence + "; mend the row, or skip bad rows with --max-bad-rows N");
    return Status::invalid(sentence + "; this is bad row " +
                           std::to_string(rowCount) + ", and --max-bad-rows " +
                           std::to_string(limit) + " allows no more");
  }
  if (kept.size() < keptSentences)
    kept.push_back(sentence);
  return {};
}

void BadRows::clear() {
  rowCount = 0;
  kept.clear();
}

Expected<std::unique_ptr<RecordReader>>
pdlrt::openRecordReader(const std::string &path, int32_t fileIndex,
                        const RecordReaderOptions &options) {
  return path.ends_with(".safetensors")
             ? openTensorReader(path, fileIndex, options)
             : openDelimitedReader(path, fileIndex, options);
}
