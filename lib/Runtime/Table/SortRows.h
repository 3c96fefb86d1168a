//===- SortRows.h - Sorts rows by key ---------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_SORTROWS_H
#define LIB_RUNTIME_TABLE_SORTROWS_H

#include "pdlrt/Table/EmbeddingTable.h"

#include <span>

namespace pdlrt {

/// Sorts rows by key, as signed integers. Allocates nothing.
void sortByKey(std::span<TableRow> rows);

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_SORTROWS_H
