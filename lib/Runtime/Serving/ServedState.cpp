//===- ServedState.cpp - The values of a checkpoint, to be read -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/ServedState.h"

#include "Checkpoint/SymbolTensors.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/Kernels/Storage.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

using namespace pdlrt;

int64_t ServedTable::findFrozen(int64_t count, const int64_t *keys,
                                void **found, TableScratch &) const {
  std::fill_n(found, count, nullptr);
  return rows.find(count, keys, found);
}

ServedState::ServedState(const pdl_descriptor &descriptor)
    : parameterMemory(descriptor.symbol_count),
      parameterPointers(descriptor.symbol_count),
      ownedTables(descriptor.symbol_count),
      tablePointers(descriptor.symbol_count) {}

int64_t ServedState::rows() const {
  int64_t sum = 0;
  for (const std::unique_ptr<ServedTable> &table : ownedTables)
    sum += table ? table->size() : 0;
  return sum;
}

size_t ServedState::memoryBytes() const {
  size_t sum = parameterBytes;
  for (const std::unique_ptr<ServedTable> &table : ownedTables)
    sum += table ? table->memoryBytes() : 0;
  return sum;
}

namespace pdlrt {

/// Fills a state that nobody reads yet.
class StateLoader {
public:
  explicit StateLoader(const pdl_descriptor &descriptor)
      : descriptor(descriptor), state(new ServedState(descriptor)) {}

  Status readCheckpoint(const std::string &path);
  Status readDump(const std::string &path);
  std::shared_ptr<const ServedState> take() { return std::move(state); }

private:
  /// Some rows of a table, in a file.
  struct Rows {
    std::string file;
    const TensorView *keys, *values;
  };

  void *reserveParameter(int32_t index);
  Status readRows(int32_t index, const std::vector<Rows> &sources);
  Status readCheckpointRows(int32_t index, const Checkpoint &checkpoint);
  Expected<const TensorView *> take(const SafetensorsFile &file,
                                    const std::string &name,
                                    const pdl_symbol &symbol,
                                    const std::vector<int64_t> &shape) const;
  Status readDumpedParameter(int32_t index, const SafetensorsFile &file);
  Status readDumpedRows(int32_t index, const SafetensorsFile &file);

  const pdl_descriptor &descriptor;
  std::shared_ptr<ServedState> state;
};

} // namespace pdlrt

void *StateLoader::reserveParameter(int32_t index) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  const size_t bytes = size_t(elementCount(symbol)) * elementSize(symbol);
  state->parameterBytes += bytes;
  return state->parameterPointers[index] =
             state->parameterMemory[index].reserve(bytes);
}

/// `count` elements of a file, widened to f64 where the symbol is.
static Status copyElements(const TensorView &tensor, int64_t first,
                           int64_t count, int32_t elementType, void *out) {
  if (tensor.type != TensorType::F32 || elementType == PDL_F32)
    return tensor.read(first, count, out);
  std::vector<float> narrow(static_cast<size_t>(count));
  PDLRT_RETURN_IF_ERROR(tensor.read(first, count, narrow.data()));
  std::ranges::copy(narrow, static_cast<double *>(out));
  return {};
}

/// Brings rows of a file to the form in which a table serves them.
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
      return Status::invalid("tensor '" + values.name +
                             "' has a number that is too large for the rows "
                             "of @" +
                             options.name + ", which are stored in 16 bits");
    }
  }
  return {};
}

Status StateLoader::readRows(int32_t index, const std::vector<Rows> &sources) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  TableOptions options = TableOptions::of(symbol, state->initialSeed);
  std::vector<int64_t> keys;
  for (const Rows &source : sources) {
    const size_t before = keys.size();
    keys.resize(before + size_t(source.keys->elementCount));
    PDLRT_RETURN_IF_ERROR(source.keys->copyTo(keys.data() + before));
  }
  std::vector<uint64_t> places;
  Expected<FrozenTable> table =
      FrozenTable::build(keys, options.frozenBytes(), places);
  if (!table)
    return std::move(table).status().withContext(sources.front().file +
                                                 ": of table @" + symbol.name);
  constexpr int64_t rowsAtOnce = 4096;
  std::vector<void *> rows;
  std::vector<std::byte> scratch;
  const uint64_t *place = places.data();
  for (const Rows &source : sources)
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
  state->ownedTables[index] =
      std::make_unique<ServedTable>(std::move(options), *std::move(table));
  state->tablePointers[index] = state->ownedTables[index].get();
  return {};
}

//===----------------------------------------------------------------------===//
// From a checkpoint
//===----------------------------------------------------------------------===//

/// What frozen programs read begins as the value where a checkpoint does not
/// have it.
static int32_t savedPart(const pdl_symbol &symbol,
                         const Checkpoint &checkpoint) {
  if (symbol.frozen_part == 0)
    return 0;
  const char *slot = symbol.slot_names[symbol.frozen_part - 1];
  const bool hasIt = std::ranges::any_of(
      checkpoint.manifest().symbols, [&](const CheckpointSymbol &saved) {
        return saved.name == symbol.name &&
               std::ranges::count(saved.slots, slot) > 0;
      });
  return hasIt ? symbol.frozen_part : 0;
}

Status StateLoader::readCheckpointRows(int32_t index,
                                       const Checkpoint &checkpoint) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  const int32_t part = savedPart(symbol, checkpoint);
  std::vector<Rows> sources;
  const std::vector<CheckpointPart> &parts = checkpoint.manifest().parts;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].kind != PartKind::Table || parts[p].symbol != symbol.name)
      continue;
    const TensorView *keys = checkpoint.file(p).find("keys");
    if (!keys || keys->type != TensorType::I64 || keys->shape.size() != 1)
      return checkpoint.damaged(parts[p].file + " has no keys");
    Expected<const TensorView *> values = checkpoint.tensorOf(
        checkpoint.file(p), rowPartName(symbol, part),
        rowTensorType(symbol, part), {keys->elementCount, symbol.row_width});
    if (!values)
      return values.status();
    sources.push_back({checkpoint.file(p).path(), keys, *values});
  }
  if (sources.empty())
    return checkpoint.damaged(std::string("it has no rows of @") + symbol.name);
  return readRows(index, sources);
}

Status StateLoader::readCheckpoint(const std::string &path) {
  std::vector<std::string> refused;
  Expected<Checkpoint> checkpoint = openCheckpoint(path, refused);
  if (!checkpoint)
    return std::move(checkpoint).status();
  PDLRT_RETURN_IF_ERROR(
      checkSameModel(descriptor, *checkpoint, CheckpointUse::Values));
  const CheckpointManifest &manifest = checkpoint->manifest();
  state->initialSeed = manifest.seed;
  state->stepCount = manifest.progress.steps;
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (symbol.kind == PDL_SYMBOL_TABLE) {
      PDLRT_RETURN_IF_ERROR(readCheckpointRows(i, *checkpoint));
      continue;
    }
    const CheckpointSymbol wanted = {
        symbol.name, false, shapeOf(symbol), {}, tensorTypeOf(symbol)};
    PDLRT_RETURN_IF_ERROR(checkpoint->copyRows(
        wanted, fullPartName(symbol, savedPart(symbol, *checkpoint)),
        {0, symbol.row_count}, reserveParameter(i)));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// From a dump
//===----------------------------------------------------------------------===//

/// A tensor of that shape, of the symbol's type or one that widens to it; null
/// if there is none of that name.
Expected<const TensorView *>
StateLoader::take(const SafetensorsFile &file, const std::string &name,
                  const pdl_symbol &symbol,
                  const std::vector<int64_t> &shape) const {
  const TensorView *tensor = file.find(name);
  if (!tensor)
    return tensor;
  const TensorType wanted = tensorTypeOf(symbol);
  if ((tensor->type == wanted ||
       (tensor->type == TensorType::F32 && wanted == TensorType::F64)) &&
      tensor->shape == shape)
    return tensor;
  return Status::invalid(file.path() + ": tensor '" + name + "' is " +
                         tensor->typeAndShape() + ", but the model needs " +
                         tensorTypeName(wanted) + " " + shapeText(shape) +
                         "; write it with that type and shape");
}

Status StateLoader::readDumpedParameter(int32_t index,
                                        const SafetensorsFile &file) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  for (const int32_t part : {symbol.frozen_part, 0}) {
    Expected<const TensorView *> tensor =
        take(file, fullPartName(symbol, part), symbol, shapeOf(symbol));
    if (!tensor)
      return tensor.status();
    if (*tensor)
      return copyElements(**tensor, 0, (*tensor)->elementCount,
                          symbol.element_type, reserveParameter(index));
  }
  return Status::invalid(file.path() + ": there is no tensor '" + symbol.name +
                         "', which the model has as a parameter; add it");
}

Status StateLoader::readDumpedRows(int32_t index, const SafetensorsFile &file) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  const std::string name = symbol.name;
  const TensorView *keys = file.find(name + ".keys");
  if (!keys || keys->type != TensorType::I64 || keys->shape.size() != 1)
    return Status::invalid(file.path() + ": there is no tensor '" + name +
                           ".keys' of I64 and rank 1, which are the keys of a "
                           "table of the model; add it");
  for (const int32_t part : {symbol.frozen_part, 0}) {
    const std::string values =
        part ? fullSlotName(symbol, part - 1) : name + ".values";
    Expected<const TensorView *> tensor =
        take(file, values, symbol, {keys->elementCount, symbol.row_width});
    if (!tensor)
      return tensor.status();
    if (*tensor)
      return readRows(index, {{file.path(), keys, *tensor}});
  }
  return Status::invalid(file.path() + ": there is '" + name +
                         ".keys', but no '" + name + ".values'; add it");
}

Status StateLoader::readDump(const std::string &path) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return std::move(file).status();
  Expected<std::optional<uint64_t>> seed = seedOfModelFile(path);
  if (!seed)
    return std::move(seed).status();
  state->initialSeed = seed->value_or(0);
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    PDLRT_RETURN_IF_ERROR(descriptor.symbols[i].kind == PDL_SYMBOL_TABLE
                              ? readDumpedRows(i, *file)
                              : readDumpedParameter(i, *file));
  return {};
}

Expected<std::shared_ptr<const ServedState>>
ServedState::load(const pdl_descriptor &descriptor, const std::string &path) {
  StateLoader loader(descriptor);
  std::error_code ignored;
  PDLRT_RETURN_IF_ERROR(std::filesystem::is_regular_file(path, ignored)
                            ? loader.readDump(path)
                            : loader.readCheckpoint(path));
  return loader.take();
}
