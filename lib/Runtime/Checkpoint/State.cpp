//===- State.cpp - Values and slots of a model in memory ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/State.h"

#include "Checkpoint/LinkedRows.h"
#include "Checkpoint/SymbolTensors.h"
#include "Checkpoint/WaitingTensors.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/Suggestion.h"
#include "pdlrt/Core/WholeNumber.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <span>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

static Expected<StateTensor> copyOf(const TensorView &tensor) {
  StateTensor copy{tensor.type, tensor.shape, {}};
  copy.bytes.resize(tensor.byteSize());
  PDLRT_RETURN_IF_ERROR(tensor.copyTo(copy.bytes.data()));
  return copy;
}

/// Adds the rows of a table, ordered by key, from all parts that contain rows
/// of it.
static Status addTable(const Checkpoint &checkpoint,
                       const CheckpointSymbol &symbol, ModelState &state) {
  Expected<LinkedRows> linked = linkRows(checkpoint, symbol.name);
  if (!linked)
    return linked.status();
  const std::vector<LinkedRows::Row> &rows = linked->rows;
  const std::vector<LinkedRows::File> &files = linked->files;
  const auto count = int64_t(rows.size());
  // Indexed by file and row: the position of the row in the result, or -1 if a
  // later file has a newer version of it.
  std::vector<std::vector<int64_t>> places;
  for (const LinkedRows::File &file : files)
    places.emplace_back(size_t(file.rows), -1);
  for (int64_t i = 0; i < count; ++i)
    places[rows[i].file][rows[i].index] = i;
  StateTensor &keys = state.tensors[symbol.name + ".keys"];
  keys = {TensorType::I64, {count}, {}};
  keys.bytes.resize(rows.size() * sizeof(int64_t));
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(keys.bytes.data() + i * sizeof(int64_t), &rows[i].key,
                sizeof(int64_t));

  int64_t rowWidth = 1;
  for (int64_t dimension : symbol.shape)
    rowWidth *= dimension;
  for (size_t part = 0; part <= symbol.slots.size(); ++part) {
    const bool isRowSlot = part > 0 && symbol.isRowSlot(part - 1);
    const int64_t width = isRowSlot ? 1 : rowWidth;
    // 16-bit values are shown and exported as F32.
    const TensorType type = symbol.partType(part);
    const int32_t storage = storageOf(type);
    const size_t rowBytes =
        size_t(width) * tensorElementSize(symbol.elementType);
    const std::string name =
        part > 0 ? "slot." + symbol.slots[part - 1] : "values";
    StateTensor &out = state.tensors[symbol.name + "." + name];
    out = {symbol.elementType, {count, width}, {}};
    out.bytes.resize(rows.size() * rowBytes);
    for (size_t f = 0; f < files.size(); ++f) {
      const auto fileRows = int64_t(places[f].size());
      const TensorView *values = files[f].content->find(name);
      if (!values || values->type != type || values->shape.size() != 2 ||
          values->shape[1] != width || values->shape[0] < fileRows)
        return files[f].of->damaged(files[f].content->path() +
                                    " has no proper '" + name + "'");
      TensorWindow window(*values);
      for (int64_t i = 0; i < fileRows; ++i) {
        if (places[f][i] < 0)
          continue;
        Expected<const std::byte *> row = window.at(i * width, width);
        if (!row)
          return row.status();
        std::byte *to = out.bytes.data() + places[f][i] * rowBytes;
        if (storage == PDL_STORE_ELEMENT)
          std::memcpy(to, *row, rowBytes);
        else
          widenStored(storage, width, *row, reinterpret_cast<float *>(to));
      }
    }
  }
  return {};
}

/// Adds waiting keys, if there are any, ordered by shard and key.
static Status addWaiting(const Checkpoint &checkpoint,
                         const CheckpointSymbol &symbol, ModelState &state) {
  const Expected<std::vector<WaitingKey>> waiting =
      linkWaiting(checkpoint, symbol.name);
  if (!waiting)
    return waiting.status();
  if (waiting->empty())
    return {};
  WaitingColumns columns;
  for (const WaitingKey &each : *waiting)
    columns.add(each);
  const auto tensorOf = [&](TensorType type, const auto &numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    return StateTensor{
        type, {int64_t(numbers.size())}, {bytes.begin(), bytes.end()}};
  };
  state.tensors[symbol.name + "." + WaitingColumns::keysName] =
      tensorOf(TensorType::I64, columns.keys);
  state.tensors[symbol.name + "." + WaitingColumns::notesName] =
      tensorOf(TensorType::I32, columns.notes);
  return {};
}

Expected<ModelState> pdlrt::stateOf(const Checkpoint &checkpoint) {
  ModelState state;
  const CheckpointManifest &manifest = checkpoint.manifest();
  state.metadata["model"] = manifest.model;
  state.metadata["seed"] = std::to_string(manifest.seed);
  if (manifest.layoutVersion >= currentLayout)
    state.metadata.merge(layoutMetadata(manifest.modelParts));
  for (const auto &[group, steps] : manifest.groupSteps) {
    state.metadata[groupStepsName(group)] = std::to_string(steps);
    state.groupSteps[group] = steps;
  }
  for (const CheckpointSymbol &symbol : manifest.symbols) {
    if (symbol.isTable)
      continue;
    for (size_t part = 0; part <= symbol.slots.size(); ++part) {
      std::string name = symbol.name;
      if (part > 0)
        name += ".slot." + symbol.slots[part - 1];
      CheckpointSymbol wanted = symbol;
      if (part > 0 && symbol.isRowSlot(part - 1))
        wanted.shape = {rowCountOf(symbol.shape), 1};
      StateTensor &tensor = state.tensors[name];
      tensor = {symbol.elementType, wanted.shape, {}};
      size_t bytes = tensorElementSize(symbol.elementType);
      for (int64_t dimension : wanted.shape)
        bytes *= size_t(dimension);
      tensor.bytes.resize(bytes);
      PDLRT_RETURN_IF_ERROR(checkpoint.copyRows(
          wanted, name, {0, rowCountOf(symbol.shape)}, tensor.bytes.data()));
    }
  }
  for (const CheckpointSymbol &symbol : manifest.symbols)
    if (symbol.isTable) {
      PDLRT_RETURN_IF_ERROR(addTable(checkpoint, symbol, state));
      PDLRT_RETURN_IF_ERROR(addWaiting(checkpoint, symbol, state));
    }
  return state;
}

Expected<ModelState> pdlrt::readDump(const std::string &path) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.status();
  ModelState state;
  state.metadata = file->metadata();
  for (const auto &[name, text] : state.metadata) {
    const std::string prefix = "group.", suffix = ".steps";
    Expected<uint64_t> steps = parseWholeNumber(text, 0, INT64_MAX);
    if (name.size() > prefix.size() + suffix.size() &&
        name.starts_with(prefix) && name.ends_with(suffix) && steps)
      state.groupSteps[name.substr(prefix.size(), name.size() - prefix.size() -
                                                      suffix.size())] =
          int64_t(*steps);
  }
  for (const TensorView &tensor : file->tensors()) {
    Expected<StateTensor> copy = copyOf(tensor);
    if (!copy)
      return copy.status();
    state.tensors[tensor.name] = *std::move(copy);
  }
  return state;
}

Status pdlrt::removeSymbol(ModelState &state, const std::string &symbol) {
  const auto isOf = [&](const std::string &tensor) {
    return tensor == symbol || tensor == symbol + ".keys" ||
           tensor == symbol + ".values" ||
           tensor.starts_with(symbol + ".slot.");
  };
  std::vector<std::string> others;
  for (const auto &[name, tensor] : state.tensors)
    if (name.ends_with(".values"))
      others.push_back(name.substr(0, name.rfind('.')));
    else if (name.find('.') == std::string::npos)
      others.push_back(name);
  if (std::erase_if(state.tensors, [&](const auto &tensor) {
        return isOf(tensor.first);
      }) == 0)
    return Status::invalidArgument("no symbol is called " + symbol +
                                   suggestName(symbol, others));
  state.metadata.erase("keys." + symbol);
  return {};
}

Status pdlrt::writeDump(const ModelState &state, const std::string &path) {
  SafetensorsWriter writer;
  for (const auto &[key, value] : state.metadata)
    writer.setMetadata(key, value);
  // Waiting keys are left out: they have no rows, so they do not change what
  // the model computes.
  for (const auto &[name, tensor] : state.tensors)
    if (!WaitingColumns::isName(name))
      PDLRT_RETURN_IF_ERROR(
          writer.add(name, tensor.type, tensor.shape, tensor.bytes.data()));
  return writer.write(path);
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

namespace {

class Comparison {
public:
  Comparison(const ModelState &a, const ModelState &b, std::string first,
             std::string second, size_t limit)
      : a(a), b(b), first(std::move(first)), second(std::move(second)),
        limit(limit) {}
  StateDifferences run();

private:
  void report(const std::string &message) {
    if (++found.count <= int64_t(limit))
      found.messages.push_back(message);
  }
  bool isTable(const std::string &name) const;
  void compareLayouts();
  void compareTable(const std::string &table);
  void compareRows(const std::string &name, const std::string &key,
                   int64_t rowA, int64_t rowB);
  void compareWhole(const std::string &name);
  void compareElements(const std::string &what, const StateTensor &left,
                       const StateTensor &right, int64_t begin, int64_t beginB,
                       int64_t count);

  const ModelState &a, &b;
  const std::string first, second;
  const size_t limit;
  StateDifferences found;
};

/// A table's keys with the row of each, ascending.
using KeyedRows = std::vector<std::pair<int64_t, int64_t>>;

} // namespace

static std::string elementText(const StateTensor &tensor, int64_t index) {
  const std::byte *at =
      tensor.bytes.data() + index * tensorElementSize(tensor.type);
  auto load = [at](auto number) {
    std::memcpy(&number, at, sizeof(number));
    return number;
  };
  if (const int32_t storage = storageOf(tensor.type);
      storage != PDL_STORE_ELEMENT) {
    float wide;
    widenStored(storage, 1, at, &wide);
    return fmt::format("{:.9g}", wide);
  }
  switch (tensor.type) {
  case TensorType::F32:
    return fmt::format("{:.9g}", load(float()));
  case TensorType::F64:
    return fmt::format("{:.17g}", load(double()));
  case TensorType::I32:
    return std::to_string(load(int32_t()));
  case TensorType::I64:
    return std::to_string(load(int64_t()));
  case TensorType::U64:
    return std::to_string(load(uint64_t()));
  case TensorType::U8:
    return std::to_string(load(uint8_t()));
  default:
    break;
  }
  return "";
}

static std::string typeAndShape(const StateTensor &tensor) {
  return fmt::format("{} [{}]", tensorTypeName(tensor.type),
                     fmt::join(tensor.shape, ", "));
}

static bool isKeys(const ModelState &state, const std::string &name) {
  auto found = state.tensors.find(name);
  return found != state.tensors.end() &&
         found->second.type == TensorType::I64 &&
         found->second.shape.size() == 1;
}

bool Comparison::isTable(const std::string &name) const {
  return isKeys(a, name + ".keys") && isKeys(b, name + ".keys");
}

static KeyedRows keyedRows(const StateTensor &keys) {
  KeyedRows rows(keys.bytes.size() / sizeof(int64_t));
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(&rows[i].first, keys.bytes.data() + i * sizeof(int64_t),
                sizeof(int64_t));
    rows[i].second = int64_t(i);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

void Comparison::compareElements(const std::string &what,
                                 const StateTensor &left,
                                 const StateTensor &right, int64_t begin,
                                 int64_t beginB, int64_t count) {
  const auto size = int64_t(tensorElementSize(left.type));
  if (std::equal(left.bytes.begin() + begin * size,
                 left.bytes.begin() + (begin + count) * size,
                 right.bytes.begin() + beginB * size))
    return;
  for (int64_t i = 0; i < count; ++i)
    if (std::memcmp(left.bytes.data() + (begin + i) * size,
                    right.bytes.data() + (beginB + i) * size, size) != 0)
      report(fmt::format("{}, element {}: {} in {}, {} in {}", what, i,
                         elementText(left, begin + i), first,
                         elementText(right, beginB + i), second));
}

void Comparison::compareRows(const std::string &name, const std::string &key,
                             int64_t rowA, int64_t rowB) {
  const StateTensor &left = a.tensors.at(name), &right = b.tensors.at(name);
  const int64_t width = left.shape[1];
  compareElements(name + ", key " + key, left, right, rowA * width,
                  rowB * width, width);
}

void Comparison::compareWhole(const std::string &name) {
  const StateTensor &left = a.tensors.at(name), &right = b.tensors.at(name);
  if (left.type != right.type || left.shape != right.shape)
    return report(fmt::format("{} is {} in {}, {} in {}", name,
                              typeAndShape(left), first, typeAndShape(right),
                              second));
  const auto size = int64_t(tensorElementSize(left.type));
  compareElements(name, left, right, 0, 0, int64_t(left.bytes.size()) / size);
}

/// Compares rows with equal keys, independent of their positions.
void Comparison::compareTable(const std::string &table) {
  const KeyedRows left = keyedRows(a.tensors.at(table + ".keys"));
  const KeyedRows right = keyedRows(b.tensors.at(table + ".keys"));
  TableDifferences counts{table, int64_t(left.size()), int64_t(right.size())};
  std::vector<std::string> members;
  for (const auto &[name, tensor] : a.tensors) {
    const bool belongs =
        name == table + ".values" ||
        name.compare(0, table.size() + 6, table + ".slot.") == 0;
    if (!belongs || !b.tensors.count(name))
      continue;
    const StateTensor &other = b.tensors.at(name);
    const bool isRows = tensor.shape.size() == 2 && other.shape.size() == 2 &&
                        tensor.shape[0] == int64_t(left.size()) &&
                        other.shape[0] == int64_t(right.size()) &&
                        tensor.shape[1] == other.shape[1] &&
                        tensor.type == other.type;
    if (isRows)
      members.push_back(name);
    else
      report(fmt::format("{} is {} in {}, {} in {}", name, typeAndShape(tensor),
                         first, typeAndShape(other), second));
  }
  size_t i = 0, j = 0;
  while (i < left.size() || j < right.size()) {
    if (j == right.size() ||
        (i < left.size() && left[i].first < right[j].first)) {
      ++counts.onlyFirst;
      report(
          fmt::format("{}, key {}: only in {}", table, left[i++].first, first));
    } else if (i == left.size() || right[j].first < left[i].first) {
      ++counts.onlySecond;
      report(fmt::format("{}, key {}: only in {}", table, right[j++].first,
                         second));
    } else {
      const std::string key = std::to_string(left[i].first);
      const int64_t before = found.count;
      for (const std::string &name : members)
        compareRows(name, key, left[i].second, right[j].second);
      counts.changed += found.count > before;
      ++i;
      ++j;
    }
  }
  found.tables.push_back(counts);
}

/// Compares how tables make their keys from fields. Skips tables that only one
/// of the states describes.
void Comparison::compareLayouts() {
  const std::string prefix = "keys.";
  for (const auto &[name, text] : a.metadata) {
    const auto other = b.metadata.find(name);
    if (!name.starts_with(prefix) || other == b.metadata.end())
      continue;
    const std::string differences = keyDifferences(
        {PDL_PART_STATE, "keys of @" + name.substr(prefix.size()), text},
        other->second, second, first);
    if (!differences.empty())
      report(differences);
  }
}

StateDifferences Comparison::run() {
  compareLayouts();
  std::set<std::string> names, done;
  for (const ModelState *state : {&a, &b})
    for (const auto &[name, tensor] : state->tensors)
      names.insert(name);
  for (const std::string &name : names) {
    if (!a.tensors.count(name) || !b.tensors.count(name)) {
      report(name + ": only in " + (a.tensors.count(name) ? first : second));
      done.insert(name);
    }
  }
  const std::string suffix = ".keys";
  for (const std::string &name : names) {
    if (name.size() <= suffix.size() ||
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
      continue;
    const std::string table = name.substr(0, name.size() - suffix.size());
    if (!isTable(table))
      continue;
    compareTable(table);
    done.insert(name);
    done.insert(table + ".values");
    for (const std::string &other : names)
      if (other.compare(0, table.size() + 6, table + ".slot.") == 0)
        done.insert(other);
  }
  for (const std::string &name : names)
    if (!done.count(name))
      compareWhole(name);
  return std::move(found);
}

StateDifferences pdlrt::compareStates(const ModelState &a, const ModelState &b,
                                      const std::string &first,
                                      const std::string &second, size_t limit) {
  return Comparison(a, b, first, second, limit).run();
}
