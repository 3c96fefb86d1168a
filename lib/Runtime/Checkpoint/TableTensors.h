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
#include "pdlrt/Table/TableSnapshot.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// Describes the value or a slot of rows, and the tensor for it.
struct RowPart {
  std::string name;
  size_t begin;    ///< Offset in a row, in bytes.
  int64_t width;   ///< Number of elements.
  TensorType type; ///< Type in the file.
  int32_t storage; ///< Storage widened to `type`, F32, or PDL_STORE_ELEMENT
};

/// Adds a tensor with the keys of the rows, and a tensor for each of `parts`.
/// The values of rows are read only when the file is written, from `snapshot`
/// unless it is null. `rows` and the table must outlive the writer.
Status addTableRows(SafetensorsWriter &writer, const std::string &keys,
                    std::span<const RowPart> parts, std::vector<TableRow> &rows,
                    TableSnapshot *snapshot = nullptr);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_TABLETENSORS_H
