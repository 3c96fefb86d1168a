//===- KernelArguments.cpp - Pass kernel arguments in memory --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

Value pdlc::argumentAt(OpBuilder &builder, Location loc, Value memory,
                       unsigned number) {
  return LLVM::GEPOp::create(builder, loc, memory.getType(),
                             builder.getI64Type(), memory,
                             ArrayRef<LLVM::GEPArg>{int32_t(number)});
}

func::FuncOp pdlc::createCallFromMemory(func::FuncOp kernel, StringRef suffix,
                                        SymbolTable &symbols) {
  Location loc = kernel.getLoc();
  OpBuilder builder(kernel.getContext());
  Type pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  Type i64 = builder.getI64Type(), index = builder.getIndexType();
  auto caller =
      func::FuncOp::create(loc, (kernel.getSymName() + suffix).str(),
                           builder.getFunctionType({pointer, i64, i64}, {}));
  caller.setPrivate();
  symbols.insert(caller, std::next(kernel->getIterator()));
  Block *body = caller.addEntryBlock();
  builder.setInsertionPointToStart(body);
  SmallVector<Value> arguments;
  const unsigned own = kernel.getNumArguments() - 2;
  for (unsigned i = 0; i < own; ++i) {
    Type type = kernel.getArgumentTypes()[i];
    Value value =
        LLVM::LoadOp::create(builder, loc, isa<IndexType>(type) ? i64 : type,
                             argumentAt(builder, loc, body->getArgument(0), i));
    if (isa<IndexType>(type))
      value = arith::IndexCastOp::create(builder, loc, index, value);
    arguments.push_back(value);
  }
  for (unsigned i : {1, 2}) {
    Value number = body->getArgument(i);
    if (isa<IndexType>(kernel.getArgumentTypes()[own + i - 1]))
      number = arith::IndexCastOp::create(builder, loc, index, number);
    arguments.push_back(number);
  }
  func::CallOp::create(builder, loc, kernel, arguments);
  func::ReturnOp::create(builder, loc);
  return caller;
}
