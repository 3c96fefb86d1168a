//===- ExportDifferences.cpp - Compares exports with checkpoints ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/SymbolTensors.h"
#include "Serving/ExportedParts.h"
#include "Serving/FileRows.h"
#include "Serving/KeyValueRows.h"
#include "pdlrt/Kernels/Storage.h"
#include "pdlrt/Serving/ServedExport.h"
#include "pdlrt/Table/FrozenTable.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <set>

using namespace pdlrt;

namespace {

/// Collects differences as messages.
class Differences {
public:
  Differences(const std::string &path, const Checkpoint &checkpoint,
              size_t limit)
      : first(path), checkpoint(checkpoint), second(checkpoint.path()),
        limit(limit) {}

  Status compareParameters(const std::string &slot, bool hasFile);
  Status compareTable(const OpenKeyValues &source, const KeyValueTable &table,
                      size_t memory);
  Status compareMapped(const CheckpointSymbol &exported,
                       const CheckpointPart &part, size_t memory);
  /// Compares how the keys of a table are made from fields. `exported` is the
  /// description in the export. Does nothing if the export or the checkpoint
  /// has no description.
  void compareKeys(const std::string &table, const std::string &exported);
  /// Reports the tables of the checkpoint that are not in `compared`.
  void reportTables(const std::set<std::string> &compared);
  StateDifferences take() { return std::move(found); }

private:
  void report(const std::string &message) {
    if (++found.count <= int64_t(limit))
      found.messages.push_back(message);
  }
  void compareElements(const std::string &what, const RowElements &elements,
                       const std::byte *left, const std::byte *right);
  const CheckpointSymbol *tableOf(const std::string &name);

  const std::string first;
  const Checkpoint &checkpoint;
  const std::string second;
  const size_t limit;
  StateDifferences found;
};

} // namespace

static std::string elementText(TensorType type, const std::byte *at) {
  if (type == TensorType::F64) {
    double number;
    std::memcpy(&number, at, sizeof(number));
    return fmt::format("{:.17g}", number);
  }
  float number;
  if (const int32_t storage = storageOf(type); storage != PDL_STORE_ELEMENT)
    widenStored(storage, 1, at, &number);
  else
    std::memcpy(&number, at, sizeof(number));
  return fmt::format("{:.9g}", number);
}

void Differences::compareElements(const std::string &what,
                                  const RowElements &elements,
                                  const std::byte *left,
                                  const std::byte *right) {
  const size_t size = tensorElementSize(elements.type);
  for (int64_t i = 0; i < elements.width; ++i, left += size, right += size)
    if (std::memcmp(left, right, size) != 0)
      report(fmt::format("{}, element {}: {} in {}, {} in {}", what, i,
                         elementText(elements.type, left), first,
                         elementText(elements.type, right), second));
}

/// Returns the table with this name in the checkpoint. If there is none,
/// reports a difference and returns null.
const CheckpointSymbol *Differences::tableOf(const std::string &name) {
  for (const CheckpointSymbol &symbol : checkpoint.manifest().symbols)
    if (symbol.isTable && symbol.name == name)
      return &symbol;
  report(fmt::format("table @{}: only in {}", name, first));
  return nullptr;
}

void Differences::compareKeys(const std::string &table,
                              const std::string &exported) {
  const ModelPart *saved = keysOf(checkpoint.manifest().modelParts, table);
  if (!saved || exported.empty() ||
      checkpoint.manifest().layoutVersion < currentLayout)
    return;
  const std::string differences = keyDifferences(
      {saved->kind, saved->name, exported}, saved->value, second, first);
  if (!differences.empty())
    report(differences);
}

void Differences::reportTables(const std::set<std::string> &compared) {
  for (const CheckpointSymbol &symbol : checkpoint.manifest().symbols)
    if (symbol.isTable && !compared.contains(symbol.name))
      report(fmt::format("table @{}: only in {}", symbol.name, second));
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Status Differences::compareParameters(const std::string &slot, bool hasFile) {
  std::optional<Expected<SafetensorsFile>> file;
  if (hasFile)
    file.emplace(SafetensorsFile::open(first + "/" + parametersName));
  if (file && !*file)
    return std::move(*file).status();
  std::set<std::string> compared;
  for (const CheckpointSymbol &symbol : checkpoint.manifest().symbols) {
    if (symbol.isTable)
      continue;
    const size_t part = slotPartOf(symbol, slot);
    const std::string name = fullTensorName(symbol, part);
    compared.insert(name);
    const TensorView *tensor = file ? (*file)->find(name) : nullptr;
    if (!tensor) {
      report(fmt::format("{}: only in {}", name, second));
      continue;
    }
    const TensorType type = symbol.partType(part);
    if (tensor->type != type || tensor->shape != symbol.shape) {
      report(fmt::format("{} is {} in {}, {} {} in {}", name,
                         tensor->typeAndShape(), first, tensorTypeName(type),
                         shapeText(symbol.shape), second));
      continue;
    }
    Expected<std::vector<std::byte>> right =
        readParameter(checkpoint, symbol, part);
    if (!right)
      return std::move(right).status();
    std::vector<std::byte> left(right->size());
    PDLRT_RETURN_IF_ERROR(tensor->copyTo(left.data()));
    compareElements(name, {type, tensor->elementCount}, left.data(),
                    right->data());
  }
  if (file)
    for (const TensorView &tensor : (*file)->tensors())
      if (!compared.contains(tensor.name))
        report(fmt::format("{}: only in {}", tensor.name, first));
  return {};
}

//===----------------------------------------------------------------------===//
// Tables for key-value stores
//===----------------------------------------------------------------------===//

Status Differences::compareTable(const OpenKeyValues &source,
                                 const KeyValueTable &table, size_t memory) {
  const CheckpointSymbol *symbol = tableOf(table.name);
  if (!symbol)
    return {};
  const size_t part = slotPartOf(*symbol, source.manifest.slot);
  Expected<WideRows> rows =
      WideRows::open(checkpoint, *symbol, part, source.format.order(), memory);
  if (!rows)
    return std::move(rows).status();
  const RowElements &elements = rows->elements();
  if (table.elements != elements) {
    report(fmt::format("@{} has rows of {} {} in {}, {} {} in {}", table.name,
                       table.elements.width,
                       tensorTypeName(table.elements.type), first,
                       elements.width, tensorTypeName(elements.type), second));
    return {};
  }
  TableDifferences counts{table.name};
  TableReader reader(source, table);
  Expected<bool> left = reader.next(), right = rows->next();
  while (left && right && (*left || *right)) {
    const bool isFirstAlone =
        *left && (!*right || comesBefore(source.format.order(), reader.key(),
                                         rows->key()));
    const bool isSecondAlone =
        !isFirstAlone && *right && (!*left || reader.key() != rows->key());
    if (isFirstAlone) {
      ++counts.onlyFirst;
      report(fmt::format("{}, key {}: only in {}", table.name, reader.key(),
                         first));
    } else if (isSecondAlone) {
      ++counts.onlySecond;
      report(fmt::format("{}, key {}: only in {}", table.name, rows->key(),
                         second));
    } else {
      const int64_t before = found.count;
      compareElements(
          fmt::format("{}.{}, key {}", table.name, table.part, rows->key()),
          elements, reader.values(), rows->values());
      counts.changed += found.count > before;
    }
    counts.rowsOfFirst += !isSecondAlone;
    counts.rowsOfSecond += !isFirstAlone;
    if (!isSecondAlone)
      left = reader.next();
    if (!isFirstAlone)
      right = rows->next();
  }
  if (!left)
    return left.status();
  if (!right)
    return right.status();
  found.tables.push_back(std::move(counts));
  return {};
}

Expected<StateDifferences> pdlrt::compareKeyValues(
    const std::string &path, std::span<const KeyValueFormat *const> formats,
    const Checkpoint &checkpoint, size_t limit, size_t memory) {
  Expected<OpenKeyValues> source = OpenKeyValues::open(path, formats);
  if (!source)
    return std::move(source).status();
  const KeyValueManifest &manifest = source->manifest;
  if (manifest.parameters)
    PDLRT_RETURN_IF_ERROR(
        checkFile(path + "/" + parametersName, *manifest.parameters));
  Differences differences(path, checkpoint, limit);
  std::set<std::string> compared;
  for (const KeyValueTable &table : manifest.tables) {
    differences.compareKeys(table.name, table.keys);
    PDLRT_RETURN_IF_ERROR(differences.compareTable(*source, table, memory));
    compared.insert(table.name);
  }
  differences.reportTables(compared);
  PDLRT_RETURN_IF_ERROR(differences.compareParameters(
      manifest.slot, manifest.parameters.has_value()));
  return differences.take();
}

//===----------------------------------------------------------------------===//
// Memory-mapped tables
//===----------------------------------------------------------------------===//

Status Differences::compareMapped(const CheckpointSymbol &exported,
                                  const CheckpointPart &part, size_t memory) {
  const CheckpointSymbol *symbol = tableOf(exported.name);
  if (!symbol)
    return {};
  const std::string slot =
      exported.slots.empty() ? std::string() : exported.slots.front();
  const size_t partOfRow = slot.empty() ? 0 : slotPartOf(*symbol, slot);
  if (!slot.empty() && partOfRow == 0) {
    report(
        fmt::format("slot {} of @{}: only in {}", slot, exported.name, first));
    return {};
  }
  Expected<SortedRows> rows = SortedRows::open(checkpoint, *symbol, partOfRow,
                                               KeyOrder::Signed, memory);
  if (!rows)
    return std::move(rows).status();
  const RowElements &elements = rows->elements();
  const TensorType type = exported.partType(partOfRow);
  if (exported.shape != symbol->shape || type != elements.type) {
    report(fmt::format(
        "@{} has rows of {} {} in {}, {} {} in {}", exported.name,
        tensorTypeName(type), shapeText(exported.shape), first,
        tensorTypeName(elements.type), shapeText(symbol->shape), second));
    return {};
  }
  Expected<FrozenTable> table = FrozenTable::map(
      first + "/" + part.file, optionsOfPart(*symbol, partOfRow).frozenBytes(),
      part.digest);
  if (!table)
    return std::move(table).status();
  TableDifferences counts{exported.name};
  counts.rowsOfFirst = table->size();
  const std::string name = fmt::format(
      "{}.{}", exported.name, slot.empty() ? "values" : "slot." + slot);
  std::vector<bool> isInBoth(size_t(table->size()));
  Expected<bool> more = rows->next();
  for (; more && *more; more = rows->next()) {
    ++counts.rowsOfSecond;
    const int64_t key = rows->key();
    void *row = nullptr;
    if (table->find(1, &key, &row) > 0) {
      ++counts.onlySecond;
      report(fmt::format("{}, key {}: only in {}", exported.name, key, second));
      continue;
    }
    isInBoth[table->placeOf(row)] = true;
    const int64_t before = found.count;
    compareElements(fmt::format("{}, key {}", name, key), elements,
                    static_cast<const std::byte *>(row), rows->values());
    counts.changed += found.count > before;
  }
  if (!more)
    return more.status();
  // Only the first keys are reported; there may be as many as rows.
  std::set<int64_t> alone;
  table->forEach([&](int64_t key, const char *row) {
    if (isInBoth[table->placeOf(row)])
      return;
    ++counts.onlyFirst;
    alone.insert(key);
    if (alone.size() > limit)
      alone.erase(std::prev(alone.end()));
  });
  for (int64_t key : alone)
    report(fmt::format("{}, key {}: only in {}", exported.name, key, first));
  found.count += counts.onlyFirst - int64_t(alone.size());
  found.tables.push_back(std::move(counts));
  return {};
}

Expected<StateDifferences> pdlrt::compareExport(const std::string &path,
                                                const Checkpoint &checkpoint,
                                                size_t limit, size_t memory) {
  const Expected<CheckpointManifest> manifest = verifyExport(path);
  if (!manifest)
    return manifest.status();
  Differences differences(path, checkpoint, limit);
  std::string slot;
  for (const CheckpointSymbol &symbol : manifest->symbols)
    if (!symbol.slots.empty())
      slot = symbol.slots.front();
  std::set<std::string> compared;
  for (const CheckpointPart &part : manifest->parts) {
    if (part.kind != PartKind::Table)
      continue;
    const auto symbol = std::ranges::find(manifest->symbols, part.symbol,
                                          &CheckpointSymbol::name);
    if (const ModelPart *keys = keysOf(manifest->modelParts, part.symbol);
        keys && manifest->layoutVersion >= currentLayout)
      differences.compareKeys(part.symbol, keys->value);
    PDLRT_RETURN_IF_ERROR(differences.compareMapped(*symbol, part, memory));
    compared.insert(part.symbol);
  }
  differences.reportTables(compared);
  PDLRT_RETURN_IF_ERROR(differences.compareParameters(
      slot, std::ranges::any_of(manifest->parts, [](const auto &part) {
        return part.kind == PartKind::Dense;
      })));
  return differences.take();
}
