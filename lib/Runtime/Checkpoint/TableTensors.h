//===- TableTensors.h - Rows of a table as tensors --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_TABLETENSORS_H
#define LIB_RUNTIME_CHECKPOINT_TABLETENSORS_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/Table/TableMoment.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// The value of rows, or one of their slots.
struct RowPart {
  std::string name;
  size_t begin;    ///< where it is in a row, in bytes
  int64_t width;   ///< elements
  TensorType type; ///< in the file
  int32_t storage; ///< what is widened to `type`, F32; else PDL_STORE_ELEMENT
};

/// Adds a tensor of the rows' keys, and one for each of `parts`. `rows`, and
/// the table, outlive the writer; values are copied only as they are written,
/// those of `moment` if there is one.
Status addTableRows(SafetensorsWriter &writer, const std::string &keys,
                    std::span<const RowPart> parts, std::vector<TableRow> &rows,
                    TableMoment *moment = nullptr);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_TABLETENSORS_H
