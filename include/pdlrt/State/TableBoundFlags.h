//===- TableBoundFlags.h - Flags of the memory limit ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_TABLEBOUNDFLAGS_H
#define PDLRT_STATE_TABLEBOUNDFLAGS_H

#include "pdlrt/Core/Flags.h"
#include "pdlrt/State/TableBound.h"

#include <vector>

namespace pdlrt {

/// Returns the flags --max-table-memory, --table-spill and --table-eviction,
/// which set `bound`, as rows of a flag table.
std::vector<Flag> tableBoundFlags(TableBound &bound, bool isOffered = true);

} // namespace pdlrt

#endif // PDLRT_STATE_TABLEBOUNDFLAGS_H
