//===- CallBuilder.h - Builder of runtime calls -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_RTCALLSTOLLVM_CALLBUILDER_H
#define LIB_CONVERSION_RTCALLSTOLLVM_CALLBUILDER_H

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "pdlabi/abi/codes.h"

namespace pdlc {

/// Builds one call and its arguments.
class CallBuilder {
public:
  CallBuilder(mlir::Operation *op, mlir::ConversionPatternRewriter &rewriter)
      : op(op), rewriter(rewriter), loc(op->getLoc()),
        i32(rewriter.getI32Type()), i64(rewriter.getI64Type()),
        pointer(mlir::LLVM::LLVMPointerType::get(op->getContext())) {}

  mlir::Value constant32(int64_t value) { return constant(i32, value); }
  mlir::Value constant64(int64_t value) { return constant(i64, value); }
  mlir::Value null() {
    return mlir::LLVM::ZeroOp::create(rewriter, loc, pointer);
  }
  mlir::Value type(mlir::Value memref) {
    return typeOf(
        mlir::cast<mlir::MemRefType>(memref.getType()).getElementType());
  }
  mlir::Value typeOf(mlir::Type element) {
    return constant32(element.isF32()   ? PDL_F32
                      : element.isF64() ? PDL_F64
                                        : PDL_I64);
  }
  mlir::Value constantF64(double value) {
    return mlir::LLVM::ConstantOp::create(rewriter, loc, rewriter.getF64Type(),
                                          rewriter.getF64FloatAttr(value));
  }
  /// Returns the memory of a converted memref; null for none.
  mlir::Value memory(mlir::Value descriptor) {
    if (!descriptor)
      return null();
    return mlir::MemRefDescriptor(descriptor).alignedPtr(rewriter, loc);
  }
  mlir::Value size(mlir::Value descriptor, unsigned dimension) {
    return mlir::MemRefDescriptor(descriptor).size(rewriter, loc, dimension);
  }

  mlir::Value stride(mlir::Value descriptor, unsigned dimension) {
    return mlir::MemRefDescriptor(descriptor).stride(rewriter, loc, dimension);
  }

  /// Allocates memory on the stack. The allocation is at the entry of the
  /// function, so that a loop does not repeat it.
  mlir::Value room(mlir::Type element, int64_t count) {
    mlir::OpBuilder::InsertionGuard guard(rewriter);
    mlir::Operation *function = op->getParentOp();
    while (!mlir::isa<mlir::FunctionOpInterface>(function))
      function = function->getParentOp();
    rewriter.setInsertionPointToStart(&function->getRegion(0).front());
    return mlir::LLVM::AllocaOp::create(rewriter, loc, pointer, element,
                                        constant64(count));
  }
  mlir::Value element(mlir::Type type, mlir::Value base,
                      llvm::ArrayRef<mlir::LLVM::GEPArg> indices) {
    return mlir::LLVM::GEPOp::create(rewriter, loc, pointer, type, base,
                                     indices);
  }
  /// Creates an array on the stack that contains `values`. Returns a null
  /// pointer if there are none.
  mlir::Value array(llvm::ArrayRef<mlir::Value> values) {
    if (values.empty())
      return null();
    mlir::Type type = values.front().getType();
    mlir::Value base = room(type, values.size());
    for (auto [index, value] : llvm::enumerate(values))
      mlir::LLVM::StoreOp::create(
          rewriter, loc, value,
          element(type, base, {static_cast<int32_t>(index)}));
    return base;
  }
  mlir::Value memories(mlir::ValueRange descriptors) {
    llvm::SmallVector<mlir::Value> values;
    for (mlir::Value descriptor : descriptors)
      values.push_back(memory(descriptor));
    return array(values);
  }

  mlir::Value call(llvm::StringRef name, mlir::Type result,
                   mlir::ValueRange arguments) {
    auto module = op->getParentOfType<mlir::ModuleOp>();
    mlir::Type returned =
        result ? result : mlir::LLVM::LLVMVoidType::get(op->getContext());
    auto function = module.lookupSymbol<mlir::LLVM::LLVMFuncOp>(name);
    if (!function) {
      mlir::OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      function = mlir::LLVM::LLVMFuncOp::create(
          rewriter, module.getLoc(), name,
          mlir::LLVM::LLVMFunctionType::get(
              returned, llvm::to_vector(arguments.getTypes())));
    }
    auto call = mlir::LLVM::CallOp::create(rewriter, loc, function, arguments);
    return result ? call.getResult() : mlir::Value();
  }

  mlir::Operation *op;
  mlir::ConversionPatternRewriter &rewriter;
  mlir::Location loc;
  mlir::Type i32, i64, pointer;

private:
  mlir::Value constant(mlir::Type type, int64_t value) {
    return mlir::LLVM::ConstantOp::create(rewriter, loc, type,
                                          rewriter.getIntegerAttr(type, value));
  }
};

/// Conversion pattern of an op. `lower(op, operands, builder)` returns the
/// value that replaces the result. For an op without results, it returns null.
template <typename OpT>
class CallPattern : public mlir::ConvertOpToLLVMPattern<OpT> {
public:
  using Adaptor = typename OpT::Adaptor;
  using Lower = mlir::Value (*)(OpT, Adaptor, CallBuilder &);
  CallPattern(const mlir::LLVMTypeConverter &converter, Lower lower)
      : mlir::ConvertOpToLLVMPattern<OpT>(converter), lower(lower) {}

  mlir::LogicalResult
  matchAndRewrite(OpT op, Adaptor operands,
                  mlir::ConversionPatternRewriter &rewriter) const override {
    CallBuilder builder(op, rewriter);
    if (mlir::Value replacement = lower(op, operands, builder))
      rewriter.replaceOp(op, replacement);
    else
      rewriter.eraseOp(op);
    return mlir::success();
  }

private:
  Lower lower;
};

/// Conversions of ops to calls.
struct CallLowerings {
  const mlir::LLVMTypeConverter &converter;
  mlir::RewritePatternSet &patterns;
  mlir::ConversionTarget &target;

  /// Adds the pattern of an op; see `CallPattern`.
  template <typename OpT>
  void add(mlir::Value (*lower)(OpT, typename OpT::Adaptor, CallBuilder &)) {
    patterns.add<CallPattern<OpT>>(converter, lower);
    target.addIllegalOp<OpT>();
  }
};

} // namespace pdlc

#endif // LIB_CONVERSION_RTCALLSTOLLVM_CALLBUILDER_H
