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

/// A number of elements or bytes: constant + perBatch * B + perKey * U +
/// perOccurrence * N + perCount * (number of ids of `counted`). U and N belong
/// to one lookup.
struct Extent {
  int64_t constant = 0, perBatch = 0, perKey = 0, perOccurrence = 0,
          perCount = 0;
  /// Lookup of U and N; -1 if they do not occur.
  int32_t lookup = -1;
  /// Ids of a ragged field or the result of nn.cross_bags, whose number is
  /// known only while the step runs. Null if it does not occur.
  mlir::Value counted;

  bool isStatic() const {
    return perBatch == 0 && perKey == 0 && perOccurrence == 0 && perCount == 0;
  }
  /// Returns the number of elements of `ids`, which is counted while the step
  /// runs.
  static Extent counting(mlir::Value ids);
  Extent scaled(int64_t factor, int64_t divisor = 1) const;
  Extent plus(int64_t number) const;
  bool operator==(const Extent &other) const = default;
  /// Returns true if the number is a multiple of `unit` for every batch and
  /// lookup.
  bool isMultipleOf(int64_t unit) const;
};

/// Lookups of a program, and the first dimension of each of its tensors. All
/// other dimensions are static.
class ProgramSizes {
public:
  explicit ProgramSizes(nn::ProgramOp program, int64_t sumChunks = 1);

  /// Returns the number of chunks of a batch that are summed in parallel, if
  /// the numerics allow a different summation order.
  int64_t chunksOfSums() const { return sumChunks; }

  /// Returns the first dimension; 1 for rank 0.
  Extent first(mlir::Value tensor) const { return extents.at(tensor); }
  /// Returns the first dimension of the first operand with a dynamic one.
  Extent ofOperands(mlir::Operation *op) const;
  /// Returns the number of elements.
  Extent elements(mlir::Value tensor) const;
  /// Returns the number of bytes.
  Extent bytes(mlir::Value tensor) const;

  /// Returns the lookups of the program, one per nn.pull, in program order.
  llvm::ArrayRef<nn::PullOp> lookups() const { return pulls; }
  /// Returns the index of a lookup in that list.
  int32_t numberOf(nn::PullOp pull) const { return numbers.lookup(pull); }
  /// Returns the index of the lookup to which a result of nn.unique belongs. If
  /// an nn.unique serves several tables, returns one of their lookups.
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

/// Returns the updates of a program in program order: the gradients that its
/// nn.update ops apply or its rt.gradient ops pass on.
llvm::SmallVector<nn::SymbolGradient> gradientsOf(nn::ProgramOp program);

/// Returns the index of `sum` among the program's sums of losses.
int32_t objectiveOf(nn::LossSumOp sum);
/// Returns, for each gradient of `gradientsOf`, the index of the loss whose
/// weight divides it. Empty if the program does not state it, or if all have
/// the same divisor.
llvm::SmallVector<int32_t> objectivesOf(nn::ProgramOp program);

/// Returns the product of all dimensions except the first.
int64_t innerElements(mlir::Value tensor);
int64_t elementBytes(mlir::Value tensor);

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_PROGRAMSIZES_H
