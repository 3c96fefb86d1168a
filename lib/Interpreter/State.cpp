//===- State.cpp - Model state between steps ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Interpreter/State.h"

#include "pdlabi/admission.h"
#include "pdlc/Dialect/NN/IR/PeriodSlot.h"
#include "pdlc/Interpreter/TensorFile.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Table::Table(Type elementType, int64_t width, Initializer initializer,
             bool unknownIsZero, std::optional<Storage> storage,
             std::vector<Slot> slots, TableLife life)
    : type(elementType), valueWidth(width), initializer(initializer),
      unknownIsZero(unknownIsZero), storage(storage),
      slotList(std::move(slots)), ownLife(life) {}

int64_t Table::partOffset(size_t part) const {
  int64_t offset = 0;
  for (size_t before = 0; before < part; ++before)
    offset += partWidth(before);
  return offset;
}

/// Calls body.operator()<format>() with the number format of a storage.
template <typename Body> static void withFormat(Storage storage, Body body) {
  if (storage == Storage::bf16)
    body.template operator()<pdlabi::BFloat16>();
  else
    body.template operator()<pdlabi::Float16>();
}

template <typename T> int64_t Table::storeNearest(T *value) const {
  int64_t tooLarge = -1;
  if (!storage)
    return tooLarge;
  withFormat(*storage, [&]<typename Format>() {
    for (int64_t i = 0; i < valueWidth; ++i) {
      const bool wasFinite = std::isfinite(value[i]);
      value[i] = static_cast<float>(Format(static_cast<float>(value[i])));
      if (wasFinite && !std::isfinite(value[i]) && tooLarge < 0)
        tooLarge = i;
    }
  });
  return tooLarge;
}

template <typename T>
bool Table::storeAtRandom(int64_t key, int64_t update, T *value) const {
  bool finite = true;
  if (!storage)
    return finite;
  pdlabi::RoundingDraws draws = initializer.draws();
  draws.update = update;
  withFormat(*storage, [&]<typename Format>() {
    std::vector<float> exact(value, value + valueWidth);
    std::vector<Format> rounded(valueWidth);
    void *row = rounded.data();
    finite = pdlabi::roundRows<Format>(draws, 1, valueWidth, valueWidth, &key,
                                       exact.data(), &row);
    std::copy(rounded.begin(), rounded.end(), value);
  });
  return finite;
}

template <typename T> T *Table::row(int64_t key) {
  auto [entry, isNew] = index.try_emplace(key, rows.size());
  if (isNew) {
    std::vector<T> row(partOffset(1 + slotList.size()));
    initializer.fill(key, valueWidth, row.data());
    storeNearest(row.data());
    for (auto [number, slot] : llvm::enumerate(slotList))
      if (slot.isFrozen)
        std::copy_n(row.begin(), valueWidth,
                    row.begin() + partOffset(1 + number));
      else
        std::fill_n(row.begin() + partOffset(1 + number), partWidth(1 + number),
                    static_cast<T>(slot.initialValue));
    rows.emplace_back(std::move(row));
  }
  return std::get_if<std::vector<T>>(&rows[entry->second])->data();
}

template <typename T> void Table::noteUpdate(T *row) const {
  if (ownLife.shrinkEvery)
    row[partOffset(slotList.size())] = static_cast<T>(currentPeriod);
}

bool Table::getsRow(int64_t key, double occurrences) const {
  if (contains(key))
    return true;
  const pdlabi::RoundingDraws draws = initializer.draws();
  if (ownLife.admitProbability < 1)
    return pdlabi::isDrawn(ownLife.admitProbability, draws.seed, draws.symbolId,
                           key);
  if (ownLife.admitCount <= 1)
    return true;
  auto found = waiting.find(key);
  return (found == waiting.end() ? 0 : found->second.occurrences) +
             static_cast<int64_t>(occurrences) >=
         ownLife.admitCount;
}

bool Table::admit(int64_t key, double occurrences) {
  if (ownLife.admitCount <= 1 || contains(key))
    return getsRow(key, occurrences);
  if (getsRow(key, occurrences)) {
    waiting.erase(key);
    return true;
  }
  // There is nothing to record.
  if (occurrences == 0 && waiting.count(key) == 0)
    return false;
  Waiting &waits = waiting[key];
  waits.occurrences += static_cast<int64_t>(occurrences);
  waits.period = currentPeriod;
  return false;
}

void Table::beginUpdate(int64_t number) {
  if (ownLife.shrinkEvery && number > 0)
    currentPeriod = (number - 1) / ownLife.shrinkEvery;
}

void Table::resume(int64_t updates) {
  if (!ownLife.shrinkEvery)
    return;
  currentPeriod = updates / ownLife.shrinkEvery;
  for (Elements &row : rows)
    if (auto *single = std::get_if<std::vector<float>>(&row))
      noteUpdate(single->data());
    else
      noteUpdate(std::get_if<std::vector<double>>(&row)->data());
}

template <typename T> bool Table::endPeriod(T *row) const {
  double score = 0;
  for (size_t s = 0; s < ownLife.scoreWeights.size(); ++s) {
    const double weight = ownLife.scoreWeights[s];
    if (weight == 0)
      continue;
    T &slot = row[partOffset(1 + s)];
    slot *= static_cast<T>(ownLife.shrinkDecay);
    score += weight * slot;
  }
  const auto last = static_cast<int64_t>(row[partOffset(slotList.size())]);
  return currentPeriod - 1 - last >= ownLife.shrinkUnseen ||
         (ownLife.shrinkLeast && score < *ownLife.shrinkLeast);
}

void Table::endUpdate(int64_t number) {
  if (!ownLife.shrinkEvery || number <= 0 || number % ownLife.shrinkEvery != 0)
    return;
  currentPeriod = number / ownLife.shrinkEvery;
  if (!ownLife.countWeights.empty())
    for (auto &[key, waits] : waiting)
      waits.occurrences =
          pdlabi::decayedUnits(waits.occurrences, ownLife.shrinkDecay);
  std::erase_if(waiting, [&](const auto &entry) {
    return entry.second.occurrences == 0 ||
           currentPeriod - 1 - entry.second.period >= ownLife.shrinkUnseen;
  });
  std::erase_if(index, [&](const auto &entry) {
    Elements &row = rows[entry.second];
    if (auto *single = std::get_if<std::vector<float>>(&row))
      return endPeriod(single->data());
    return endPeriod(std::get_if<std::vector<double>>(&row)->data());
  });
}

/// Returns the part of a symbol that frozen programs read.
static size_t frozenPartOf(ArrayRef<Slot> slots) {
  for (auto [number, slot] : llvm::enumerate(slots))
    if (slot.isFrozen)
      return 1 + number;
  return 0;
}

const Tensor &Parameter::read(bool frozen) const {
  const size_t part = frozen ? frozenPartOf(slots) : 0;
  return part == 0 ? value : slotValues[part - 1];
}

size_t Table::frozenPart() const { return frozenPartOf(slotList); }

template <typename T>
void Table::read(int64_t key, bool frozen, T *value) const {
  auto found = index.find(key);
  if (found != index.end())
    std::copy_n(std::get_if<std::vector<T>>(&rows[found->second])->data() +
                    partOffset(frozen ? frozenPart() : 0),
                valueWidth, value);
  else if (frozen && unknownIsZero)
    std::fill_n(value, valueWidth, T(0));
  else {
    initializer.fill(key, valueWidth, value);
    storeNearest(value);
  }
}

template bool Table::storeAtRandom(int64_t key, int64_t update,
                                   float *value) const;
template bool Table::storeAtRandom(int64_t key, int64_t update,
                                   double *value) const;
template void Table::noteUpdate(float *row) const;
template void Table::noteUpdate(double *row) const;
template float *Table::row(int64_t key);
template double *Table::row(int64_t key);
template void Table::read(int64_t key, bool frozen, float *value) const;
template void Table::read(int64_t key, bool frozen, double *value) const;

std::vector<int64_t> Table::keys() const {
  std::vector<int64_t> result;
  for (const auto &[key, row] : index)
    result.push_back(key);
  std::sort(result.begin(), result.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// Returns the slots of a symbol, which the rule of its group defines. Returns
/// none if nothing in the module can update the symbol: because it does not
/// contain the rule, or because it contains updates, but none of this symbol.
static std::vector<Slot> slotsOf(ModuleOp module, StringRef symbol,
                                 FlatSymbolRefAttr group, TableOp table = {}) {
  std::vector<Slot> slots;
  if (!group)
    return slots;
  bool hasUpdates = false, isUpdated = false;
  module.walk([&](UpdateOp update) {
    hasUpdates = true;
    isUpdated |= update.getSymbol() == symbol;
  });
  if (hasUpdates && !isUpdated)
    return slots;
  auto groupOp = module.lookupSymbol<GroupOp>(group);
  auto rule =
      groupOp ? module.lookupSymbol<RuleOp>(groupOp.getRuleAttr()) : RuleOp();
  if (!rule)
    return slots;
  const size_t ofElements = rule.getSlotNames().size();
  for (auto [name, value] :
       llvm::zip_equal(rule.getAllSlotNames().getAsValueRange<StringAttr>(),
                       rule.getAllSlotValues()))
    slots.push_back({name.str(), value, slots.size() >= ofElements,
                     name == rule.getFrozenSlot()});
  if (table && table.getShrinkEvery())
    slots.push_back({kPeriodSlotName.str(), 0.0, /*isOfRow=*/true,
                     /*isFrozen=*/false});
  return slots;
}

/// Returns how a table admits and evicts keys. If `isVector`, returns this for
/// its deferred embedding vectors, which are admitted by a score of their own.
static TableLife lifeOf(TableOp table, ArrayRef<Slot> slots, bool isVector) {
  TableLife life;
  const std::optional<APFloat> threshold =
      isVector ? table.getWidenScore() : table.getAdmitScore();
  auto group = threshold ? SymbolTable::lookupNearestSymbolFrom<GroupOp>(
                               table, table.getGroupAttr())
                         : GroupOp();
  auto rule = group ? SymbolTable::lookupNearestSymbolFrom<RuleOp>(
                          group, group.getRuleAttr())
                    : RuleOp();
  if (!isVector)
    life.admitCount = static_cast<int64_t>(table.getAdmitCount().value_or(1));
  if (table.getAdmitProbability())
    life.admitProbability = table.getAdmitProbability()->convertToDouble();
  if (rule) {
    life.admitCount = pdlabi::admissionUnits;
    life.admitScore = threshold->convertToDouble();
    for (auto name : rule.getCountNames().getAsRange<StringAttr>()) {
      auto weight = table.getScoreAttr().getAs<FloatAttr>(name);
      life.countWeights.push_back(weight ? weight.getValueAsDouble() : 0.0);
    }
  }
  life.shrinks = table.getShrinkEvery().has_value();
  // Without slots, nothing is updated.
  if (table.getShrinkEvery() && !slots.empty()) {
    life.shrinkEvery = static_cast<int64_t>(*table.getShrinkEvery());
    life.shrinkUnseen = static_cast<int64_t>(*table.getShrinkUnseen());
  }
  if (DictionaryAttr score = table.getScoreAttr()) {
    for (const Slot &slot : slots) {
      auto weight = score.getAs<FloatAttr>(slot.name);
      life.scoreWeights.push_back(weight ? weight.getValueAsDouble() : 0.0);
    }
    if (std::optional<APFloat> decay = table.getShrinkDecay())
      life.shrinkDecay = decay->convertToDouble();
    if (std::optional<APFloat> least = table.getShrinkLeast())
      life.shrinkLeast = least->convertToDouble();
  }
  return life;
}

/// Returns the number of rows of a parameter. A vector counts as one row.
static int64_t rowCountOf(RankedTensorType type) {
  return type.getRank() <= 1 ? 1 : type.getDimSize(0);
}

/// Returns a tensor with initial values.
static Tensor initialTensor(RankedTensorType type,
                            const Initializer &initializer) {
  Tensor tensor(type.getShape(), type.getElementType());
  int64_t rows = rowCountOf(type);
  int64_t width = tensor.count() / rows;
  dispatchFloat(type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t row = 0; row < rows; ++row)
      initializer.fill(row, width, tensor.get<T>().data() + row * width);
  });
  return tensor;
}

static Parameter createParameter(StringRef name, Type symbolType,
                                 Attribute init, uint64_t seed,
                                 std::vector<Slot> slots) {
  auto type = cast<RankedTensorType>(symbolType);
  Initializer initializer(name, cast<InitializerAttrInterface>(init),
                          type.getShape(), seed);
  Parameter parameter;
  parameter.value = initialTensor(type, initializer);
  for (const Slot &slot : slots) {
    SmallVector<int64_t> shape(type.getShape());
    if (slot.isOfRow)
      shape = {rowCountOf(type), 1};
    if (slot.isFrozen) {
      parameter.slotValues.push_back(parameter.value);
      continue;
    }
    Tensor tensor(shape, type.getElementType());
    tensor.visit([&](auto &elements) {
      std::fill(elements.begin(), elements.end(), slot.initialValue);
    });
    parameter.slotValues.push_back(std::move(tensor));
  }
  parameter.slots = std::move(slots);
  return parameter;
}

State State::create(ModuleOp module, uint64_t seed) {
  State state;
  state.seed = seed;
  for (auto op : module.getOps<ParamOp>())
    state.parameters.emplace(
        op.getSymName().str(),
        createParameter(op.getSymName(), op.getType(), op.getInit(), seed,
                        slotsOf(module, op.getSymName(), op.getGroupAttr())));
  for (auto op : module.getOps<StateOp>())
    state.parameters.emplace(
        op.getSymName().str(),
        createParameter(op.getSymName(), op.getType(), op.getInit(), seed, {}));
  for (auto op : module.getOps<TableOp>()) {
    auto add = [&](const std::string &name, RankedTensorType row,
                   Attribute init, bool isVector) {
      Initializer initializer(name, cast<InitializerAttrInterface>(init),
                              row.getShape(), seed);
      std::vector<Slot> slots = slotsOf(module, name, op.getGroupAttr(), op);
      const TableLife life = lifeOf(op, slots, isVector);
      state.tables.emplace(name,
                           Table(row.getElementType(), row.getDimSize(0),
                                 initializer, op.getUnknown() == Unknown::zero,
                                 op.getStored(), std::move(slots), life));
    };
    add(op.getSymName().str(),
        op.widens() ? op.getWeightType() : op.getRowType(), op.getInit(),
        /*isVector=*/false);
    if (op.widens()) {
      add(op.getVectorName(), op.getVectorType(), op.getVectorInit(),
          /*isVector=*/true);
      state.vectors.emplace(op.getSymName().str(), op.getVectorName());
    }
  }
  for (auto op : module.getOps<MetricOp>())
    state.metrics.emplace(op.getSymName().str(),
                          Metric(cast<MetricAttrInterface>(op.getKind())));
  return state;
}

template <typename Map> static auto *findIn(Map &map, StringRef name) {
  auto found = map.find(name.str());
  return found == map.end() ? nullptr : &found->second;
}

Parameter *State::findParameter(StringRef name) {
  return findIn(parameters, name);
}
Table *State::findTable(StringRef name) { return findIn(tables, name); }
Table *State::findVector(StringRef table) {
  const std::string *name = findIn(vectors, table);
  return name ? findTable(*name) : nullptr;
}
Metric *State::findMetric(StringRef name) { return findIn(metrics, name); }

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Replaces `tensor` by the tensor `name` of the file, if it exists.
static LogicalResult loadTensor(const NamedTensorsReader &file,
                                const std::string &name, Tensor &tensor,
                                ModuleOp module, std::set<std::string> &used) {
  const TensorInFile *found = file.find(name);
  used.insert(name);
  if (!found)
    return success();
  Type elementType = tensor.holds<double>()
                         ? Type(Float64Type::get(module.getContext()))
                         : Type(Float32Type::get(module.getContext()));
  FailureOr<Tensor> loaded = readTensor(file, name, *found, elementType,
                                        tensor.shape(), module.getLoc());
  if (failed(loaded))
    return failure();
  tensor = std::move(*loaded);
  return success();
}

/// Copies `values` into part `part` of the rows of `keys`. If the table's
/// storage format cannot hold a number, stops and returns its row and element.
template <typename T>
static std::optional<std::pair<int64_t, int64_t>>
copyRows(Table &table, ArrayRef<int64_t> keys, size_t part,
         const Tensor &values) {
  int64_t width = table.partWidth(part), offset = table.partOffset(part);
  for (size_t i = 0; i < keys.size(); ++i) {
    T *row = table.row<T>(keys[i]);
    std::copy_n(values.get<T>().begin() + i * width, width, row + offset);
    if (part != 0)
      continue;
    if (int64_t element = table.storeNearest(row); element >= 0)
      return std::pair(int64_t(i), element);
  }
  return std::nullopt;
}

static LogicalResult loadTable(const NamedTensorsReader &file,
                               const std::string &name, Table &table,
                               ModuleOp module, std::set<std::string> &used) {
  const TensorInFile *keysFound = file.find(name + ".keys");
  const TensorInFile *valuesFound = file.find(name + ".values");
  if (!keysFound && !valuesFound)
    return success();
  if (!keysFound || !valuesFound)
    return module.emitError()
           << file.path() << ": holds only one of '" << name << ".keys' and '"
           << name << ".values'; a table needs both";
  used.insert(name + ".keys");
  FailureOr<Tensor> keys =
      readTensor(file, name + ".keys", *keysFound,
                 IntegerType::get(module.getContext(), 64),
                 {keysFound->elementCount}, module.getLoc());
  if (failed(keys))
    return failure();
  int64_t count = keys->count();
  std::vector<int64_t> distinct = keys->get<int64_t>();
  std::sort(distinct.begin(), distinct.end());
  if (std::adjacent_find(distinct.begin(), distinct.end()) != distinct.end())
    return module.emitError()
           << file.path() << ": '" << name << ".keys' holds a key twice";
  auto copyPart = [&](const std::string &tensorName, const TensorInFile &entry,
                      size_t part) -> LogicalResult {
    used.insert(tensorName);
    FailureOr<Tensor> values =
        readTensor(file, tensorName, entry, table.elementType(),
                   {count, table.partWidth(part)}, module.getLoc());
    if (failed(values))
      return failure();
    std::optional<std::pair<int64_t, int64_t>> tooLarge;
    dispatchFloat(table.elementType(), [&](auto zero) {
      using T = decltype(zero);
      tooLarge = copyRows<T>(table, keys->get<int64_t>(), part, *values);
    });
    if (tooLarge)
      return module.emitError()
             << file.path() << ": '" << tensorName << "' has a number at ["
             << tooLarge->first << ", " << tooLarge->second
             << "] that is too large for the rows of @" << name
             << ", which are stored in 16 bits";
    return success();
  };
  // The part that frozen programs read is initialized with the value.
  for (size_t part : {size_t(0), table.frozenPart()})
    if (failed(copyPart(name + ".values", *valuesFound, part)))
      return failure();
  for (auto [number, slot] : llvm::enumerate(table.slots())) {
    std::string slotName = name + ".slot." + slot.name;
    if (const TensorInFile *found = file.find(slotName))
      if (failed(copyPart(slotName, *found, 1 + number)))
        return failure();
  }
  return success();
}

LogicalResult State::load(const NamedTensorsReader &file, ModuleOp module) {
  std::set<std::string> used;
  for (auto &[name, parameter] : parameters) {
    if (!file.find(name))
      return module.emitError() << file.path() << ": has no tensor '" << name
                                << "', which the module has as a parameter";
    if (failed(loadTensor(file, name, parameter.value, module, used)))
      return failure();
    for (auto [slot, values] :
         llvm::zip_equal(parameter.slots, parameter.slotValues)) {
      if (slot.isFrozen)
        values = parameter.value;
      if (failed(loadTensor(file, name + ".slot." + slot.name, values, module,
                            used)))
        return failure();
    }
  }
  for (auto &[name, table] : tables)
    if (failed(loadTable(file, name, table, module, used)))
      return failure();
  for (const auto &[name, tensor] : file.tensors())
    if (!used.count(name))
      return module.emitError() << file.path() << ": tensor '" << name
                                << "' belongs to nothing in the module";
  if (failed(loadSteps(file, module)))
    return failure();
  for (auto op : module.getOps<TableOp>())
    if (op.getGroup()) {
      findTable(op.getSymName())->resume(stepsOf(*op.getGroup()));
      if (op.widens())
        findTable(op.getVectorName())->resume(stepsOf(*op.getGroup()));
    }
  return success();
}

static std::string stepsName(StringRef group) {
  return ("group." + group + ".steps").str();
}

LogicalResult State::loadSteps(const NamedTensorsReader &file,
                               ModuleOp module) {
  bool hasSlots = llvm::any_of(file.tensors(), [](const auto &entry) {
    return StringRef(entry.first).contains(".slot.");
  });
  for (auto group : module.getOps<GroupOp>()) {
    auto found = file.metadata().find(stepsName(group.getSymName()));
    if (found == file.metadata().end()) {
      if (hasSlots)
        group.emitWarning() << file.path()
                            << ": has slots, but does not say how many updates "
                               "the group had: bias corrections and schedules "
                               "begin anew";
      continue;
    }
    int64_t steps = 0;
    if (StringRef(found->second).getAsInteger(10, steps) || steps < 0)
      return group.emitError()
             << file.path() << ": the metadata '" << found->first << "' is '"
             << found->second << "', which is no number of updates";
    stepsOf(group.getSymName()) = steps;
  }
  return success();
}

/// Returns one part of all rows. Part 0 is the value, part 1 + s is slot s.
static Tensor collectRows(Table &table, ArrayRef<int64_t> keys, size_t part) {
  auto count = static_cast<int64_t>(keys.size());
  const int64_t width = table.partWidth(part), offset = table.partOffset(part);
  Tensor values({count, width}, table.elementType());
  dispatchFloat(table.elementType(), [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < keys.size(); ++i)
      std::copy_n(table.row<T>(keys[i]) + offset, width,
                  values.get<T>().begin() + i * width);
  });
  return values;
}

/// Adds metadata that describe how keys are computed from fields, in the form
/// that dumps of programs have (`ModelFile.h` of the runtime). Adds only the
/// version if the module has no fingerprint.
static void addLayout(ModuleOp module, NamedTensorsWriter &writer) {
  writer.setMetadata("layout_version", "2");
  for (auto fingerprint : module.getOps<FingerprintOp>())
    for (NamedAttribute part : fingerprint.getState())
      if (auto [kind, table] = part.getName().strref().split('@');
          kind == "keys of " || kind == "keys read of ")
        writer.setMetadata(("keys." + table).str(),
                           cast<StringAttr>(part.getValue()).str());
}

LogicalResult State::dump(StringRef path, bool withSlots, ModuleOp module) {
  NamedTensorsWriter writer;
  writer.setMetadata("model", module.getName().value_or("model").str());
  writer.setMetadata("seed", std::to_string(seed));
  addLayout(module, writer);
  if (withSlots)
    for (auto group : module.getOps<GroupOp>())
      writer.setMetadata(stepsName(group.getSymName()),
                         std::to_string(stepsOf(group.getSymName())));
  std::deque<Tensor> owned;
  auto add = [&](const std::string &name, const Tensor &tensor) {
    writer.add(
        name, tensor.fileType(),
        std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end()),
        tensor.bytes());
  };
  for (auto &[name, parameter] : parameters) {
    add(name, parameter.value);
    if (withSlots)
      for (auto [slot, values] :
           llvm::zip_equal(parameter.slots, parameter.slotValues))
        add(name + ".slot." + slot.name, values);
  }
  for (auto &[name, table] : tables) {
    std::vector<int64_t> keys = table.keys();
    auto count = static_cast<int64_t>(keys.size());
    add(name + ".values", owned.emplace_back(collectRows(table, keys, 0)));
    if (withSlots)
      for (auto [number, slot] : llvm::enumerate(table.slots()))
        add(name + ".slot." + slot.name,
            owned.emplace_back(collectRows(table, keys, 1 + number)));
    add(name + ".keys", owned.emplace_back(Tensor({count}, std::move(keys))));
  }
  if (llvm::Error error = writer.write(path))
    return module.emitError() << llvm::toString(std::move(error));
  return success();
}
