//===- TableTensors.cpp - Rows of a table as tensors ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/TableTensors.h"

#include "pdlrt/Kernels/Storage.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;

/// Copies the values, or one slot, of each row to `out`, and widens 16-bit
/// values. Returns the position after the last element. Prefetches rows into
/// the cache.
static std::byte *copyRowPart(std::span<const TableRow> rows,
                              const RowPart &part, std::byte *out) {
  constexpr size_t ahead = 16, lineBytes = 64;
  const size_t bytes = size_t(part.width) * tensorElementSize(part.type);
  const auto partOf = [&](size_t i) {
    return static_cast<const char *>(rows[i].row) + part.begin;
  };
  const auto fetch = [&](size_t i) {
    for (size_t byte = 0; byte < bytes; byte += lineBytes)
      __builtin_prefetch(partOf(i) + byte);
  };
  for (size_t i = 0; i < std::min(ahead, rows.size()); ++i)
    fetch(i);
  for (size_t i = 0; i < rows.size(); ++i, out += bytes) {
    if (i + ahead < rows.size())
      fetch(i + ahead);
    if (part.storage == PDL_STORE_ELEMENT)
      std::memcpy(out, partOf(i), bytes);
    else
      widenStored(part.storage, part.width, partOf(i),
                  reinterpret_cast<float *>(out));
  }
  return out;
}

Status pdlrt::addTableRows(SafetensorsWriter &writer, const std::string &keys,
                           std::span<const RowPart> parts,
                           std::vector<TableRow> &rows,
                           TableSnapshot *snapshot) {
  const auto rowCount = int64_t(rows.size());
  PDLRT_RETURN_IF_ERROR(
      writer.addRows(keys, TensorType::I64, {rowCount},
                     [&rows](int64_t first, int64_t count, std::byte *out) {
                       for (int64_t i = 0; i < count; ++i)
                         std::memcpy(out + i * sizeof(int64_t),
                                     &rows[first + i].key, sizeof(int64_t));
                     }));
  for (const RowPart &part : parts) {
    PDLRT_RETURN_IF_ERROR(writer.addRows(
        part.name, part.type, {rowCount, part.width},
        [&rows, part, snapshot](int64_t first, int64_t count, std::byte *out) {
          const auto copy = [&](std::span<const TableRow> some) {
            out = copyRowPart(some, part, out);
          };
          const auto all = std::span(rows).subspan(first, count);
          if (snapshot)
            snapshot->read(all, copy);
          else
            copy(all);
        }));
  }
  return {};
}
