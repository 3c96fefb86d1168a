//===- ProgramSizes.h - How large the tensors of a program are --*- C++ -*-===//
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
/// perOccurrence * N + perCount * (ids of `counted`), with U and N of one
/// lookup.
struct Extent {
  int64_t constant = 0, perBatch = 0, perKey = 0, perOccurrence = 0,
          perCount = 0;
  /// The lookup of U and N, -1 if they do not occur.
  int32_t lookup = -1;
  /// A ragged field's ids, or the result of nn.cross_bags: how many there are
  /// is known only while the step runs. Null if it does not occur.
  mlir::Value counted;

  bool isStatic() const {
    return perBatch == 0 && perKey == 0 && perOccurrence == 0 && perCount == 0;
  }
  /// The number of ids of `ids`, which is counted while the step runs.
  static Extent counting(mlir::Value ids);
  Extent scaled(int64_t factor, int64_t divisor = 1) const;
  Extent plus(int64_t number) const;
  bool operator==(const Extent &other) const = default;
  /// Whether it is a multiple of `unit` for every batch and lookup.
  bool isMultipleOf(int64_t unit) const;
};

/// The lookups of a program, and the first dimension of each of its tensors;
/// all other dimensions are static.
class ProgramSizes {
public:
  explicit ProgramSizes(nn::ProgramOp program, int64_t sumChunks = 1);

  /// How many chunks of a batch are summed beside each other where numerics
  /// lets sums over a batch have another order.
  int64_t chunksOfSums() const { return sumChunks; }

  /// The first dimension (1 for rank 0).
  Extent first(mlir::Value tensor) const { return extents.at(tensor); }
  /// The first dimension of the op's first operand that has a dynamic one.
  Extent ofOperands(mlir::Operation *op) const;
  /// All elements.
  Extent elements(mlir::Value tensor) const;
  /// All bytes.
  Extent bytes(mlir::Value tensor) const;

  /// One for each nn.pull, in program order: the program's list of lookups.
  llvm::ArrayRef<nn::PullOp> lookups() const { return pulls; }
  /// The place of a lookup in that list.
  int32_t numberOf(nn::PullOp pull) const { return numbers.lookup(pull); }
  /// The index of the lookup that a result of nn.unique belongs to. One
  /// nn.unique may serve several tables: then any of them.
  int32_t lookupOf(mlir::Value unique) const;

private:
  void addOp(mlir::Operation &op);
  void addBodies(BodyOpInterface owner);
  Extent infer(mlir::OpResult result) const;

  const int64_t sumChunks;
  llvm::SmallVector<nn::PullOp> pulls;
  /// By what makes their keys, the number of a lookup.
  llvm::DenseMap<mlir::Operation *, int32_t> places;
  /// By lookup, its number.
  llvm::DenseMap<mlir::Operation *, int32_t> numbers;
  llvm::DenseMap<mlir::Value, Extent> extents;
};

/// What a program's nn.update ops apply, or its rt.gradient ops hand on, in
/// program order: the program's list of updates.
llvm::SmallVector<nn::SymbolGradient> gradientsOf(nn::ProgramOp program);

/// Which of the program's sums of losses `sum` is.
int32_t objectiveOf(nn::LossSumOp sum);
/// By gradient of `gradientsOf`: whose weight divides it. Empty where the
/// program does not say that, or all are divided by one.
llvm::SmallVector<int32_t> objectivesOf(nn::ProgramOp program);

/// The product of all dimensions but the first.
int64_t innerElements(mlir::Value tensor);
int64_t elementBytes(mlir::Value tensor);

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_PROGRAMSIZES_H
