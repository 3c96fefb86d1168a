//===- ModelFile.cpp - State in and out as safetensors --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Trainer/ModelFile.h"

#include "Trainer/SymbolTensors.h"
#include "Trainer/TableTensors.h"
#include "pdlrt/Checkpoint/Safetensors.h"
#include "pdlrt/Core/Descriptor.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <set>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

static std::vector<TableRow> collectTable(const EmbeddingTable &table) {
  std::vector<TableRow> rows, shard;
  rows.reserve(table.size());
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    table.collectShard(s, shard);
    rows.insert(rows.end(), shard.begin(), shard.end());
  }
  std::sort(rows.begin(), rows.end(),
            [](const TableRow &a, const TableRow &b) { return a.key < b.key; });
  return rows;
}

Status pdlrt::dumpModel(const Model &model, const std::string &path,
                        bool withSlots) {
  const pdl_descriptor &descriptor = model.descriptor();
  const TensorType type = tensorTypeOf(descriptor);
  // Only keys and places of rows, by table, are copied.
  std::deque<std::vector<TableRow>> tables;
  SafetensorsWriter writer;
  writer.setMetadata("model", descriptor.model_name);
  writer.setMetadata("seed", std::to_string(model.seed()));
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (const EmbeddingTable *table = model.table(i)) {
      const std::vector<TableRow> &rows =
          tables.emplace_back(collectTable(*table));
      std::vector<std::string> parts = {symbol.name + std::string(".values")};
      for (int32_t s = 0; withSlots && s < symbol.slot_count; ++s)
        parts.push_back(fullSlotName(symbol, s));
      PDLRT_RETURN_IF_ERROR(addTableRows(writer,
                                         symbol.name + std::string(".keys"),
                                         parts, rows, type, symbol.row_width));
      continue;
    }
    PDLRT_RETURN_IF_ERROR(
        writer.add(symbol.name, type, shapeOf(symbol), model.value(i)));
    for (int32_t s = 0; withSlots && s < symbol.slot_count; ++s)
      PDLRT_RETURN_IF_ERROR(writer.add(fullSlotName(symbol, s), type,
                                       shapeOf(symbol), model.slot(i, s)));
  }
  return writer.write(path);
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

namespace {

class Initializer {
public:
  Initializer(Model &model, const SafetensorsFile &file)
      : model(model), file(file), type(model.descriptor().element_type) {}
  Status run();

private:
  /// The tensor of that name after a check of type and shape; null if there is
  /// none.
  Expected<const TensorView *> take(const std::string &name,
                                    const std::vector<int64_t> &shape);
  void copyElements(const TensorView &tensor, int64_t first, int64_t count,
                    void *out) const;
  /// The rows of a parameter that the model holds.
  void copyHeldRows(const TensorView &tensor, int32_t index, void *out) const;
  Status readParameter(int32_t index);
  Status readTable(int32_t index);

  Model &model;
  const SafetensorsFile &file;
  const int32_t type;
  std::set<std::string> used;
};

} // namespace

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Expected<const TensorView *>
Initializer::take(const std::string &name, const std::vector<int64_t> &shape) {
  const TensorView *tensor = file.find(name);
  if (!tensor)
    return tensor;
  used.insert(name);
  const TensorType wanted = type == PDL_F32 ? TensorType::F32 : TensorType::F64;
  const bool fits =
      tensor->type == wanted ||
      (tensor->type == TensorType::F32 && wanted == TensorType::F64);
  if (!fits || tensor->shape != shape)
    return Status::invalid(file.path() + ": tensor '" + name + "' is " +
                           tensor->typeAndShape() + ", but the model needs " +
                           tensorTypeName(wanted) + " " + shapeText(shape) +
                           "; write it with that type and shape");
  return tensor;
}

void Initializer::copyElements(const TensorView &tensor, int64_t first,
                               int64_t count, void *out) const {
  const size_t size = tensorElementSize(tensor.type);
  const std::byte *from = tensor.data + first * size;
  if (size == elementSize(type)) {
    std::memcpy(out, from, count * size);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    float narrow;
    std::memcpy(&narrow, from + i * sizeof(float), sizeof(float));
    static_cast<double *>(out)[i] = narrow;
  }
}

void Initializer::copyHeldRows(const TensorView &tensor, int32_t index,
                               void *out) const {
  const int64_t width = model.descriptor().symbols[index].row_width;
  auto *next = static_cast<char *>(out);
  for (const RowBlock &run : model.rows(index)) {
    copyElements(tensor, run.firstRow * width, run.rowCount * width, next);
    next += run.rowCount * width * int64_t(elementSize(type));
  }
}

Status Initializer::readParameter(int32_t index) {
  const pdl_symbol &symbol = model.descriptor().symbols[index];
  Expected<const TensorView *> value = take(symbol.name, shapeOf(symbol));
  if (!value)
    return value.status();
  if (!*value)
    return Status::invalid(file.path() + ": there is no tensor '" +
                           symbol.name +
                           "', which the model has as a parameter; add it");
  copyHeldRows(**value, index, model.value(index));
  for (int32_t s = 0; s < symbol.slot_count; ++s) {
    Expected<const TensorView *> slot =
        take(fullSlotName(symbol, s), shapeOf(symbol));
    if (!slot)
      return slot.status();
    if (*slot)
      copyHeldRows(**slot, index, model.slot(index, s));
  }
  return {};
}

Status Initializer::readTable(int32_t index) {
  const pdl_symbol &symbol = model.descriptor().symbols[index];
  const std::string name = symbol.name;
  const TensorView *keys = file.find(name + ".keys");
  if (!keys)
    return {};
  used.insert(name + ".keys");
  if (keys->type != TensorType::I64 || keys->shape.size() != 1)
    return Status::invalid(file.path() + ": tensor '" + name + ".keys' is " +
                           keys->typeAndShape() +
                           ", but the keys of a table are I64 of rank 1");
  const int64_t count = keys->elementCount;
  // The value first, then the slots that are there.
  std::vector<const TensorView *> parts(1 + symbol.slot_count);
  for (int32_t part = 0; part <= symbol.slot_count; ++part) {
    std::string partName =
        part ? fullSlotName(symbol, part - 1) : name + ".values";
    Expected<const TensorView *> tensor =
        take(partName, {count, symbol.row_width});
    if (!tensor)
      return tensor.status();
    if (!*tensor && part == 0)
      return Status::invalid(file.path() + ": there is '" + name +
                             ".keys', but no '" + partName + "'; add it");
    parts[part] = *tensor;
  }

  EmbeddingTable &table = *model.table(index);
  std::vector<int64_t> all(count), keyList, places;
  keys->copyTo(all.data());
  for (int64_t i = 0; i < count; ++i)
    if (model.holdsShard(index, EmbeddingTable::shardOf(all[i]))) {
      keyList.push_back(all[i]);
      places.push_back(i);
    }
  const auto held = int64_t(keyList.size());
  std::vector<void *> rows(held);
  TableScratch scratch;
  int64_t inserted = 0;
  PDLRT_RETURN_IF_ERROR(
      table.findOrInsert(held, keyList.data(), rows.data(), scratch, inserted));
  if (inserted != held)
    return Status::invalid(file.path() + ": '" + name +
                           ".keys' holds a key twice; keep one row of each");
  for (int32_t part = 0; part <= symbol.slot_count; ++part)
    for (int64_t i = 0; parts[part] && i < held; ++i)
      copyElements(*parts[part], places[i] * symbol.row_width, symbol.row_width,
                   static_cast<char *>(rows[i]) + part * table.valueBytes());
  return {};
}

Status Initializer::run() {
  for (int32_t i = 0; i < model.descriptor().symbol_count; ++i)
    PDLRT_RETURN_IF_ERROR(model.table(i) ? readTable(i) : readParameter(i));
  for (const TensorView &tensor : file.tensors())
    if (!used.count(tensor.name))
      return Status::invalid(file.path() + ": tensor '" + tensor.name +
                             "' belongs to nothing in model " +
                             model.descriptor().model_name +
                             "; remove it, or mend its name");
  return {};
}

Status pdlrt::initializeModel(Model &model, const std::string &path) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.status();
  return Initializer(model, *file).run();
}

Expected<std::optional<uint64_t>>
pdlrt::seedOfModelFile(const std::string &path) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.status();
  auto found = file->metadata().find("seed");
  if (found == file->metadata().end())
    return std::optional<uint64_t>();
  uint64_t seed = 0;
  const std::string &text = found->second;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    return Status::invalid(path + ": the metadata 'seed' is '" + text +
                           "', which is no whole number");
  return std::optional<uint64_t>(seed);
}
