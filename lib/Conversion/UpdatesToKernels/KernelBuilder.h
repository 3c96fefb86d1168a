//===- KernelBuilder.h - The body of a kernel of a rule ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_UPDATESTOKERNELS_KERNELBUILDER_H
#define LIB_CONVERSION_UPDATESTOKERNELS_KERNELBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc {

/// Builds the body of one kernel.
class KernelBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::Type element)
      : builder(builder), loc(loc), element(element),
        pointer(mlir::LLVM::LLVMPointerType::get(builder.getContext())),
        elementBytes(element.getIntOrFloatBitWidth() / 8) {}

  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIntOp::create(builder, loc, value, 64);
  }
  /// The address of element `index` of an array of `type`.
  mlir::Value address(mlir::Type type, mlir::Value base, mlir::Value index) {
    return mlir::LLVM::GEPOp::create(builder, loc, pointer, type, base,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{index},
                                     mlir::LLVM::GEPNoWrapFlags::inbounds);
  }
  mlir::Value address(mlir::Type type, mlir::Value base, int32_t index) {
    return mlir::LLVM::GEPOp::create(builder, loc, pointer, type, base,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{index},
                                     mlir::LLVM::GEPNoWrapFlags::inbounds);
  }
  mlir::Value load(mlir::Type type, mlir::Value base, int32_t index) {
    return mlir::LLVM::LoadOp::create(builder, loc, type,
                                      address(type, base, index));
  }
  /// Loads the group's scalars that the update names, by their number.
  llvm::SmallVector<mlir::Value> loadScalars(mlir::Value base,
                                             llvm::ArrayRef<int32_t> numbers);

  /// Independent turns over [0, count). `body(index)` builds one and returns
  /// the largest bits of what it writes (`largestBits`); returns those of all.
  mlir::Value parallel(mlir::Value count,
                       llvm::function_ref<mlir::Value(mlir::Value)> body);

  /// The same for a device, whose threads join nothing: a turn that writes what
  /// is not finite sets the number at `found` to 1.
  void parallelOnDevice(mlir::Value count, mlir::Value found,
                        llvm::function_ref<mlir::Value(mlir::Value)> body);

  /// The larger of `largest` and the bits of |number|: ordered like the
  /// numbers, infinity and NaN above all others. It is kept in integers, which
  /// leaves the arithmetic of a rule as it is and vectorises with it.
  mlir::Value largestBits(mlir::Value largest, mlir::Value number);
  mlir::Value noBits() { return bitsOf(llvm::APInt(elementBytes * 8, 0)); }
  /// Whether bits of `largestBits` are of a number that is not finite.
  mlir::Value isNonFinite(mlir::Value largest);
  /// Ends a kernel: 1 if `largest` is not of a finite number, else 0.
  void returnNonFinite(mlir::Value largest);

  /// Copies the ops of `region` to the insertion point, with `arguments` for
  /// its arguments; returns what it yields.
  llvm::SmallVector<mlir::Value>
  inlineRegion(mlir::Region &region, llvm::ArrayRef<mlir::Value> arguments) {
    mlir::IRMapping mapping;
    mapping.map(region.getArguments(), arguments);
    return inlineRegion(region, mapping);
  }
  /// The same, its arguments replaced as `mapping` says.
  llvm::SmallVector<mlir::Value> inlineRegion(mlir::Region &region,
                                              mlir::IRMapping mapping);

  /// What an update reads of one element.
  struct Element {
    /// Of value and slots.
    llvm::SmallVector<mlir::Value> addresses;
    /// Of regions: value, inputs, slots, scalars.
    llvm::SmallVector<mlir::Value> arguments;
  };
  /// Loads element `index`: `state` holds the addresses of value and slots,
  /// `inputs` that of the gradient, and of what was seen, if that is asked for.
  Element loadElement(llvm::ArrayRef<mlir::Value> state,
                      llvm::ArrayRef<mlir::Value> inputs,
                      llvm::ArrayRef<mlir::Value> scalars, mlir::Value index);

  /// Applies region `each` to element `index`. `scalars`: those of the group,
  /// then those of the row. Returns the largest bits of what it writes, as far
  /// as they must be checked, and of `largest`.
  mlir::Value updateElement(nn::UpdateOp update,
                            llvm::ArrayRef<mlir::Value> state,
                            llvm::ArrayRef<mlir::Value> inputs,
                            llvm::ArrayRef<mlir::Value> scalars,
                            mlir::Value index, mlir::Value largest);

  /// What region `sum` yields, at least one number, added over a row of `width`
  /// elements: element j goes to lane j mod 16, lanes start at +0, a tree
  /// 8-4-2-1 joins them.
  llvm::SmallVector<mlir::Value> sumRow(nn::UpdateOp update,
                                        llvm::ArrayRef<mlir::Value> state,
                                        llvm::ArrayRef<mlir::Value> inputs,
                                        llvm::ArrayRef<mlir::Value> scalars,
                                        int64_t width);

  /// Applies the update to a row: `state` holds the addresses of value and
  /// slots, `rowSlots` those of the row slots, `inputs` those of the gradient
  /// and of what was seen. Returns the largest bits of what is written.
  mlir::Value updateRow(nn::UpdateOp update, llvm::ArrayRef<mlir::Value> state,
                        llvm::ArrayRef<mlir::Value> rowSlots,
                        llvm::ArrayRef<mlir::Value> inputs,
                        llvm::ArrayRef<mlir::Value> scalars, int64_t width);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type element;
  mlir::LLVM::LLVMPointerType pointer;
  int64_t elementBytes;

private:
  mlir::Type bitsType() { return builder.getIntegerType(elementBytes * 8); }
  mlir::Value bitsOf(const llvm::APInt &value) {
    return mlir::arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(bitsType(), value));
  }
  /// Those of the inputs, gradient first; behind them those of the state.
  llvm::SmallVector<mlir::Attribute> elementScopes(size_t states,
                                                   size_t inputs) {
    return aliasScopes(states + inputs);
  }
  /// Scopes named by position, so that equal kernels stay equal.
  llvm::SmallVector<mlir::Attribute> aliasScopes(size_t count);
  template <typename OpTy>
  void setScope(OpTy op, llvm::ArrayRef<mlir::Attribute> scopes, size_t own);
  mlir::Value loadScoped(mlir::Value place,
                         llvm::ArrayRef<mlir::Attribute> scopes, size_t own);
};

} // namespace pdlc

#endif // LIB_CONVERSION_UPDATESTOKERNELS_KERNELBUILDER_H
