//===- LoopElements.h - What a loop over elements computes ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_NNTORT_LOOPELEMENTS_H
#define LIB_CONVERSION_NNTORT_LOOPELEMENTS_H

#include "StageEmitter.h"
#include "pdlc/Interfaces/ElementwiseOpInterface.h"

namespace pdlc {

/// The elements that a loop nest of a stage computes from those of tensors in
/// memory: the results of elementwise ops that are fused, which have one type,
/// or, where there are no ops, the elements of a tensor itself. Dimensions of
/// the type that all tensors take alike are joined, so that the last one runs
/// over as much contiguous memory as there is. Use: `findDimensions`, then
/// `prepare` before the nest, then `load` or `compute` in it.
class LoopElements {
public:
  /// Of `tensor` and of whatever its loop computes (`BufferPlan::loopOf`), if
  /// `user`, an op that is no elementwise one, ends that loop; of the tensor in
  /// memory else.
  static LoopElements readBy(mlir::Operation *user, mlir::Value tensor,
                             StageEmitter &emitter);
  /// Of the tensor in memory.
  static LoopElements of(mlir::Value tensor, StageEmitter &emitter) {
    return {tensor, {}, emitter};
  }
  /// Of the results of the elementwise ops `ops`, of which there is one.
  LoopElements(llvm::ArrayRef<mlir::Operation *> ops, StageEmitter &emitter);

  /// Joins dimensions; those of size 1 vanish. `canJoin(a, b)` says whether the
  /// nest allows to join dimension a with b, the next one that is no 1; by
  /// default it does.
  void findDimensions(
      llvm::function_ref<bool(unsigned, unsigned)> canJoin = nullptr);
  /// The sizes of the joined dimensions, outermost first.
  llvm::ArrayRef<Extent> getExtents() const { return extents; }
  /// The first dimension of the type that is part of that joined dimension.
  unsigned firstOf(unsigned joined) const { return firsts[joined]; }

  /// A view of a tensor of the same type, by joined dimensions.
  mlir::Value viewOf(mlir::Value tensor) const;
  /// Emits what the nest needs before it: views, and numbers that all turns
  /// share.
  void prepare();
  /// Says where the rows are, one at a time, of tensors that have no memory: in
  /// a loop over rows, which must not join dimensions.
  void bindRows(const llvm::DenseMap<mlir::Value, mlir::Value> &memories);
  /// Emits the elements at `position`, one index for each joined dimension,
  /// into the nest: of the results of all ops.
  llvm::DenseMap<mlir::Value, mlir::Value> compute(mlir::ValueRange position);
  /// Emits the element of `tensor` alone, of which the constructor knows.
  mlir::Value computeOne(mlir::ValueRange position);

private:
  /// What is read: a tensor in a buffer, or numbers of an attribute.
  struct Leaf {
    mlir::Value tensor;
    mlir::DenseElementsAttr numbers;
    /// The joined dimensions that it has; along the others it is repeated.
    llvm::SmallVector<unsigned> dimensions;
    mlir::Value memory; // null: a constant
    bool isRow = false; // the memory is that of one row
    mlir::Value loaded;

    llvm::ArrayRef<int64_t> shape() const;
  };

  LoopElements(mlir::Value tensor, llvm::ArrayRef<mlir::Operation *> ops,
               StageEmitter &emitter);
  void collectLeaves(ElementwiseOpInterface op);
  unsigned leafOf(mlir::Value tensor);
  unsigned leafOf(mlir::DenseElementsAttr numbers);
  bool varies(const Leaf &leaf, unsigned dimension) const;
  bool hasGapBetween(mlir::Value tensor, unsigned dimension,
                     unsigned next) const;
  mlir::Value viewOf(const Leaf &leaf) const;
  void load(mlir::ValueRange position);
  mlir::Value computeOp(ElementwiseOpInterface op,
                        const llvm::DenseMap<mlir::Value, mlir::Value> &known);

  StageEmitter &emitter;
  mlir::Value tensor; // one of the type of all
  llvm::SmallVector<mlir::Operation *> ops;
  mlir::RankedTensorType type;
  llvm::SmallVector<Leaf> leaves;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, unsigned>
      operandLeaves;
  llvm::SmallVector<Extent> extents;
  llvm::SmallVector<unsigned> firsts;
};

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_LOOPELEMENTS_H
