//===- RewrittenPart.cpp - Writes parts made from other parts -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/RewrittenPart.h"

#include "Checkpoint/SymbolTensors.h"
#include "Files/TemporaryFile.h"
#include "pdlrt/Kernels/Storage.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace pdlrt;

Status pdlrt::copyPart(const Checkpoint &checkpoint, size_t index,
                       CheckpointWriter &writer) {
  constexpr size_t atOnce = size_t(1) << 20;
  CheckpointPart part = checkpoint.manifest().parts[index];
  Expected<std::string> folder = writer.folder();
  if (!folder)
    return folder.status();
  // Read from the open file, because that is the one that was verified. Its
  // name may now belong to another file.
  const SafetensorsFile &from = checkpoint.file(index);
  TemporaryFile to(*folder + "/" + part.file);
  PDLRT_RETURN_IF_ERROR(to.create());
  std::vector<std::byte> piece(atOnce);
  for (uint64_t begin = 0; begin < from.size(); begin += atOnce) {
    const auto count = size_t(std::min<uint64_t>(atOnce, from.size() - begin));
    PDLRT_RETURN_IF_ERROR(from.readAt(begin, count, piece.data()));
    PDLRT_RETURN_IF_ERROR(to.write(piece.data(), count));
  }
  PDLRT_RETURN_IF_ERROR(to.commit());
  part.owner = 0;
  writer.addWritten(std::move(part));
  return {};
}

static int64_t elementsOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t dimension : shape)
    count *= dimension;
  return count;
}

size_t pdlrt::bytesOfRow(const CheckpointSymbol &symbol) {
  const auto width = elementsOf(symbol.shape);
  const int32_t type =
      symbol.elementType == TensorType::F32 ? PDL_F32 : PDL_F64;
  const size_t element = tensorElementSize(symbol.elementType);
  return sizeof(int64_t) +
         storedValueBytes(storageOf(symbol.partType(0)), type, width) +
         element *
             (size_t(width) * (symbol.slots.size() - size_t(symbol.rowSlots)) +
              size_t(symbol.rowSlots));
}

namespace {

/// Reads the value or a slot of rows, each from the file that contains the row.
class ColumnReader {
public:
  ColumnReader(const std::vector<const TensorView *> &tensors, int64_t width)
      : width(width) {
    for (const TensorView *tensor : tensors)
      windows.emplace_back(*tensor);
    bytes = size_t(width) * tensorElementSize(tensors.front()->type);
  }

  Status read(std::span<const LinkedRows::Row> rows, std::byte *out) {
    for (const LinkedRows::Row &row : rows) {
      Expected<const std::byte *> from =
          windows[row.file].at(row.index * width, width);
      if (!from)
        return from.status();
      std::memcpy(out, *from, bytes);
      out += bytes;
    }
    return {};
  }

private:
  const int64_t width;
  size_t bytes = 0;
  /// Indexed by file.
  std::vector<TensorWindow> windows;
};

} // namespace

Status pdlrt::writeRewritten(const Checkpoint &checkpoint,
                             const RewrittenPart &rewritten,
                             CheckpointWriter &writer) {
  const CheckpointSymbol &symbol =
      checkpoint.manifest().symbols[rewritten.symbol];
  const std::span<const LinkedRows::Row> rows = rewritten.rows;
  const auto count = int64_t(rows.size());
  // First error of a source. Sources cannot return errors.
  Status failed;
  SafetensorsWriter tensors;
  PDLRT_RETURN_IF_ERROR(tensors.addRows(
      "keys", TensorType::I64, {count},
      [rows](int64_t first, int64_t some, std::byte *out) {
        for (int64_t i = first; i < first + some; ++i) {
          std::memcpy(out, &rows[size_t(i)].key, sizeof(int64_t));
          out += sizeof(int64_t);
        }
      }));
  for (size_t p = 0; p <= symbol.slots.size(); ++p) {
    const std::string name =
        p > 0 ? "slot." + symbol.slots[p - 1] : std::string("values");
    const int64_t width =
        p > 0 && symbol.isRowSlot(p - 1) ? 1 : elementsOf(symbol.shape);
    std::vector<const TensorView *> columns;
    for (const LinkedRows::File &file : rewritten.files) {
      Expected<const TensorView *> column = file.of->tensorOf(
          *file.content, name, symbol.partType(p), {file.rows, width});
      if (!column)
        return column.status();
      columns.push_back(*column);
    }
    PDLRT_RETURN_IF_ERROR(tensors.addRows(
        name, symbol.partType(p), {count, width},
        [rows, &failed, &rewritten, p, width,
         reader = std::make_shared<ColumnReader>(columns, width)](
            int64_t first, int64_t some, std::byte *out) {
          if (failed.ok())
            failed =
                reader->read(rows.subspan(size_t(first), size_t(some)), out);
          if (failed.ok() && rewritten.change)
            rewritten.change(p, some * width, out);
        }));
  }
  PDLRT_RETURN_IF_ERROR(rewritten.waiting.addTo(tensors));
  Expected<std::string> folder = writer.folder();
  if (!folder)
    return folder.status();
  CheckpointPart part;
  part.file = tableFileOf(rewritten.symbol, rewritten.run.shards.front().first);
  part.kind = PartKind::Table;
  part.symbol = symbol.name;
  part.shards = rewritten.run.shards;
  PDLRT_RETURN_IF_ERROR(
      tensors.writeStreamed(*folder + "/" + part.file, part.digest));
  PDLRT_RETURN_IF_ERROR(std::move(failed));
  writer.addWritten(std::move(part));
  return {};
}
