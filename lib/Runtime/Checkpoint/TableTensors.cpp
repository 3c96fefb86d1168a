//===- TableTensors.cpp - Rows of a table as tensors --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/TableTensors.h"

#include "pdlrt/Kernels/Storage.h"

#include <cstring>

using namespace pdlrt;

Status pdlrt::addTableRows(SafetensorsWriter &writer, const std::string &keys,
                           std::span<const RowPart> parts,
                           std::vector<TableRow> &rows, TableMoment *moment) {
  const auto rowCount = int64_t(rows.size());
  PDLRT_RETURN_IF_ERROR(
      writer.addRows(keys, TensorType::I64, {rowCount},
                     [&rows](int64_t first, int64_t count, std::byte *out) {
                       for (int64_t i = 0; i < count; ++i)
                         std::memcpy(out + i * sizeof(int64_t),
                                     &rows[first + i].key, sizeof(int64_t));
                     }));
  for (const RowPart &part : parts) {
    const size_t bytes = size_t(part.width) * tensorElementSize(part.type);
    const auto makeRow = [bytes, width = part.width, begin = part.begin,
                          storage = part.storage](const TableRow &row,
                                                  std::byte *out) {
      const auto *from = static_cast<const char *>(row.row) + begin;
      if (storage == PDL_STORE_ELEMENT)
        std::memcpy(out, from, bytes);
      else
        widenStored(storage, width, from, reinterpret_cast<float *>(out));
    };
    PDLRT_RETURN_IF_ERROR(writer.addRows(
        part.name, part.type, {rowCount, part.width},
        [&rows, bytes, makeRow, moment](int64_t first, int64_t count,
                                        std::byte *out) {
          const auto copy = [&](std::span<const TableRow> some) {
            for (const TableRow &row : some) {
              makeRow(row, out);
              out += bytes;
            }
          };
          const auto all = std::span(rows).subspan(first, count);
          if (moment)
            moment->read(all, /*isLast=*/false, copy);
          else
            copy(all);
        }));
  }
  return {};
}
