//===- Composer.h - Builder of nn formulas ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_COMPOSITE_COMPOSER_H
#define LIB_DIALECT_NN_COMPOSITE_COMPOSER_H

#include "../Adjoints/AdjointUtils.h"
#include "../IR/NumberChecks.h"

namespace pdlc::nn {

/// Builds ops of dialect nn at one insertion point. Used to lower composite
/// ops.
class Composer {
public:
  explicit Composer(mlir::ImplicitLocOpBuilder &builder) : builder(builder) {}

  /// Returns a constant number of the element type of `like`. It has rank 0, so
  /// it broadcasts to the shape of `like`.
  mlir::Value number(mlir::Value like, double value) {
    return createNumber(builder, builder.getLoc(),
                        tensorOf(like).getElementType(), value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) { return make<AddOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return make<SubOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return make<MulOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return make<DivOp>(a, b); }
  mlir::Value max(mlir::Value a, mlir::Value b) { return make<MaxOp>(a, b); }
  mlir::Value min(mlir::Value a, mlir::Value b) { return make<MinOp>(a, b); }
  mlir::Value add(mlir::Value a, double b) { return add(a, number(a, b)); }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, number(a, b)); }
  mlir::Value max(mlir::Value a, double b) { return max(a, number(a, b)); }
  mlir::Value min(mlir::Value a, double b) { return min(a, number(a, b)); }
  mlir::Value square(mlir::Value a) { return mul(a, a); }
  /// Creates an op with one operand and no attributes.
  template <typename OpType> mlir::Value apply(mlir::Value a) {
    return OpType::create(builder, a.getType(), a);
  }
  /// Creates a reduction that keeps the axis with size 1.
  mlir::Value reduce(Reduction kind, mlir::Value a, int64_t axis) {
    return ReduceOp::create(builder, kind, a, axis, /*keep=*/true);
  }
  mlir::Value sum(mlir::Value a, int64_t axis) {
    return reduce(Reduction::sum, a, axis);
  }
  mlir::Value reshape(mlir::Value a, llvm::ArrayRef<int64_t> shape) {
    auto type =
        mlir::RankedTensorType::get(shape, tensorOf(a).getElementType());
    if (a.getType() == type)
      return a;
    return ReshapeOp::create(builder, type, a);
  }
  mlir::Value transpose(mlir::Value a, llvm::ArrayRef<int64_t> permutation) {
    return TransposeOp::create(builder, a, permutation);
  }

  mlir::ImplicitLocOpBuilder &builder;

private:
  template <typename OpType> mlir::Value make(mlir::Value a, mlir::Value b) {
    return OpType::create(builder, a, b);
  }
};

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_COMPOSITE_COMPOSER_H
