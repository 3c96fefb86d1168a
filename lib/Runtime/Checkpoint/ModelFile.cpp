//===- ModelFile.cpp - Reads and writes dumps (safetensors) ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelFile.h"

#include "Checkpoint/SymbolTensors.h"
#include "Checkpoint/TableTensors.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Finite.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Suggestion.h"
#include "pdlrt/Core/WholeNumber.h"
#include "pdlrt/Files/Safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <set>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static RowList collectTable(const EmbeddingTable &table) {
  RowList rows, shard;
  rows.reserve(table.size());
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    table.collectSaved(s, SavedRows::All, shard);
    rows.append(std::move(shard));
  }
  std::sort(rows.begin(), rows.end(),
            [](const TableRow &a, const TableRow &b) { return a.key < b.key; });
  return rows;
}

std::string pdlrt::groupStepsName(const std::string &group) {
  return "group." + group + ".steps";
}

Status pdlrt::dumpModel(const Model &model, const std::string &path,
                        bool withSlots) {
  PDLRT_RETURN_IF_ERROR(model.bringToHost());
  model.withholdPrepared();
  const pdl_descriptor &descriptor = model.descriptor();
  // For tables, only keys and row addresses are copied.
  std::deque<RowList> tables;
  SafetensorsWriter writer;
  writer.setMetadata("model", descriptor.model_name);
  writer.setMetadata("seed", std::to_string(model.seed()));
  for (const auto &[key, text] : layoutMetadata(partsOf(descriptor)))
    writer.setMetadata(key, text);
  for (int32_t g = 0; withSlots && g < descriptor.group_count; ++g)
    writer.setMetadata(groupStepsName(descriptor.groups[g].name),
                       std::to_string(model.stepCount(g)));
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    const TensorType type = tensorTypeOf(symbol);
    const int32_t last = withSlots ? symbol.slot_count : 0;
    if (const EmbeddingTable *table = model.table(i)) {
      RowList &rows = tables.emplace_back(collectTable(*table));
      std::vector<RowPart> parts;
      for (int32_t p = 0; p <= last; ++p)
        parts.push_back({p ? fullSlotName(symbol, p - 1)
                           : symbol.name + std::string(".values"),
                         partBegin(symbol, p), partWidth(symbol, p), type,
                         partStorage(symbol, p)});
      PDLRT_RETURN_IF_ERROR(addTableRows(
          writer, symbol.name + std::string(".keys"), parts, rows));
      continue;
    }
    for (int32_t p = 0; p <= last; ++p)
      PDLRT_RETURN_IF_ERROR(writer.add(fullPartName(symbol, p), type,
                                       partShape(symbol, p), model.part(i, p)));
  }
  return writer.write(path);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

class Initializer {
public:
  Initializer(Model &model, const SafetensorsFile &file, FileCoverage coverage,
              bool acceptOldLayout)
      : model(model), file(file), coverage(coverage),
        oldLayout{.accepted = acceptOldLayout, .unchecked = {}} {}
  Status run();

private:
  /// Returns the tensor with this name, or null if the file has none. Returns
  /// an error if its type or shape does not fit.
  Expected<const TensorView *> take(const pdl_symbol &symbol,
                                    const std::string &name,
                                    const std::vector<int64_t> &shape);
  /// Copies elements [first, first + count) of the tensor to `out`. Widens f32
  /// to f64 if the symbol has type f64. Returns an error if an element is not
  /// finite.
  Status copyElements(const pdl_symbol &symbol, TensorWindow &from,
                      int64_t first, int64_t count, void *out) const;
  /// Writes a row of a table, elements [first, first + symbol.row_width) of the
  /// tensor, to `out`. Rounds them to the table's storage type. Returns an
  /// error if an element is not finite after rounding. `elements` is scratch
  /// memory.
  Status storeElements(const pdl_symbol &symbol, TensorWindow &from,
                       int64_t first, std::vector<float> &elements,
                       void *out) const;
  Status checkFinite(const TensorView &tensor, int64_t first, int64_t count,
                     const std::byte *elements) const;
  /// Copies a tensor to a parameter (part 0) or to its slot `part` - 1. Copies
  /// only the rows that this process holds.
  Status copyHeldRows(const TensorView &tensor, int32_t index,
                      int32_t part) const;
  Status readParameter(int32_t index);
  Status readTable(int32_t index);
  Status readSteps();
  void noteSlots(const pdl_symbol &symbol, bool found);
  std::string whatOfTraining() const;
  void log() const;
  bool isSlot(const std::string &tensor) const;
  void logUnknown() const;
  /// Returns the tensor of a slot. Returns null if the file lacks it, or if
  /// only values are requested.
  Expected<const TensorView *> takeSlot(const pdl_symbol &symbol,
                                        const std::string &name,
                                        const std::vector<int64_t> &shape);

  Model &model;
  const SafetensorsFile &file;
  const FileCoverage coverage;
  OldLayout oldLayout;
  std::set<std::string> used;
  /// `taken`: symbols that the file contains. `missing`: symbols that it lacks.
  std::vector<std::string> taken, missing;
  /// Groups with at least one symbol whose slots were read.
  std::set<int32_t> groupsWithSlots;
  std::vector<std::string> withSlots, withoutSlots;
  /// Names of groups that have slots but no step count.
  std::vector<std::string> withoutSteps;
  /// Texts about the groups whose step counts were read, with these counts.
  std::vector<std::string> takenSteps;
};

} // namespace

Expected<const TensorView *>
Initializer::take(const pdl_symbol &symbol, const std::string &name,
                  const std::vector<int64_t> &shape) {
  Expected<const TensorView *> tensor = dumpedTensor(file, symbol, name, shape);
  if (tensor && *tensor)
    used.insert(name);
  return tensor;
}

Expected<const TensorView *>
Initializer::takeSlot(const pdl_symbol &symbol, const std::string &name,
                      const std::vector<int64_t> &shape) {
  if (coverage == FileCoverage::AnyValues)
    return nullptr;
  return take(symbol, name, shape);
}

/// Returns the indices of an element as text, such as "[2, 0]".
static std::string placeText(int64_t element, std::vector<int64_t> shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    const int64_t size = shape[d];
    shape[d] = element % size;
    element /= size;
  }
  return shapeText(shape);
}

/// `elements`: the elements of the tensor from `first` on.
Status Initializer::checkFinite(const TensorView &tensor, int64_t first,
                                int64_t count,
                                const std::byte *elements) const {
  const int32_t type = tensor.type == TensorType::F64 ? PDL_F64 : PDL_F32;
  const int64_t i = firstNonFinite(type, count, elements);
  if (i == count)
    return {};
  return Status::dataLoss(
      file.path() + ": tensor '" + tensor.name +
      "' has a number that is not finite at " +
      placeText(first + i, tensor.shape) +
      "; values and slots are finite: name a file of before "
      "they were damaged");
}

Status Initializer::copyElements(const pdl_symbol &symbol, TensorWindow &from,
                                 int64_t first, int64_t count,
                                 void *out) const {
  const size_t size = tensorElementSize(from.view().type);
  auto *next = static_cast<char *>(out);
  // Copied in pieces, so that a large parameter is not in memory twice.
  constexpr int64_t piece = 1 << 16;
  for (int64_t done = 0; done < count; done += piece) {
    const int64_t more = std::min(piece, count - done);
    Expected<const std::byte *> bytes = from.at(first + done, more);
    if (!bytes)
      return bytes.status();
    PDLRT_RETURN_IF_ERROR(checkFinite(from.view(), first + done, more, *bytes));
    if (size == elementSize(symbol)) {
      std::memcpy(next, *bytes, more * size);
    } else {
      for (int64_t i = 0; i < more; ++i) {
        float narrow;
        std::memcpy(&narrow, *bytes + i * sizeof(float), sizeof(float));
        const double wide = narrow;
        std::memcpy(next + i * sizeof(double), &wide, sizeof(double));
      }
    }
    next += more * int64_t(elementSize(symbol));
  }
  return {};
}

Status Initializer::storeElements(const pdl_symbol &symbol, TensorWindow &from,
                                  int64_t first, std::vector<float> &elements,
                                  void *out) const {
  const int64_t width = symbol.row_width;
  elements.resize(size_t(width));
  PDLRT_RETURN_IF_ERROR(
      copyElements(symbol, from, first, width, elements.data()));
  if (storeNearest(symbol.storage, width, elements.data(), out))
    return {};
  const auto *stored = static_cast<const uint16_t *>(out);
  int64_t i = 0;
  for (float wide = 0; i < width; ++i) {
    widenStored(symbol.storage, 1, stored + i, &wide);
    if (!std::isfinite(wide))
      break;
  }
  return Status::invalidArgument(
      file.path() + ": tensor '" + from.view().name + "' has a number at " +
      placeText(first + i, from.view().shape) +
      " that is too large for the rows of @" + symbol.name +
      ", which are stored in " +
      (symbol.storage == PDL_STORE_F16 ? "f16: its largest is 65504" : "bf16") +
      "; store them in f32");
}

Status Initializer::copyHeldRows(const TensorView &tensor, int32_t index,
                                 int32_t part) const {
  const pdl_symbol &symbol = model.descriptor().symbols[index];
  const int64_t width = partWidth(symbol, part);
  TensorWindow window(tensor);
  auto *next = static_cast<char *>(model.part(index, part));
  for (const RowBlock &run : model.rows(index)) {
    PDLRT_RETURN_IF_ERROR(copyElements(symbol, window, run.firstRow * width,
                                       run.rowCount * width, next));
    next += run.rowCount * width * int64_t(elementSize(symbol));
  }
  return {};
}

Status Initializer::readParameter(int32_t index) {
  const pdl_symbol &symbol = model.descriptor().symbols[index];
  Expected<const TensorView *> value =
      take(symbol, symbol.name, shapeOf(symbol));
  if (!value)
    return value.status();
  if (!*value && coverage == FileCoverage::Parameters)
    return Status::failedPrecondition(
        file.path() + ": there is no tensor '" + symbol.name +
        "', which the model has as a parameter; add it");
  if (!*value) {
    missing.emplace_back(symbol.name);
    return {};
  }
  taken.emplace_back(symbol.name);
  PDLRT_RETURN_IF_ERROR(copyHeldRows(**value, index, 0));
  bool hasSlots = true;
  for (int32_t s = 0; s < symbol.slot_count; ++s) {
    Expected<const TensorView *> slot =
        takeSlot(symbol, fullSlotName(symbol, s), partShape(symbol, 1 + s));
    if (!slot)
      return slot.status();
    hasSlots &= *slot != nullptr;
    // The part that frozen programs read starts with the value.
    const TensorView *from =
        *slot || 1 + s != symbol.frozen_part ? *slot : *value;
    if (from)
      PDLRT_RETURN_IF_ERROR(copyHeldRows(*from, index, 1 + s));
  }
  noteSlots(symbol, hasSlots);
  return {};
}

Status Initializer::readTable(int32_t index) {
  const pdl_symbol &symbol = model.descriptor().symbols[index];
  const std::string name = symbol.name;
  const TensorView *keys = file.find(name + ".keys");
  if (!keys && file.find(name + ".values"))
    return Status::invalidArgument(file.path() + ": there is '" + name +
                                   ".values', but no '" + name +
                                   ".keys'; add it");
  if (!keys && coverage == FileCoverage::Parameters)
    return Status::failedPrecondition(
        file.path() + ": there is no tensor '" + name +
        ".keys', which the model has as a table; add it");
  if (!keys) {
    missing.push_back(name);
    return {};
  }
  PDLRT_RETURN_IF_ERROR(
      checkDumpedKeys(model.descriptor(), file, name, oldLayout));
  taken.push_back(name);
  used.insert(name + ".keys");
  if (keys->type != TensorType::I64 || keys->shape.size() != 1)
    return Status::failedPrecondition(
        file.path() + ": tensor '" + name + ".keys' is " +
        keys->typeAndShape() + ", but the keys of a table are I64 of rank 1");
  const int64_t count = keys->elementCount;
  // The value, then the slots that exist.
  std::vector<const TensorView *> parts(1 + symbol.slot_count);
  for (int32_t part = 0; part <= symbol.slot_count; ++part) {
    std::string partName =
        part ? fullSlotName(symbol, part - 1) : name + ".values";
    const std::vector<int64_t> shape = {count, partWidth(symbol, part)};
    Expected<const TensorView *> tensor =
        part ? takeSlot(symbol, partName, shape)
             : take(symbol, partName, shape);
    if (!tensor)
      return tensor.status();
    if (!*tensor && part == 0)
      return Status::invalidArgument(file.path() + ": there is '" + name +
                                     ".keys', but no '" + partName +
                                     "'; add it");
    parts[part] = *tensor;
  }
  noteSlots(symbol,
            std::find(parts.begin(), parts.end(), nullptr) == parts.end());
  // The part that frozen programs read starts with the value.
  if (!parts[symbol.frozen_part])
    parts[symbol.frozen_part] = parts[0];

  EmbeddingTable &table = *model.table(index);
  std::vector<int64_t> all(count), keyList, places;
  PDLRT_RETURN_IF_ERROR(keys->copyTo(all.data()));
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
    return Status::invalidArgument(
        file.path() + ": '" + name +
        ".keys' holds a key twice; keep one row of each");
  for (int32_t part = 0; part <= symbol.slot_count; ++part) {
    if (!parts[part])
      continue;
    const int64_t width = partWidth(symbol, part);
    const size_t begin = partBegin(symbol, part);
    const bool isStored = partStorage(symbol, part) != PDL_STORE_ELEMENT;
    TensorWindow window(*parts[part]);
    std::vector<float> elements;
    for (int64_t i = 0; i < held; ++i) {
      char *out = static_cast<char *>(rows[i]) + begin;
      PDLRT_RETURN_IF_ERROR(
          isStored
              ? storeElements(symbol, window, places[i] * width, elements, out)
              : copyElements(symbol, window, places[i] * width, width, out));
    }
  }
  return {};
}

void Initializer::noteSlots(const pdl_symbol &symbol, bool found) {
  if (symbol.slot_count == 0)
    return;
  if (found) {
    groupsWithSlots.insert(symbol.group);
    withSlots.emplace_back(symbol.name);
  } else {
    withoutSlots.emplace_back(symbol.name);
  }
}

/// Reads the step counts of groups for which slots of a symbol were read.
Status Initializer::readSteps() {
  const pdl_descriptor &descriptor = model.descriptor();
  for (int32_t g = 0; g < descriptor.group_count; ++g) {
    const std::string name = groupStepsName(descriptor.groups[g].name);
    const auto found = file.metadata().find(name);
    if (found == file.metadata().end()) {
      if (groupsWithSlots.count(g))
        withoutSteps.emplace_back(descriptor.groups[g].name);
      continue;
    }
    Expected<uint64_t> steps = parseWholeNumber(found->second, 0, INT64_MAX);
    if (!steps)
      return std::move(steps).status().withContext(
          file.path() + ": the metadata '" + name + "'");
    model.restoreStepCount(g, int64_t(*steps));
    takenSteps.push_back(std::string(descriptor.groups[g].name) + " " +
                         std::to_string(*steps));
  }
  return {};
}

static std::string join(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Returns true if the name is that of a slot of one of the model's symbols.
/// Programs that only read the symbol declare no slots, so only the prefix
/// `<symbol>.slot.` is compared.
bool Initializer::isSlot(const std::string &tensor) const {
  const pdl_descriptor &descriptor = model.descriptor();
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    if (tensor.starts_with(std::string(descriptor.symbols[i].name) + ".slot."))
      return true;
  return false;
}

/// Warns about tensors that belong to no symbol.
void Initializer::logUnknown() const {
  constexpr int maxMessages = 5;
  const pdl_descriptor &descriptor = model.descriptor();
  std::vector<std::string> known;
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    const std::string name = symbol.name;
    if (model.table(i)) {
      known.push_back(name + ".keys");
      known.push_back(name + ".values");
    } else {
      known.push_back(name);
    }
    for (int32_t s = 0; s < symbol.slot_count; ++s)
      known.push_back(fullSlotName(symbol, s));
  }
  int unknown = 0;
  auto isKnown = [&](const TensorView &tensor) {
    return used.count(tensor.name) > 0 ||
           (coverage != FileCoverage::Any && isSlot(tensor.name));
  };
  for (const TensorView &tensor : file.tensors())
    if (!isKnown(tensor) && ++unknown <= maxMessages)
      logWarning(file.path() + ": tensor '" + tensor.name +
                 "' belongs to nothing in model " + descriptor.model_name +
                 " and is not taken" + suggestName(tensor.name, known));
  if (unknown > maxMessages)
    logWarning(file.path() + ": " + std::to_string(unknown - maxMessages) +
               " more tensors belong to nothing in the model");
}

/// Returns a description of the optimizer state that was read from the file.
std::string Initializer::whatOfTraining() const {
  if (coverage == FileCoverage::AnyValues)
    return "but not its optimizer slots and step counts, which were not taken "
           "(--init-values-only): slots, bias corrections and schedules begin "
           "anew";
  const std::string slots = withSlots.empty() ? "without optimizer slots"
                            : withoutSlots.empty()
                                ? "with their optimizer slots"
                                : "with optimizer slots of " + join(withSlots);
  return takenSteps.empty()
             ? slots + " and without step counts: bias corrections "
                       "and schedules begin anew"
             : slots + " and with step counts (" + join(takenSteps) +
                   "), from which bias corrections and schedules "
                   "go on";
}

void Initializer::log() const {
  if (!missing.empty())
    logWarning(file.path() + " does not have " + join(missing) +
               ": initial values stay");
  logUnknown();
  warnOfOldLayout(file.path(), oldLayout);
  // The rest concerns training.
  if (coverage == FileCoverage::Parameters)
    return;
  logInfo("took " + join(taken) + " from " + file.path() + ", " +
          whatOfTraining());
  if (coverage != FileCoverage::AnyValues && !withoutSlots.empty())
    logInfo(file.path() + " does not have the optimizer's slots of " +
            join(withoutSlots) + ": they begin anew");
  if (!withoutSteps.empty())
    logWarning(file.path() + " has slots, but does not say how many updates " +
               join(withoutSteps) +
               " had: bias corrections and schedules begin anew with the first "
               "step; a dump of --dump-slots says it, as a checkpoint does");
}

Status Initializer::run() {
  const pdl_descriptor &descriptor = model.descriptor();
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    PDLRT_RETURN_IF_ERROR(model.table(i) ? readTable(i) : readParameter(i));
  if (coverage != FileCoverage::AnyValues)
    PDLRT_RETURN_IF_ERROR(readSteps());
  if (taken.empty() && descriptor.symbol_count > 0)
    return Status::failedPrecondition(file.path() +
                                      ": no tensor in it belongs to model " +
                                      descriptor.model_name + ", which has " +
                                      join(missing) + "; name another file");
  log();
  return {};
}

void pdlrt::warnOfOldLayout(const std::string &path, const OldLayout &old) {
  if (!old.unchecked.empty())
    logWarning(path + " is of an older layout; not checked: " + old.unchecked);
}

Status pdlrt::initializeModel(Model &model, const std::string &path,
                              FileCoverage coverage, bool acceptOldLayout) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.status();
  PDLRT_RETURN_IF_ERROR(
      Initializer(model, *file, coverage, acceptOldLayout).run());
  // A dump does not contain the periods of updates. Rows count as updated now,
  // so that none expires early.
  RowList rows;
  for (int32_t s = 0; s < model.descriptor().symbol_count; ++s)
    if (const EmbeddingTable *table = model.table(s);
        table && table->options().life.hasPeriods())
      for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
        table->collectShard(shard, rows);
        for (const TableRow &row : rows)
          table->options().setPeriod(row.row, table->period());
      }
  return {};
}
