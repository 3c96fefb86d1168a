//===- ProgramSizes.h - Sizes of the tensors of a program -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_NNTORT_PROGRAMSIZES_H
#define LIB_CONVERSION_NNTORT_PROGRAMSIZES_H

#include "pdlc/Dialect/NN/IR/NN.h"
#include "llvm/ADT/DenseMap.h"

namespace pdlc {

/// A number of elements or bytes that is known only at run time: constant +
/// perBatch * B + perKey * U + perOccurrence * N + perCount * C. B is the batch
/// size, U and N are the numbers of distinct keys and of occurrences of lookup
/// number `lookup`, and C is the number of ids of `counted`.
struct Extent {
  int64_t constant = 0, perBatch = 0, perKey = 0, perOccurrence = 0,
          perCount = 0;
  /// Lookup of U and N; -1 if they do not occur.
  int32_t lookup = -1;
  /// Ids of a ragged field, or of the result of `nn.cross_bags`. Their number
  /// is known only while the step runs. Null if `perCount` is 0.
  mlir::Value counted;

  bool isStatic() const {
    return perBatch == 0 && perKey == 0 && perOccurrence == 0 && perCount == 0;
  }
  /// Returns the extent that is the number of elements of `ids`.
  static Extent counting(mlir::Value ids);
  Extent scaled(int64_t factor, int64_t divisor = 1) const;
  Extent plus(int64_t number) const;
  bool operator==(const Extent &other) const = default;
  /// Returns true if the number is a multiple of `unit` for all batches and
  /// lookups.
  bool isMultipleOf(int64_t unit) const;
};

/// Lookups of a program, and the size of the first dimension of each of its
/// tensors. All other dimensions are static.
class ProgramSizes {
public:
  explicit ProgramSizes(nn::ProgramOp program, int64_t sumChunks = 1);

  /// Returns the number of chunks into which sums over a batch are divided, so
  /// that threads can add them in parallel. It is 1 if numerics require one
  /// fixed order.
  int64_t chunksOfSums() const { return sumChunks; }

  /// Returns the size of a tensor's first dimension, or 1 for rank 0.
  Extent first(mlir::Value tensor) const { return extents.at(tensor); }
  /// Returns the size of the first dimension of the first operand in which this
  /// dimension is dynamic.
  Extent ofOperands(mlir::Operation *op) const;
  /// Returns the number of elements of a tensor.
  Extent elements(mlir::Value tensor) const;
  /// Returns the number of bytes of a tensor.
  Extent bytes(mlir::Value tensor) const;

  /// Returns the lookups of the program, one per nn.pull, in program order.
  llvm::ArrayRef<nn::PullOp> lookups() const { return pulls; }
  /// Returns the index of a lookup in `lookups()`.
  int32_t numberOf(nn::PullOp pull) const { return numbers.lookup(pull); }
  /// Returns the index of the lookup whose keys `unique` belongs to, which is a
  /// result of an `nn.unique`. If several tables are pulled by these keys,
  /// returns one of their lookups.
  int32_t lookupOf(mlir::Value unique) const;

private:
  void addOp(mlir::Operation &op);
  void addBodies(BodyOpInterface owner);
  Extent infer(mlir::OpResult result) const;

  const int64_t sumChunks;
  llvm::SmallVector<nn::PullOp> pulls;
  /// Index of the lookup, by the op that makes its keys.
  llvm::DenseMap<mlir::Operation *, int32_t> places;
  /// Index of each lookup.
  llvm::DenseMap<mlir::Operation *, int32_t> numbers;
  llvm::DenseMap<mlir::Value, Extent> extents;
};

/// Returns the symbols that a program trains, with their gradients, in program
/// order. They are taken from its `nn.update` ops or, in a trainer whose
/// servers apply them, from its `rt.gradient` ops.
llvm::SmallVector<nn::SymbolGradient> gradientsOf(nn::ProgramOp program);

/// Returns the index of `sum` among the program's sums of losses.
int32_t objectiveOf(nn::LossSumOp sum);
/// Returns, for each gradient of `gradientsOf`, the index of the loss
/// (`objectiveOf`) whose summed weight divides it. Empty if all gradients have
/// the same divisor, or if the program does not contain this information.
llvm::SmallVector<int32_t> objectivesOf(nn::ProgramOp program);

/// Returns the product of all dimensions except the first.
int64_t innerElements(mlir::Value tensor);
int64_t elementBytes(mlir::Value tensor);

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_PROGRAMSIZES_H
