//===- DeviceStage.h - Offload a stage to a device --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data that the host prepares, such as fields, lookups and parameters, exists
// on the host and on the device. Results of the stage exist on the device only.
// Launched kernels get addresses of device memory. Ops that stay on the host
// use host memory. If they need device memory, copies are inserted.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RT_DEVICESTAGE_H
#define LIB_TRANSFORMS_RT_DEVICESTAGE_H

#include "DeviceKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <utility>

namespace pdlc {

/// Stage compute of a program during its conversion for a device.
class DeviceStage {
public:
  /// A vendor library of the device may compute products if `numerics` is fast.
  DeviceStage(mlir::func::FuncOp stage, DeviceKernels &kernels,
              rt::Numerics numerics)
      : stage(stage), kernels(kernels), numerics(numerics),
        builder(mlir::OpBuilder::atBlockBegin(&stage.getBody().front())) {}

  mlir::LogicalResult convert();

private:
  enum class Side { Host, Both, Device };
  /// Returns where the memory of a pointer or memref is: on the host, on the
  /// device, or on both.
  static mlir::FailureOr<Side> sideOf(mlir::Value memory);

  mlir::Value onDevice(mlir::Value memory);
  mlir::Value bytesOf(mlir::Value memref);
  mlir::Value addressOf(mlir::Value memref);
  mlir::Value hostMemory(mlir::Value bytes);
  mlir::Value viewLike(mlir::Value memref, mlir::Value pointer);
  mlir::Value copyOut(mlir::Value memref);
  mlir::Value copyOutOnce(mlir::Value memref);
  void copyIn(mlir::Value pointer, mlir::Value memref);
  /// Inserts a wait. The stage ends if the wait fails.
  void wait(bool isLast = false);

  mlir::LogicalResult convert(mlir::Operation *op);
  mlir::LogicalResult convertCall(mlir::func::CallOp call);
  mlir::Value devicePointer(rt::Place place, int64_t index);
  void multiply(mlir::Location loc, const LibraryProduct &product);
  mlir::LogicalResult launchLibrary(mlir::Operation *op, bool &isLaunched);
  mlir::LogicalResult convertLoad(mlir::memref::LoadOp load);
  mlir::LogicalResult convertStore(mlir::memref::StoreOp store);
  mlir::LogicalResult convertGather(rt::GatherOp gather);
  mlir::LogicalResult convertCopy(mlir::memref::CopyOp copy);
  mlir::LogicalResult leaveToHost(mlir::Operation *op);
  void finish(mlir::func::ReturnOp end);
  mlir::LogicalResult refuse(mlir::Operation *op) {
    return op->emitError() << op->getName().stripDialect()
                           << " has no place on a device; this is a fault of "
                              "PDL, please report it";
  }

  mlir::func::FuncOp stage;
  DeviceKernels &kernels;
  const rt::Numerics numerics;
  /// Creates the new ops. Its insertion point is the op that is being
  /// converted.
  mlir::OpBuilder builder;
  mlir::Value worker;
  llvm::DenseMap<mlir::Value, mlir::Value> copies;
  /// Host copies of device memory, by memref, that were made after the last op
  /// that may write. Ops that only read share a copy.
  llvm::DenseMap<mlir::Value, mlir::Value> copiedOut;
  std::map<std::pair<rt::Place, int64_t>, mlir::Value> pointers;
  /// Ops that use results on the host, by the end of each block.
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<mlir::Operation *>>
      atEnd;
  mlir::Block *failed = nullptr;
};

} // namespace pdlc

#endif // LIB_TRANSFORMS_RT_DEVICESTAGE_H
