//===- MathToABI.cpp - Call reproducible scalar functions -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "pdlc/Conversion/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace pdlc {
#define GEN_PASS_DEF_MATHTOABI
#include "pdlc/Conversion/Passes.h.inc"
} // namespace pdlc

using namespace mlir;

namespace {
/// Names of the functions that replace an op of dialect math, by element type.
/// A name is empty if the type has no reproducible function.
struct Replacement {
  StringRef f32, f64;
};

struct MathToABI : pdlc::impl::MathToABIBase<MathToABI> {
  void runOnOperation() override;
};
} // namespace

/// Returns nothing for ops that are single instructions.
static std::optional<Replacement> replacementOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Replacement>>(op)
      .Case<math::ExpOp>([](auto) { return Replacement{"pdlabi_expf", "exp"}; })
      .Case<math::LogOp>([](auto) { return Replacement{"pdlabi_logf", "log"}; })
      .Case<math::Log1pOp>(
          [](auto) { return Replacement{"pdlabi_log1pf", "log1p"}; })
      .Case<math::TanhOp>(
          [](auto) { return Replacement{"pdlabi_tanhf", "tanh"}; })
      .Case<math::PowFOp>([](auto) { return Replacement{"", "pdlabi_pow"}; })
      .Case<math::CosOp>(
          [](auto) { return Replacement{"pdlabi_cosf", "pdlabi_cos"}; })
      .Case<math::SinOp>(
          [](auto) { return Replacement{"pdlabi_sinf", "pdlabi_sin"}; })
      .Default([](Operation *) { return std::nullopt; });
}

void MathToABI::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  WalkResult result = module.walk([&](Operation *op) {
    std::optional<Replacement> replacement = replacementOf(op);
    if (!replacement)
      return WalkResult::advance();
    Type type = op->getResult(0).getType();
    StringRef name = type.isF32()   ? replacement->f32
                     : type.isF64() ? replacement->f64
                                    : StringRef();
    if (name.empty()) {
      op->emitOpError() << "has no settled function on " << type;
      return WalkResult::interrupt();
    }
    OpBuilder builder(op);
    Operation *named = symbols.lookup(name);
    auto function = dyn_cast_or_null<func::FuncOp>(named);
    if (named && !function) {
      named->emitOpError() << "takes the name " << name
                           << " of a function that the program calls; rename "
                              "it";
      return WalkResult::interrupt();
    }
    if (!function) {
      OpBuilder::InsertionGuard guard(builder);
      function = func::FuncOp::create(
          module.getLoc(), name,
          builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
      function.setPrivate();
      symbols.insert(function, module.getBody()->begin());
    }
    auto call = func::CallOp::create(builder, op->getLoc(), function,
                                     op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
