//===- DeviceStage.cpp - Offload a stage to a device ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceStage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pdlc;

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

/// Returns the device pointer of a place. All uses share one op.
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

/// Returns the device's pointer to the same memory.
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
  // The copy needs the worker, which a stage defines before its constants. So
  // it can be inserted directly after the constant.
  builder.setInsertionPointAfter(op);
  Value bytes = arith::ConstantIndexOp::create(
      builder, op->getLoc(),
      static_cast<int64_t>(type.getNumElements()) *
          type.getElementType().getIntOrFloatBitWidth() / 8);
  return copies[memory] = rt::DeviceConstantOp::create(
             builder, op->getLoc(), memory.getType(), worker, bytes, memory);
}

/// Returns the number of bytes from the first element of a view to its last.
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

/// Returns a view of `pointer` with the layout of `memref`.
Value DeviceStage::viewLike(Value memref, Value pointer) {
  auto view = memref.getDefiningOp<rt::ViewOp>();
  Value zero = arith::ConstantIndexOp::create(builder, memref.getLoc(), 0);
  return rt::ViewOp::create(builder, memref.getLoc(), memref.getType(), pointer,
                            zero, view.getSize());
}

/// Creates a copy of device memory on the host, and returns a view of it. The
/// copy is complete after the next wait.
Value DeviceStage::copyOut(Value memref) {
  Value bytes = bytesOf(memref);
  Value memory = hostMemory(bytes);
  rt::CopyOutOp::create(builder, memref.getLoc(), worker, bytes,
                        addressOf(memref), memory);
  return viewLike(memref, memory);
}

/// Like `copyOut`, but returns the existing copy if no op since then may have
/// written (`copiedOut`). All users share the copy, and must not write to it.
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
  Block *after = before->splitBlock(builder.getInsertionPoint());
  OpBuilder::InsertionGuard guard(builder);
  if (!failed) {
    failed = builder.createBlock(&stage.getBody(), stage.getBody().end(),
                                 builder.getI32Type(), loc);
    func::ReturnOp::create(builder, loc, failed->getArgument(0));
  }
  builder.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(builder, loc, isBad, failed, ValueRange{status},
                           after, ValueRange());
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

/// Computes a product with a vendor library of the device. If the library does
/// not support the product at run time, a kernel is launched instead.
void DeviceStage::multiply(Location loc, const LibraryProduct &product) {
  using enum rt::DeviceArgument;
  const bool isBf16 = product.kind == rt::Product::bf16;
  FlatSymbolRefAttr otherwise = kernels.addForRuntime(
      libraryName(isBf16 ? "bf16_product" : "product", builder.getF32Type()),
      {number, number, number, number, number, read, read, number, read, read,
       written, number});
  rt::DeviceProductOp::create(
      builder, loc, product.kind, worker, product.lhs, product.rhs,
      product.bias, product.transposeLhs, product.transposeRhs, product.m,
      product.n, product.k, product.out, product.stride, otherwise.getValue());
  stage->getParentOp()->setAttr(rt::RTDialect::kDeviceProductsAttrName,
                                builder.getUnitAttr());
}

/// Replaces a runtime call by launches of the device library. Sets `isLaunched`
/// to false if the library has no kernel for the call.
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
  // With strict numerics, products with rounded factors have a fixed summation
  // order, which vendor libraries do not have. So use them only with fast
  // numerics.
  const auto byDevice = [&](const LibraryProduct &product) {
    multiply(loc, product);
  };
  llvm::function_ref<void(const LibraryProduct &)> multiply;
  if (numerics == rt::Numerics::fast)
    multiply = byDevice;
  isLaunched = launchFromLibrary(
      op, {builder, address, pointer, count, multiply, launch});
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
  // Only stores of single numbers remain in a stage, because kernels do all
  // others.
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

/// The runtime knows the location of the table.
LogicalResult DeviceStage::convertGather(rt::GatherOp gather) {
  Value out = gather.getOut();
  FailureOr<Side> side = sideOf(out);
  auto type = cast<MemRefType>(out.getType());
  if (llvm::failed(side) || *side != Side::Device || !rt::isDense(type))
    return refuse(gather);
  rt::DeviceGatherOp::create(builder, gather.getLoc(), worker,
                             gather.getLookup(), addressOf(out),
                             type.getDimSize(1), type.getElementType());
  gather.erase();
  return success();
}

/// Returns true if the op reads results on the host and writes nothing that the
/// device needs. It can then wait until the end of its block.
static bool onlyLooks(Operation *op) {
  return isa<rt::ObserveOp, rt::ObserveGroupsOp, rt::LossSumOp>(op);
}

/// Leaves an op on the host for which the device has no kernel. Copies its
/// inputs to the host before it, and the memory that it writes to the device
/// after it.
LogicalResult DeviceStage::leaveToHost(Operation *op) {
  const bool isLast = onlyLooks(op);
  const SmallVector<Value> written = writtenBy(op);
  if (!isLast && written.empty())
    return refuse(op);
  bool waits = false;
  SmallVector<std::pair<Value, Value>> results; // Pairs of (host, device).
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
    // The memory between rows must not change.
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

/// Waits, so that everything is complete when the stage returns.
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
      .Case([&](rt::GatherOp gather) { return convertGather(gather); })
      .Case([&](rt::GradientReadyOp ready) {
        // Without a notification, the gradient is complete when the stage ends.
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
