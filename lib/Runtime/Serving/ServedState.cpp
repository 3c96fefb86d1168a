//===- ServedState.cpp - The values of a checkpoint, to be read -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/ServedState.h"

#include "Checkpoint/SymbolTensors.h"
#include "Serving/FileRows.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/Serving/ServedExport.h"

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
  Status readExport(const std::string &path);
  std::shared_ptr<const ServedState> take() { return std::move(state); }

private:
  void *reserveParameter(int32_t index);
  Status readRows(int32_t index, const std::vector<FileRows> &rows);
  void serveTable(int32_t index, TableOptions options, FrozenTable rows);
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

Status StateLoader::readRows(int32_t index, const std::vector<FileRows> &rows) {
  TableOptions options =
      TableOptions::of(descriptor.symbols[index], state->initialSeed);
  Expected<FrozenTable> table = freezeRows(options, rows);
  if (!table)
    return std::move(table).status();
  serveTable(index, std::move(options), *std::move(table));
  return {};
}

void StateLoader::serveTable(int32_t index, TableOptions options,
                             FrozenTable rows) {
  state->ownedTables[index] =
      std::make_unique<ServedTable>(std::move(options), std::move(rows));
  state->tablePointers[index] = state->ownedTables[index].get();
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
  Expected<std::vector<FileRows>> rows =
      rowsIn(checkpoint, symbol.name, rowPartName(symbol, part),
             rowTensorType(symbol, part), symbol.row_width);
  return rows ? readRows(index, *rows) : std::move(rows).status();
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

//===----------------------------------------------------------------------===//
// From an export
//===----------------------------------------------------------------------===//

/// An error where an export has another part of a symbol than the program
/// reads.
static Status checkPart(const pdl_symbol &symbol,
                        const CheckpointManifest &manifest,
                        const std::string &path) {
  const auto found = std::ranges::find(
      manifest.symbols, std::string(symbol.name), &CheckpointSymbol::name);
  const std::string exported =
      found == manifest.symbols.end() || found->slots.empty()
          ? ""
          : found->slots.front();
  const std::string read =
      symbol.frozen_part ? symbol.slot_names[symbol.frozen_part - 1] : "";
  if (exported == read)
    return {};
  return Status::invalid(
      path + ": has " + (exported.empty() ? "the value" : "slot " + exported) +
      " of @" + symbol.name + ", but the program reads " +
      (read.empty()
           ? "the value; export the checkpoint without --slot"
           : "slot " + read + "; export the checkpoint with --slot " + read));
}

Status StateLoader::readExport(const std::string &path) {
  Expected<CheckpointManifest> manifest =
      readManifest(path + "/" + exportManifestName);
  if (!manifest)
    return std::move(manifest).status();
  PDLRT_RETURN_IF_ERROR(
      checkSameModel(descriptor, *manifest, path, CheckpointUse::Values));
  state->initialSeed = manifest->seed;
  state->stepCount = manifest->progress.steps;
  for (const CheckpointPart &part : manifest->parts)
    if (part.kind == PartKind::Dense) {
      Expected<SafetensorsFile> file =
          SafetensorsFile::open(path + "/" + part.file);
      if (!file)
        return std::move(file).status();
      for (int32_t i = 0; i < descriptor.symbol_count; ++i)
        if (descriptor.symbols[i].kind == PDL_SYMBOL_PARAMETER)
          PDLRT_RETURN_IF_ERROR(readDumpedParameter(i, *file));
    }
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    PDLRT_RETURN_IF_ERROR(checkPart(symbol, *manifest, path));
    if (symbol.kind != PDL_SYMBOL_TABLE) {
      if (!state->parameterPointers[i])
        return Status::invalid(path + ": has no parameters; export the "
                                      "checkpoint again");
      continue;
    }
    const auto part = std::ranges::find(
        manifest->parts, std::string(symbol.name), &CheckpointPart::symbol);
    if (part == manifest->parts.end())
      return Status::invalid(path + ": has no rows of @" + symbol.name +
                             "; export the checkpoint again");
    TableOptions options = TableOptions::of(symbol, state->initialSeed);
    Expected<FrozenTable> rows =
        FrozenTable::map(path + "/" + part->file, options.frozenBytes());
    if (!rows)
      return std::move(rows).status();
    serveTable(i, std::move(options), *std::move(rows));
  }
  return {};
}

Expected<std::shared_ptr<const ServedState>>
ServedState::load(const pdl_descriptor &descriptor, const std::string &path) {
  StateLoader loader(descriptor);
  std::error_code ignored;
  PDLRT_RETURN_IF_ERROR(std::filesystem::is_regular_file(path, ignored)
                            ? loader.readDump(path)
                        : isExport(path) ? loader.readExport(path)
                                         : loader.readCheckpoint(path));
  return loader.take();
}
