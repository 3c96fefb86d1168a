//===- DeviceCalls.cpp - Calls for device stages --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCalls.h"

#include "pdlc/Dialect/RT/IR/RT.h"

using namespace mlir;
using namespace pdlc;

static Value lowerDevicePointer(rt::DevicePointerOp op,
                                rt::DevicePointerOp::Adaptor operands,
                                CallBuilder &builder) {
  return builder.call("pdlrt_device_pointer", builder.pointer,
                      {operands.getWorker(),
                       builder.constant32(static_cast<int64_t>(op.getPlace())),
                       builder.constant32(op.getIndex())});
}

static Value lowerDeviceConstant(rt::DeviceConstantOp op,
                                 rt::DeviceConstantOp::Adaptor operands,
                                 CallBuilder &builder) {
  return builder.call(
      "pdlrt_device_constant", builder.pointer,
      {operands.getWorker(), operands.getBytes(), operands.getConstant()});
}

static Value lowerLaunch(rt::LaunchOp op, rt::LaunchOp::Adaptor operands,
                         CallBuilder &builder) {
  const size_t count = operands.getGiven().size();
  Value arguments = builder.room(builder.i64, count);
  for (auto [index, value] : llvm::enumerate(operands.getGiven()))
    LLVM::StoreOp::create(
        builder.rewriter, builder.loc, value,
        builder.element(builder.i64, arguments, {static_cast<int32_t>(index)}));
  return builder.call(
      "pdlrt_launch", {},
      {operands.getWorker(),
       builder.constant32(rt::DeviceKernelOp::numberOf(
           op->getParentOfType<ModuleOp>(), op.getKernelAttr())),
       operands.getTurns(), arguments});
}

static Value lowerDeviceProduct(rt::DeviceProductOp op,
                                rt::DeviceProductOp::Adaptor operands,
                                CallBuilder &builder) {
  Value bias = operands.getBias();
  return builder.call(
      "pdlrt_device_product", {},
      {operands.getWorker(),
       builder.constant32(static_cast<int64_t>(op.getProduct())),
       builder.constant32(rt::DeviceKernelOp::numberOf(
           op->getParentOfType<ModuleOp>(), op.getOtherwiseAttr())),
       builder.constant32(op.getTransposeLhs()),
       builder.constant32(op.getTransposeRhs()), operands.getM(),
       operands.getN(), operands.getK(), operands.getLhs(), operands.getRhs(),
       bias ? bias : builder.null(), operands.getOut(), operands.getStride()});
}

static Value lowerDeviceGather(rt::DeviceGatherOp op,
                               rt::DeviceGatherOp::Adaptor operands,
                               CallBuilder &builder) {
  return builder.call("pdlrt_device_gather", {},
                      {operands.getWorker(), builder.typeOf(op.getElement()),
                       operands.getLookup(), builder.constant64(op.getWidth()),
                       operands.getOut()});
}

static Value lowerHostMemory(rt::HostMemoryOp op,
                             rt::HostMemoryOp::Adaptor operands,
                             CallBuilder &builder) {
  return builder.call("pdlrt_host_memory", builder.pointer,
                      {operands.getWorker(), operands.getBytes()});
}

template <typename OpT>
static Value lowerCopy(OpT op, typename OpT::Adaptor operands,
                       CallBuilder &builder) {
  return builder.call(("pdlrt_" + op->getName().stripDialect()).str(), {},
                      {operands.getWorker(), operands.getBytes(),
                       operands.getSource(), operands.getTarget()});
}

static Value lowerDeviceWait(rt::DeviceWaitOp op,
                             rt::DeviceWaitOp::Adaptor operands,
                             CallBuilder &builder) {
  return builder.call("pdlrt_device_wait", builder.i32,
                      {operands.getWorker(), builder.constant32(op.getLast())});
}

void pdlc::addDeviceCalls(CallLowerings &lowerings) {
  lowerings.add(lowerDevicePointer);
  lowerings.add(lowerDeviceConstant);
  lowerings.add(lowerLaunch);
  lowerings.add(lowerDeviceProduct);
  lowerings.add(lowerDeviceGather);
  lowerings.add(lowerHostMemory);
  lowerings.add(lowerCopy<rt::CopyInOp>);
  lowerings.add(lowerCopy<rt::CopyOutOp>);
  lowerings.add(lowerCopy<rt::CopyWithinOp>);
  lowerings.add(lowerDeviceWait);
}
