//===- FeatureOps.cpp - Feature ops ---------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"

#include "pdlabi/hash.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

static void evaluateBucketize(BucketizeOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  std::vector<int64_t> out;
  input.visit([&](auto &elements) {
    for (auto element : elements) {
      // The negated comparison lets NaN pass every boundary.
      int64_t passed = 0;
      for (double boundary : op.getBoundaries())
        passed += !(static_cast<double>(element) < boundary);
      out.push_back(passed);
    }
  });
  frame.set(op.getResult(), Tensor(input.shape(), std::move(out)));
}

namespace {

/// Bags of ids that are one operand of a cross.
struct BagsOfIds {
  ArrayRef<int64_t> ids;
  ArrayRef<int32_t> splits; ///< Empty if each bag holds one id.

  int64_t begin(int64_t bag) const {
    return splits.empty() ? bag : splits[bag];
  }
  int64_t size(int64_t bag) const {
    return splits.empty() ? 1 : splits[bag + 1] - splits[bag];
  }
};

} // namespace

/// Computes a feature cross. For each of `bagCount` bags, hashes every
/// combination of one id of each operand; the ids of the last operand change
/// fastest.
static LogicalResult crossBags(Operation *op, ArrayRef<BagsOfIds> operands,
                               int64_t bagCount, uint64_t salt,
                               std::vector<int64_t> &ids,
                               std::vector<int32_t> &splits) {
  splits.assign(1, 0);
  for (int64_t bag = 0; bag < bagCount; ++bag) {
    SmallVector<int64_t> sizes;
    bool isEmpty = false;
    for (const BagsOfIds &operand : operands) {
      sizes.push_back(operand.size(bag));
      isEmpty |= sizes.back() == 0;
    }
    SmallVector<int64_t> position(operands.size(), 0);
    for (bool done = isEmpty; !done;) {
      SmallVector<int64_t> keys;
      for (auto [operand, index] : llvm::zip_equal(operands, position))
        keys.push_back(operand.ids[operand.begin(bag) + index]);
      ids.push_back(pdlabi::crossKeys(keys.data(), keys.size(), salt));
      if (ids.size() >= std::numeric_limits<int32_t>::max())
        return op->emitOpError("makes 2^31 ids or more from one batch; use a "
                               "smaller batch");
      done = true;
      for (size_t i = operands.size(); i-- > 0;) {
        if (++position[i] < sizes[i]) {
          done = false;
          break;
        }
        position[i] = 0;
      }
    }
    splits.push_back(static_cast<int32_t>(ids.size()));
  }
  return success();
}

static LogicalResult evaluateCross(CrossOp op, Frame &frame) {
  SmallVector<BagsOfIds> operands;
  int64_t bagCount = 0, slots = 0;
  for (Value input : op.getInputs()) {
    if (frame.isRagged(input)) {
      const Ragged &bags = frame.ragged(input);
      operands.push_back({bags.ids, bags.splits});
      bagCount = static_cast<int64_t>(bags.splits.size()) - 1;
      slots = bags.slots;
    } else {
      const Tensor &ids = frame.tensor(input);
      operands.push_back({ids.get<int64_t>(), {}});
      bagCount = ids.count();
    }
  }
  std::vector<int64_t> ids;
  std::vector<int32_t> splits;
  if (failed(crossBags(op, operands, bagCount,
                       static_cast<uint64_t>(op.getSalt()), ids, splits)))
    return failure();
  if (frame.isRagged(op.getResult()))
    frame.set(op.getResult(), Ragged{slots, std::move(ids), std::move(splits)});
  else
    frame.set(op.getResult(),
              Tensor(frame.tensor(op.getInputs()[0]).shape(), std::move(ids)));
  return success();
}

static LogicalResult evaluateCrossBags(CrossBagsOp op, Frame &frame) {
  SmallVector<BagsOfIds> operands;
  int64_t bagCount = 0;
  for (const Bags &bags : op.getBags()) {
    const Tensor &offsets = frame.tensor(bags.splits);
    if (!operands.empty() && offsets.count() - 1 != bagCount)
      return op.emitOpError()
             << "crosses " << bagCount << " bags with " << offsets.count() - 1;
    bagCount = offsets.count() - 1;
    operands.push_back(
        {frame.tensor(bags.ids).get<int64_t>(), offsets.get<int32_t>()});
  }
  std::vector<int64_t> ids;
  std::vector<int32_t> splits;
  if (failed(crossBags(op, operands, bagCount,
                       static_cast<uint64_t>(op.getSalt()), ids, splits)))
    return failure();
  int64_t idCount = static_cast<int64_t>(ids.size());
  frame.set(op.getResult(), Tensor({idCount}, std::move(ids)));
  frame.set(op.getResultSplits(), Tensor({bagCount + 1}, std::move(splits)));
  return success();
}

/// Computes one id of an nn.id_arithmetic. Overflow wraps around.
static int64_t computeId(IdOperation kind, int64_t id, int64_t number) {
  auto bits = static_cast<uint64_t>(id), other = static_cast<uint64_t>(number);
  switch (kind) {
  case IdOperation::add:
    return static_cast<int64_t>(bits + other);
  case IdOperation::multiply:
    return static_cast<int64_t>(bits * other);
  case IdOperation::quotient:
    return id / number - (id % number < 0 ? 1 : 0);
  case IdOperation::remainder:
    return id % number + (id % number < 0 ? number : 0);
  }
  llvm_unreachable("all operations are defined");
}

static void evaluateIdArithmetic(IdArithmeticOp op, Frame &frame) {
  auto compute = [&](ArrayRef<int64_t> ids) {
    std::vector<int64_t> out;
    for (int64_t id : ids)
      out.push_back(
          computeId(op.getKind(), id, static_cast<int64_t>(op.getNumber())));
    return out;
  };
  if (frame.isRagged(op.getInput())) {
    const Ragged &bags = frame.ragged(op.getInput());
    frame.set(op.getResult(),
              Ragged{bags.slots, compute(bags.ids), bags.splits});
    return;
  }
  const Tensor &ids = frame.tensor(op.getInput());
  frame.set(op.getResult(), Tensor(ids.shape(), compute(ids.get<int64_t>())));
}

/// Rounds toward zero and saturates at 64 bits. NaN becomes 0.
template <typename T> static int64_t idOf(T number) {
  if (number >= T(0x1p63))
    return std::numeric_limits<int64_t>::max();
  if (number <= T(-0x1p63))
    return std::numeric_limits<int64_t>::min();
  return std::isnan(number) ? 0 : static_cast<int64_t>(number);
}

static void evaluateCast(CastOp op, Frame &frame) {
  auto convert = [&](const auto &from, Tensor::Shape shape) {
    dispatchFloat(op.getType(), [&](auto zero) {
      using T = decltype(zero);
      frame.set(op.getResult(),
                Tensor(shape, std::vector<T>(from.begin(), from.end())));
    });
  };
  if (frame.isRagged(op.getInput())) {
    const Ragged &bags = frame.ragged(op.getInput());
    const Tensor::Shape shape{bags.splits.back(), 1};
    if (elementTypeOf(op.getInput().getType()).isInteger())
      convert(bags.ids, shape);
    else
      convert(bags.numbers, shape);
    return;
  }
  const Tensor &input = frame.tensor(op.getInput());
  if (!op.getType().getElementType().isInteger()) {
    input.visit([&](const auto &elements) {
      convert(elements, Tensor::Shape(input.shape()));
    });
    return;
  }
  std::vector<int64_t> out;
  dispatchFloat(op.getInput().getType(), [&](auto zero) {
    for (auto number : input.get<decltype(zero)>())
      out.push_back(idOf(number));
  });
  frame.set(op.getResult(), Tensor(input.shape(), std::move(out)));
}

static void evaluateSingleBags(SingleBagsOp op, Frame &frame) {
  int64_t count = frame.tensor(op.getIds()).count();
  std::vector<int32_t> splits;
  for (int64_t i = 0; i <= count; ++i)
    splits.push_back(static_cast<int32_t>(i));
  frame.set(op.getSplits(), Tensor({count + 1}, std::move(splits)));
}

void interpreter::attachFeatureOps(MLIRContext &context) {
  attachEvaluator<BucketizeOp, evaluateBucketize>(context);
  attachEvaluator<CastOp, evaluateCast>(context);
  attachEvaluator<CrossOp, evaluateCross>(context);
  attachEvaluator<CrossBagsOp, evaluateCrossBags>(context);
  attachEvaluator<IdArithmeticOp, evaluateIdArithmetic>(context);
  attachEvaluator<SingleBagsOp, evaluateSingleBags>(context);
}
