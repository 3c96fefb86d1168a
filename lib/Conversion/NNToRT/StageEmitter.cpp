//===- StageEmitter.cpp - Emit the body of a stage ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pdlabi/abi/status.h"
#include "pdlc/Interfaces/StageOpInterface.h"

using namespace mlir;
using namespace pdlc;

//===----------------------------------------------------------------------===//
// Shared by all stages
//===----------------------------------------------------------------------===//

func::FuncOp ModuleContext::declare(StringRef name, FunctionType type) {
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name, type);
  function.setPrivate();
  return function;
}

std::string ModuleContext::freeName(StringRef wanted) {
  std::string name = wanted.str();
  for (unsigned number = 0; module.lookupSymbol(name); ++number)
    name = (wanted + "_" + Twine(number)).str();
  return name;
}

StringRef ModuleContext::addConstant(DenseElementsAttr value) {
  // The global is flat, so its initializer must be flat.
  value = value.reshape(
      RankedTensorType::get({value.getNumElements()}, value.getElementType()));
  StringRef &known = constants[value];
  if (!known.empty())
    return known;
  std::string name = freeName("constant" + std::to_string(constantCount++));
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  auto type =
      LLVM::LLVMArrayType::get(value.getElementType(), value.getNumElements());
  auto global = LLVM::GlobalOp::create(
      builder, module.getLoc(), type, /*isConstant=*/true,
      LLVM::Linkage::Internal, name, value, kBufferAlignment);
  return known = global.getSymName();
}

//===----------------------------------------------------------------------===//
// Access to memory and sizes
//===----------------------------------------------------------------------===//

StageEmitter::StageEmitter(ModuleContext &module, nn::ProgramOp program,
                           const ProgramSizes &sizes, const BufferPlan &plan,
                           nn::StageAttr stage)
    : builder(program.getLoc(), program.getContext()), module(module),
      sizes(sizes), plan(plan), program(program), stage(stage) {}

template <typename BuildFn> Value StageEmitter::atEntry(BuildFn build) {
  OpBuilder::InsertionGuard guard(builder);
  if (lastOfEntry)
    builder.setInsertionPointAfter(lastOfEntry);
  else
    builder.setInsertionPointToStart(&function.getBody().front());
  Value value = build();
  lastOfEntry = value.getDefiningOp();
  return value;
}

Value StageEmitter::index(int64_t value) {
  Value &known = indices[value];
  if (!known)
    known = atEntry([&]() -> Value {
      return arith::ConstantIndexOp::create(builder, value);
    });
  return known;
}

Value StageEmitter::pointer(rt::Place place, int64_t index) {
  Value &known = pointers[{static_cast<unsigned>(place), index}];
  if (!known)
    known = atEntry([&]() -> Value {
      return rt::PointerOp::create(builder, context.getType(), place, index,
                                   context);
    });
  return known;
}

Value StageEmitter::count(rt::Quantity quantity, int64_t index) {
  Value &known = counts[{static_cast<unsigned>(quantity), index}];
  if (!known)
    known = atEntry([&]() -> Value {
      return rt::CountOp::create(builder, builder.getIndexType(), quantity,
                                 index, context);
    });
  return known;
}

Value StageEmitter::idCount(Value ids) {
  Home home = plan.home(ids);
  if (home.kind == Home::Place)
    return count(rt::Quantity::field_values, home.index);
  Value known = idCounts.lookup(ids);
  if (!known) {
    known = cast<StageOpInterface>(ids.getDefiningOp())
                .emitCount(cast<OpResult>(ids), *this);
    idCounts[ids] = known;
  }
  return known;
}

Value StageEmitter::evaluate(const Extent &extent) {
  Value sum;
  auto add = [&](int64_t factor, Value value) {
    if (factor != 1)
      value = arith::MulIOp::create(builder, value, index(factor));
    sum = sum ? arith::AddIOp::create(builder, sum, value) : value;
  };
  if (extent.perBatch)
    add(extent.perBatch, count(rt::Quantity::batch));
  if (extent.perKey)
    add(extent.perKey, count(rt::Quantity::lookup_keys, extent.lookup));
  if (extent.perOccurrence)
    add(extent.perOccurrence,
        count(rt::Quantity::lookup_occurrences, extent.lookup));
  if (extent.perCount)
    add(extent.perCount, idCount(extent.counted));
  if (extent.constant || !sum)
    add(1, index(extent.constant));
  return sum;
}

/// Returns the place of the stage's arena in the step context.
static rt::Place arenaOf(nn::StageAttr stage) {
  return stage.getProperties().lastsForStep ? rt::Place::prepare_arena
                                            : rt::Place::compute_arena;
}

Value StageEmitter::baseOf(const Home &home, Value tensor) {
  switch (home.kind) {
  case Home::Place:
    return pointer(home.place, home.index);
  case Home::Arena:
    return pointer(arenaOf(home.stage));
  case Home::Allocated:
    return allocated.lookup(tensor);
  case Home::Constant:
    return constant(
        cast<StageOpInterface>(tensor.getDefiningOp()).getNumbers());
  case Home::None:
    break;
  }
  return {};
}

Value StageEmitter::constant(DenseElementsAttr value) {
  Value &known = constants[value];
  if (!known) {
    StringRef name = module.addConstant(value);
    known = atEntry([&]() -> Value {
      return LLVM::AddressOfOp::create(builder, context.getType(), name);
    });
  }
  return known;
}

Value StageEmitter::numbers(ArrayRef<double> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getF64Type());
  Extent count;
  count.constant = type.getDimSize(0);
  return viewAt(constant(DenseElementsAttr::get(type, values)), index(0), count,
                {}, type.getElementType());
}

/// Returns the strides of a tensor of shape `shape` whose elements are
/// `columns` of a wider tensor. Returns an empty list if it has no gaps.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape,
                                      const Columns &columns) {
  std::optional<unsigned> run = runDimension(shape, columns.run);
  assert(run && "neighbors of a tensor with gaps were requested");
  if (*run == 0 || columns.isDense())
    return {};
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (unsigned i = shape.size(); i-- > 0;) {
    if (i + 1 == *run)
      stride = columns.row;
    strides[i] = stride;
    if (i > 0)
      stride *= shape[i];
  }
  return strides;
}

Value StageEmitter::viewAt(Value base, Value offset, const Extent &first,
                           ArrayRef<int64_t> shape, Type element,
                           std::optional<Columns> columns) {
  SmallVector<int64_t> dimensions;
  dimensions.push_back(first.isStatic() ? first.constant
                                        : ShapedType::kDynamic);
  dimensions.append(shape.begin(), shape.end());
  SmallVector<int64_t> strides;
  if (columns)
    strides = stridesOf(dimensions, *columns);
  MemRefLayoutAttrInterface layout;
  if (!strides.empty())
    layout = StridedLayoutAttr::get(builder.getContext(), 0, strides);
  Value size = first.isStatic() ? Value() : evaluate(first);
  return rt::ViewOp::create(builder,
                            MemRefType::get(dimensions, element, layout), base,
                            offset, size);
}

std::optional<int64_t> StageEmitter::runOf(Value tensor) const {
  std::optional<Columns> columns = plan.locate(tensor).columns;
  if (!columns || columns->isDense())
    return std::nullopt;
  Extent all = sizes.elements(tensor);
  if (all.isStatic() && all.constant == columns->run)
    return std::nullopt;
  return columns->run;
}

std::pair<Value, Value> StageEmitter::locate(Value tensor) {
  auto [from, columns] = plan.locate(tensor);
  Value base, offset; // Base and offset of `from`.
  if (auto known = bound.find(from); known != bound.end()) {
    std::tie(base, offset) = known->second;
  } else {
    Home home = plan.home(from);
    base = baseOf(home, from);
    if (home.kind == Home::Arena)
      offset = offsetsOf.at(home.stage)[home.arenaPlace];
  }
  const int64_t bytes = columns ? columns->offset * elementBytes(tensor) : 0;
  if (!offset)
    return {base, index(bytes)};
  if (bytes)
    offset = arith::AddIOp::create(builder, offset, index(bytes));
  return {base, offset};
}

Value StageEmitter::address(Value tensor) {
  auto [base, offset] = locate(tensor);
  return rt::AddressOp::create(builder, base.getType(), base, offset);
}

Value StageEmitter::view(Value tensor, const Extent &first,
                         ArrayRef<int64_t> shape) {
  auto [base, offset] = locate(tensor);
  return viewAt(base, offset, first, shape,
                cast<RankedTensorType>(tensor.getType()).getElementType(),
                plan.locate(tensor).columns);
}

Value StageEmitter::view(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 0)
    return flat(tensor);
  return view(tensor, sizes.first(tensor), type.getShape().drop_front());
}

Value StageEmitter::flat(Value tensor) {
  return view(tensor, sizes.elements(tensor));
}

Value StageEmitter::scratchView(unsigned place, const Extent &first,
                                Type element, ArrayRef<int64_t> shape) {
  return viewAt(pointer(arenaOf(stage)), offsetsOf.at(stage)[place], first,
                shape, element);
}

void StageEmitter::allocate(Value tensor, Value count) {
  idCounts[tensor] = count;
  Value memory = rt::AllocateOp::create(builder, context.getType(),
                                        pointer(rt::Place::worker),
                                        evaluate(sizes.bytes(tensor)));
  allocated[tensor] = memory;
  Value null = LLVM::ZeroOp::create(builder, context.getType());
  Value missing =
      LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq, memory, null);
  Value status = arith::SelectOp::create(
      builder, missing,
      arith::ConstantIntOp::create(builder, PDL_OUT_OF_MEMORY, 32),
      arith::ConstantIntOp::create(builder, PDL_OK, 32));
  returnUnlessZero(status);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void StageEmitter::parallel(ArrayRef<Value> bounds,
                            function_ref<void(ValueRange)> body) {
  if (bounds.empty())
    return body({});
  SmallVector<Value> zeros(bounds.size(), index(0)),
      ones(bounds.size(), index(1));
  auto loop = scf::ParallelOp::create(builder, zeros, bounds, ones);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVars());
}

Value StageEmitter::ordered(Value count, Value initial,
                            function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(builder, index(0), count, index(1), initial);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(builder, next);
  return loop.getResult(0);
}

Value StageEmitter::load(Value memref, ValueRange indices) {
  return memref::LoadOp::create(builder, memref, indices);
}

void StageEmitter::store(Value value, Value memref, ValueRange indices) {
  memref::StoreOp::create(builder, value, memref, indices);
}

Value StageEmitter::scalar(Type type, double value) {
  return arith::ConstantOp::create(builder, builder.getFloatAttr(type, value));
}

void StageEmitter::forElements(Value tensor,
                               function_ref<void(Value, ValueRange)> body) {
  Extent first = sizes.elements(tensor);
  SmallVector<int64_t> rest;
  if (std::optional<int64_t> run = runOf(tensor)) {
    first = first.scaled(1, *run);
    rest.push_back(*run);
  }
  Value memory = view(tensor, first, rest);
  SmallVector<Value> bounds{evaluate(first)};
  for (int64_t size : rest)
    bounds.push_back(index(size));
  parallel(bounds, [&](ValueRange position) { body(memory, position); });
}

void StageEmitter::fill(Value tensor, Value scalar) {
  forElements(tensor, [&](Value memory, ValueRange position) {
    store(scalar, memory, position);
  });
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

Block *StageEmitter::addBlock() {
  auto *block = new Block();
  if (exit)
    block->insertBefore(exit);
  else
    function.getBody().push_back(block);
  return block;
}

LogicalResult StageEmitter::branch(Value condition,
                                   function_ref<LogicalResult()> taken,
                                   function_ref<LogicalResult()> otherwise) {
  Block *first = addBlock(), *second = addBlock(), *after = addBlock();
  cf::CondBranchOp::create(builder, condition, first, ValueRange(), second,
                           ValueRange());
  for (auto [block, emitBody] :
       {std::pair(first, taken), {second, otherwise}}) {
    builder.setInsertionPointToStart(block);
    if (failed(emitBody()))
      return failure();
    cf::BranchOp::create(builder, after);
  }
  builder.setInsertionPointToStart(after);
  return success();
}

void StageEmitter::returnUnlessZero(Value status) {
  if (!exit) {
    OpBuilder::InsertionGuard guard(builder);
    exit = new Block();
    function.getBody().push_back(exit);
    Value argument = exit->addArgument(builder.getI32Type(), builder.getLoc());
    builder.setInsertionPointToStart(exit);
    func::ReturnOp::create(builder, argument);
  }
  Block *next = addBlock();
  Value zero = arith::ConstantIntOp::create(builder, PDL_OK, 32);
  Value failed =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, status, zero);
  cf::CondBranchOp::create(builder, failed, exit, status, next, ValueRange());
  builder.setInsertionPointToStart(next);
}

void StageEmitter::emitOffsets(nn::StageAttr arena) {
  const ArenaLayout &layout = plan.arena(arena);
  // Unit and offset of each pool. Constant parts are added at compile time.
  struct Base {
    Value unit, offset;
    int64_t constant;
  };
  SmallVector<Base> bases;
  Value sum;
  int64_t constant = 0;
  auto plus = [&](Value first, Value second) -> Value {
    return first ? arith::AddIOp::create(builder, first, second) : second;
  };
  auto times = [&](Value unit, int64_t number) -> Value {
    return number == 1 ? unit
                       : arith::MulIOp::create(builder, unit, index(number));
  };
  for (const ArenaLayout::Pool &pool : layout.getPools()) {
    Base base = {{}, sum, constant};
    constant += pool.lines * kBufferAlignment;
    if (pool.unit.isStatic()) {
      constant += pool.size;
    } else {
      base.unit = evaluate(pool.unit.plus(pool.rounding - 1));
      if (pool.rounding > 1)
        base.unit =
            arith::AndIOp::create(builder, base.unit, index(-pool.rounding));
      sum = plus(sum, times(base.unit, pool.size));
    }
    bases.push_back(base);
  }
  for (const ArenaLayout::Place &place : layout.getPlaces()) {
    auto [unit, offset, number] = bases[place.pool];
    number += place.lines * kBufferAlignment;
    if (!unit)
      number += place.at;
    else if (place.at != 0)
      offset = plus(offset, times(unit, place.at));
    if (number != 0 || !offset)
      offset = plus(offset, index(number));
    offsetsOf[arena].push_back(offset);
  }
}

void StageEmitter::emitDeferred() {
  for (Operation &op : program.getBody().front())
    if (auto inStage = dyn_cast<StageOpInterface>(op)) {
      builder.setLoc(op.getLoc());
      inStage.emitDeferred(*this);
    }
}

void StageEmitter::copyTo(Value tensor, rt::Place place, int64_t number) {
  Home home = plan.home(tensor);
  if (home.kind == Home::Place && home.place == place && home.index == number &&
      !plan.locate(tensor).columns)
    return;
  Extent elements = sizes.elements(tensor);
  Value from = flat(tensor);
  Value to = viewAt(pointer(place, number), index(0), elements, {},
                    cast<RankedTensorType>(tensor.getType()).getElementType());
  memref::CopyOp::create(builder, from, to);
}

/// Copies gradients and outputs to their place in the step context, unless they
/// were computed there. For example, a result that is also a field, a parameter
/// or another result must be copied.
void StageEmitter::copyResults() {
  for (auto [number, update] : llvm::enumerate(gradientsOf(program)))
    copyTo(update.gradient, rt::Place::gradient, number);
  for (auto [number, output] :
       llvm::enumerate(program.getReturn().getOperands()))
    copyTo(output, rt::Place::output, number);
}

/// Finds, for each op of the stage, the updates whose gradients are complete
/// after this op. Contains only gradients that are computed in the step
/// context; others are complete only after `copyResults`.
llvm::DenseMap<Operation *, SmallVector<int32_t>>
StageEmitter::findReadyGradients() {
  Block &body = program.getBody().front();
  llvm::DenseMap<Operation *, SmallVector<int32_t>> ready;
  for (auto [number, update] : llvm::enumerate(gradientsOf(program))) {
    const int64_t index = number;
    Home home = plan.home(update.gradient);
    if (!update.isEarly || home.kind != Home::Place ||
        home.place != rt::Place::gradient || home.index != index ||
        plan.locate(update.gradient).columns)
      continue;
    Value root = plan.locate(update.gradient).root;
    Operation *last = nullptr;
    for (Operation &op : body.without_terminator()) {
      if (stageOf(&op) != stage || plan.isView(&op) ||
          llvm::none_of(op.getResults(), [&](Value result) {
            return plan.locate(result).root == root;
          }))
        continue;
      // A fused loop is at the position of its last op.
      ArrayRef<Operation *> loop = plan.loopOf(&op);
      Operation *place = loop.empty() ? &op : loop.back();
      if (!last || last->isBeforeInBlock(place))
        last = place;
    }
    if (last)
      ready[last].push_back(static_cast<int32_t>(number));
  }
  return ready;
}

func::FuncOp StageEmitter::emit() {
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  builder.setInsertionPoint(program);
  function = func::FuncOp::create(
      builder,
      module.freeName(
          (program.getSymName() + "_" + nn::stringifyStage(stage.getValue()))
              .str()),
      builder.getFunctionType(pointerType, builder.getI32Type()));
  context = function.addEntryBlock()->getArgument(0);
  builder.setInsertionPointToStart(&function.getBody().front());
  // Marks the position for constants and pointers that are read once.
  index(0);
  // A stage accesses its own arena, and the arenas of earlier stages that it
  // reads.
  for (const nn::StageProperties &arena : nn::allStages()) {
    auto of = nn::StageAttr::get(builder.getContext(), arena.stage);
    if (of == stage || (arena.lastsForStep && stage.runsAfter(of)))
      emitOffsets(of);
  }
  if (stage.getProperties().readsState)
    emitDeferred();
  const auto ready = stage.getProperties().readsState
                         ? findReadyGradients()
                         : llvm::DenseMap<Operation *, SmallVector<int32_t>>();
  for (Operation &op : program.getBody().front().without_terminator()) {
    builder.setLoc(op.getLoc());
    if (stageOf(&op) == stage && failed(emitOp(&op)))
      return {};
    for (int32_t update : ready.lookup(&op))
      rt::GradientReadyOp::create(builder, update, pointer(rt::Place::worker));
  }
  builder.setLoc(program.getLoc());
  if (stage.getProperties().readsState)
    copyResults();
  Value zero = arith::ConstantIntOp::create(builder, PDL_OK, 32);
  func::ReturnOp::create(builder, zero);
  declareCallees();
  return function;
}

LogicalResult StageEmitter::emitOp(Operation *op) {
  if (plan.isFused(op) || plan.isView(op))
    return success();
  if (auto inStage = dyn_cast<StageOpInterface>(op))
    return inStage.emit(*this);
  return op->emitOpError("has no lowering to a stage");
}

/// Declares the functions of pdlabi/math.h that formulas call by name.
void StageEmitter::declareCallees() {
  function.walk([&](func::CallOp call) {
    module.declare(call.getCallee(), call.getCalleeType());
  });
}
