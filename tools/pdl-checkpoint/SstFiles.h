//===- SstFiles.h - Rows as SST files of RocksDB ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_SSTFILES_H
#define PDL_TOOLS_PDL_CHECKPOINT_SSTFILES_H

#include "pdlrt/Serving/KeyValueFiles.h"

/// Returns the format of SST files, which RocksDB can ingest. Keys are
/// big-endian, and the elements of values are little-endian.
const pdlrt::KeyValueFormat &sstFormat();

#endif // PDL_TOOLS_PDL_CHECKPOINT_SSTFILES_H
