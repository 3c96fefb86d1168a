//===- FormatFlags.h - Flags about the form of data files -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_FORMATFLAGS_H
#define LIB_RUNTIME_DATA_FORMATFLAGS_H

#include "pdlrt/Core/Flags.h"
#include "pdlrt/Data/BatchSource.h"

#include <vector>

namespace pdlrt {

// Rows of flags that all programs which read data share. They set `data`.

/// --format and --data-pipe.
std::vector<Flag> fileFormatFlags(DataOptions &data);
/// --delimiter, --quote and --header, in this order.
std::vector<Flag> cellFlags(DataOptions &data);
Flag columnsFlag(DataOptions &data);
Flag cacheFlag(DataOptions &data);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_FORMATFLAGS_H
