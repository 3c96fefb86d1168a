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

  /// Creates independent iterations over [0, count). `body(index)` builds an
  /// iteration and returns the maximum bits of the values that it writes
  /// (`largestBits`). Returns the maximum over all iterations.
  mlir::Value parallel(mlir::Value count,
                       llvm::function_ref<mlir::Value(mlir::Value)> body);

  /// Creates the iterations for a device, where threads do not combine results.
  /// An iteration that writes a non-finite value sets the number at `found` to
  /// 1.
  void parallelOnDevice(mlir::Value count, mlir::Value found,
                        llvm::function_ref<mlir::Value(mlir::Value)> body);

  /// Returns the maximum of `largest` and the bits of |number|. The bits have
  /// the order of the numbers, with infinity and NaN above all others. Because
  /// they are integers, they do not affect the arithmetic of a rule, and they
  /// are vectorized with it.
  mlir::Value largestBits(mlir::Value largest, mlir::Value number);
  mlir::Value noBits() { return bitsOf(llvm::APInt(elementBytes * 8, 0)); }
  /// Returns true (at run time) if bits of `largestBits` represent a number
  /// that is not finite.
  mlir::Value isNonFinite(mlir::Value largest);
  /// Ends a kernel. The kernel returns 1 if `largest` represents a non-finite
  /// number, else 0.
  void returnNonFinite(mlir::Value largest);

  /// Copies the ops of `region` to the insertion point, with `arguments` for
  /// its arguments. Returns the yielded values.
  llvm::SmallVector<mlir::Value>
  inlineRegion(mlir::Region &region, llvm::ArrayRef<mlir::Value> arguments) {
    mlir::IRMapping mapping;
    mapping.map(region.getArguments(), arguments);
    return inlineRegion(region, mapping);
  }
  /// Copies the ops of `region`, with its arguments replaced according to
  /// `mapping`.
  llvm::SmallVector<mlir::Value> inlineRegion(mlir::Region &region,
                                              mlir::IRMapping mapping);

  /// Inputs of the update of one element.
  struct Element {
    /// Addresses of value and slots.
    llvm::SmallVector<mlir::Value> addresses;
    /// Arguments of regions: value, inputs, slots, scalars.
    llvm::SmallVector<mlir::Value> arguments;
  };
  /// Loads element `index`. `state` holds the addresses of value and slots.
  /// `inputs` holds the address of the gradient and, if needed, of the seen
  /// value.
  Element loadElement(llvm::ArrayRef<mlir::Value> state,
                      llvm::ArrayRef<mlir::Value> inputs,
                      llvm::ArrayRef<mlir::Value> scalars, mlir::Value index);

  /// Applies region `each` to element `index`. `scalars` are those of the
  /// group, followed by those of the row. Returns the maximum bits of `largest`
  /// and of the written values that must be checked.
  mlir::Value updateElement(nn::UpdateOp update,
                            llvm::ArrayRef<mlir::Value> state,
                            llvm::ArrayRef<mlir::Value> inputs,
                            llvm::ArrayRef<mlir::Value> scalars,
                            mlir::Value index, mlir::Value largest);

  /// Sums each value that region `sum` yields over a row of `width` elements.
  /// The region must yield at least one value. Element j is added to lane
  /// j mod 16. Lanes start at +0 and are reduced pairwise (8, 4, 2, 1).
  llvm::SmallVector<mlir::Value> sumRow(nn::UpdateOp update,
                                        llvm::ArrayRef<mlir::Value> state,
                                        llvm::ArrayRef<mlir::Value> inputs,
                                        llvm::ArrayRef<mlir::Value> scalars,
                                        int64_t width);

  /// Applies the update to a row. `state` holds the addresses of value and
  /// slots, `rowSlots` those of the row slots, and `inputs` those of the
  /// gradient and the seen value. Returns the maximum bits of the written
  /// values.
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
  /// Returns the scopes of the inputs, gradient first, followed by those of the
  /// state.
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
