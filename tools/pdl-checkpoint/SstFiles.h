//===- SstFiles.h - Rows as files of RocksDB --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDLCHECKPOINT_SSTFILES_H
#define PDL_TOOLS_PDLCHECKPOINT_SSTFILES_H

#include "pdlrt/Serving/KeyValueFiles.h"

/// Files that RocksDB ingests: keys with the greatest byte first, values the
/// elements with the least byte first.
const pdlrt::KeyValueFormat &sstFormat();

#endif // PDL_TOOLS_PDLCHECKPOINT_SSTFILES_H
