//===- FileRows.cpp - Rows of a table in files ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serving/FileRows.h"

#include "Checkpoint/LinkedRows.h"
#include "Checkpoint/SymbolTensors.h"
#include "pdlrt/Core/Finite.h"
#include "pdlrt/Kernels/Storage.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

using namespace pdlrt;

TableOptions pdlrt::optionsOfPart(const CheckpointSymbol &symbol, size_t part) {
  TableOptions options;
  options.name = symbol.name;
  options.elementType =
      symbol.elementType == TensorType::F64 ? PDL_F64 : PDL_F32;
  options.width = symbol.shape.empty() ? 1 : symbol.shape[0];
  if (symbol.valueType)
    options.storage = storageOf(*symbol.valueType);
  options.slotInitialValues.resize(part);
  options.frozenPart = part;
  return options;
}

/// Returns the rows of a table in the files of one checkpoint: their keys, and
/// the tensor `tensor` with the given type and width. Does not read
/// predecessors of a delta.
static Expected<std::vector<FileRows>> rowsIn(const Checkpoint &checkpoint,
                                              const std::string &table,
                                              const std::string &tensor,
                                              TensorType type, int64_t width) {
  std::vector<FileRows> found;
  const std::vector<CheckpointPart> &parts = checkpoint.manifest().parts;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].kind != PartKind::Table || parts[p].symbol != table)
      continue;
    Expected<const TensorView *> keys = keyTensorOf(checkpoint, p);
    if (!keys)
      return keys.status();
    Expected<const TensorView *> values = checkpoint.tensorOf(
        checkpoint.file(p), tensor, type, {(*keys)->elementCount, width});
    if (!values)
      return values.status();
    found.push_back(
        {checkpoint.file(p).path(), *keys, *values, KeyPlaces(checkpoint, p)});
  }
  if (found.empty() && !checkpoint.isDelta())
    return checkpoint.damaged("it has no rows of @" + table);
  return found;
}

Status pdlrt::copyElements(const TensorView &tensor, int64_t first,
                           int64_t count, int32_t elementType, void *out) {
  if (tensor.type != TensorType::F32 || elementType == PDL_F32)
    return tensor.read(first, count, out);
  std::vector<float> narrow(static_cast<size_t>(count));
  PDLRT_RETURN_IF_ERROR(tensor.read(first, count, narrow.data()));
  std::ranges::copy(narrow, static_cast<double *>(out));
  return {};
}

/// Converts rows of a file to the form in which a table stores them.
static Status convertRows(const TableOptions &options, const TensorView &values,
                          int64_t first, const std::vector<void *> &rows,
                          std::vector<std::byte> &scratch) {
  const auto count = int64_t(rows.size());
  const int64_t width = options.width, elements = count * width;
  const int32_t fileStorage = storageOf(values.type),
                storage = options.frozenStorage();
  const bool isSame = fileStorage == storage;
  const size_t rowBytes =
      size_t(width) * (isSame || fileStorage != PDL_STORE_ELEMENT
                           ? storedSize(fileStorage, options.elementType)
                           : elementSize(options.elementType));
  scratch.resize(size_t(count) * rowBytes);
  PDLRT_RETURN_IF_ERROR(copyElements(values, first * width, elements,
                                     options.elementType, scratch.data()));
  if (fileStorage == PDL_STORE_ELEMENT &&
      !allFinite(options.elementType, elements, scratch.data()))
    return Status::invalidArgument(
        "tensor '" + values.name +
        "' has a number that is not finite; write it "
        "without");
  for (int64_t i = 0; i < count; ++i) {
    const std::byte *from = scratch.data() + size_t(i) * rowBytes;
    if (isSame) {
      std::memcpy(rows[i], from, rowBytes);
      std::memset(static_cast<char *>(rows[i]) + rowBytes, 0,
                  options.frozenBytes() - rowBytes);
    } else if (storage == PDL_STORE_ELEMENT) {
      widenStored(fileStorage, width, from, static_cast<float *>(rows[i]));
    } else if (!storeNearest(storage, width,
                             reinterpret_cast<const float *>(from), rows[i])) {
      return Status::failedPrecondition(
          "tensor '" + values.name +
          "' has a number that is too large for the rows "
          "of @" +
          options.name + ", which are stored in 16 bits");
    }
  }
  return {};
}

/// Creates a table with the rows of `sources`. `removed`: keys that no longer
/// have a row.
static Expected<FrozenTable> freeze(const TableOptions &options,
                                    const std::vector<FileRows> &sources,
                                    const std::vector<int64_t> &removed) {
  std::vector<int64_t> keys;
  for (const FileRows &source : sources) {
    const size_t before = keys.size();
    keys.resize(before + size_t(source.keys->elementCount));
    PDLRT_RETURN_IF_ERROR(source.keys->copyTo(keys.data() + before));
    if (std::optional<KeyPlaces> places = source.places)
      for (size_t i = before; i < keys.size(); ++i)
        PDLRT_RETURN_IF_ERROR(places->take(keys[i]));
  }
  keys.insert(keys.end(), removed.begin(), removed.end());
  std::vector<uint64_t> places;
  Expected<FrozenTable> table =
      FrozenTable::build(keys, options.frozenBytes(), places, removed.size());
  if (!table)
    return std::move(table).status().withContext(sources.front().file +
                                                 ": of table @" + options.name);
  constexpr int64_t rowsAtOnce = 4096;
  std::vector<void *> rows;
  std::vector<std::byte> scratch;
  const uint64_t *place = places.data();
  for (const FileRows &source : sources)
    for (int64_t begin = 0; begin < source.keys->elementCount;
         begin += rowsAtOnce) {
      rows.resize(
          size_t(std::min(rowsAtOnce, source.keys->elementCount - begin)));
      for (void *&row : rows)
        row = table->rowAt(*place++);
      if (Status status =
              convertRows(options, *source.values, begin, rows, scratch);
          !status.ok())
        return std::move(status).withContext(source.file);
    }
  return table;
}

Expected<FrozenTable> pdlrt::freezeRows(const TableOptions &options,
                                        const std::vector<FileRows> &sources) {
  return freeze(options, sources, {});
}

Expected<FrozenTable> pdlrt::freezeChanges(const TableOptions &options,
                                           const Checkpoint &delta,
                                           const std::string &table,
                                           const std::string &tensor,
                                           TensorType type) {
  Expected<std::vector<FileRows>> rows =
      rowsIn(delta, table, tensor, type, options.width);
  if (!rows)
    return std::move(rows).status();
  std::vector<int64_t> removed;
  const std::vector<CheckpointPart> &parts = delta.manifest().parts;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].kind != PartKind::Table || parts[p].symbol != table)
      continue;
    Expected<PartKeys> keys = keysOf(delta, p);
    if (!keys)
      return std::move(keys).status();
    removed.insert(removed.end(), keys->erased.begin(), keys->erased.end());
  }
  return freeze(options, *rows, removed);
}

/// Creates a table of a checkpoint's rows, reading each file sequentially.
static Expected<FrozenTable> freezeLinked(const TableOptions &options,
                                          const LinkedRows &linked,
                                          const std::string &tensor,
                                          TensorType type) {
  std::vector<int64_t> keys;
  for (const LinkedRows::Row &row : linked.rows)
    keys.push_back(row.key);
  std::vector<uint64_t> places;
  Expected<FrozenTable> table =
      FrozenTable::build(keys, options.frozenBytes(), places);
  if (!table)
    return table;
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t(0));
  const auto placeInFiles = [&](size_t i) {
    return std::tie(linked.rows[i].file, linked.rows[i].index);
  };
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return placeInFiles(a) < placeInFiles(b);
  });
  std::vector<void *> rows;
  std::vector<std::byte> scratch;
  constexpr size_t rowsAtOnce = 4096;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const LinkedRows::Row &first = linked.rows[order[begin]];
    rows.clear();
    for (end = begin; end < order.size() && rows.size() < rowsAtOnce; ++end) {
      const LinkedRows::Row &row = linked.rows[order[end]];
      if (row.file != first.file ||
          row.index != first.index + int64_t(end - begin))
        break;
      rows.push_back(table->rowAt(places[order[end]]));
    }
    const LinkedRows::File &file = linked.files[first.file];
    Expected<const TensorView *> values = file.of->tensorOf(
        *file.content, tensor, type, {file.rows, options.width});
    if (!values)
      return values.status();
    if (Status status =
            convertRows(options, **values, first.index, rows, scratch);
        !status.ok())
      return std::move(status).withContext(file.content->path());
  }
  return table;
}

Expected<FrozenTable> pdlrt::freezeTable(const TableOptions &options,
                                         const Checkpoint &checkpoint,
                                         const std::string &table,
                                         const std::string &tensor,
                                         TensorType type) {
  if (!checkpoint.isDelta()) {
    Expected<std::vector<FileRows>> rows =
        rowsIn(checkpoint, table, tensor, type, options.width);
    return rows ? freezeRows(options, *rows) : std::move(rows).status();
  }
  Expected<LinkedRows> linked = linkRows(checkpoint, table);
  return linked ? freezeLinked(options, *linked, tensor, type)
                : std::move(linked).status();
}
