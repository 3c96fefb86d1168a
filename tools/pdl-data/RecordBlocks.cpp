//===- RecordBlocks.cpp - Reads rows of a record in blocks ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordBlocks.h"

using namespace pdlrt;

static constexpr int64_t maxBlockRows = 4096;

Status visitBlocks(const RecordReaderOptions &options, RecordColumns &columns,
                   const std::function<Status(const RecordBlock &)> &visit) {
  const std::vector<std::string> &files = options.data.files;
  for (size_t file = 0; file < files.size(); ++file) {
    auto reader = openRecordReader(files[file], int32_t(file), options);
    PDLRT_RETURN_IF_ERROR(reader.status());
    RowLog log;
    int64_t rows = maxBlockRows;
    while (rows == maxBlockRows) {
      log.clear();
      columns.clear();
      PassedRows passed(log);
      auto count = (*reader)->read(maxBlockRows, columns, passed);
      PDLRT_RETURN_IF_ERROR(count.status());
      rows = *count;
      PDLRT_RETURN_IF_ERROR(visit({log, rows}));
    }
    (*reader)->finish();
  }
  return {};
}
