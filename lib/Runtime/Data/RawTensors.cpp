//===- RawTensors.cpp - Rows of safetensors, without a record -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RawRows.h"
#include "pdlrt/Files/Safetensors.h"

#include <charconv>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

class RawTensors final : public RawRows {
public:
  explicit RawTensors(SafetensorsFile file) : file(std::move(file)) {}

  Status bind();
  Expected<bool> next() override {
    if (row + 1 >= rows)
      return false;
    ++row;
    return true;
  }
  Status parse() override;
  std::span<const RawColumn> columns() const override { return found; }
  int64_t line() const override { return row + 1; }
  std::string_view bytes() const override { return {}; }

private:
  /// A tensor of numbers or keys, or a bag of each row.
  struct Source {
    TensorWindow values;
    /// Bags: the splits, the number of bags of a row, and the bag of this
    /// column.
    std::optional<TensorWindow> splits = {};
    int64_t bags = 0, bag = 0;
    /// Dense: values of a row.
    int64_t width = 1;
  };
  Status bindDense(const TensorView &tensor);
  Status bindBags(const TensorView &values, const TensorView &splits);
  Status setRows(const TensorView &tensor, int64_t count);
  Expected<int64_t> splitAt(const Source &source, TensorWindow &splits,
                            int64_t index);
  Status error(const TensorView &tensor, const std::string &what) const {
    return Status::invalidArgument(file.path() + ": tensor `" + tensor.name +
                                   "` is " + tensor.typeAndShape() + ", " +
                                   what);
  }

  SafetensorsFile file;
  std::vector<Source> sources; ///< By column.
  std::vector<RawColumn> found;
  std::vector<std::vector<RowValue>> values; ///< By column.
  std::deque<std::string> texts; ///< Of unsigned keys in the current row.
  int64_t row = -1, rows = 0;
  bool hasRows = false;
};

template <typename T> T rawElement(const std::byte *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

} // namespace

Status RawTensors::setRows(const TensorView &tensor, int64_t count) {
  if (hasRows && count != rows)
    return error(tensor,
                 "but other tensors have " + std::to_string(rows) + " rows");
  hasRows = true;
  rows = count;
  return {};
}

/// Returns true for types that rows can have.
static bool isRowType(TensorType type) {
  switch (type) {
  case TensorType::F32:
  case TensorType::F64:
  case TensorType::I32:
  case TensorType::I64:
  case TensorType::U64:
    return true;
  default:
    return false;
  }
}

Status RawTensors::bindDense(const TensorView &tensor) {
  if (!isRowType(tensor.type) || tensor.shape.empty() ||
      tensor.shape.size() > 2)
    return error(tensor, "but columns are F32, F64, I32, I64 or U64 [rows] or "
                         "[rows, columns]");
  Source source{.values = TensorWindow(tensor)};
  source.width = tensor.shape.size() == 2 ? tensor.shape[1] : 1;
  sources.push_back(std::move(source));
  found.push_back({.name = tensor.name, .isAlone = true});
  return setRows(tensor, tensor.shape[0]);
}

Status RawTensors::bindBags(const TensorView &bagValues,
                            const TensorView &splits) {
  if (!isRowType(bagValues.type) || bagValues.shape.size() != 1)
    return error(bagValues, "but values of bags are F32, F64, I64 or U64 "
                            "[values]");
  if ((splits.type != TensorType::I32 && splits.type != TensorType::I64) ||
      splits.shape.size() != 1 || splits.elementCount < 1)
    return error(splits, "but splits are I32 or I64 [bags + 1]");
  const int64_t all = splits.elementCount - 1;
  if (!hasRows)
    PDLRT_RETURN_IF_ERROR(setRows(splits, all));
  if (rows == 0 ? all != 0 : all % rows != 0)
    return error(splits,
                 "but other tensors have " + std::to_string(rows) + " rows");
  const int64_t bags = rows ? all / rows : 1;
  const std::string name =
      bagValues.name.substr(0, bagValues.name.size() - sizeof("values"));
  for (int64_t bag = 0; bag < bags; ++bag) {
    sources.push_back({.values = TensorWindow(bagValues),
                       .splits = TensorWindow(splits),
                       .bags = bags,
                       .bag = bag});
    found.push_back(
        {.name = bags == 1 ? name : name + "." + std::to_string(bag)});
  }
  return {};
}

Status RawTensors::bind() {
  // Dense tensors come first, because they tell the number of rows.
  std::vector<std::pair<const TensorView *, const TensorView *>> bags;
  for (const TensorView &tensor : file.tensors()) {
    const std::string_view name = tensor.name;
    const auto partner = [&](std::string_view own, std::string_view other) {
      return file.find(std::string(name.substr(0, name.size() - own.size())) +
                       std::string(other));
    };
    if (name.ends_with(".values"))
      if (const TensorView *splits = partner(".values", ".splits")) {
        bags.emplace_back(&tensor, splits);
        continue;
      }
    if (name.ends_with(".splits") && partner(".splits", ".values"))
      continue;
    PDLRT_RETURN_IF_ERROR(bindDense(tensor));
  }
  for (const auto &[bagValues, splits] : bags)
    PDLRT_RETURN_IF_ERROR(bindBags(*bagValues, *splits));
  values.resize(found.size());
  return {};
}

Expected<int64_t> RawTensors::splitAt(const Source &source,
                                      TensorWindow &splits, int64_t index) {
  auto split = splits.at(index, 1);
  PDLRT_RETURN_IF_ERROR(split.status());
  const int64_t at = splits.view().type == TensorType::I32
                         ? rawElement<int32_t>(*split)
                         : rawElement<int64_t>(*split);
  if (at < 0 || at > source.values.view().elementCount)
    return error(splits.view(),
                 "and has " + std::to_string(at) + " at " +
                     std::to_string(index) +
                     "; splits ascend from 0 to the number of values");
  return at;
}

/// Returns an element of a tensor as a value. Keys of U64 become texts in
/// `texts`.
static RowValue valueAt(TensorType type, const std::byte *bytes,
                        std::deque<std::string> &texts) {
  switch (type) {
  case TensorType::F32:
    return RowValue::ofNumber(rawElement<float>(bytes));
  case TensorType::F64:
    return RowValue::ofNumber(rawElement<double>(bytes));
  case TensorType::I32:
    return RowValue::ofInteger(rawElement<int32_t>(bytes));
  case TensorType::U64:
    return RowValue::ofText(
        texts.emplace_back(std::to_string(rawElement<uint64_t>(bytes))));
  default:
    return RowValue::ofInteger(rawElement<int64_t>(bytes));
  }
}

Status RawTensors::parse() {
  texts.clear();
  for (size_t i = 0; i < sources.size(); ++i) {
    Source &source = sources[i];
    int64_t begin = row * source.width, end = begin + source.width;
    if (std::optional<TensorWindow> &splits = source.splits) {
      auto first = splitAt(source, *splits, row * source.bags + source.bag);
      PDLRT_RETURN_IF_ERROR(first.status());
      auto last = splitAt(source, *splits, row * source.bags + source.bag + 1);
      PDLRT_RETURN_IF_ERROR(last.status());
      begin = *first;
      end = *last;
      if (end < begin)
        return error(splits->view(),
                     "and descends at row " + std::to_string(row));
    }
    values[i].clear();
    const TensorType type = source.values.view().type;
    for (int64_t index = begin; index < end; ++index) {
      auto bytes = source.values.at(index, 1);
      PDLRT_RETURN_IF_ERROR(bytes.status());
      values[i].push_back(valueAt(type, *bytes, texts));
    }
    found[i].values = values[i];
    found[i].isGiven = true;
  }
  return {};
}

Expected<std::unique_ptr<RawRows>>
pdlrt::openRawTensors(const std::string &path) {
  auto file = SafetensorsFile::open(path);
  PDLRT_RETURN_IF_ERROR(file.status());
  auto rows = std::make_unique<RawTensors>(*std::move(file));
  PDLRT_RETURN_IF_ERROR(rows->bind());
  return std::unique_ptr<RawRows>(std::move(rows));
}
