//===- LoopElements.h - Elements that a loop computes -----------*- C++ -*-===//
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

/// Elements that a loop nest of a stage reads or computes. They are the results
/// of fused elementwise ops, which have the same type, or the elements of one
/// tensor if there are no ops. Neighboring dimensions are joined if each tensor
/// has both of them without a gap between, or repeats its elements along both.
/// The innermost loop then runs over as much contiguous memory as possible.
///
/// Call `findDimensions` first, then `prepare` before the nest, then `compute`
/// or `computeOne` inside it.
class LoopElements {
public:
  /// Returns the elements of `tensor`, an operand of `user`. If `tensor` is
  /// computed in the loop of `user` (`BufferPlan::loopOf`), they are computed
  /// by the other ops of that loop. Otherwise they are read from memory.
  static LoopElements readBy(mlir::Operation *user, mlir::Value tensor,
                             StageEmitter &emitter);
  /// Returns the elements of a tensor in memory.
  static LoopElements of(mlir::Value tensor, StageEmitter &emitter) {
    return {tensor, {}, emitter};
  }
  /// Creates the elements of the results of `ops`, at least one elementwise op.
  LoopElements(llvm::ArrayRef<mlir::Operation *> ops, StageEmitter &emitter);

  /// Joins neighboring dimensions where possible, and drops dimensions of size
  /// 1. If `canJoin` is given, dimensions a and b are joined only if
  /// `canJoin(a, b)` returns true. b is the next dimension after a whose size
  /// is not 1.
  void findDimensions(
      llvm::function_ref<bool(unsigned, unsigned)> canJoin = nullptr);
  /// Returns the sizes of the joined dimensions, outermost first.
  llvm::ArrayRef<Extent> getExtents() const { return extents; }
  /// Returns the first of the dimensions of the type that were joined to
  /// dimension `joined`.
  unsigned firstOf(unsigned joined) const { return firsts[joined]; }

  /// Returns a view of a tensor of the same type, with joined dimensions.
  mlir::Value viewOf(mlir::Value tensor) const;
  /// Emits the code that must be before the nest: views of inputs, and loads of
  /// numbers that are the same for all iterations.
  void prepare();
  /// Sets the memory of tensors of which only one row exists at a time, in a
  /// loop over rows. Such a loop must not join dimensions.
  void bindRows(const llvm::DenseMap<mlir::Value, mlir::Value> &memories);
  /// Emits, inside the nest, the computation of the elements at `position`,
  /// which has one index for each joined dimension. Returns the element of each
  /// op's result.
  llvm::DenseMap<mlir::Value, mlir::Value> compute(mlir::ValueRange position);
  /// Emits only the element of the `tensor` passed to the constructor.
  mlir::Value computeOne(mlir::ValueRange position);

private:
  /// An input: a tensor in a buffer, or numbers of an attribute.
  struct Leaf {
    mlir::Value tensor;
    mlir::DenseElementsAttr numbers;
    /// Joined dimensions of the input. It is repeated along the others.
    llvm::SmallVector<unsigned> dimensions;
    mlir::Value memory; // Null for a constant.
    bool isRow = false; // True if the memory holds a single row.
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
  mlir::Value tensor; // A tensor with the common type.
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
