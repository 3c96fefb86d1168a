//===- UpdatesToKernels.cpp - Convert updates to kernels ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/OperationSupport.h"
#include "pdlabi/abi/symbols.h"
#include "pdlc/Conversion/Passes.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/NN/IR/PeriodSlot.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Support/Statistics.h"

namespace pdlc {
#define GEN_PASS_DEF_NNUPDATESTOKERNELS
#include "pdlc/Conversion/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

/// Number of rows by which a row kernel prefetches ahead. While it computes one
/// row, later rows are loaded from memory.
static constexpr int64_t kRowsAhead = 16;
/// Maximum number of cache lines of a row that are prefetched. The hardware
/// prefetches the rest.
static constexpr int64_t kLinesAhead = 8;
static constexpr int64_t kLineBytes = 64;

namespace {

/// Returns the number of parts: value and slots.
static size_t partsOf(nn::UpdateOp update) {
  return 1 + update.getSlotArguments().size() + update.getNumRowSlots();
}

/// Returns true if a device should apply the rule. The host applies rules that
/// have only one iteration, because a single thread of a device is slow. It
/// also applies rules that need seen values, and rules that call f64 functions
/// which a device lacks. A device has square root, absolute value and copysign.
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
  /// Creates an empty function after the other ops of the module.
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

  /// First op for each group and symbol.
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
  // The symbol table renames the function if the model uses the name.
  symbols->insert(function);
  function.addEntryBlock();
  ++kernels;
  return function;
}

/// Returns the element type of the values that `once` yields.
static Type scalarTypeOf(nn::OnceOp once) {
  return cast<RankedTensorType>(once.getResult(0).getType()).getElementType();
}

/// Returns the name of a scalar in messages.
static std::string describe(nn::OnceOp once, nn::ScalarAttr scalar,
                            const SymbolTable &symbols) {
  switch (scalar.getRole()) {
  case nn::ScalarRole::weight:
    return "sum of weights";
  case nn::ScalarRole::clip_factor: {
    auto group = symbols.lookup<nn::GroupOp>(once.getGroup());
    return "factor of clip @" + group.getClipAttr().getValue().str();
  }
  case nn::ScalarRole::rule:
    return scalar.getName().str();
  }
  llvm_unreachable("an enumerator without case");
}

/// Returns the scalars that updates of the group use directly as divisors.
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

/// Returns true if `op` was already converted for another program, as `before`.
/// Fails if the regions of the two differ.
static FailureOr<bool> sameAsBefore(Operation *op, Operation *before) {
  if (!before)
    return false;
  // The regions of nn.once use f64, whatever the type of its results.
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

  // Every member of `pdl_once_arguments` is a double.
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
  if (BlockArgument senders = once.getSendersArgument())
    load(senders, offsetof(pdl_once_arguments, senders));
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
      [&](nn::ScalarAttr scalar) { return describe(once, scalar, *symbols); });
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

/// Addresses that a parameter kernel works on. `parts` are the value and the
/// slots. `inputs` are the gradient and, if the update has one, the seen value.
struct DenseMemory {
  ArrayRef<Value> parts;
  ArrayRef<Value> inputs;
};

/// Emits iteration `turn` of a parameter kernel. It processes one element, or a
/// row of `width` elements if the rule works on rows. Returns the maximum bits
/// of the written values.
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
/// Addresses of value and slots, and of row slots, of a table row.
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

/// Emits the body of a kernel that updates rows of a table on a device. The
/// gradients of the rows are one after the other in memory, each followed by
/// its counts.
void UpdatesToKernels::buildRowsOnDevice(func::FuncOp function,
                                         nn::UpdateOp update, int64_t width,
                                         ArrayRef<int32_t> scalarNumbers) {
  Block &entry = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = update.getLoc();
  KernelBuilder kernel(builder, loc, update.getValueArgument().getType());
  Value rows = entry.getArgument(1), gradients = entry.getArgument(2);
  const auto counts =
      static_cast<int64_t>(update.getCounts()) + update.getAdmitting();
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
  // Use a constant for the width, so that LLVM can unroll a row. Argument 1 has
  // the same value.
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
    // A vector counts as one row, and so does a whole parameter if the rule
    // works on whole parameters.
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

  // The rule provides the names and initial values of the slots.
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
  SmallVector<Attribute> slotNames(rule.getAllSlotNames().getValue());
  SmallVector<double> slotValues(rule.getAllSlotValues());
  auto rowSlots = static_cast<int32_t>(update.getNumRowSlots());
  // The runtime's own slot follows those that the kernel knows.
  if (auto table = dyn_cast<nn::TableOp>(symbol);
      table && table.getShrinkEvery()) {
    auto period = builder.getStringAttr(nn::kPeriodSlotName);
    if (llvm::is_contained(slotNames, period))
      return update.emitOpError()
             << "is of a rule with a slot " << period
             << ", a name that tables which shrink give to a slot of their "
                "own; choose another";
    slotNames.push_back(period);
    slotValues.push_back(0);
    ++rowSlots;
  }
  // Admission by score does not use names.
  SmallVector<double> countWeights;
  if (auto table = dyn_cast<nn::TableOp>(symbol);
      table && table.getAdmitScore())
    for (auto name : rule.getCountNames().getAsRange<StringAttr>()) {
      auto weight = table.getScoreAttr().getAs<FloatAttr>(name);
      countWeights.push_back(weight ? weight.getValueAsDouble() : 0.0);
    }
  rt::UpdateKernelOp::create(
      builder, update.getLoc(), update.getSymbolAttr(),
      FlatSymbolRefAttr::get(function),
      deviceKernel ? FlatSymbolRefAttr::get(deviceKernel) : FlatSymbolRefAttr(),
      builder.getArrayAttr(slotNames), builder.getDenseF64ArrayAttr(slotValues),
      builder.getI32IntegerAttr(rowSlots),
      builder.getI64IntegerAttr(static_cast<int64_t>(update.getCounts()) +
                                update.getAdmitting()),
      builder.getDenseF64ArrayAttr(countWeights),
      update.hasRow() && !update.getWhole() ? builder.getUnitAttr()
                                            : UnitAttr(),
      update.getWholeAttr(), builder.getI32IntegerAttr(rule.getFrozenPart()),
      update.getSeenAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
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
