//===- DeviceKernels.cpp - Kernels that a device launches -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pdlc;

SmallVector<Value> pdlc::writtenBy(Operation *op) {
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

/// Returns true if the kernel may write to this memory.
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

static SmallVector<Value> valuesOf(ArrayRef<LibraryArgument> arguments) {
  return llvm::map_to_vector(
      arguments, [](const LibraryArgument &each) { return each.value; });
}

std::string pdlc::libraryName(StringRef name, Type element) {
  std::string full = ("pdldevice_" + name).str();
  if (element)
    full += element.isF64() ? "_f64" : "_f32";
  return full;
}

/// Returns the address of a memref inside a kernel.
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

/// Replaces the products in a kernel by library calls that one thread computes.
static void callLibrary(func::FuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  // The body of a scan may contain these ops.
  SmallVector<Operation *> products;
  kernel.walk([&](Operation *op) {
    if (isa<rt::GemmOp, rt::BatchGemmOp, rt::ReduceRowsOp>(op))
      products.push_back(op);
  });
  for (Operation *product : products) {
    OpBuilder builder(product);
    Location loc = product->getLoc();
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
    launchFromLibrary(product,
                      {builder, address, nullptr, nullptr, nullptr, call});
    product->erase();
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

FlatSymbolRefAttr
DeviceKernels::addForRuntime(StringRef name,
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
  return kernel;
}

void DeviceKernels::add(func::FuncOp kernel) {
  auto [place, isNew] = kernels.try_emplace(kernel);
  if (!isNew)
    return;
  // Find out which arguments the kernel writes before its products become calls
  // of the library, because a call does not show this.
  const SmallVector<bool> written = llvm::map_to_vector(
      kernel.getArguments(), [](Value each) { return isWritten(each); });
  callLibrary(kernel);
  if (!place->second.match(kernel))
    place->second = {};
  // A kernel of a device has no attributes of host functions.
  kernel->removeAttr("passthrough");
  SmallVector<rt::DeviceArgument> kinds;
  for (auto [argument, isOut] : llvm::zip(kernel.getArguments(), written))
    // A pointer without uses may point to host memory.
    kinds.push_back(!isa<LLVM::LLVMPointerType>(argument.getType()) ||
                            argument.use_empty()
                        ? rt::DeviceArgument::number
                    : isOut ? rt::DeviceArgument::written
                            : rt::DeviceArgument::read);
  describe(FlatSymbolRefAttr::get(kernel.getSymNameAttr()), kinds);
}

/// Computes a number of a kernel at a call of the kernel. The number must
/// depend only on constants and on arguments of the kernel. `known` maps values
/// of the kernel to values at the call.
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
  // A kernel whose iterations are ordered is run by one thread.
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
