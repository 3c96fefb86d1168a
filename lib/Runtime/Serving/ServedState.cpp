//===- ServedState.cpp - The values of a checkpoint for serving -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/ServedState.h"

#include "Checkpoint/CheckpointNames.h"
#include "Checkpoint/SymbolTensors.h"
#include "Serving/FileRows.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/Finite.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/Files/Store.h"
#include "pdlrt/Serving/KeyValueExport.h"
#include "pdlrt/Serving/ServedExport.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <tuple>
#include <utility>

using namespace pdlrt;

int64_t ServedTable::findFrozen(int64_t count, const int64_t *keys,
                                void **found, TableScratch &,
                                RowImages &) const {
  std::fill_n(found, count, nullptr);
  int64_t missing = count;
  for (const std::shared_ptr<const FrozenTable> &level : levels)
    missing = level->find(count, keys, found);
  if (levels.size() == 1)
    return missing;
  for (int64_t i = 0; i < count; ++i)
    if (found[i] == FrozenTable::removedRow) {
      found[i] = nullptr;
      ++missing;
    }
  return missing;
}

size_t ServedTable::memoryBytes() const {
  size_t sum = 0;
  for (const std::shared_ptr<const FrozenTable> &level : levels)
    sum += level->memoryBytes();
  return sum;
}

ServedTable::ServedTable(const ServedTable &below, FrozenTable changes)
    : options(below.options), rowCount(below.rowCount), levels(below.levels) {
  std::vector<int64_t> keys, removed;
  changes.forEach([&](int64_t key, const char *row) {
    (row ? keys : removed).push_back(key);
  });
  TableScratch none;
  RowImages noImages;
  std::vector<void *> rows(std::max(keys.size(), removed.size()));
  rowCount += below.findFrozen(int64_t(keys.size()), keys.data(), rows.data(),
                               none, noImages);
  rowCount -= int64_t(removed.size()) -
              below.findFrozen(int64_t(removed.size()), removed.data(),
                               rows.data(), none, noImages);
  levels.insert(levels.begin(),
                std::make_shared<const FrozenTable>(std::move(changes)));
}

bool ServedTable::hasManyLevels() const {
  constexpr size_t maxLevels = 4;
  return levels.size() > maxLevels;
}

std::shared_ptr<const ServedTable> ServedTable::joined() const {
  struct Change {
    int64_t key;
    size_t level;
    const char *row;
  };
  // Merge the newest levels, up to a level that is more than twice as large as
  // all newer ones together. So each change is copied only a few times, however
  // many deltas follow.
  size_t count = 1;
  int64_t size = levels[0]->size();
  while (count + 1 < levels.size() &&
         (count < 2 || levels[count]->size() <= 2 * size))
    size += levels[count++]->size();
  std::vector<Change> all;
  for (size_t level = 0; level < count; ++level)
    levels[level]->forEach([&](int64_t key, const char *row) {
      all.push_back({key, level, row});
    });
  std::ranges::sort(all, [](const Change &a, const Change &b) {
    return std::tie(a.key, a.level) < std::tie(b.key, b.level);
  });
  const auto older = std::ranges::unique(all, {}, &Change::key);
  all.erase(older.begin(), older.end());
  const auto removed = std::ranges::partition(
      all, [](const Change &change) { return change.row != nullptr; });
  std::vector<int64_t> keys;
  for (const Change &change : all)
    keys.push_back(change.key);
  std::vector<uint64_t> places;
  Expected<FrozenTable> joined =
      FrozenTable::build(keys, options.frozenBytes(), places, removed.size());
  // Keys are unique, so building cannot fail.
  if (!joined)
    return nullptr;
  for (size_t i = 0; i < all.size() - removed.size(); ++i)
    std::memcpy(joined->rowAt(places[i]), all[i].row, options.frozenBytes());
  auto table = std::make_shared<ServedTable>(*this);
  table->levels.erase(table->levels.begin(),
                      table->levels.begin() + int64_t(count));
  table->levels.insert(table->levels.begin(),
                       std::make_shared<const FrozenTable>(*std::move(joined)));
  return table;
}

ServedState::ServedState(const pdl_descriptor &descriptor)
    : dense(std::make_shared<Dense>()), ownedTables(descriptor.symbol_count),
      tablePointers(descriptor.symbol_count) {
  dense->memory.resize(descriptor.symbol_count);
  dense->pointers.resize(descriptor.symbol_count);
}

void ServedState::serve(size_t index,
                        std::shared_ptr<const ServedTable> table) {
  tablePointers[index] = table.get();
  ownedTables[index] = std::move(table);
}

std::shared_ptr<const ServedState> ServedState::joined() const {
  std::shared_ptr<ServedState> state;
  for (size_t i = 0; i < ownedTables.size(); ++i) {
    if (!ownedTables[i] || !ownedTables[i]->hasManyLevels())
      continue;
    std::shared_ptr<const ServedTable> table = ownedTables[i]->joined();
    if (!table)
      continue;
    if (!state)
      state.reset(new ServedState(*this));
    state->serve(i, std::move(table));
  }
  return state;
}

int64_t ServedState::rows() const {
  int64_t sum = 0;
  for (const std::shared_ptr<const ServedTable> &table : ownedTables)
    sum += table ? table->size() : 0;
  return sum;
}

size_t ServedState::memoryBytes() const {
  size_t sum = dense->bytes + dense->factors.memoryBytes();
  if (rowsOnServers)
    sum += rowsOnServers->memoryBytes();
  for (const std::shared_ptr<const ServedTable> &table : ownedTables)
    sum += table ? table->memoryBytes() : 0;
  return sum;
}

namespace pdlrt {

/// Fills a state that is not used by requests yet.
class StateLoader {
public:
  /// `remote`: source of remote rows; null: rows are read from files.
  StateLoader(const pdl_descriptor &descriptor, bool acceptOldLayout,
              std::shared_ptr<const RemoteRows> remote = nullptr)
      : descriptor(descriptor),
        oldLayout{.accepted = acceptOldLayout, .unchecked = {}},
        state(new ServedState(descriptor)) {
    state->rowsOnServers = std::move(remote);
  }

  Status readPath(const std::string &path);
  Status requestParameters(bool &isUnavailable);

  Status readCheckpoint(const std::string &path);
  Status readDump(const std::string &path);
  Status readExport(const std::string &path);
  /// Reads the deltas after `before`, oldest first.
  Status readDeltas(const std::vector<Checkpoint> &deltas,
                    const ServedState &before);
  /// Returns the complete state. Packs those parameters for matrix products
  /// that `before` has packed, so that calls need not do it. `before` may be
  /// null.
  std::shared_ptr<const ServedState> take(const ServedState *before);

private:
  /// Returns true if the symbol is a table with rows that are read from files.
  bool readsTable(int32_t index) const {
    return descriptor.symbols[index].kind == PDL_SYMBOL_TABLE &&
           !state->rowsOnServers;
  }
  void *reserveParameter(int32_t index);
  Status readRows(int32_t index, const std::vector<FileRows> &rows);
  void serveTable(int32_t index, TableOptions options, FrozenTable rows);
  Status readParameters(const Checkpoint &checkpoint);
  Status readCheckpointRows(int32_t index, const Checkpoint &checkpoint);
  Status readDumpedParameter(int32_t index, const SafetensorsFile &file);
  Status readDumpedRows(int32_t index, const SafetensorsFile &file);

  const pdl_descriptor &descriptor;
  OldLayout oldLayout;
  std::shared_ptr<ServedState> state;
};

} // namespace pdlrt

std::shared_ptr<const ServedState>
StateLoader::take(const ServedState *before) {
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    const bool isTable = symbol.kind == PDL_SYMBOL_TABLE;
    state->dense->factors.addConstant(
        isTable ? nullptr : state->dense->pointers[i],
        isTable ? 0 : size_t(elementCount(symbol)) * elementSize(symbol));
  }
  state->uncheckedParts = oldLayout.unchecked;
  if (before)
    state->dense->factors.packAs(before->dense->factors);
  return std::move(state);
}

void *StateLoader::reserveParameter(int32_t index) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  const size_t bytes = size_t(elementCount(symbol)) * elementSize(symbol);
  state->dense->bytes += bytes;
  return state->dense->pointers[index] =
             state->dense->memory[index].reserve(bytes);
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
  state->serve(size_t(index), std::make_shared<const ServedTable>(
                                  std::move(options), std::move(rows)));
}

//===----------------------------------------------------------------------===//
// From a checkpoint
//===----------------------------------------------------------------------===//

Status StateLoader::readCheckpointRows(int32_t index,
                                       const Checkpoint &checkpoint) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  const int32_t part = savedFrozenPart(symbol, checkpoint.manifest());
  TableOptions options = TableOptions::of(symbol, state->initialSeed);
  Expected<FrozenTable> rows =
      freezeTable(options, checkpoint, symbol.name, rowPartName(symbol, part),
                  rowTensorType(symbol, part));
  if (!rows)
    return std::move(rows).status();
  serveTable(index, std::move(options), *std::move(rows));
  return {};
}

Status StateLoader::readParameters(const Checkpoint &checkpoint) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  state->initialSeed = manifest.seed;
  state->stepCount = manifest.progress.steps;
  state->link = checkpoint.link();
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (symbol.kind == PDL_SYMBOL_TABLE)
      continue;
    const CheckpointSymbol wanted = {
        symbol.name, false, shapeOf(symbol), {}, tensorTypeOf(symbol)};
    PDLRT_RETURN_IF_ERROR(checkpoint.copyRows(
        wanted,
        fullPartName(symbol, savedFrozenPart(symbol, checkpoint.manifest())),
        {0, symbol.row_count}, reserveParameter(i)));
  }
  return {};
}

Status StateLoader::readCheckpoint(const std::string &path) {
  std::vector<std::string> refused;
  // A model whose rows are on servers may reload every few seconds, so the
  // checksums of table files are not verified then.
  Expected<Checkpoint> checkpoint =
      openCheckpoint(path, refused, /*scheduler=*/nullptr,
                     state->rowsOnServers ? CheckpointCheck::Parameters
                                          : CheckpointCheck::Everything);
  if (!checkpoint)
    return std::move(checkpoint).status();
  PDLRT_RETURN_IF_ERROR(checkSameModel(descriptor, *checkpoint,
                                       CheckpointUse::Values, &oldLayout));
  PDLRT_RETURN_IF_ERROR(readParameters(*checkpoint));
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    if (readsTable(i))
      PDLRT_RETURN_IF_ERROR(readCheckpointRows(i, *checkpoint));
  return {};
}

Status StateLoader::readDeltas(const std::vector<Checkpoint> &deltas,
                               const ServedState &before) {
  PDLRT_RETURN_IF_ERROR(checkSameModel(descriptor, deltas.back(),
                                       CheckpointUse::Values, &oldLayout));
  PDLRT_RETURN_IF_ERROR(readParameters(deltas.back()));
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (symbol.kind != PDL_SYMBOL_TABLE)
      continue;
    std::shared_ptr<const ServedTable> table = before.ownedTables[i];
    for (const Checkpoint &delta : deltas) {
      const int32_t part = savedFrozenPart(symbol, delta.manifest());
      Expected<FrozenTable> changes = freezeChanges(
          TableOptions::of(symbol, state->initialSeed), delta, symbol.name,
          rowPartName(symbol, part), rowTensorType(symbol, part));
      if (!changes)
        return std::move(changes).status();
      if (changes->size() > 0)
        table =
            std::make_shared<const ServedTable>(*table, *std::move(changes));
    }
    state->serve(size_t(i), std::move(table));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// From a dump
//===----------------------------------------------------------------------===//

Status StateLoader::readDumpedParameter(int32_t index,
                                        const SafetensorsFile &file) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  for (const int32_t part : {symbol.frozen_part, 0}) {
    Expected<const TensorView *> tensor =
        dumpedTensor(file, symbol, fullPartName(symbol, part), shapeOf(symbol));
    if (!tensor)
      return tensor.status();
    if (!*tensor)
      continue;
    void *const values = reserveParameter(index);
    const int64_t count = (*tensor)->elementCount;
    PDLRT_RETURN_IF_ERROR(
        copyElements(**tensor, 0, count, symbol.element_type, values));
    if (!allFinite(symbol.element_type, count, values))
      return Status::invalidArgument(
          file.path() + ": tensor '" + (*tensor)->name +
          "' has a number that is not finite; write it "
          "without");
    return {};
  }
  return Status::failedPrecondition(
      file.path() + ": there is no tensor '" + symbol.name +
      "', which the model has as a parameter; add it");
}

Status StateLoader::readDumpedRows(int32_t index, const SafetensorsFile &file) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  const std::string name = symbol.name;
  const TensorView *keys = file.find(name + ".keys");
  if (!keys || keys->type != TensorType::I64 || keys->shape.size() != 1)
    return Status::failedPrecondition(
        file.path() + ": there is no tensor '" + name +
        ".keys' of I64 and rank 1, which are the keys of a "
        "table of the model; add it");
  PDLRT_RETURN_IF_ERROR(checkDumpedKeys(descriptor, file, name, oldLayout));
  for (const int32_t part : {symbol.frozen_part, 0}) {
    const std::string values =
        part ? fullSlotName(symbol, part - 1) : name + ".values";
    Expected<const TensorView *> tensor = dumpedTensor(
        file, symbol, values, {keys->elementCount, symbol.row_width});
    if (!tensor)
      return tensor.status();
    if (*tensor)
      return readRows(index, {{file.path(), keys, *tensor}});
  }
  return Status::invalidArgument(file.path() + ": there is '" + name +
                                 ".keys', but no '" + name +
                                 ".values'; add it");
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
    if (descriptor.symbols[i].kind != PDL_SYMBOL_TABLE)
      PDLRT_RETURN_IF_ERROR(readDumpedParameter(i, *file));
    else if (readsTable(i))
      PDLRT_RETURN_IF_ERROR(readDumpedRows(i, *file));
  return {};
}

//===----------------------------------------------------------------------===//
// From an export
//===----------------------------------------------------------------------===//

/// Returns an error unless the export contains the part of a symbol that the
/// program reads: the value, or the same slot.
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
  return Status::failedPrecondition(
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
  PDLRT_RETURN_IF_ERROR(checkSameModel(descriptor, *manifest, path,
                                       CheckpointUse::Values, &oldLayout));
  state->initialSeed = manifest->seed;
  state->stepCount = manifest->progress.steps;
  for (const CheckpointPart &part : manifest->parts)
    if (part.kind == PartKind::Dense) {
      Expected<SafetensorsFile> file =
          SafetensorsFile::open(path + "/" + part.file);
      if (!file)
        return std::move(file).status();
      const Expected<FileDigest> digest = file->digest();
      if (!digest)
        return digest.status();
      if (*digest != part.digest)
        return Status::dataLoss(
            path + "/" + part.file +
            ": is not what its manifest says, damaged or of "
            "another export; export the checkpoint again");
      for (int32_t i = 0; i < descriptor.symbol_count; ++i)
        if (descriptor.symbols[i].kind == PDL_SYMBOL_PARAMETER)
          PDLRT_RETURN_IF_ERROR(readDumpedParameter(i, *file));
    }
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    PDLRT_RETURN_IF_ERROR(checkPart(symbol, *manifest, path));
    if (symbol.kind != PDL_SYMBOL_TABLE) {
      if (!state->dense->pointers[i])
        return Status::dataLoss(path + ": has no parameters; export the "
                                       "checkpoint again");
      continue;
    }
    if (!readsTable(i))
      continue;
    const auto part = std::ranges::find(
        manifest->parts, std::string(symbol.name), &CheckpointPart::symbol);
    if (part == manifest->parts.end())
      return Status::dataLoss(path + ": has no rows of @" + symbol.name +
                              "; export the checkpoint again");
    TableOptions options = TableOptions::of(symbol, state->initialSeed);
    Expected<FrozenTable> rows = FrozenTable::map(
        path + "/" + part->file, options.frozenBytes(), part->digest);
    if (!rows)
      return std::move(rows).status();
    serveTable(i, std::move(options), *std::move(rows));
  }
  return {};
}

Status StateLoader::readPath(const std::string &path) {
  std::error_code ignored;
  const Expected<bool> isDump =
      isInObjectStore(path) ? isStored(path)
                            : std::filesystem::is_regular_file(path, ignored);
  PDLRT_RETURN_IF_ERROR(isDump.status());
  if (*isDump)
    return readDump(path);
  const Expected<bool> isExported = isExport(path);
  PDLRT_RETURN_IF_ERROR(isExported.status());
  return *isExported ? readExport(path) : readCheckpoint(path);
}

/// Returns the path of values. In an object store, names of files are appended
/// to it, so it must not end with a slash.
static std::string placeOfValues(const std::string &path) {
  return isInObjectStore(path) ? withoutSlashes(path) : path;
}

static Expected<std::shared_ptr<const ServedState>>
loadWhole(const pdl_descriptor &descriptor, const std::string &path,
          const ServedState *before, bool acceptOldLayout) {
  const Expected<bool> isForKeyValues = isKeyValueExport(path);
  PDLRT_RETURN_IF_ERROR(isForKeyValues.status());
  if (*isForKeyValues)
    return Status::failedPrecondition(
        path + ": is an export for key-value stores, which "
               "no library reads; export the checkpoint "
               "with --format mapped");
  StateLoader loader(descriptor, acceptOldLayout);
  PDLRT_RETURN_IF_ERROR(loader.readPath(path));
  return loader.take(before);
}

Expected<std::shared_ptr<const ServedState>>
ServedState::load(const pdl_descriptor &descriptor, const std::string &path,
                  bool acceptOldLayout) {
  return loadWhole(descriptor, placeOfValues(path), nullptr, acceptOldLayout);
}

//===----------------------------------------------------------------------===//
// From deltas
//===----------------------------------------------------------------------===//

/// If `path` is a checkpoint, returns it. Otherwise returns the newest
/// checkpoint in the folder `path`, or an empty text if there is none.
static std::string newestOf(const std::string &path) {
  if (const Expected<bool> isOne = isCheckpointThere(path); isOne && *isOne)
    return path;
  // Sorted newest first.
  const std::vector<int64_t> found = listCheckpoints(path);
  return found.empty() ? "" : CheckpointFolder::nameIn(path, found.front());
}

static bool isSame(const CheckpointLink &a, const CheckpointLink &b) {
  return a.name == b.name && a.digest == b.digest;
}

/// Returns the deltas that follow the checkpoint `before`, up to the delta at
/// `path`, oldest first. Returns none if `path` is not reached by deltas from
/// `before`, if one of them contains complete shards, or if a checkpoint
/// between them was replaced by another one with the same name.
static std::optional<std::vector<Checkpoint>>
deltasAfter(const CheckpointLink &before, std::string path) {
  std::vector<Checkpoint> deltas;
  std::optional<uint64_t> expected;
  for (;;) {
    Expected<Checkpoint> next = Checkpoint::openAlone(path);
    if (!next)
      return std::nullopt;
    const std::optional<CheckpointLink> after = next->manifest().after;
    if (!after ||
        next->link().digest != expected.value_or(next->link().digest) ||
        std::ranges::any_of(
            next->manifest().parts, [](const CheckpointPart &part) {
              return part.kind == PartKind::Table && !part.isChanges;
            }))
      return std::nullopt;
    deltas.insert(deltas.begin(), *std::move(next));
    if (isSame(*after, before))
      return deltas;
    path = (std::filesystem::path(path).parent_path() / after->name).string();
    expected = after->digest;
  }
}

Expected<std::shared_ptr<const ServedState>>
ServedState::loadAfter(const pdl_descriptor &descriptor,
                       const std::string &path, const ServedState &before,
                       bool acceptOldLayout) {
  const std::string place = placeOfValues(path);
  const std::string newest = newestOf(place);
  if (newest.empty() || !before.link)
    return loadWhole(descriptor, place, &before, acceptOldLayout);
  const std::optional<std::vector<Checkpoint>> deltas =
      deltasAfter(*before.link, newest);
  if (!deltas)
    return loadWhole(descriptor, place, &before, acceptOldLayout);
  StateLoader loader(descriptor, acceptOldLayout);
  PDLRT_RETURN_IF_ERROR(loader.readDeltas(*deltas, before));
  return loader.take(&before);
}

//===----------------------------------------------------------------------===//
// From servers
//===----------------------------------------------------------------------===//

Status StateLoader::requestParameters(bool &isUnavailable) {
  const RemoteRows &remote = *state->rowsOnServers;
  state->initialSeed = remote.seed();
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    if (descriptor.symbols[i].kind != PDL_SYMBOL_TABLE)
      reserveParameter(i);
  return remote.readParameters(state->dense->pointers, state->stepCount,
                               isUnavailable);
}

Expected<std::shared_ptr<const ServedState>>
ServedState::ofServers(const pdl_descriptor &descriptor,
                       std::shared_ptr<const RemoteRows> rows,
                       const std::string &path, const ServedState *before,
                       bool &isUnavailable, bool acceptOldLayout) {
  isUnavailable = false;
  StateLoader loader(descriptor, acceptOldLayout, std::move(rows));
  PDLRT_RETURN_IF_ERROR(path.empty() ? loader.requestParameters(isUnavailable)
                                     : loader.readPath(placeOfValues(path)));
  return loader.take(before);
}
