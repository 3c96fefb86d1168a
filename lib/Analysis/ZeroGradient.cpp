//===- ZeroGradient.cpp - Updates under a zero gradient -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Analysis/ZeroGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <map>
#include <vector>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {
/// Gives each scalar an id. Two scalars have the same id only if they are equal
/// for all values of the unknown numbers. Zeros of both signs count as equal.
class Expressions {
public:
  using Id = unsigned;

  Id unknown() { return next++; }

  Id number(double value) {
    // NaN is not equal to anything, not even to another NaN, so it gets a new
    // id each time.
    if (std::isnan(value)) {
      values[next] = value;
      return next++;
    }
    auto [entry, isNew] = numbers.try_emplace(value == 0 ? 0.0 : value, next);
    if (isNew)
      values[next++] = entry->first;
    return entry->second;
  }

  /// Returns the value if it is known.
  std::optional<double> valueOf(Id id) const {
    auto found = values.find(id);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }

  bool is(Id id, double value) const { return valueOf(id) == value; }

  Id evaluate(Operation *op, ArrayRef<Id> operands) {
    std::optional<Id> simple = simplify(op, operands);
    return simple ? *simple : combine(op, operands);
  }

private:
  /// Returns the id of an op on its operands; equal combinations share an id.
  Id combine(Operation *op, ArrayRef<Id> operands) {
    std::vector<uint64_t> key{
        reinterpret_cast<uintptr_t>(op->getName().getAsOpaquePointer())};
    if (auto compare = dyn_cast<arith::CmpFOp>(op))
      key.push_back(static_cast<uint64_t>(compare.getPredicate()));
    key.insert(key.end(), operands.begin(), operands.end());
    auto [entry, isNew] = combinations.try_emplace(key, next);
    if (isNew)
      ++next;
    return entry->second;
  }

  std::optional<Id> simplify(Operation *op, ArrayRef<Id> operands) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
        return number(value.getValueAsDouble());
      if (auto value = dyn_cast<IntegerAttr>(constant.getValue()))
        return number(value.getValue().getBoolValue());
      return std::nullopt;
    }
    if (std::optional<double> folded = fold(op, operands))
      return number(*folded);
    auto isZero = [&](unsigned index) { return is(operands[index], 0); };
    auto isOne = [&](unsigned index) { return is(operands[index], 1); };
    using Result = std::optional<Id>;
    return TypeSwitch<Operation *, Result>(op)
        .Case([&](arith::AddFOp) -> Result {
          if (isZero(0))
            return operands[1];
          return isZero(1) ? Result(operands[0]) : std::nullopt;
        })
        .Case([&](arith::SubFOp) -> Result {
          if (operands[0] == operands[1])
            return number(0);
          return isZero(1) ? Result(operands[0]) : std::nullopt;
        })
        .Case([&](arith::MulFOp) -> Result {
          if (isZero(0) || isZero(1))
            return number(0);
          if (isOne(0))
            return operands[1];
          return isOne(1) ? Result(operands[0]) : std::nullopt;
        })
        .Case([&](arith::DivFOp) -> Result {
          // 0 / x is 0, and x / 1 is x. An unknown divisor is assumed not to be
          // 0. The quotient 0 / 0 has been folded to NaN before.
          if (isZero(0) || isOne(1))
            return operands[0];
          return std::nullopt;
        })
        .Case([&](math::FmaOp) -> Result {
          if (isZero(0) || isZero(1))
            return operands[2];
          return std::nullopt;
        })
        .Case([&](arith::CmpFOp compare) -> Result {
          if (operands[0] != operands[1])
            return std::nullopt;
          // This ignores NaN, so equal values compare equal.
          return number(arith::applyCmpPredicate(compare.getPredicate(),
                                                 APFloat(0.0), APFloat(0.0)));
        })
        .Case([&](arith::SelectOp) -> Result {
          if (operands[1] == operands[2])
            return operands[1];
          if (std::optional<double> condition = valueOf(operands[0]))
            return operands[*condition != 0 ? 1 : 2];
          return std::nullopt;
        })
        .Case<arith::MaximumFOp, arith::MinimumFOp>([&](Operation *) -> Result {
          return operands[0] == operands[1] ? Result(operands[0])
                                            : std::nullopt;
        })
        .Case([&](math::CopySignOp) -> Result {
          return isZero(0) ? Result(operands[0]) : std::nullopt;
        })
        .Default(Result());
  }

  /// Returns the value of an op on known numbers.
  std::optional<double> fold(Operation *op, ArrayRef<Id> operands) {
    SmallVector<double> known;
    for (Id operand : operands) {
      std::optional<double> value = valueOf(operand);
      if (!value)
        return std::nullopt;
      known.push_back(*value);
    }
    // True if one of the operands is NaN.
    const bool isUnordered =
        llvm::any_of(known, [](double value) { return std::isnan(value); });
    return TypeSwitch<Operation *, std::optional<double>>(op)
        .Case([&](arith::AddFOp) { return known[0] + known[1]; })
        .Case([&](arith::SubFOp) { return known[0] - known[1]; })
        .Case([&](arith::MulFOp) { return known[0] * known[1]; })
        .Case([&](arith::DivFOp) { return known[0] / known[1]; })
        .Case([&](arith::NegFOp) { return -known[0]; })
        .Case([&](arith::MaximumFOp) {
          return isUnordered ? known[0] + known[1]
                             : std::fmax(known[0], known[1]);
        })
        .Case([&](arith::MinimumFOp) {
          return isUnordered ? known[0] + known[1]
                             : std::fmin(known[0], known[1]);
        })
        .Case([&](arith::CmpFOp compare) {
          return arith::applyCmpPredicate(compare.getPredicate(),
                                          APFloat(known[0]), APFloat(known[1]))
                     ? 1.0
                     : 0.0;
        })
        .Case([&](arith::ExtFOp) { return known[0]; })
        .Case([&](arith::TruncFOp) {
          return static_cast<double>(static_cast<float>(known[0]));
        })
        .Case([&](math::SqrtOp) { return std::sqrt(known[0]); })
        .Case([&](math::AbsFOp) { return std::fabs(known[0]); })
        .Default(std::optional<double>());
  }

  Id next = 0;
  std::map<double, Id> numbers;
  std::map<Id, double> values;
  std::map<std::vector<uint64_t>, Id> combinations;
};
} // namespace

/// Evaluates a region of scalars and returns the ids that it yields.
static SmallVector<Expressions::Id>
evaluateRegion(Expressions &expressions, Region &region,
               ArrayRef<Expressions::Id> arguments) {
  DenseMap<Value, Expressions::Id> ids;
  for (auto [argument, id] : llvm::zip(region.getArguments(), arguments))
    ids[argument] = id;
  auto lookup = [&](ValueRange values) {
    SmallVector<Expressions::Id> found;
    for (Value value : values) {
      auto [entry, isNew] = ids.try_emplace(value, 0);
      if (isNew)
        entry->second = expressions.unknown();
      found.push_back(entry->second);
    }
    return found;
  };
  for (Operation &op : region.front().without_terminator())
    ids[op.getResult(0)] = expressions.evaluate(&op, lookup(op.getOperands()));
  return lookup(region.front().getTerminator()->getOperands());
}

std::optional<unsigned> pdlc::findChangeUnderZeroGradient(UpdateOp update) {
  Expressions expressions;
  // Returns the id of an argument of the region.
  SmallVector<Expressions::Id> arguments(update.getEach().getNumArguments(),
                                         Expressions::Id());
  auto of = [&](BlockArgument argument) -> Expressions::Id & {
    return arguments[argument.getArgNumber()];
  };
  SmallVector<Expressions::Id> before;
  of(update.getValueArgument()) = before.emplace_back(expressions.unknown());
  of(update.getSumArgument()) = expressions.number(0);
  // Delay compensation compares the value with the one that the worker has
  // seen. Without a gradient, both are equal.
  if (update.getSeen())
    of(update.getEach().getArgument(2)) = before.front();
  for (BlockArgument slot : update.getSlotArguments())
    of(slot) = before.emplace_back(expressions.unknown());

  DenseMap<Value, Expressions::Id> once;
  for (auto [scalar, argument] :
       llvm::zip_equal(update.getScalars(), update.getScalarArguments())) {
    auto op = scalar.getDefiningOp<OnceOp>();
    if (op && !once.contains(scalar)) {
      SmallVector<Expressions::Id> unknowns;
      for (unsigned i = 0; i < op.getBody().getNumArguments(); ++i)
        unknowns.push_back(expressions.unknown());
      for (auto [result, id] :
           llvm::zip(op.getScalars(),
                     evaluateRegion(expressions, op.getBody(), unknowns)))
        once[result] = id;
    }
    auto found = once.find(scalar);
    of(argument) = found == once.end() ? expressions.unknown() : found->second;
  }
  SmallVector<Expressions::Id> rowBefore, rowAfter;
  if (update.hasRow()) {
    // `sum` has the arguments of `each` without those that `row` provides.
    SmallVector<Expressions::Id> scalars;
    for (BlockArgument scalar : update.getScalarArguments())
      scalars.push_back(of(scalar));
    SmallVector<Expressions::Id> ofRow{expressions.unknown()};
    for (Expressions::Id term :
         evaluateRegion(expressions, update.getSum(),
                        ArrayRef(arguments).drop_back(
                            update.getRowScalarArguments().size())))
      ofRow.push_back(expressions.is(term, 0) ? term : expressions.unknown());
    for (size_t i = 0; i < update.getNumRowSlots(); ++i)
      ofRow.push_back(rowBefore.emplace_back(expressions.unknown()));
    llvm::append_range(ofRow, scalars);
    rowAfter = evaluateRegion(expressions, update.getRow(), ofRow);
    for (auto [argument, id] :
         llvm::zip_equal(update.getRowScalarArguments(),
                         ArrayRef(rowAfter).drop_front(rowBefore.size())))
      of(argument) = id;
  }
  SmallVector<Expressions::Id> after =
      evaluateRegion(expressions, update.getEach(), arguments);
  llvm::append_range(before, rowBefore);
  llvm::append_range(after, ArrayRef(rowAfter).take_front(rowBefore.size()));
  for (size_t i = 0; i < before.size(); ++i)
    if (after[i] != before[i])
      return i;
  return std::nullopt;
}
