//===- KernelBuilder.h - Body of an update kernel ---------------*- C++ -*-===//
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
  /// Returns the address of element `index` of an array of `type`.
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
  /// Loads the group's scalars with these numbers, which the update uses.
  llvm::SmallVector<mlir::Value> loadScalars(mlir::Value base,
                                             llvm::ArrayRef<int32_t> numbers);

  /// Creates a parallel loop over [0, count). `body(index)` emits an iteration
  /// and returns the maximum of `largestBits` over the values that it writes.
  /// Returns the maximum over all iterations.
  mlir::Value parallel(mlir::Value count,
                       llvm::function_ref<mlir::Value(mlir::Value)> body);

  /// Creates the same loop for a device, whose threads cannot combine results.
  /// Instead, an iteration that writes a non-finite value stores 1 at `found`.
  void parallelOnDevice(mlir::Value count, mlir::Value found,
                        llvm::function_ref<mlir::Value(mlir::Value)> body);

  /// Returns the maximum of `largest` and the bits of |number|, as integers.
  /// These have the same order as the numbers, and infinity and NaN are above
  /// all others. So one maximum tells whether all numbers are finite. Integer
  /// maxima do not affect the arithmetic of the rule, and are vectorized with
  /// it.
  mlir::Value largestBits(mlir::Value largest, mlir::Value number);
  mlir::Value noBits() { return bitsOf(llvm::APInt(elementBytes * 8, 0)); }
  /// Returns a condition that is true at run time if the bits `largest` (see
  /// `largestBits`) represent infinity or NaN.
  mlir::Value isNonFinite(mlir::Value largest);
  /// Ends a kernel. At run time, the kernel returns 1 if `largest` represents
  /// infinity or NaN, else 0.
  void returnNonFinite(mlir::Value largest);

  /// Copies the ops of `region` to the insertion point, and replaces its
  /// arguments by `arguments`. Returns the yielded values.
  llvm::SmallVector<mlir::Value>
  inlineRegion(mlir::Region &region, llvm::ArrayRef<mlir::Value> arguments) {
    mlir::IRMapping mapping;
    mapping.map(region.getArguments(), arguments);
    return inlineRegion(region, mapping);
  }
  /// Does the same, with the replacements in `mapping`.
  llvm::SmallVector<mlir::Value> inlineRegion(mlir::Region &region,
                                              mlir::IRMapping mapping);

  /// Inputs of the update of one element.
  struct Element {
    /// Addresses of value and slots.
    llvm::SmallVector<mlir::Value> addresses;
    /// Arguments of regions: value, inputs, slots, scalars.
    llvm::SmallVector<mlir::Value> arguments;
  };
  /// Loads the numbers of element `index`. `state` holds the addresses of the
  /// value and the slots, and `inputs` the addresses of the gradient and, if
  /// the update has one, of the seen value.
  Element loadElement(llvm::ArrayRef<mlir::Value> state,
                      llvm::ArrayRef<mlir::Value> inputs,
                      llvm::ArrayRef<mlir::Value> scalars, mlir::Value index);

  /// Applies region `each` to element `index`. `scalars` are the scalars of the
  /// group, followed by those of the row. Returns the maximum of `largest` and
  /// the bits of those written values that must be checked.
  mlir::Value updateElement(nn::UpdateOp update,
                            llvm::ArrayRef<mlir::Value> state,
                            llvm::ArrayRef<mlir::Value> inputs,
                            llvm::ArrayRef<mlir::Value> scalars,
                            mlir::Value index, mlir::Value largest);

  /// Adds each value that region `sum` yields over a row of `width` elements,
  /// in the fixed order: element j is added to lane j mod 16, lanes start at
  /// +0, and lanes are then added in pairs (8, 4, 2, 1). The update must have a
  /// region `sum`.
  llvm::SmallVector<mlir::Value> sumRow(nn::UpdateOp update,
                                        llvm::ArrayRef<mlir::Value> state,
                                        llvm::ArrayRef<mlir::Value> inputs,
                                        llvm::ArrayRef<mlir::Value> scalars,
                                        int64_t width);

  /// Applies the update to one row. `state` holds the addresses of the value
  /// and the slots, `rowSlots` those of the row slots, and `inputs` those of
  /// the gradient and of the seen value, if there is one. Returns the maximum
  /// bits of the written values.
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
  /// Returns the alias scopes of the memory of an update: those of the inputs,
  /// gradient first, followed by those of the state.
  llvm::SmallVector<mlir::Attribute> elementScopes(size_t states,
                                                   size_t inputs) {
    return aliasScopes(states + inputs);
  }
  /// Creates scopes named by position, so that equal kernels stay equal.
  llvm::SmallVector<mlir::Attribute> aliasScopes(size_t count);
  template <typename OpTy>
  void setScope(OpTy op, llvm::ArrayRef<mlir::Attribute> scopes, size_t own);
  mlir::Value loadScoped(mlir::Value place,
                         llvm::ArrayRef<mlir::Attribute> scopes, size_t own);
};

} // namespace pdlc

#endif // LIB_CONVERSION_UPDATESTOKERNELS_KERNELBUILDER_H
