//===- StageOps.h - Stage models of ops -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared code of the files in this folder that emit groups of ops: defaults of
// StageOpInterface, and helpers that attach an implementation to an op.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_NNTORT_STAGEOPS_H
#define LIB_CONVERSION_NNTORT_STAGEOPS_H

#include "StageEmitter.h"
#include "pdlc/Interfaces/StageOpInterface.h"

namespace pdlc {

/// Default implementations of the methods of StageOpInterface, except `emit`.
/// The stage model of an op overrides the methods that differ. For extents,
/// homes and scratch memory, it overrides `getExtent`, `getHome` and
/// `getScratch`.
template <typename Model, typename Base> struct StageDefaults : Base {
  mlir::LogicalResult checkInProgram(mlir::Operation *,
                                     const ProgramSizes &) const {
    return mlir::success();
  }
  mlir::Value getViewSource(mlir::Operation *) const { return {}; }
  bool readsElements(mlir::Operation *, mlir::OpOperand &) const {
    return true;
  }
  bool computesElements(mlir::Operation *, mlir::OpOperand &) const {
    return false;
  }
  bool combinesRows(mlir::Operation *) const { return false; }
  mlir::Value emitRow(mlir::Operation *, StageEmitter &, mlir::Value,
                      mlir::ValueRange) const {
    return {};
  }
  bool findPlace(mlir::Operation *, mlir::OpOperand &, Columns &) const {
    return false;
  }
  bool findSource(mlir::Operation *, Columns &) const { return false; }
  bool readsColumns(mlir::Operation *, mlir::OpOperand &, int64_t) const {
    return false;
  }
  bool writesColumns(mlir::Operation *, mlir::OpResult, int64_t) const {
    return false;
  }
  void findReaders(mlir::Operation *,
                   llvm::SmallVectorImpl<mlir::Operation *> &) const {}
  bool isDeferred(mlir::Operation *, mlir::OpResult) const { return false; }
  void emitDeferred(mlir::Operation *, StageEmitter &) const {}
  mlir::DenseElementsAttr getNumbers(mlir::Operation *) const { return {}; }
  mlir::Value emitCount(mlir::Operation *, mlir::OpResult,
                        StageEmitter &) const {
    return {};
  }
  Extent getExtent(mlir::Operation *op, mlir::OpResult,
                   const ProgramSizes &sizes) const {
    return sizes.ofOperands(op);
  }
  std::optional<Home> getHome(mlir::Operation *, mlir::OpResult,
                              const HomeNumbers &) const {
    return std::nullopt;
  }
  std::optional<Extent> getScratch(mlir::Operation *,
                                   const ProgramSizes &) const {
    return std::nullopt;
  }

  void inferExtent(mlir::Operation *op, mlir::OpResult result,
                   const ProgramSizes &sizes, Extent &extent) const {
    extent = model().getExtent(op, result, sizes);
  }
  bool findHome(mlir::Operation *op, mlir::OpResult result,
                const HomeNumbers &numbers, Home &home) const {
    std::optional<Home> found = model().getHome(op, result, numbers);
    home = found.value_or(Home());
    return found.has_value();
  }
  bool findScratch(mlir::Operation *op, const ProgramSizes &sizes,
                   Extent &bytes) const {
    std::optional<Extent> found = model().getScratch(op, sizes);
    bytes = found.value_or(Extent());
    return found.has_value();
  }

private:
  const Model &model() const { return static_cast<const Model &>(*this); }
};

/// Base class of the model of one op.
template <typename Model, typename OpType>
using StageModel =
    StageDefaults<Model, StageOpInterface::ExternalModel<Model, OpType>>;

/// Base class of the model of an op that `function` emits.
template <typename Model, typename OpType,
          void (*function)(StageEmitter &, OpType)>
struct EmittedModel : StageModel<Model, OpType> {
  mlir::LogicalResult emit(mlir::Operation *op, StageEmitter &emitter) const {
    function(emitter, llvm::cast<OpType>(op));
    return mlir::success();
  }
};

/// Model of an op that `function` emits, with defaults for everything else.
template <typename OpType, void (*function)(StageEmitter &, OpType)>
struct EmittedBy : EmittedModel<EmittedBy<OpType, function>, OpType, function> {
};

/// Base class of the model of an op without code.
template <typename Model, typename OpType>
struct WithoutCode : StageModel<Model, OpType> {
  mlir::LogicalResult emit(mlir::Operation *, StageEmitter &) const {
    return mlir::success();
  }
};

template <typename OpType, void (*function)(StageEmitter &, OpType)>
void attachEmitter(mlir::MLIRContext &context) {
  OpType::template attachInterface<EmittedBy<OpType, function>>(context);
}

// One function per file of this folder that emits ops.
void attachElementwiseStages(mlir::MLIRContext &context);
void attachControlStages(mlir::MLIRContext &context);
void attachScanStages(mlir::MLIRContext &context);
void attachSegmentStages(mlir::MLIRContext &context);
void attachSelectionStages(mlir::MLIRContext &context);
void attachShapeStages(mlir::MLIRContext &context);
void attachDrawStages(mlir::MLIRContext &context);
void attachMixingStages(mlir::MLIRContext &context);
void attachFeatureStages(mlir::MLIRContext &context);
void attachLookupStages(mlir::MLIRContext &context);
void attachProductStages(mlir::MLIRContext &context);
void attachStateStages(mlir::MLIRContext &context);

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_STAGEOPS_H
