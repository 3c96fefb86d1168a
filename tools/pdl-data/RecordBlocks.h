//===- RecordBlocks.h - Reads rows of a record in blocks --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_RECORDBLOCKS_H
#define PDL_TOOLS_PDL_DATA_RECORDBLOCKS_H

#include "Data/PassedRows.h"
#include "Data/RecordColumns.h"
#include "Data/RecordReader.h"

#include <cstdint>
#include <functional>

/// Consecutive rows of a file. `columns` has the good ones.
struct RecordBlock {
  const pdlrt::RowLog &log;
  /// Number of rows, including bad ones.
  int64_t rows = 0;
};

/// Reads all rows of all files, as a compiled program would read them. Calls
/// `visit` with each block after its good rows have been read into `columns`.
pdlrt::Status
visitBlocks(const pdlrt::RecordReaderOptions &options,
            pdlrt::RecordColumns &columns,
            const std::function<pdlrt::Status(const RecordBlock &)> &visit);

#endif // PDL_TOOLS_PDL_DATA_RECORDBLOCKS_H
