//===- DeviceStage.h - A stage that leaves its work to a device -*- C++ -*-===//
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

#ifndef LIB_TRANSFORMS_DEVICESTAGE_H
#define LIB_TRANSFORMS_DEVICESTAGE_H

#include "DeviceKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <utility>

namespace pdlc {

/// Stage compute of a program, on its way to a device.
class DeviceStage {
public:
  /// `numerics`: whether a library of the device may form products.
  DeviceStage(mlir::func::FuncOp stage, DeviceKernels &kernels,
              rt::Numerics numerics)
      : stage(stage), kernels(kernels), numerics(numerics),
        builder(mlir::OpBuilder::atBlockBegin(&stage.getBody().front())) {}

  mlir::LogicalResult convert();

private:
  enum class Side { Host, Both, Device };
  /// Where the memory behind a pointer or memref is when the stage runs.
  static mlir::FailureOr<Side> sideOf(mlir::Value memory);

  mlir::Value onDevice(mlir::Value memory);
  mlir::Value bytesOf(mlir::Value memref);
  mlir::Value addressOf(mlir::Value memref);
  mlir::Value hostMemory(mlir::Value bytes);
  mlir::Value viewLike(mlir::Value memref, mlir::Value pointer);
  mlir::Value copyOut(mlir::Value memref);
  mlir::Value copyOutOnce(mlir::Value memref);
  void copyIn(mlir::Value pointer, mlir::Value memref);
  /// Waits; the stage ends where that fails.
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
  /// Each op is built where the one stands that it replaces.
  mlir::OpBuilder builder;
  mlir::Value worker;
  llvm::DenseMap<mlir::Value, mlir::Value> copies;
  /// What was copied to the host since something was last added that may write:
  /// one copy is enough for all who look at it.
  llvm::DenseMap<mlir::Value, mlir::Value> copiedOut;
  std::map<std::pair<rt::Place, int64_t>, mlir::Value> pointers;
  /// What the host does with results, at the end of each block.
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<mlir::Operation *>>
      atEnd;
  mlir::Block *failed = nullptr;
};

} // namespace pdlc

#endif // LIB_TRANSFORMS_DEVICESTAGE_H
