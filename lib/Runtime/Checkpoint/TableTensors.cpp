//===- TableTensors.cpp - Rows of a table as tensors --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/TableTensors.h"

#include <cstring>

using namespace pdlrt;

Status pdlrt::addTableRows(SafetensorsWriter &writer, const std::string &keys,
                           std::span<const RowPart> parts,
                           const std::vector<TableRow> &rows, TensorType type) {
  const auto rowCount = int64_t(rows.size());
  PDLRT_RETURN_IF_ERROR(
      writer.addRows(keys, TensorType::I64, {rowCount},
                     [&rows](int64_t first, int64_t count, std::byte *out) {
                       for (int64_t i = 0; i < count; ++i)
                         std::memcpy(out + i * sizeof(int64_t),
                                     &rows[first + i].key, sizeof(int64_t));
                     }));
  const size_t size = tensorElementSize(type);
  for (const RowPart &part : parts) {
    const size_t bytes = size_t(part.width) * size;
    const size_t begin = size_t(part.offset) * size;
    PDLRT_RETURN_IF_ERROR(writer.addRows(
        part.name, type, {rowCount, part.width},
        [&rows, bytes, begin](int64_t first, int64_t count, std::byte *out) {
          for (int64_t i = 0; i < count; ++i)
            std::memcpy(out + i * bytes,
                        static_cast<const char *>(rows[first + i].row) + begin,
                        bytes);
        }));
  }
  return {};
}
