//===- KernelBuilder.cpp - Body of an update kernel -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace pdlc;

/// Number of lanes of a sum over a row, for every instruction set.
static constexpr int64_t kLanes = 16;

//===----------------------------------------------------------------------===//
// Checks for numbers that are not finite
//===----------------------------------------------------------------------===//

/// Returns true if `result` is never finite when `value` is not finite. The
/// check follows sums, products, square roots and dividends from `value` to
/// `result`.
static bool carriesNonFinite(Value value, Value result) {
  SetVector<Value> reached;
  reached.insert(result);
  for (size_t next = 0; next < reached.size(); ++next) {
    Operation *op = reached[next].getDefiningOp();
    if (isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp,
                        arith::NegFOp, math::SqrtOp, math::AbsFOp>(op))
      reached.insert_range(op->getOperands());
    else if (isa_and_nonnull<arith::DivFOp>(op))
      reached.insert(op->getOperand(0));
  }
  return reached.contains(value);
}

/// Returns true if a kernel must check result `number` for numbers that are not
/// finite. It need not if another result, which is checked, is never finite
/// when this one is not.
static bool mustBeChecked(ArrayRef<Value> results, size_t number) {
  for (auto [other, result] : llvm::enumerate(results))
    if (result == results[number] ? other < number
                                  : carriesNonFinite(results[number], result))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Builder
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelBuilder::loadScalars(Value base,
                                              ArrayRef<int32_t> numbers) {
  SmallVector<Value> scalars;
  for (int32_t number : numbers)
    scalars.push_back(load(element, base, number));
  return scalars;
}

Value KernelBuilder::parallel(Value count, function_ref<Value(Value)> body) {
  auto convert = [&](Type type, Value value) -> Value {
    return builder.createOrFold<arith::IndexCastOp>(loc, type, value);
  };
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
        one = arith::ConstantIndexOp::create(builder, loc, 1),
        bound = convert(builder.getIndexType(), count);
  auto loop = scf::ParallelOp::create(builder, loc, zero, bound, one, noBits());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  // Addresses use the integer type of the ABI.
  Value bits =
      body(convert(builder.getI64Type(), loop.getInductionVars().front()));
  auto reduce = scf::ReduceOp::create(builder, loc, bits);
  Block &combiner = reduce.getReductions().front().front();
  builder.setInsertionPointToStart(&combiner);
  Value larger = arith::MaxSIOp::create(builder, loc, combiner.getArgument(0),
                                        combiner.getArgument(1));
  scf::ReduceReturnOp::create(builder, loc, larger);
  return loop.getResult(0);
}

void KernelBuilder::parallelOnDevice(Value count, Value found,
                                     function_ref<Value(Value)> body) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
        one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ParallelOp::create(builder, loc, zero, count, one);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value index = builder.createOrFold<arith::IndexCastOp>(
      loc, builder.getI64Type(), loop.getInductionVars().front());
  Value isBad = isNonFinite(body(index));
  auto choice = scf::IfOp::create(builder, loc, isBad);
  builder.setInsertionPointToStart(choice.thenBlock());
  LLVM::StoreOp::create(
      builder, loc, arith::ConstantIntOp::create(builder, loc, 1, 32), found);
}

Value KernelBuilder::largestBits(Value largest, Value number) {
  Value bits = arith::BitcastOp::create(builder, loc, bitsType(), number);
  Value magnitude = arith::AndIOp::create(
      builder, loc, bits, bitsOf(APInt::getSignedMaxValue(elementBytes * 8)));
  return arith::MaxSIOp::create(builder, loc, largest, magnitude);
}

Value KernelBuilder::isNonFinite(Value largest) {
  auto &semantics = cast<FloatType>(element).getFloatSemantics();
  Value infinity = bitsOf(APFloat::getInf(semantics).bitcastToAPInt());
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, largest,
                               infinity);
}

void KernelBuilder::returnNonFinite(Value largest) {
  Value result = arith::ExtUIOp::create(builder, loc, builder.getI32Type(),
                                        isNonFinite(largest));
  func::ReturnOp::create(builder, loc, result);
}

SmallVector<Value> KernelBuilder::inlineRegion(Region &region,
                                               IRMapping mapping) {
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(
      region.front().getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

template <typename OpTy>
void KernelBuilder::setScope(OpTy op, ArrayRef<Attribute> scopes, size_t own) {
  SmallVector<Attribute> others(scopes);
  others.erase(others.begin() + own);
  op.setAliasScopesAttr(builder.getArrayAttr(scopes[own]));
  op.setNoaliasScopesAttr(builder.getArrayAttr(others));
}

SmallVector<Attribute> KernelBuilder::aliasScopes(size_t count) {
  auto domain = LLVM::AliasScopeDomainAttr::get(
      builder.getContext(), builder.getStringAttr("pdl.update"), StringAttr());
  SmallVector<Attribute> scopes;
  for (size_t i = 0; i < count; ++i)
    scopes.push_back(LLVM::AliasScopeAttr::get(
        builder.getContext(), builder.getStringAttr("pdl.update." + Twine(i)),
        domain, StringAttr()));
  return scopes;
}

Value KernelBuilder::loadScoped(Value place, ArrayRef<Attribute> scopes,
                                size_t own) {
  auto load = LLVM::LoadOp::create(builder, loc, element, place);
  setScope(load, scopes, own);
  return load;
}

KernelBuilder::Element KernelBuilder::loadElement(ArrayRef<Value> state,
                                                  ArrayRef<Value> inputs,
                                                  ArrayRef<Value> scalars,
                                                  Value index) {
  SmallVector<Attribute> scopes = elementScopes(state.size(), inputs.size());
  Element loaded;
  for (auto [number, base] : llvm::enumerate(state)) {
    loaded.addresses.push_back(address(element, base, index));
    loaded.arguments.push_back(
        loadScoped(loaded.addresses.back(), scopes, number + inputs.size()));
  }
  for (auto [number, base] : llvm::enumerate(inputs))
    loaded.arguments.insert(
        loaded.arguments.begin() + 1 + number,
        loadScoped(address(element, base, index), scopes, number));
  llvm::append_range(loaded.arguments, scalars);
  return loaded;
}

Value KernelBuilder::updateElement(nn::UpdateOp update, ArrayRef<Value> state,
                                   ArrayRef<Value> inputs,
                                   ArrayRef<Value> scalars, Value index,
                                   Value largest) {
  SmallVector<Attribute> scopes = elementScopes(state.size(), inputs.size());
  auto [addresses, arguments] = loadElement(state, inputs, scalars, index);
  SmallVector<Value> results = inlineRegion(update.getEach(), arguments);
  for (auto [number, result] : llvm::enumerate(results)) {
    auto store = LLVM::StoreOp::create(builder, loc, result, addresses[number]);
    setScope(store, scopes, number + inputs.size());
    if (mustBeChecked(results, number))
      largest = largestBits(largest, result);
  }
  return largest;
}

SmallVector<Value> KernelBuilder::sumRow(nn::UpdateOp update,
                                         ArrayRef<Value> state,
                                         ArrayRef<Value> inputs,
                                         ArrayRef<Value> scalars,
                                         int64_t width) {
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0.0));
  // Sum s of lane l has the index s * kLanes + l.
  SmallVector<Value> lanes(update.getNumSums() * kLanes, none);
  auto addTo = [&](MutableArrayRef<Value> sums, ArrayRef<Value> bases,
                   ArrayRef<Value> given, int64_t count) {
    for (int64_t lane = 0; lane < count; ++lane) {
      Element loaded = loadElement(bases, given, scalars, constant(lane));
      for (auto [s, term] :
           llvm::enumerate(inlineRegion(update.getSum(), loaded.arguments))) {
        Value &sum = sums[s * kLanes + lane];
        sum = arith::AddFOp::create(builder, loc, sum, term);
      }
    }
  };
  // Iteration t of the loop adds elements 16 t to 16 t + 15.
  auto movedBy = [&](ArrayRef<Value> bases, Value index) {
    return llvm::map_to_vector(
        bases, [&](Value base) { return address(element, base, index); });
  };
  const int64_t whole = width / kLanes * kLanes;
  if (whole > 0) {
    Value from = arith::ConstantIndexOp::create(builder, loc, 0),
          to = arith::ConstantIndexOp::create(builder, loc, whole),
          step = arith::ConstantIndexOp::create(builder, loc, kLanes);
    auto loop = scf::ForOp::create(builder, loc, from, to, step, lanes);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value index = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                             loop.getInductionVar());
    SmallVector<Value> sums(loop.getRegionIterArgs().begin(),
                            loop.getRegionIterArgs().end());
    addTo(sums, movedBy(state, index), movedBy(inputs, index), kLanes);
    scf::YieldOp::create(builder, loc, sums);
    lanes.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (whole < width) {
    Value rest = constant(whole);
    addTo(lanes, movedBy(state, rest), movedBy(inputs, rest), width - whole);
  }
  SmallVector<Value> sums;
  for (size_t s = 0; s < update.getNumSums(); ++s) {
    MutableArrayRef<Value> own =
        MutableArrayRef(lanes).slice(s * kLanes, kLanes);
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t i = 0; i < half; ++i)
        own[i] = arith::AddFOp::create(builder, loc, own[i], own[i + half]);
    sums.push_back(own.front());
  }
  return sums;
}

Value KernelBuilder::updateRow(nn::UpdateOp update, ArrayRef<Value> state,
                               ArrayRef<Value> rowSlots, ArrayRef<Value> inputs,
                               ArrayRef<Value> scalars, int64_t width) {
  SmallVector<Value> all(scalars);
  Value largest;
  if (update.hasRow()) {
    SmallVector<Value> arguments{arith::ConstantOp::create(
        builder, loc, builder.getF64FloatAttr(static_cast<double>(width)))};
    if (update.getNumSums())
      llvm::append_range(arguments,
                         sumRow(update, state, inputs, scalars, width));
    for (Value place : rowSlots)
      arguments.push_back(LLVM::LoadOp::create(builder, loc, element, place));
    for (size_t c = 0; c < update.getCounts(); ++c)
      arguments.push_back(
          load(element, inputs.front(), static_cast<int32_t>(width + c)));
    llvm::append_range(arguments, scalars);
    SmallVector<Value> results = inlineRegion(update.getRow(), arguments);
    for (auto [place, result] : llvm::zip(rowSlots, results)) {
      LLVM::StoreOp::create(builder, loc, result, place);
      largest = largestBits(largest ? largest : noBits(), result);
    }
    llvm::append_range(all, ArrayRef(results).drop_front(rowSlots.size()));
  }
  return parallel(constant(width), [&](Value index) {
    return updateElement(update, state, inputs, all, index,
                         largest ? largest : noBits());
  });
}
