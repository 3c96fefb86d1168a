//===- LookupOps.cpp - Lookups and pooling of table rows ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

#include <cmath>
#include <unordered_map>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

/// Returns the divisor of the sum over a bag of `size` ids.
template <typename T> static T divisorOf(Pooling pooling, int64_t size) {
  switch (pooling) {
  case Pooling::sum:
    return T(1);
  case Pooling::mean:
    return static_cast<T>(size);
  case Pooling::sqrtn:
    return std::sqrt(static_cast<T>(size));
  }
  llvm_unreachable("all poolings are defined");
}

/// Pools the rows of one bag of `size` ids into `out`. Adds them in bag order,
/// starting from +0, and divides the sum according to `pooling`. `rowOf(i)`
/// returns the row of the i-th id.
template <typename T, typename RowOf>
static void poolBag(Pooling pooling, int64_t size, int64_t width, RowOf rowOf,
                    T *out) {
  for (int64_t j = 0; j < width; ++j)
    out[j] = T(0);
  for (int64_t i = 0; i < size; ++i) {
    const T *row = rowOf(i);
    for (int64_t j = 0; j < width; ++j)
      out[j] += row[j];
  }
  if (size == 0)
    return;
  T divisor = divisorOf<T>(pooling, size);
  for (int64_t j = 0; j < width; ++j)
    out[j] /= divisor;
}

/// Returns the values of `keys`. If the program trains, also creates rows for
/// keys that have none, unless only updates create rows in this table.
template <typename T>
static std::vector<T> pullRows(Table &table, ArrayRef<int64_t> keys,
                               bool frozen) {
  std::vector<T> rows(keys.size() * table.width());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!frozen && !table.makesRowsInUpdates())
      table.row<T>(keys[i]);
    table.read(keys[i], frozen, rows.data() + i * table.width());
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Phase `model`
//===----------------------------------------------------------------------===//

/// Concatenates the rows of two tensors with `count` rows each.
template <typename T>
static std::vector<T> sideBySide(size_t count, const std::vector<T> &first,
                                 const std::vector<T> &second) {
  std::vector<T> joined;
  joined.reserve(first.size() + second.size());
  for (size_t row = 0; row < count; ++row)
    for (const std::vector<T> *part : {&first, &second}) {
      const size_t width = part->size() / count;
      joined.insert(joined.end(), part->begin() + row * width,
                    part->begin() + (row + 1) * width);
    }
  return joined;
}

static LogicalResult evaluateLookup(LookupOp op, Frame &frame) {
  if (op.getWeights())
    return evaluateComposite(op, frame);
  Table *table = frame.state().findTable(frame.symbol(op.getTableAttr()));
  if (!table)
    return op.emitOpError() << "looks up in " << op.getTableAttr()
                            << ", which is not an nn.table";
  ArrayRef<int64_t> ids;
  ArrayRef<int32_t> splits;
  int64_t bags = 0, slots = 0;
  if (frame.isRagged(op.getIds())) {
    const Ragged &ragged = frame.ragged(op.getIds());
    ids = ragged.ids;
    splits = ragged.splits;
    slots = ragged.slots;
    bags = static_cast<int64_t>(splits.size()) - 1;
  } else {
    const Tensor &tensor = frame.tensor(op.getIds());
    ids = tensor.get<int64_t>();
    slots = tensor.dim(1);
    bags = tensor.count();
  }
  int64_t width = table->width();
  Table *vector = frame.state().findVector(frame.symbol(op.getTableAttr()));
  dispatchFloat(op.getResult().getType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> rows = pullRows<T>(*table, ids, frame.isFrozen());
    if (vector) {
      rows = sideBySide<T>(ids.size(), rows,
                           pullRows<T>(*vector, ids, frame.isFrozen()));
      width += vector->width();
    }
    std::optional<Pooling> pooling = op.getPooling();
    if (!pooling)
      return frame.set(
          op.getResult(),
          Tensor({static_cast<int64_t>(ids.size()), width}, std::move(rows)));
    std::vector<T> out(bags * width);
    for (int64_t bag = 0; bag < bags; ++bag) {
      int64_t begin = splits.empty() ? bag : splits[bag];
      int64_t end = splits.empty() ? bag + 1 : splits[bag + 1];
      poolBag<T>(
          *pooling, end - begin, width,
          [&](int64_t i) { return rows.data() + (begin + i) * width; },
          out.data() + bag * width);
    }
    frame.set(op.getResult(),
              Tensor({bags / slots, slots, width}, std::move(out)));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// From phase `merged` on
//===----------------------------------------------------------------------===//

static void evaluateUnique(UniqueOp op, Frame &frame) {
  std::vector<int64_t> keys;
  std::vector<int32_t> inverse;
  std::unordered_map<int64_t, int32_t> numbers;
  for (Value input : op.getIds())
    for (int64_t id : frame.tensor(input).get<int64_t>()) {
      auto [entry, isNew] =
          numbers.try_emplace(id, static_cast<int32_t>(keys.size()));
      if (isNew)
        keys.push_back(id);
      inverse.push_back(entry->second);
    }

  std::vector<std::vector<int32_t>> groups(keys.size());
  for (size_t occurrence = 0; occurrence < inverse.size(); ++occurrence)
    groups[inverse[occurrence]].push_back(static_cast<int32_t>(occurrence));
  std::vector<int32_t> splits(1, 0), occurrences;
  for (const std::vector<int32_t> &group : groups) {
    occurrences.insert(occurrences.end(), group.begin(), group.end());
    splits.push_back(static_cast<int32_t>(occurrences.size()));
  }

  auto keyCount = static_cast<int64_t>(keys.size());
  auto idCount = static_cast<int64_t>(inverse.size());
  frame.set(op.getKeys(), Tensor({keyCount}, std::move(keys)));
  frame.set(op.getInverse(), Tensor({idCount}, std::move(inverse)));
  frame.set(op.getKeySplits(), Tensor({keyCount + 1}, std::move(splits)));
  frame.set(op.getOccurrences(), Tensor({idCount}, std::move(occurrences)));
}

static LogicalResult evaluatePull(PullOp op, Frame &frame) {
  Table *table = frame.state().findTable(op.getTable());
  if (!table)
    return op.emitOpError() << "pulls from " << op.getTableAttr()
                            << ", which is not an nn.table";
  const std::vector<int64_t> &keys = frame.tensor(op.getKeys()).get<int64_t>();
  dispatchFloat(op.getRows().getType(), [&](auto zero) {
    using T = decltype(zero);
    frame.set(op.getRows(),
              Tensor({static_cast<int64_t>(keys.size()), table->width()},
                     pullRows<T>(*table, keys, frame.isFrozen())));
  });
  return success();
}

namespace {

/// One input of an `nn.unique`. Its occurrences are numbers `first` to `first +
/// count - 1` in the list of all occurrences.
struct LookupInput {
  int64_t first, count;
  const std::vector<int32_t> *splits; ///< Null if each bag holds one id.
  Pooling pooling;
  const Tensor *cotangent; ///< Null if zero or unused.

  int64_t bagCount() const {
    return splits ? static_cast<int64_t>(splits->size()) - 1 : count;
  }
  int64_t bagBegin(int64_t bag) const { return splits ? (*splits)[bag] : bag; }
  int64_t bagSize(int64_t bag) const {
    return splits ? (*splits)[bag + 1] - (*splits)[bag] : 1;
  }
};

} // namespace

template <typename OpType>
static SmallVector<LookupInput> inputsOf(OpType op, Frame &frame) {
  SmallVector<LookupInput> inputs;
  int64_t first = 0;
  auto find = [&](Value value) {
    return value ? &frame.tensor(value) : nullptr;
  };
  for (const PoolInput &input : op.getInputs()) {
    int64_t count = frame.tensor(input.ids).count();
    const Tensor *splits = find(input.splits);
    inputs.push_back({first, count, splits ? &splits->get<int32_t>() : nullptr,
                      input.pooling, find(input.cotangent)});
    first += count;
  }
  return inputs;
}

static void evaluatePool(PoolOp op, Frame &frame) {
  const Tensor &rows = frame.tensor(op.getRows());
  const std::vector<int32_t> &inverse =
      frame.tensor(op.getInverse()).get<int32_t>();
  int64_t width = rows.dim(1);
  SmallVector<LookupInput> inputs = inputsOf(op, frame);
  dispatchFloat(op.getRows().getType(), [&](auto zero) {
    using T = decltype(zero);
    for (auto [input, result] : llvm::zip_equal(inputs, op.getPooled())) {
      std::vector<T> out(input.bagCount() * width);
      for (int64_t bag = 0; bag < input.bagCount(); ++bag) {
        int64_t begin = input.first + input.bagBegin(bag);
        poolBag<T>(
            input.pooling, input.bagSize(bag), width,
            [&](int64_t i) {
              return rows.get<T>().data() + inverse[begin + i] * width;
            },
            out.data() + bag * width);
      }
      frame.set(result, Tensor({input.bagCount(), width}, std::move(out)));
    }
  });
}

static void evaluatePoolGradient(PoolGradientOp op, Frame &frame) {
  SmallVector<LookupInput> inputs = inputsOf(op, frame);
  // Input and bag of each occurrence.
  std::vector<std::pair<int32_t, int64_t>> bagOf;
  for (auto [number, input] : llvm::enumerate(inputs))
    for (int64_t bag = 0; bag < input.bagCount(); ++bag)
      bagOf.insert(bagOf.end(), input.bagSize(bag),
                   {static_cast<int32_t>(number), bag});

  const std::vector<int32_t> &keySplits =
      frame.tensor(op.getKeySplits()).get<int32_t>();
  const std::vector<int32_t> &occurrences =
      frame.tensor(op.getOccurrences()).get<int32_t>();
  auto keyCount = static_cast<int64_t>(keySplits.size()) - 1;
  auto type = cast<RankedTensorType>(op.getGradient().getType());
  int64_t width = type.getDimSize(1);
  Tensor gradient({keyCount, width}, type.getElementType());
  dispatchFloat(type, [&](auto zero) {
    using T = decltype(zero);
    T *sums = gradient.get<T>().data();
    for (int64_t key = 0; key < keyCount; ++key, sums += width)
      for (int32_t o = keySplits[key]; o < keySplits[key + 1]; ++o) {
        auto [number, bag] = bagOf[occurrences[o]];
        const LookupInput &input = inputs[number];
        if (!input.cotangent)
          continue;
        const T *cotangent = input.cotangent->get<T>().data() + bag * width;
        T divisor = divisorOf<T>(input.pooling, input.bagSize(bag));
        for (int64_t j = 0; j < width; ++j)
          sums[j] += cotangent[j] / divisor;
      }
  });
  frame.set(op.getGradient(), std::move(gradient));
}

void interpreter::attachLookupOps(MLIRContext &context) {
  attachEvaluator<LookupOp, evaluateLookup>(context);
  attachEvaluator<UniqueOp, evaluateUnique>(context);
  attachEvaluator<PullOp, evaluatePull>(context);
  attachEvaluator<PoolOp, evaluatePool>(context);
  attachEvaluator<PoolGradientOp, evaluatePoolGradient>(context);
}
