//===- UpdatesToKernels.cpp - Functions from the regions of updates -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "pdlabi/abi.h"
#include "pdlc/Conversion/Passes.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Support/Statistics.h"

namespace pdlc {
#define GEN_PASS_DEF_NNUPDATESTOKERNELS
#include "pdlc/Conversion/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

/// Rows that the row kernel fetches ahead, enough to hide the latency of memory
/// behind the arithmetic of an optimizer.
static constexpr int64_t kRowsAhead = 16;
/// Cache lines of one row that are fetched ahead; hardware follows from there.
static constexpr int64_t kLinesAhead = 8;
static constexpr int64_t kLineBytes = 64;
/// Lanes of a sum over a row, of whatever instruction set.
static constexpr int64_t kLanes = 16;

namespace {

/// Whether `result` is not finite wherever `value` is not: what is not finite
/// stays so through sums, products, roots, and as a dividend.
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

/// Whether a kernel must look at value `number` of what its region yields to
/// know that all of it is finite: not if another one tells.
static bool mustBeChecked(ArrayRef<Value> results, size_t number) {
  for (auto [other, result] : llvm::enumerate(results))
    if (result == results[number] ? other < number
                                  : carriesNonFinite(results[number], result))
      return false;
  return true;
}

/// Builds the body of one kernel.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, Location loc, Type element)
      : builder(builder), loc(loc), element(element),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())),
        elementBytes(element.getIntOrFloatBitWidth() / 8) {}

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  }
  /// The address of element `index` of an array of `type`.
  Value address(Type type, Value base, Value index) {
    return LLVM::GEPOp::create(builder, loc, pointer, type, base,
                               ArrayRef<LLVM::GEPArg>{index},
                               LLVM::GEPNoWrapFlags::inbounds);
  }
  Value address(Type type, Value base, int32_t index) {
    return LLVM::GEPOp::create(builder, loc, pointer, type, base,
                               ArrayRef<LLVM::GEPArg>{index},
                               LLVM::GEPNoWrapFlags::inbounds);
  }
  Value load(Type type, Value base, int32_t index) {
    return LLVM::LoadOp::create(builder, loc, type, address(type, base, index));
  }
  /// Loads the group's scalars that the update names, by their number.
  SmallVector<Value> loadScalars(Value base, ArrayRef<int32_t> numbers) {
    SmallVector<Value> scalars;
    for (int32_t number : numbers)
      scalars.push_back(load(element, base, number));
    return scalars;
  }

  /// Independent turns over [0, count). `body(index)` builds one and returns
  /// the largest bits of what it writes (`largestBits`); returns those of all.
  Value parallel(Value count, function_ref<Value(Value)> body) {
    auto convert = [&](Type type, Value value) -> Value {
      return builder.createOrFold<arith::IndexCastOp>(loc, type, value);
    };
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
          one = arith::ConstantIndexOp::create(builder, loc, 1),
          bound = convert(builder.getIndexType(), count);
    auto loop =
        scf::ParallelOp::create(builder, loc, zero, bound, one, noBits());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    // Addresses are computed with the ABI's integers.
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

  /// The same for a device, whose threads join nothing: a turn that writes what
  /// is not finite sets the number at `found` to 1.
  void parallelOnDevice(Value count, Value found,
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

  /// The larger of `largest` and the bits of |number|: ordered like the
  /// numbers, infinity and NaN above all others. It is kept in integers, which
  /// leaves the arithmetic of a rule as it is and vectorises with it.
  Value largestBits(Value largest, Value number) {
    Value bits = arith::BitcastOp::create(builder, loc, bitsType(), number);
    Value magnitude = arith::AndIOp::create(
        builder, loc, bits, bitsOf(APInt::getSignedMaxValue(elementBytes * 8)));
    return arith::MaxSIOp::create(builder, loc, largest, magnitude);
  }
  Value noBits() { return bitsOf(APInt(elementBytes * 8, 0)); }
  /// Whether bits of `largestBits` are of a number that is not finite.
  Value isNonFinite(Value largest) {
    auto &semantics = cast<FloatType>(element).getFloatSemantics();
    Value infinity = bitsOf(APFloat::getInf(semantics).bitcastToAPInt());
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                 largest, infinity);
  }
  /// Ends a kernel: 1 if `largest` is not of a finite number, else 0.
  void returnNonFinite(Value largest) {
    Value result = arith::ExtUIOp::create(builder, loc, builder.getI32Type(),
                                          isNonFinite(largest));
    func::ReturnOp::create(builder, loc, result);
  }

  /// Copies the ops of `region` to the insertion point, with `arguments` for
  /// its arguments; returns what it yields.
  SmallVector<Value> inlineRegion(Region &region, ArrayRef<Value> arguments) {
    IRMapping mapping;
    mapping.map(region.getArguments(), arguments);
    return inlineRegion(region, mapping);
  }
  /// The same, its arguments replaced as `mapping` says.
  SmallVector<Value> inlineRegion(Region &region, IRMapping mapping) {
    for (Operation &op : region.front().without_terminator())
      builder.clone(op, mapping);
    return llvm::map_to_vector(
        region.front().getTerminator()->getOperands(),
        [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  /// What an update reads of one element.
  struct Element {
    SmallVector<Value> addresses; // of value and slots
    SmallVector<Value> arguments; // of regions: value, inputs, slots, scalars
  };
  /// Loads element `index`: `state` holds the addresses of value and slots,
  /// `inputs` that of the gradient, and of what was seen, if that is asked for.
  Element loadElement(ArrayRef<Value> state, ArrayRef<Value> inputs,
                      ArrayRef<Value> scalars, Value index) {
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

  /// Applies region `each` to element `index`. `scalars`: those of the group,
  /// then those of the row. Returns the largest bits of what it writes, as far
  /// as they must be checked, and of `largest`.
  Value updateElement(nn::UpdateOp update, ArrayRef<Value> state,
                      ArrayRef<Value> inputs, ArrayRef<Value> scalars,
                      Value index, Value largest) {
    SmallVector<Attribute> scopes = elementScopes(state.size(), inputs.size());
    auto [addresses, arguments] = loadElement(state, inputs, scalars, index);
    SmallVector<Value> results = inlineRegion(update.getEach(), arguments);
    for (auto [number, result] : llvm::enumerate(results)) {
      auto store =
          LLVM::StoreOp::create(builder, loc, result, addresses[number]);
      setScope(store, scopes, number + inputs.size());
      if (mustBeChecked(results, number))
        largest = largestBits(largest, result);
    }
    return largest;
  }

  /// What region `sum` yields, at least one number, added over a row of `width`
  /// elements: element j goes to lane j mod 16, lanes start at +0, a tree
  /// 8-4-2-1 joins them.
  SmallVector<Value> sumRow(nn::UpdateOp update, ArrayRef<Value> state,
                            ArrayRef<Value> inputs, ArrayRef<Value> scalars,
                            int64_t width) {
    Value none =
        arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0.0));
    // Sum s of lane l is at s * kLanes + l.
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
    // Turn t of the loop adds elements 16 t to 16 t + 15.
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
      Value index = arith::IndexCastOp::create(
          builder, loc, builder.getI64Type(), loop.getInductionVar());
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

  /// Applies the update to a row: `state` holds the addresses of value and
  /// slots, `rowSlots` those of the row slots, `inputs` those of the gradient
  /// and of what was seen. Returns the largest bits of what is written.
  Value updateRow(nn::UpdateOp update, ArrayRef<Value> state,
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

  OpBuilder &builder;
  Location loc;
  Type element;
  LLVM::LLVMPointerType pointer;
  int64_t elementBytes;

private:
  Type bitsType() { return builder.getIntegerType(elementBytes * 8); }
  Value bitsOf(const APInt &value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(bitsType(), value));
  }
  /// Those of the inputs, gradient first; behind them those of the state.
  SmallVector<Attribute> elementScopes(size_t states, size_t inputs) {
    return aliasScopes(states + inputs);
  }
  /// Scopes named by position, so that equal kernels stay equal.
  SmallVector<Attribute> aliasScopes(size_t count) {
    auto domain = LLVM::AliasScopeDomainAttr::get(
        builder.getContext(), builder.getStringAttr("pdl.update"),
        StringAttr());
    SmallVector<Attribute> scopes;
    for (size_t i = 0; i < count; ++i)
      scopes.push_back(LLVM::AliasScopeAttr::get(
          builder.getContext(), builder.getStringAttr("pdl.update." + Twine(i)),
          domain, StringAttr()));
    return scopes;
  }
  template <typename OpTy>
  void setScope(OpTy op, ArrayRef<Attribute> scopes, size_t own) {
    SmallVector<Attribute> others(scopes);
    others.erase(others.begin() + own);
    op.setAliasScopesAttr(builder.getArrayAttr(scopes[own]));
    op.setNoaliasScopesAttr(builder.getArrayAttr(others));
  }
  Value loadScoped(Value place, ArrayRef<Attribute> scopes, size_t own) {
    auto load = LLVM::LoadOp::create(builder, loc, element, place);
    setScope(load, scopes, own);
    return load;
  }
};

/// Value and slots.
static size_t partsOf(nn::UpdateOp update) {
  return 1 + update.getSlotArguments().size() + update.getNumRowSlots();
}

/// Whether a device is to apply a rule: it has no functions of
/// f64 but roots and signs, and what one thread alone can do the host does
/// sooner.
static bool isForDevice(nn::UpdateOp update) {
  if (update.getWhole() || update.getSeen())
    return false;
  return !update
              ->walk([](Operation *op) {
                const bool isFunction =
                    isa<math::MathDialect>(op->getDialect()) &&
                    !isa<math::SqrtOp, math::AbsFOp, math::CopySignOp>(op);
                return isFunction && op->getResultTypes().front().isF64()
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

struct UpdatesToKernels : pdlc::impl::NNUpdatesToKernelsBase<UpdatesToKernels> {
  using Base::Base;
  void runOnOperation() override;

private:
  /// Creates an empty function behind the module's other ops.
  func::FuncOp createFunction(Location loc, StringRef name,
                              ArrayRef<Type> arguments,
                              ArrayRef<Type> results = {});
  LogicalResult convertOnce(nn::OnceOp once);
  LogicalResult convertUpdate(nn::UpdateOp update);
  void buildDense(func::FuncOp function, nn::UpdateOp update, int64_t width,
                  ArrayRef<int32_t> scalars);
  void buildOnDevice(func::FuncOp function, nn::UpdateOp update, int64_t width,
                     ArrayRef<int32_t> scalars);
  void buildRows(func::FuncOp function, nn::UpdateOp update, int64_t width,
                 ArrayRef<int32_t> scalars);
  void buildRowsOnDevice(func::FuncOp function, nn::UpdateOp update,
                         int64_t width, ArrayRef<int32_t> scalars);

  /// The first op seen for each group and symbol.
  DenseMap<StringAttr, Operation *> converted;
  uint64_t kernels = 0;
  bool launchesRules = false;
  std::optional<SymbolTable> symbols;
};

} // namespace

//===----------------------------------------------------------------------===//
// nn.once
//===----------------------------------------------------------------------===//

func::FuncOp UpdatesToKernels::createFunction(Location loc, StringRef name,
                                              ArrayRef<Type> arguments,
                                              ArrayRef<Type> results) {
  auto type = FunctionType::get(&getContext(), arguments, results);
  auto function = func::FuncOp::create(loc, name, type);
  function.setPrivate();
  // The symbol table renames where the model uses the name.
  symbols->insert(function);
  function.addEntryBlock();
  ++kernels;
  return function;
}

/// The element type of what `once` yields.
static Type scalarTypeOf(nn::OnceOp once) {
  return cast<RankedTensorType>(once.getResult(0).getType()).getElementType();
}

/// What messages call a scalar.
static std::string describe(nn::OnceOp once, nn::ScalarAttr scalar) {
  switch (scalar.getRole()) {
  case nn::ScalarRole::weight:
    return "sum of weights";
  case nn::ScalarRole::clip_factor: {
    auto group = SymbolTable::lookupNearestSymbolFrom<nn::GroupOp>(
        once, once.getGroupAttr());
    return "factor of clip @" + group.getClipAttr().getValue().str();
  }
  case nn::ScalarRole::rule:
    return scalar.getName().str();
  }
  llvm_unreachable("an enumerator without case");
}

/// The scalars that an update of the group divides by, as they are.
static SmallVector<int32_t> divisorsOf(nn::OnceOp once) {
  SmallVector<int32_t> divisors;
  for (OpResult scalar : once.getScalars()) {
    bool divides = llvm::any_of(scalar.getUses(), [](OpOperand &use) {
      auto update = dyn_cast<nn::UpdateOp>(use.getOwner());
      if (!update)
        return false;
      return llvm::any_of(update.getArgumentsOf(use), [](BlockArgument inside) {
        return llvm::any_of(inside.getUses(), [](OpOperand &inner) {
          return isa<arith::DivFOp>(inner.getOwner()) &&
                 inner.getOperandNumber() == 1;
        });
      });
    });
    if (divides)
      divisors.push_back(static_cast<int32_t>(scalar.getResultNumber()));
  }
  return divisors;
}

/// Whether `op` was converted before for another program; fails if that one
/// has another region.
static FailureOr<bool> sameAsBefore(Operation *op, Operation *before) {
  if (!before)
    return false;
  // The regions of nn.once are in f64, of whatever type its results are.
  if (op->getResultTypes() == before->getResultTypes() &&
      llvm::all_of(llvm::zip_equal(op->getRegions(), before->getRegions()),
                   [](auto regions) {
                     auto &[region, other] = regions;
                     return OperationEquivalence::isRegionEquivalentTo(
                         &region, &other,
                         OperationEquivalence::IgnoreLocations);
                   }))
    return true;
  InFlightDiagnostic diagnostic =
      op->emitOpError("updates in another way than another program does; all "
                      "programs must update a group alike");
  diagnostic.attachNote(before->getLoc()) << "the other one is here";
  return failure();
}

LogicalResult UpdatesToKernels::convertOnce(nn::OnceOp once) {
  Operation *&before = converted[once.getGroupAttr().getAttr()];
  FailureOr<bool> same = sameAsBefore(once, before);
  if (failed(same) || *same)
    return same;
  before = once;

  Location loc = once.getLoc();
  OpBuilder builder(&getContext());
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  func::FuncOp function = createFunction(loc, ("once_" + once.getGroup()).str(),
                                         {pointer, pointer});
  Block &entry = function.getBody().front();
  builder.setInsertionPointToStart(&entry);
  KernelBuilder kernel(builder, loc, builder.getF64Type());

  // All members of `pdl_once_arguments` are doubles.
  static_assert(sizeof(pdl_once_arguments) == 4 * sizeof(double));
  IRMapping arguments;
  auto load = [&](BlockArgument argument, size_t offset) {
    arguments.map(argument,
                  kernel.load(builder.getF64Type(), entry.getArgument(0),
                              static_cast<int32_t>(offset / sizeof(double))));
  };
  load(once.getStepArgument(), offsetof(pdl_once_arguments, step));
  load(once.getWeightArgument(), offsetof(pdl_once_arguments, weight));
  load(once.getSquaredNormArgument(),
       offsetof(pdl_once_arguments, squared_norm));
  if (BlockArgument pushers = once.getPushersArgument())
    load(pushers, offsetof(pdl_once_arguments, pushers));
  SmallVector<Value> results = kernel.inlineRegion(once.getBody(), arguments);
  for (auto [number, result] : llvm::enumerate(results)) {
    Type element = cast<RankedTensorType>(once.getResult(number).getType())
                       .getElementType();
    Value rounded = result;
    if (element != result.getType())
      rounded = arith::TruncFOp::create(builder, loc, element, result);
    LLVM::StoreOp::create(builder, loc, rounded,
                          kernel.address(element, entry.getArgument(1),
                                         static_cast<int32_t>(number)));
  }
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(function);
  SmallVector<std::string> names = llvm::map_to_vector(
      once.getNames().getAsRange<nn::ScalarAttr>(),
      [&](nn::ScalarAttr scalar) { return describe(once, scalar); });
  SmallVector<StringRef> nameRefs(names.begin(), names.end());
  rt::OnceKernelOp::create(builder, loc, once.getGroupAttr(),
                           FlatSymbolRefAttr::get(function),
                           builder.getStrArrayAttr(nameRefs),
                           builder.getDenseI32ArrayAttr(divisorsOf(once)),
                           TypeAttr::get(scalarTypeOf(once)));
  return success();
}

//===----------------------------------------------------------------------===//
// nn.update
//===----------------------------------------------------------------------===//

/// What a kernel of a parameter is given: the memory of value and slots, and
/// that of the gradient and of what was seen.
struct DenseMemory {
  ArrayRef<Value> parts;
  ArrayRef<Value> inputs;
};

/// A turn of a kernel of a parameter: an element, or a row of `width` elements
/// where the rule knows rows. Returns the largest bits of what is written.
static Value buildTurn(KernelBuilder &kernel, nn::UpdateOp update,
                       DenseMemory memory, ArrayRef<Value> scalars,
                       int64_t width, Value turn) {
  const size_t states = memory.parts.size() - update.getNumRowSlots();
  ArrayRef<Value> state = memory.parts.take_front(states),
                  rowSlots = memory.parts.drop_front(states);
  if (!update.hasRow())
    return kernel.updateElement(update, state, memory.inputs, scalars, turn,
                                kernel.noBits());
  Value begin = arith::MulIOp::create(kernel.builder, kernel.loc, turn,
                                      kernel.constant(width));
  auto at = [&](ArrayRef<Value> bases, Value index) {
    return llvm::map_to_vector(bases, [&](Value base) {
      return kernel.address(kernel.element, base, index);
    });
  };
  return kernel.updateRow(update, at(state, begin), at(rowSlots, turn),
                          at(memory.inputs, begin), scalars, width);
}

void UpdatesToKernels::buildDense(func::FuncOp function, nn::UpdateOp update,
                                  int64_t width,
                                  ArrayRef<int32_t> scalarNumbers) {
  Block &entry = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = update.getLoc();
  KernelBuilder kernel(builder, loc, update.getValueArgument().getType());
  SmallVector<Value> inputs{entry.getArgument(2)}, parts;
  if (update.getSeen())
    inputs.push_back(entry.getArgument(4));
  for (size_t part = 0; part < partsOf(update); ++part)
    parts.push_back(kernel.load(kernel.pointer, entry.getArgument(1),
                                static_cast<int32_t>(part)));
  SmallVector<Value> scalars =
      kernel.loadScalars(entry.getArgument(3), scalarNumbers);
  Value turns = entry.getArgument(0);
  if (update.hasRow())
    turns = arith::DivSIOp::create(builder, loc, turns, kernel.constant(width));
  kernel.returnNonFinite(kernel.parallel(turns, [&](Value turn) {
    return buildTurn(kernel, update, {parts, inputs}, scalars, width, turn);
  }));
}

void UpdatesToKernels::buildOnDevice(func::FuncOp function, nn::UpdateOp update,
                                     int64_t width,
                                     ArrayRef<int32_t> scalarNumbers) {
  Block &entry = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = update.getLoc();
  KernelBuilder kernel(builder, loc, update.getValueArgument().getType());
  SmallVector<Value> arguments(entry.getArguments());
  ArrayRef<Value> parts =
      ArrayRef(arguments).drop_front().take_front(partsOf(update));
  ArrayRef<Value> rest = ArrayRef(arguments).drop_front(1 + parts.size());
  kernel.parallelOnDevice(arguments.front(), rest[2], [&](Value turn) {
    SmallVector<Value> scalars = kernel.loadScalars(rest[1], scalarNumbers);
    return buildTurn(kernel, update, {parts, rest.front()}, scalars, width,
                     turn);
  });
  func::ReturnOp::create(builder, loc);
}

namespace {
/// The addresses of value and slots, and of row slots, of a table's row.
struct RowMemory {
  SmallVector<Value> state, rowSlots;
};
} // namespace

static RowMemory rowMemory(KernelBuilder &kernel, nn::UpdateOp update,
                           Value value, int64_t width) {
  auto at = [&](int64_t element) {
    return kernel.address(kernel.element, value, static_cast<int32_t>(element));
  };
  const auto states =
      1 + static_cast<int64_t>(update.getSlotArguments().size());
  const auto rowSlots = static_cast<int64_t>(update.getNumRowSlots());
  RowMemory memory{{value}, {}};
  for (int64_t s = 1; s < states; ++s)
    memory.state.push_back(at(s * width));
  for (int64_t s = 0; s < rowSlots; ++s)
    memory.rowSlots.push_back(at(states * width + s));
  return memory;
}

/// The gradients of the rows stand one behind the other, each with its counts.
void UpdatesToKernels::buildRowsOnDevice(func::FuncOp function,
                                         nn::UpdateOp update, int64_t width,
                                         ArrayRef<int32_t> scalarNumbers) {
  Block &entry = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = update.getLoc();
  KernelBuilder kernel(builder, loc, update.getValueArgument().getType());
  Value rows = entry.getArgument(1), gradients = entry.getArgument(2);
  const auto counts = static_cast<int64_t>(update.getCounts());
  kernel.parallelOnDevice(
      entry.getArgument(0), entry.getArgument(4), [&](Value turn) {
        SmallVector<Value> scalars =
            kernel.loadScalars(entry.getArgument(3), scalarNumbers);
        Value row = turn, element;
        if (!update.hasRow()) {
          Value each = kernel.constant(width);
          row = arith::DivSIOp::create(builder, loc, turn, each);
          element = arith::RemSIOp::create(builder, loc, turn, each);
        }
        const RowMemory memory = rowMemory(
            kernel, update,
            LLVM::LoadOp::create(builder, loc, kernel.pointer,
                                 kernel.address(kernel.pointer, rows, row)),
            width);
        Value gradient = kernel.address(
            kernel.element, gradients,
            Value(arith::MulIOp::create(builder, loc, row,
                                        kernel.constant(width + counts))));
        return update.hasRow()
                   ? kernel.updateRow(update, memory.state, memory.rowSlots,
                                      gradient, scalars, width)
                   : kernel.updateElement(update, memory.state, gradient,
                                          scalars, element, kernel.noBits());
      });
  func::ReturnOp::create(builder, loc);
}

void UpdatesToKernels::buildRows(func::FuncOp function, nn::UpdateOp update,
                                 int64_t width,
                                 ArrayRef<int32_t> scalarNumbers) {
  Block &entry = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = update.getLoc();
  KernelBuilder kernel(builder, loc, update.getValueArgument().getType());
  // The width is known here, which lets LLVM unroll a row; argument 1 repeats
  // it.
  Value rowCount = entry.getArgument(0), rows = entry.getArgument(2),
        gradients = entry.getArgument(3);
  SmallVector<Value> scalars =
      kernel.loadScalars(entry.getArgument(4), scalarNumbers);
  int64_t states = 1 + update.getSlotArguments().size();
  const auto rowSlots = static_cast<int64_t>(update.getNumRowSlots());
  Value last =
      arith::SubIOp::create(builder, loc, rowCount, kernel.constant(1));
  Value ahead = kernel.constant(kRowsAhead);
  auto updateRow = [&](Value row) {
    auto load = [&](Value base, Value index) -> Value {
      return LLVM::LoadOp::create(builder, loc, kernel.pointer,
                                  kernel.address(kernel.pointer, base, index));
    };
    Value next = arith::MinSIOp::create(
        builder, loc, arith::AddIOp::create(builder, loc, row, ahead), last);
    Value nextRow = load(rows, next);
    int64_t lines = llvm::divideCeil(
        (states * width + rowSlots) * kernel.elementBytes, kLineBytes);
    for (int64_t line = 0; line < std::min(lines, kLinesAhead); ++line)
      LLVM::Prefetch::create(
          builder, loc,
          kernel.address(builder.getI8Type(), nextRow,
                         static_cast<int32_t>(line * kLineBytes)),
          /*rw=*/1, /*hint=*/3, /*cache=*/1);
    Value value = load(rows, row);
    SmallVector<Value> inputs{load(gradients, row)};
    if (update.getSeen())
      inputs.push_back(load(entry.getArgument(5), row));
    const RowMemory memory = rowMemory(kernel, update, value, width);
    return kernel.updateRow(update, memory.state, memory.rowSlots, inputs,
                            scalars, width);
  };
  kernel.returnNonFinite(kernel.parallel(rowCount, updateRow));
}

LogicalResult UpdatesToKernels::convertUpdate(nn::UpdateOp update) {
  Operation *&before = converted[update.getSymbolAttr().getAttr()];
  FailureOr<bool> same = sameAsBefore(update, before);
  if (failed(same) || *same)
    return same;
  before = update;

  SmallVector<int32_t> scalarNumbers;
  for (Value scalar : update.getScalars()) {
    auto once = scalar.getDefiningOp<nn::OnceOp>();
    if (!once)
      return update.emitOpError("takes a scalar that is no result of nn.once");
    scalarNumbers.push_back(cast<OpResult>(scalar).getResultNumber());
  }

  Operation *symbol = symbols->lookup(update.getSymbol());
  auto i32 = IntegerType::get(&getContext(), 32);
  auto i64 = IntegerType::get(&getContext(), 64);
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  std::string name = ("update_" + update.getSymbol()).str();
  func::FuncOp function, deviceKernel;
  FlatSymbolRefAttr group;
  if (auto table = dyn_cast<nn::TableOp>(symbol)) {
    group = table.getGroupAttr();
    SmallVector<Type> arguments{i64, i64, pointer, pointer, pointer};
    if (update.getSeen())
      arguments.push_back(pointer);
    function = createFunction(update.getLoc(), name, arguments, {i32});
    buildRows(function, update, table.getWidth(), scalarNumbers);
    if (onDevice && isForDevice(update)) {
      SmallVector<Type> memory(4, pointer);
      memory.insert(memory.begin(), IndexType::get(&getContext()));
      deviceKernel = createFunction(update.getLoc(), name + ".device", memory);
      buildRowsOnDevice(deviceKernel, update, table.getWidth(), scalarNumbers);
    }
  } else {
    auto param = cast<nn::ParamOp>(symbol);
    auto type = cast<RankedTensorType>(param.getType());
    // A vector is one row, and so is all to a rule of whole parameters.
    const int64_t rows =
        type.getRank() <= 1 || update.getWhole() ? 1 : type.getDimSize(0);
    group = param.getGroupAttr();
    SmallVector<Type> arguments{i64, pointer, pointer, pointer};
    if (update.getSeen())
      arguments.push_back(pointer);
    function = createFunction(update.getLoc(), name, arguments, {i32});
    const int64_t width = type.getNumElements() / rows;
    buildDense(function, update, width, scalarNumbers);
    if (launchesRules && isForDevice(update)) {
      SmallVector<Type> memory(partsOf(update) + 3, pointer);
      memory.insert(memory.begin(), IndexType::get(&getContext()));
      deviceKernel = createFunction(update.getLoc(), name + ".device", memory);
      buildOnDevice(deviceKernel, update, width, scalarNumbers);
    }
  }

  // Names and initial values of the slots are the rule's.
  auto groupOp = symbols->lookup<nn::GroupOp>(group.getValue());
  auto rule = symbols->lookup<nn::RuleOp>(groupOp.getRule());
  if (!rule)
    return update.emitOpError()
           << "is of group " << group << " whose rule " << groupOp.getRuleAttr()
           << " is not in the module, so the slots have no names";
  size_t slots = update.getSlotArguments().size();
  if (rule.getSlotNames().size() != slots)
    return update.emitOpError()
           << "has " << slots << " slots, but rule " << groupOp.getRuleAttr()
           << " has " << rule.getSlotNames().size();
  if (rule.getRowSlotNames().size() != update.getNumRowSlots())
    return update.emitOpError()
           << "has " << update.getNumRowSlots() << " row slots, but rule "
           << groupOp.getRuleAttr() << " has " << rule.getRowSlotNames().size();
  OpBuilder builder(function);
  rt::UpdateKernelOp::create(
      builder, update.getLoc(), update.getSymbolAttr(),
      FlatSymbolRefAttr::get(function),
      deviceKernel ? FlatSymbolRefAttr::get(deviceKernel) : FlatSymbolRefAttr(),
      rule.getAllSlotNames(),
      builder.getDenseF64ArrayAttr(rule.getAllSlotValues()),
      builder.getI32IntegerAttr(static_cast<int32_t>(update.getNumRowSlots())),
      update.getCountsAttr(),
      update.hasRow() && !update.getWhole() ? builder.getUnitAttr()
                                            : UnitAttr(),
      update.getWholeAttr(), builder.getI32IntegerAttr(rule.getFrozenPart()),
      update.getSeenAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void UpdatesToKernels::runOnOperation() {
  ModuleOp module = getOperation();
  converted.clear();
  kernels = 0;
  symbols.emplace(module);
  // Servers compute on the host.
  launchesRules = onDevice && module->getAttr(ps::PSDialect::kRoleAttrName) !=
                                  StringAttr::get(&getContext(), "pserver");
  SmallVector<Operation *> updates;
  for (Operation &owner : *module.getBody())
    if (isa<nn::ProgramOp, ps::HandlerOp>(owner))
      for (Operation &op : owner.getRegion(0).front())
        if (isa<nn::OnceOp, nn::UpdateOp>(op))
          updates.push_back(&op);
  for (Operation *op : updates) {
    auto once = dyn_cast<nn::OnceOp>(op);
    if (failed(once ? convertOnce(once)
                    : convertUpdate(cast<nn::UpdateOp>(op))))
      return signalPassFailure();
  }
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<nn::RuleOp, nn::ScheduleOp>(op))
      op.erase();
  reportStatistic(*this, module, numKernels, "kernels", kernels);
}
