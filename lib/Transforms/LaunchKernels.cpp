//===- LaunchKernels.cpp - Compute leaves its work to a device ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pointers of a stage are taken twice: as the host has them, and as the device
// does. What is launched uses the second kind, what stays on the host the
// first; where that is to see memory of the device, copies stand between them.
//
//===----------------------------------------------------------------------===//

#include "KernelLoop.h"
#include "LibraryLaunches.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pdlabi/table.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Dialect/RT/IR/DescriptorOrder.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

namespace pdlc {
#define GEN_PASS_DEF_RTLAUNCHKERNELS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// What a call of the runtime writes of the memory that it is given.
static SmallVector<Value> writtenBy(Operation *op) {
  return TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case<rt::GatherOp, rt::PoolOp, rt::GemmOp, rt::BatchGemmOp,
            rt::DropoutOp, rt::ReduceRowsOp, rt::SampleOp, rt::LogProbabilityOp,
            rt::BucketizeOp, rt::CrossOp>(
          [](auto each) { return SmallVector<Value>{each.getOut()}; })
      .Case<rt::InBatchLogSumExpOp, rt::InBatchGradientOp>([](auto each) {
        return SmallVector<Value>{each.getScratch(), each.getOut()};
      })
      .Case([](rt::PoolGradientOp each) {
        return SmallVector<Value>{each.getBagOf(), each.getOut()};
      })
      .Default({});
}

/// Whether the memory behind an argument of a kernel may be written.
static bool isWritten(Value memory) {
  return llvm::any_of(memory.getUsers(), [&](Operation *user) {
    return TypeSwitch<Operation *, bool>(user)
        .Case<rt::ViewOp, rt::AddressOp>(
            [](auto each) { return isWritten(each.getResult()); })
        .Case([](LLVM::GEPOp element) { return isWritten(element); })
        .Case<memref::LoadOp, LLVM::LoadOp, rt::CombineRowOp>(
            [](auto) { return false; })
        .Case([&](memref::CopyOp copy) { return copy.getTarget() == memory; })
        .Default([&](Operation *other) {
          SmallVector<Value> written = writtenBy(other);
          return written.empty() || llvm::is_contained(written, memory);
        });
  });
}

namespace {

/// The kernels of a module, and what the device must know of them.
class DeviceKernels {
public:
  explicit DeviceKernels(ModuleOp module) : module(module), symbols(module) {}

  /// The function that a call names, null where it is no function of the model.
  func::FuncOp kernelOf(func::CallOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
    return kernel && !kernel.isExternal() ? kernel : func::FuncOp();
  }
  /// Says that a device launches it.
  void add(func::FuncOp kernel);
  /// The same of one of the device library, which is launched.
  void launchFromLibrary(OpBuilder &builder, Location loc, StringRef name,
                         Type element, ArrayRef<LibraryArgument> arguments,
                         Value worker);
  /// Has one of the library for the runtime, which launches it by its name.
  void addForRuntime(StringRef name, ArrayRef<rt::DeviceArgument> kinds);
  /// How many turns `call` has of it: the number is computed before the call.
  Value turnsOf(func::FuncOp kernel, func::CallOp call);
  /// Gives those who call it on the host, too, a function of their own.
  void separateFromHost();

  size_t size() const { return kernels.size() + library.size(); }

private:
  void describe(FlatSymbolRefAttr kernel, ArrayRef<rt::DeviceArgument> kinds);

  ModuleOp module;
  SymbolTable symbols;
  llvm::MapVector<func::FuncOp, SharedLoops> kernels;
  llvm::DenseSet<StringAttr> library;
};

} // namespace

static SmallVector<Value> valuesOf(ArrayRef<LibraryArgument> arguments) {
  return llvm::map_to_vector(
      arguments, [](const LibraryArgument &each) { return each.value; });
}

/// The name of a function of the device library.
static std::string libraryName(StringRef name, Type element) {
  std::string full = ("pdldevice_" + name).str();
  if (element)
    full += element.isF64() ? "_f64" : "_f32";
  return full;
}

/// The address of memory of a kernel.
static Value addressInKernel(OpBuilder &builder, Value memref) {
  Location loc = memref.getLoc();
  if (auto view = memref.getDefiningOp<rt::ViewOp>())
    return rt::AddressOp::create(builder, loc, view.getBase().getType(),
                                 view.getBase(), view.getOffset());
  Value number =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  number =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number);
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), number);
}

/// Lets the thread that does a turn form the products in it.
static void callLibrary(func::FuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  SmallVector<rt::GemmOp> products;
  kernel.walk([&](rt::GemmOp product) { products.push_back(product); });
  for (rt::GemmOp product : products) {
    OpBuilder builder(product);
    Location loc = product.getLoc();
    const auto call = [&](StringRef name, Type element,
                          ArrayRef<LibraryArgument> arguments) {
      SmallVector<Value> values = valuesOf(arguments);
      for (int64_t number : {0, 1})
        values.push_back(arith::ConstantIndexOp::create(builder, loc, number));
      SmallVector<Type> types(ValueRange(values).getTypes());
      func::CallOp::create(
          builder, loc,
          declareInLibrary(module, libraryName(name, element), types, {}),
          TypeRange(), values);
    };
    const auto address = [&](Value memref) {
      return addressInKernel(builder, memref);
    };
    launchFromLibrary(product, {builder, address, nullptr, nullptr, call});
    product.erase();
  }
}

void DeviceKernels::describe(FlatSymbolRefAttr kernel,
                             ArrayRef<rt::DeviceArgument> kinds) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Attribute> attributes;
  for (rt::DeviceArgument kind : kinds)
    attributes.push_back(
        rt::DeviceArgumentAttr::get(builder.getContext(), kind));
  rt::DeviceKernelOp::create(builder, module.getLoc(), kernel,
                             builder.getArrayAttr(attributes),
                             FlatSymbolRefAttr());
}

void DeviceKernels::launchFromLibrary(OpBuilder &builder, Location loc,
                                      StringRef name, Type element,
                                      ArrayRef<LibraryArgument> arguments,
                                      Value worker) {
  const SmallVector<Value> values = valuesOf(arguments);
  SmallVector<Type> types(ValueRange(values).getTypes());
  Type index = builder.getIndexType();
  FlatSymbolRefAttr turns = declareInLibrary(
      module, ("pdldevice_" + name + "_turns").str(), types, index);
  types.append({index, index});
  FlatSymbolRefAttr kernel =
      declareInLibrary(module, libraryName(name, element), types, {});
  if (library.insert(kernel.getAttr()).second)
    describe(kernel, llvm::map_to_vector(arguments,
                                         [](auto &each) { return each.kind; }));
  Value count =
      func::CallOp::create(builder, loc, turns, TypeRange(index), values)
          .getResult(0);
  rt::LaunchOp::create(builder, loc, kernel, count, worker, values);
}

void DeviceKernels::addForRuntime(StringRef name,
                                  ArrayRef<rt::DeviceArgument> kinds) {
  MLIRContext *context = module.getContext();
  Type index = IndexType::get(context),
       pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> types =
      llvm::map_to_vector(kinds, [&](rt::DeviceArgument kind) {
        return kind == rt::DeviceArgument::number ? index : pointer;
      });
  types.append({index, index});
  FlatSymbolRefAttr kernel = declareInLibrary(module, name, types, {});
  if (library.insert(kernel.getAttr()).second)
    describe(kernel, kinds);
}

void DeviceKernels::add(func::FuncOp kernel) {
  auto [place, isNew] = kernels.try_emplace(kernel);
  if (!isNew)
    return;
  // Before products become calls, which do not say what they write.
  const SmallVector<bool> written = llvm::map_to_vector(
      kernel.getArguments(), [](Value each) { return isWritten(each); });
  callLibrary(kernel);
  if (!place->second.match(kernel))
    place->second = {};
  // What a launch is given has no attribute of a function of the host.
  kernel->removeAttr("passthrough");
  SmallVector<rt::DeviceArgument> kinds;
  for (auto [argument, isOut] : llvm::zip(kernel.getArguments(), written))
    // A pointer that nobody uses may be the host's.
    kinds.push_back(!isa<LLVM::LLVMPointerType>(argument.getType()) ||
                            argument.use_empty()
                        ? rt::DeviceArgument::number
                    : isOut ? rt::DeviceArgument::written
                            : rt::DeviceArgument::read);
  describe(FlatSymbolRefAttr::get(kernel.getSymNameAttr()), kinds);
}

/// What `value` of a kernel is where it is called: numbers are computed of
/// constants and arguments, and of nothing else.
static Value computeAtCall(Value value, IRMapping &known, OpBuilder &builder) {
  if (Value there = known.lookupOrNull(value))
    return there;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    (void)computeAtCall(operand, known, builder);
  builder.clone(*op, known);
  return known.lookup(value);
}

Value DeviceKernels::turnsOf(func::FuncOp kernel, func::CallOp call) {
  OpBuilder builder(call);
  IRMapping known;
  known.map(kernel.getArguments(), call.getOperands());
  Value turns;
  for (Value bound : kernels.find(kernel)->second.bounds) {
    Value here = computeAtCall(bound, known, builder);
    turns = turns ? arith::MulIOp::create(builder, call.getLoc(), turns, here)
                  : here;
  }
  // What has an order is done by one thread.
  return turns ? turns
               : arith::ConstantIndexOp::create(builder, call.getLoc(), 1);
}

void DeviceKernels::separateFromHost() {
  llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> callers;
  module.walk([&](func::CallOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
    if (kernel && kernels.contains(kernel))
      callers[kernel].push_back(call);
  });
  for (auto &[kernel, calls] : callers) {
    func::FuncOp ofHost = kernel.clone();
    ofHost.setName((kernel.getSymName() + ".host").str());
    symbols.insert(ofHost, std::next(kernel->getIterator()));
    for (func::CallOp call : calls)
      call.setCallee(ofHost.getSymName());
  }
}

//===----------------------------------------------------------------------===//
// A stage
//===----------------------------------------------------------------------===//

namespace {

/// Stage compute of a program, on its way to a device.
class DeviceStage {
public:
  DeviceStage(func::FuncOp stage, DeviceKernels &kernels)
      : stage(stage), kernels(kernels),
        builder(OpBuilder::atBlockBegin(&stage.getBody().front())) {}

  LogicalResult convert();

private:
  enum class Side { Host, Both, Device };
  /// Where the memory behind a pointer or memref is when the stage runs.
  static FailureOr<Side> sideOf(Value memory);

  Value onDevice(Value memory);
  Value bytesOf(Value memref);
  Value addressOf(Value memref);
  Value hostMemory(Value bytes);
  Value viewLike(Value memref, Value pointer);
  Value copyOut(Value memref);
  Value copyOutOnce(Value memref);
  void copyIn(Value pointer, Value memref);
  /// Waits; the stage ends where that fails.
  void wait(bool isLast = false);

  LogicalResult convert(Operation *op);
  LogicalResult convertCall(func::CallOp call);
  Value devicePointer(rt::Place place, int64_t index);
  LogicalResult launchLibrary(Operation *op, bool &isLaunched);
  LogicalResult convertLoad(memref::LoadOp load);
  LogicalResult convertStore(memref::StoreOp store);
  LogicalResult convertCopy(memref::CopyOp copy);
  LogicalResult leaveToHost(Operation *op);
  void finish(func::ReturnOp end);
  LogicalResult refuse(Operation *op) {
    return op->emitError() << op->getName().stripDialect()
                           << " has no place on a device; this is a fault of "
                              "PDL, please report it";
  }

  func::FuncOp stage;
  DeviceKernels &kernels;
  /// Each op is built where the one stands that it replaces.
  OpBuilder builder;
  Value worker;
  DenseMap<Value, Value> copies;
  /// What was copied to the host since something was last added that may write:
  /// one copy is enough for all who look at it.
  DenseMap<Value, Value> copiedOut;
  std::map<std::pair<rt::Place, int64_t>, Value> pointers;
  /// What the host does with results, at the end of each block.
  llvm::MapVector<Operation *, SmallVector<Operation *>> atEnd;
  Block *failed = nullptr;
};

} // namespace

FailureOr<DeviceStage::Side> DeviceStage::sideOf(Value memory) {
  Operation *op = memory.getDefiningOp();
  if (auto view = dyn_cast_or_null<rt::ViewOp>(op))
    return sideOf(view.getBase());
  if (auto address = dyn_cast_or_null<rt::AddressOp>(op))
    return sideOf(address.getBase());
  if (isa_and_nonnull<LLVM::AddressOfOp>(op))
    return Side::Both;
  auto pointer = dyn_cast_or_null<rt::PointerOp>(op);
  if (!pointer)
    return failure();
  switch (pointer.getPlace()) {
  case rt::Place::worker:
  case rt::Place::lookup:
  case rt::Place::loss_sum:
  case rt::Place::weight_sum:
  case rt::Place::metric:
  case rt::Place::draws:
    return Side::Host;
  case rt::Place::field_values:
  case rt::Place::field_splits:
  case rt::Place::lookup_inverse:
  case rt::Place::lookup_key_splits:
  case rt::Place::lookup_occurrences:
  case rt::Place::parameter:
  case rt::Place::prepare_arena:
  case rt::Place::draws_samples:
    return Side::Both;
  case rt::Place::gradient:
  case rt::Place::output:
  case rt::Place::compute_arena:
    return Side::Device;
  }
  llvm_unreachable("all places are known");
}

/// What a place has on the device, one for all uses.
Value DeviceStage::devicePointer(rt::Place place, int64_t index) {
  Value &known = pointers[{place, index}];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(worker);
    known = rt::DevicePointerOp::create(builder, worker.getLoc(),
                                        worker.getType(), place, index, worker);
  }
  return known;
}

/// The pointer to the same memory as the device has it.
Value DeviceStage::onDevice(Value memory) {
  if (Value known = copies.lookup(memory))
    return known;
  Operation *op = memory.getDefiningOp();
  OpBuilder::InsertionGuard guard(builder);
  if (auto address = dyn_cast<rt::AddressOp>(op)) {
    Value base = onDevice(address.getBase());
    builder.setInsertionPointAfter(op);
    return copies[memory] =
               rt::AddressOp::create(builder, op->getLoc(), base.getType(),
                                     base, address.getOffset());
  }
  if (auto pointer = dyn_cast<rt::PointerOp>(op))
    return devicePointer(pointer.getPlace(), pointer.getIndex());
  auto constant = cast<LLVM::AddressOfOp>(op);
  auto global = stage->getParentOfType<ModuleOp>().lookupSymbol<LLVM::GlobalOp>(
      constant.getGlobalName());
  auto type = cast<LLVM::LLVMArrayType>(global.getType());
  // All that stages hold of constants stands behind the worker.
  builder.setInsertionPointAfter(op);
  Value bytes = arith::ConstantIndexOp::create(
      builder, op->getLoc(),
      static_cast<int64_t>(type.getNumElements()) *
          type.getElementType().getIntOrFloatBitWidth() / 8);
  return copies[memory] = rt::DeviceConstantOp::create(
             builder, op->getLoc(), memory.getType(), worker, bytes, memory);
}

/// The bytes from the first element of a view to its last.
Value DeviceStage::bytesOf(Value memref) {
  auto view = memref.getDefiningOp<rt::ViewOp>();
  auto type = cast<MemRefType>(memref.getType());
  Location loc = memref.getLoc();
  const auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  const int64_t element = type.getElementTypeBitWidth() / 8;
  auto strides = type.getStridesAndOffset().first;
  int64_t inner = 1;
  for (int64_t i = 1; i < type.getRank(); ++i)
    inner += (type.getDimSize(i) - 1) * strides[i];
  if (type.getRank() == 0)
    return constant(element);
  if (!view.getSize())
    return constant(((type.getDimSize(0) - 1) * strides[0] + inner) * element);
  Value bytes = arith::MulIOp::create(builder, loc, view.getSize(),
                                      constant(strides[0] * element));
  const int64_t gap = strides[0] - inner;
  return gap ? arith::SubIOp::create(builder, loc, bytes,
                                     constant(gap * element))
             : bytes;
}

Value DeviceStage::addressOf(Value memref) {
  auto view = memref.getDefiningOp<rt::ViewOp>();
  Value base = onDevice(view.getBase());
  return rt::AddressOp::create(builder, memref.getLoc(), base.getType(), base,
                               view.getOffset());
}

Value DeviceStage::hostMemory(Value bytes) {
  return rt::HostMemoryOp::create(builder, bytes.getLoc(), worker.getType(),
                                  worker, bytes);
}

/// A view of other memory that is as `memref` is of its own.
Value DeviceStage::viewLike(Value memref, Value pointer) {
  auto view = memref.getDefiningOp<rt::ViewOp>();
  Value zero = arith::ConstantIndexOp::create(builder, memref.getLoc(), 0);
  return rt::ViewOp::create(builder, memref.getLoc(), memref.getType(), pointer,
                            zero, view.getSize());
}

/// A view for the host of what the device has, behind the next wait.
Value DeviceStage::copyOut(Value memref) {
  Value bytes = bytesOf(memref);
  Value memory = hostMemory(bytes);
  rt::CopyOutOp::create(builder, memref.getLoc(), worker, bytes,
                        addressOf(memref), memory);
  return viewLike(memref, memory);
}

/// The same for who does not write there.
Value DeviceStage::copyOutOnce(Value memref) {
  Value &known = copiedOut[memref];
  if (!known)
    known = copyOut(memref);
  return known;
}

void DeviceStage::copyIn(Value pointer, Value memref) {
  rt::CopyInOp::create(builder, memref.getLoc(), worker, bytesOf(memref),
                       pointer, addressOf(memref));
}

void DeviceStage::wait(bool isLast) {
  Location loc = stage.getLoc();
  Value status = rt::DeviceWaitOp::create(builder, loc, builder.getI32Type(),
                                          isLast, worker);
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  Value isBad = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      status, zero);
  Block *before = builder.getInsertionBlock();
  Block *behind = before->splitBlock(builder.getInsertionPoint());
  OpBuilder::InsertionGuard guard(builder);
  if (!failed) {
    failed = builder.createBlock(&stage.getBody(), stage.getBody().end(),
                                 builder.getI32Type(), loc);
    func::ReturnOp::create(builder, loc, failed->getArgument(0));
  }
  builder.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(builder, loc, isBad, failed, ValueRange{status},
                           behind, ValueRange());
}

LogicalResult DeviceStage::convertCall(func::CallOp call) {
  func::FuncOp kernel = kernels.kernelOf(call);
  kernels.add(kernel);
  SmallVector<Value> arguments;
  for (auto [operand, argument] :
       llvm::zip(call.getOperands(), kernel.getArguments())) {
    if (!isa<LLVM::LLVMPointerType>(operand.getType())) {
      arguments.push_back(operand);
      continue;
    }
    if (argument.use_empty()) {
      arguments.push_back(
          LLVM::ZeroOp::create(builder, call.getLoc(), operand.getType()));
      continue;
    }
    FailureOr<Side> side = sideOf(operand);
    if (llvm::failed(side) || *side == Side::Host)
      return refuse(call);
    arguments.push_back(onDevice(operand));
  }
  Value turns = kernels.turnsOf(kernel, call);
  builder.setInsertionPoint(call);
  rt::LaunchOp::create(builder, call.getLoc(),
                       FlatSymbolRefAttr::get(kernel.getSymNameAttr()), turns,
                       worker, arguments);
  call.erase();
  return success();
}

/// Launches what the device library has for a call of the runtime.
LogicalResult DeviceStage::launchLibrary(Operation *op, bool &isLaunched) {
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType())) {
      FailureOr<Side> side = sideOf(operand);
      if (llvm::failed(side) || *side == Side::Host)
        return refuse(op);
    }
  Location loc = op->getLoc();
  const auto launch = [&](StringRef name, Type element,
                          ArrayRef<LibraryArgument> arguments) {
    kernels.launchFromLibrary(builder, loc, name, element, arguments, worker);
  };
  const auto address = [&](Value memref) { return addressOf(memref); };
  const auto pointer = [&](rt::Place place, int64_t index) {
    return devicePointer(place, index);
  };
  const auto count = [&](rt::Quantity quantity, int64_t index) -> Value {
    return rt::CountOp::create(builder, loc, builder.getIndexType(), quantity,
                               index, stage.getArgument(0));
  };
  isLaunched =
      launchFromLibrary(op, {builder, address, pointer, count, launch});
  if (isLaunched)
    op->erase();
  return success();
}

LogicalResult DeviceStage::convertLoad(memref::LoadOp load) {
  FailureOr<Side> side = sideOf(load.getMemRef());
  if (llvm::failed(side))
    return refuse(load);
  if (*side != Side::Device)
    return success();
  Value there = copyOut(load.getMemRef());
  wait();
  builder.setInsertionPoint(load);
  load.getMemrefMutable().set(there);
  return success();
}

LogicalResult DeviceStage::convertStore(memref::StoreOp store) {
  FailureOr<Side> side = sideOf(store.getMemRef());
  MemRefType type = store.getMemRefType();
  // What a stage stores by itself is a number.
  if (llvm::failed(side) || type.getNumElements() != 1)
    return refuse(store);
  if (*side == Side::Host)
    return success();
  Value memref = store.getMemRef();
  Value memory = hostMemory(bytesOf(memref));
  store.getMemrefMutable().set(viewLike(memref, memory));
  builder.setInsertionPointAfter(store);
  copyIn(memory, memref);
  return success();
}

LogicalResult DeviceStage::convertCopy(memref::CopyOp copy) {
  if (!rt::isDense(cast<MemRefType>(copy.getSource().getType())) ||
      !rt::isDense(cast<MemRefType>(copy.getTarget().getType())))
    return refuse(copy);
  rt::CopyWithinOp::create(
      builder, copy.getLoc(), worker, bytesOf(copy.getTarget()),
      addressOf(copy.getSource()), addressOf(copy.getTarget()));
  copy.erase();
  return success();
}

/// What the host looks at, with nothing to do for the device.
static bool onlyLooks(Operation *op) {
  return isa<rt::ObserveOp, rt::ObserveGroupsOp, rt::LossSumOp>(op);
}

/// Lets the host do what there is no kernel for: on copies of what the device
/// has, and then copies what was written.
LogicalResult DeviceStage::leaveToHost(Operation *op) {
  const bool isLast = onlyLooks(op);
  const SmallVector<Value> written = writtenBy(op);
  if (!isLast && written.empty())
    return refuse(op);
  bool waits = false;
  SmallVector<std::pair<Value, Value>> results; // of the host, of the device
  IRMapping moved;
  for (Value operand : op->getOperands()) {
    if (!isa<MemRefType>(operand.getType()) || moved.contains(operand))
      continue;
    FailureOr<Side> side = sideOf(operand);
    if (llvm::failed(side))
      return refuse(op);
    if (*side != Side::Device)
      continue;
    const bool isResult = llvm::is_contained(written, operand);
    auto type = cast<MemRefType>(operand.getType());
    // What lies between rows stays as it is.
    if (isResult && rt::isDense(type)) {
      Value memory = hostMemory(bytesOf(operand));
      moved.map(operand, viewLike(operand, memory));
      results.push_back({memory, operand});
      continue;
    }
    Value there = isLast ? copyOutOnce(operand) : copyOut(operand);
    moved.map(operand, there);
    waits = true;
    if (isResult)
      results.push_back({there.getDefiningOp<rt::ViewOp>().getBase(), operand});
  }
  for (OpOperand &operand : op->getOpOperands())
    if (Value there = moved.lookupOrNull(operand.get()))
      operand.set(there);
  if (isLast) {
    atEnd[op->getBlock()->getTerminator()].push_back(op);
    return success();
  }
  if (waits)
    wait();
  builder.setInsertionPointAfter(op);
  for (auto [memory, memref] : results)
    copyIn(memory, memref);
  return success();
}

/// All is done when the stage returns.
void DeviceStage::finish(func::ReturnOp end) {
  if (end->getBlock() == failed)
    return;
  builder.setInsertionPoint(end);
  wait(/*isLast=*/true);
}

LogicalResult DeviceStage::convert(Operation *op) {
  builder.setInsertionPoint(op);
  if (!onlyLooks(op) && !isMemoryEffectFree(op))
    copiedOut.clear();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](func::CallOp call) {
        return kernels.kernelOf(call) ? convertCall(call) : success();
      })
      .Case([&](memref::LoadOp load) { return convertLoad(load); })
      .Case([&](memref::StoreOp store) { return convertStore(store); })
      .Case([&](memref::CopyOp copy) { return convertCopy(copy); })
      .Case([&](rt::GradientReadyOp ready) {
        // What is not said is complete when the stage ends.
        ready.erase();
        return success();
      })
      .Default([&](Operation *other) {
        if (other->hasTrait<rt::CallsRuntime>()) {
          bool isLaunched = false;
          if (llvm::failed(launchLibrary(other, isLaunched)))
            return failure();
          return isLaunched ? success() : leaveToHost(other);
        }
        return isMemoryEffectFree(other) ||
                       other->hasTrait<OpTrait::IsTerminator>() ||
                       isa<rt::PointerOp, rt::CountOp>(other)
                   ? success()
                   : refuse(other);
      });
}

LogicalResult DeviceStage::convert() {
  SmallVector<Operation *> all;
  for (Block &block : stage.getBody())
    for (Operation &op : block)
      all.push_back(&op);
  worker = rt::PointerOp::create(builder, stage.getLoc(),
                                 stage.getArgument(0).getType(),
                                 rt::Place::worker, 0, stage.getArgument(0));
  for (Operation *op : all)
    if (llvm::failed(convert(op)))
      return failure();
  SmallVector<func::ReturnOp> ends(stage.getBody().getOps<func::ReturnOp>());
  for (func::ReturnOp end : ends)
    finish(end);
  for (auto &[end, ops] : atEnd) {
    if (!isa<func::ReturnOp>(end)) {
      builder.setInsertionPoint(end);
      wait();
    }
    for (Operation *op : ops)
      op->moveBefore(end);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct LaunchKernels : pdlc::impl::RTLaunchKernelsBase<LaunchKernels> {
  void runOnOperation() override;
};
} // namespace

/// What finds out whether gradients are finite, and what adds those of
/// replicas, of each type that there is.
static void addKernelsOfGradients(ModuleOp module, DeviceKernels &kernels) {
  SymbolTable symbols(module);
  for (rt::ProgramOp program : module.getOps<rt::ProgramOp>())
    for (auto name : program.getUpdates().getAsRange<FlatSymbolRefAttr>()) {
      Operation *symbol = symbols.lookup(name.getValue());
      Type element =
          isa<nn::TableOp>(symbol)
              ? cast<nn::TableOp>(symbol).getRowType().getElementType()
              : cast<RankedTensorType>(cast<nn::ParamOp>(symbol).getType())
                    .getElementType();
      kernels.addForRuntime(libraryName("check_finite", element),
                            {rt::DeviceArgument::number,
                             rt::DeviceArgument::read,
                             rt::DeviceArgument::written});
      kernels.addForRuntime(libraryName("add", element),
                            {rt::DeviceArgument::number,
                             rt::DeviceArgument::read,
                             rt::DeviceArgument::written});
      kernels.addForRuntime(
          libraryName("norm_lanes", element),
          {rt::DeviceArgument::number, rt::DeviceArgument::number,
           rt::DeviceArgument::number, rt::DeviceArgument::read,
           rt::DeviceArgument::written});
    }
}

/// What finds, makes and moves rows of tables that are in the memory of a
/// device: of all element types that there are, where this process has tables.
static void addKernelsOfTables(ModuleOp module, DeviceKernels &kernels) {
  if (module->hasAttr(ps::PSDialect::kRoleAttrName))
    return;
  for (auto table : module.getOps<nn::TableOp>())
    for (const pdlabi::TableKernelSignature &each : pdlabi::tableKernels) {
      const auto kinds =
          llvm::map_to_vector(StringRef(each.arguments), [](char kind) {
            return kind == 'n'   ? rt::DeviceArgument::number
                   : kind == 'r' ? rt::DeviceArgument::read
                                 : rt::DeviceArgument::written;
          });
      Type element =
          each.isTyped ? table.getRowType().getElementType() : Type();
      kernels.addForRuntime(libraryName(each.name, element), kinds);
    }
}

/// Whether somebody reads or writes what is behind a pointer.
static bool isUsed(Value memory) {
  return llvm::any_of(memory.getUsers(), [](Operation *user) {
    return !isa<rt::ViewOp, rt::AddressOp>(user) || isUsed(user->getResult(0));
  });
}

/// A parameter that a stage reads by itself, such as whose turn it is, is
/// always the newest on the host: the host applies its rule.
static void leaveRulesToHost(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::DenseSet<int64_t> read;
  for (rt::ProgramOp program : module.getOps<rt::ProgramOp>())
    if (auto stage = symbols.lookup<func::FuncOp>(program.getCompute()))
      stage.walk([&](rt::PointerOp pointer) {
        if (pointer.getPlace() == rt::Place::parameter && isUsed(pointer))
          read.insert(pointer.getIndex());
      });
  const rt::DescriptorOrder order(module);
  for (auto update : module.getOps<rt::UpdateKernelOp>()) {
    FlatSymbolRefAttr kernel = update.getOnDeviceAttr();
    if (!kernel || !read.contains(order.symbol(update.getSymbol())))
      continue;
    update.removeOnDeviceAttr();
    if (auto function = symbols.lookup<func::FuncOp>(kernel.getValue());
        SymbolTable::symbolKnownUseEmpty(function, module))
      function.erase();
  }
}

void LaunchKernels::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  DeviceKernels kernels(module);
  for (rt::ProgramOp program : module.getOps<rt::ProgramOp>()) {
    auto stage = symbols.lookup<func::FuncOp>(program.getCompute());
    if (stage && llvm::failed(DeviceStage(stage, kernels).convert()))
      return signalPassFailure();
    module->setAttr(rt::RTDialect::kTargetAttrName,
                    StringAttr::get(&getContext(), "cuda"));
  }
  leaveRulesToHost(module);
  addKernelsOfGradients(module, kernels);
  if (module->hasAttr(rt::RTDialect::kTargetAttrName))
    addKernelsOfTables(module, kernels);
  for (auto update : module.getOps<rt::UpdateKernelOp>())
    if (FlatSymbolRefAttr kernel = update.getOnDeviceAttr())
      kernels.add(symbols.lookup<func::FuncOp>(kernel.getValue()));
  kernels.separateFromHost();
  reportStatistic(*this, module, numKernels, "device-kernels", kernels.size());
}
