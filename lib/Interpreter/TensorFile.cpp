//===- TensorFile.cpp - Tensors and batches from files --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Interpreter/TensorFile.h"
#include "pdlabi/hash.h"
#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

template <typename From, typename To>
static void convertElements(const char *data, std::vector<To> &out) {
  for (size_t i = 0; i < out.size(); ++i) {
    From element;
    std::memcpy(&element, data + i * sizeof(From), sizeof(From));
    out[i] = static_cast<To>(element);
  }
}

/// Reads `count` elements, beginning with element `first`, and widens them to
/// `elementType` if needed. Returns nothing if the type in the file cannot be
/// converted.
static std::optional<Elements> readElements(const TensorInFile &tensor,
                                            int64_t first, int64_t count,
                                            Type elementType) {
  const char *data =
      tensor.data + first * pdlabi::tensorElementSize(tensor.type);
  Elements elements = makeElements(elementType, count);
  bool known = std::visit(
      [&](auto &out) {
        using T = typename std::remove_reference_t<decltype(out)>::value_type;
        if constexpr (std::is_floating_point_v<T>) {
          if (tensor.type == pdlabi::TensorType::F32)
            return convertElements<float>(data, out), true;
          if (tensor.type == pdlabi::TensorType::F64 && sizeof(T) == 8)
            return convertElements<double>(data, out), true;
        } else {
          if (tensor.type == pdlabi::TensorType::I32)
            return convertElements<int32_t>(data, out), true;
          if (tensor.type == pdlabi::TensorType::I64 && sizeof(T) == 8)
            return convertElements<int64_t>(data, out), true;
        }
        return false;
      },
      elements);
  return known ? std::optional(std::move(elements)) : std::nullopt;
}

FailureOr<Tensor>
interpreter::readTensor(const NamedTensorsReader &file, StringRef name,
                        const TensorInFile &tensor, Type elementType,
                        ArrayRef<int64_t> shape, Location location) {
  bool fits = tensor.shape.size() == shape.size();
  for (size_t axis = 0; fits && axis < shape.size(); ++axis)
    fits =
        ShapedType::isDynamic(shape[axis]) || tensor.shape[axis] == shape[axis];
  auto elements =
      fits ? readElements(tensor, 0, tensor.elementCount, elementType)
           : std::nullopt;
  if (!elements)
    return emitError(location)
           << file.path() << ": tensor '" << name << "' is "
           << tensor.typeAndShape() << ", but the module needs "
           << RankedTensorType::get(shape, elementType);
  return Tensor(tensor.shape, std::move(*elements));
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

static std::string nameOf(int64_t batch) {
  return "batch" + std::to_string(batch);
}

/// Returns the prefix of the names of fields in a batch. The slash ensures that
/// no field has the name of the batch's `.epoch`.
static std::string prefixOf(int64_t batch) { return nameOf(batch) + "/"; }

/// Returns the number of elements per sample of a row-major tensor.
static int64_t widthOf(const TensorInFile &tensor) {
  return tensor.shape.empty() || tensor.shape[0] == 0
             ? 0
             : tensor.elementCount / tensor.shape[0];
}

FailureOr<const TensorInFile *> BatchFile::find(const std::string &name) {
  if (const TensorInFile *tensor = file.find(name))
    return tensor;
  return program.emitError()
         << file.path() << ": has no tensor '" << name << "', which program @"
         << program.getSymName() << " reads";
}

FailureOr<int64_t> BatchFile::samplesOf(FieldOp field,
                                        const std::string &prefix) {
  std::string name = prefix + field.getSymName().str();
  int64_t width = field.getWidth();
  auto tensor = find(field.isRagged() ? name + ".splits" : name);
  if (failed(tensor))
    return failure();
  const TensorInFile &found = **tensor;
  if (field.isRagged()) {
    if (found.shape.size() == 1 && found.elementCount >= 1 &&
        (found.elementCount - 1) % width == 0)
      return (found.elementCount - 1) / width;
    return program.emitError()
           << file.path() << ": tensor '" << name << ".splits' is "
           << found.typeAndShape() << "; expected samples * " << width
           << " + 1 offsets";
  }
  if (found.shape.size() == 2 && found.shape[1] == width)
    return found.shape[0];
  return program.emitError()
         << file.path() << ": tensor '" << name << "' is "
         << found.typeAndShape() << "; expected two dimensions, samples and "
         << width;
}

FailureOr<BatchFile> BatchFile::open(StringRef path, int64_t batchSize,
                                     ProgramOp program) {
  llvm::Expected<NamedTensorsReader> file = NamedTensorsReader::open(path);
  if (!file)
    return program.emitError() << llvm::toString(file.takeError());
  BatchFile batches(std::move(*file), program);
  SmallVector<FieldOp> fields = program.getFields();
  if (fields.empty())
    return program.emitError("reads no field, so that it has no batch");
  std::string first = fields.front().getSymName().str();
  if (fields.front().isRagged())
    first += ".splits";

  batches.isDump = batches.file.find(prefixOf(0) + first) != nullptr;
  if (batches.isDump) {
    while (batches.file.find(prefixOf(batches.batchCount) + first)) {
      std::string place = nameOf(batches.batchCount) + ".place";
      if (const TensorInFile *found = batches.file.find(place)) {
        auto numbers = readTensor(batches.file, place, *found,
                                  IntegerType::get(program.getContext(), 64),
                                  {3}, program.getLoc());
        if (failed(numbers))
          return failure();
        // The numbers are round, group and worker.
        if (numbers->get<int64_t>()[1] != 0 || numbers->get<int64_t>()[2] != 0)
          return program.emitError()
                 << path << ": batch " << batches.batchCount
                 << " is of another replica than the first; the interpreter "
                    "runs one replica";
      }
      ++batches.batchCount;
    }
    return batches;
  }

  FailureOr<int64_t> samples = batches.samplesOf(fields.front(), "");
  if (failed(samples))
    return failure();
  if (*samples == 0)
    return program.emitError() << path << ": holds no sample";
  batches.sampleCount = *samples;
  batches.batchSize = batchSize ? batchSize : *samples;
  batches.batchCount = (*samples + batches.batchSize - 1) / batches.batchSize;
  return batches;
}

/// Returns the number that replaces a missing number among other numbers of a
/// bag: that of `missing_element` or, without this clause, that of `missing`.
/// Null if the field has neither.
static FloatAttr missingNumberOf(FieldOp field) {
  auto missing = dyn_cast_or_null<FloatAttr>(field.getMissingElementAttr());
  return missing ? missing
                 : dyn_cast_or_null<FloatAttr>(field.getMissingAttr());
}

/// The key that stands for a missing bag in that slot.
static int64_t missingKeyOf(FieldOp field, Attribute missing, int64_t slot) {
  HashAttr hash = field.getHashAttr();
  if (!hash || !hash.getXxh64())
    return cast<IntegerAttr>(missing).getInt();
  const uint64_t seed =
      hash.getSaltBySlot() ? static_cast<uint64_t>(slot) : hash.getSalt();
  return static_cast<int64_t>(
      pdlabi::hashText(cast<StringAttr>(missing).getValue(), seed));
}

template <typename T> static bool isMissingNumber(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

/// Takes the bags of `all` that `splits` delimits, and replaces missing values
/// as the readers of compiled programs do. A bag is missing if it has no
/// values, or if its only value is missing. A missing bag gets the field's
/// `missing`, or is empty without this clause.
template <typename T>
static void takeBags(FieldOp field, ArrayRef<int64_t> splits,
                     const std::vector<T> &all, auto &taken,
                     std::vector<int32_t> &ends) {
  const Attribute missingBag = field.getMissingAttr();
  const FloatAttr element = missingNumberOf(field);
  ends.push_back(0);
  for (size_t bag = 0; bag + 1 < splits.size(); ++bag) {
    const ArrayRef<T> values =
        ArrayRef<T>(all).slice(splits[bag], splits[bag + 1] - splits[bag]);
    const bool isMissing =
        values.empty() || (values.size() == 1 && isMissingNumber(values[0]));
    if (isMissing && missingBag) {
      if constexpr (std::is_floating_point_v<T>)
        taken.push_back(
            static_cast<T>(cast<FloatAttr>(missingBag).getValueAsDouble()));
      else
        taken.push_back(
            missingKeyOf(field, missingBag, int64_t(bag) % field.getWidth()));
    }
    if (!isMissing)
      for (const T value : values)
        taken.push_back(isMissingNumber(value) && element
                            ? static_cast<T>(element.getValueAsDouble())
                            : value);
    ends.push_back(static_cast<int32_t>(taken.size()));
  }
}

FailureOr<Tensor> BatchFile::readDense(FieldOp field, const std::string &prefix,
                                       Range range, Type elementType) {
  std::string name = prefix + field.getSymName().str();
  const TensorInFile &tensor = *file.find(name);
  int64_t width = widthOf(tensor);
  auto elements = readElements(tensor, range.first * width, range.count * width,
                               elementType);
  if (!elements)
    return program.emitError()
           << file.path() << ": tensor '" << name << "' is "
           << tensor.typeAndShape() << ", but field @" << field.getSymName()
           << " is " << field.getType();
  Tensor numbers({range.count, width}, std::move(*elements));
  if (FloatAttr missing = missingNumberOf(field))
    dispatchFloat(elementType, [&](auto zero) {
      for (auto &number : numbers.get<decltype(zero)>())
        if (isMissingNumber(number))
          number = static_cast<decltype(zero)>(missing.getValueAsDouble());
    });
  return numbers;
}

FailureOr<Ragged>
BatchFile::readRagged(FieldOp field, const std::string &prefix, Range range) {
  std::string name = prefix + field.getSymName().str();
  Builder builder(program.getContext());
  Type element = elementTypeOf(field.getType());
  auto ids = find(name + ".values");
  if (failed(ids))
    return failure();
  auto values = readTensor(file, name + ".values", **ids, element,
                           {ShapedType::kDynamic}, program.getLoc());
  auto offsets = readTensor(file, name + ".splits",
                            *file.find(name + ".splits"), builder.getI64Type(),
                            {ShapedType::kDynamic}, program.getLoc());
  if (failed(values) || failed(offsets))
    return failure();
  const std::vector<int64_t> &splits = offsets->get<int64_t>();
  if (splits.front() != 0 || !std::is_sorted(splits.begin(), splits.end()) ||
      splits.back() != values->count())
    return program.emitError()
           << file.path() << ": tensor '" << name << ".splits' does not cut '"
           << name << ".values' into bags: it must ascend from 0 to "
           << values->count();

  Ragged ragged;
  ragged.slots = field.getWidth();
  const auto bags = ArrayRef<int64_t>(splits).slice(
      range.first * ragged.slots, range.count * ragged.slots + 1);
  if (element.isInteger())
    takeBags(field, bags, values->get<int64_t>(), ragged.ids, ragged.splits);
  else
    dispatchFloat(element, [&](auto zero) {
      takeBags(field, bags, values->get<decltype(zero)>(), ragged.numbers,
               ragged.splits);
    });
  return ragged;
}

FailureOr<BatchFile::Range> BatchFile::rangeOf(int64_t index) {
  if (!isDump) {
    const int64_t first = index * batchSize;
    return Range{first, std::min(batchSize, sampleCount - first)};
  }
  FailureOr<int64_t> samples =
      samplesOf(program.getFields().front(), prefixOf(index));
  if (failed(samples))
    return failure();
  return Range{0, *samples};
}

FailureOr<std::vector<RuntimeValue>> BatchFile::read(int64_t index) {
  SmallVector<FieldOp> fields = program.getFields();
  std::string prefix = isDump ? prefixOf(index) : "";
  FailureOr<Range> range = rangeOf(index);
  if (failed(range))
    return failure();
  const int64_t samples = isDump ? range->count : sampleCount;

  std::vector<RuntimeValue> arguments;
  auto argument = program.getBody().front().getArguments().begin();
  for (FieldOp field : fields) {
    FailureOr<int64_t> others = samplesOf(field, prefix);
    if (failed(others))
      return failure();
    if (*others != samples)
      return program.emitError()
             << file.path() << ": fields @" << fields.front().getSymName()
             << " and @" << field.getSymName() << " have " << samples << " and "
             << *others << " samples";
    Type type = (*argument++).getType();
    if (!field.isRagged()) {
      auto tensor =
          readDense(field, prefix, *range, getElementTypeOrSelf(type));
      if (failed(tensor))
        return failure();
      arguments.push_back(std::move(*tensor));
      continue;
    }
    FailureOr<Ragged> ragged = readRagged(field, prefix, *range);
    if (failed(ragged))
      return failure();
    if (isa<RaggedType>(type)) {
      arguments.push_back(std::move(*ragged));
      continue;
    }
    // From phase `merged` on, ids and splits are two arguments.
    ++argument;
    const int64_t idCount = ragged->splits.back();
    auto splitCount = static_cast<int64_t>(ragged->splits.size());
    if (Type element = getElementTypeOrSelf(type); element.isInteger())
      arguments.push_back(Tensor({idCount}, std::move(ragged->ids)));
    else
      dispatchFloat(element, [&](auto zero) {
        arguments.push_back(Tensor(
            {idCount}, std::vector<decltype(zero)>(ragged->numbers.begin(),
                                                   ragged->numbers.end())));
      });
    arguments.push_back(Tensor({splitCount}, std::move(ragged->splits)));
  }
  return arguments;
}

FailureOr<Draws> BatchFile::readDraws(int64_t step, uint64_t seed) {
  const int64_t index = step % batchCount;
  FailureOr<Range> range = rangeOf(index);
  if (failed(range))
    return failure();
  const auto [first, count] = *range;
  Draws draws{seed, step / batchCount,
              std::vector<int64_t>(static_cast<size_t>(count))};
  std::iota(draws.samples.begin(), draws.samples.end(), first);
  const std::string own = nameOf(index);
  auto numbersOf = [&](const std::string &name,
                       int64_t size) -> FailureOr<std::vector<int64_t>> {
    const TensorInFile *found = isDump ? file.find(own + name) : nullptr;
    if (!found)
      return std::vector<int64_t>();
    auto numbers = readTensor(file, own + name, *found,
                              IntegerType::get(program.getContext(), 64),
                              {size}, program.getLoc());
    if (failed(numbers))
      return failure();
    return numbers->get<int64_t>();
  };
  FailureOr<std::vector<int64_t>> numbers = numbersOf(".samples", count);
  FailureOr<std::vector<int64_t>> epoch = numbersOf(".epoch", 1);
  if (failed(numbers) || failed(epoch))
    return failure();
  if (!numbers->empty())
    draws.samples = *std::move(numbers);
  if (!epoch->empty())
    draws.epoch = epoch->front();
  return draws;
}
