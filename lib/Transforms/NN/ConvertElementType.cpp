//===- ConvertElementType.cpp - Convert a model to f64 --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/FloatConversion.h"
#include "pdlc/Support/Phases.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNCONVERTELEMENTTYPE
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Returns the same number as an f64.
static APFloat widen(const APFloat &number) {
  return convertFloat(number, APFloat::IEEEdouble());
}

void pdlc::widenElementType(Operation *root) {
  Type f64 = Float64Type::get(root->getContext());
  root->walk([](ConstantOp constant) {
    if (ElementsAttr exact = constant.getExactAttr())
      constant.setValueAttr(exact);
    constant.removeExactAttr();
  });
  AttrTypeReplacer replacer;
  replacer.addReplacement([=](Float32Type) { return f64; });
  // The attribute of a number stores its bits, which change with the type.
  replacer.addReplacement(
      [=](FloatAttr number) -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!number.getType().isF32())
          return std::nullopt;
        return std::pair(FloatAttr::get(f64, widen(number.getValue())),
                         WalkResult::skip());
      });
  replacer.addReplacement(
      [=](DenseElementsAttr numbers)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!numbers.getElementType().isF32())
          return std::nullopt;
        auto wide = cast<DenseFPElementsAttr>(numbers).mapValues(
            f64,
            [](const APFloat &value) { return widen(value).bitcastToAPInt(); });
        return std::pair<Attribute, WalkResult>(wide, WalkResult::skip());
      });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  // Conversions between the two types are now the identity.
  root->walk([](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp, CastOp>(op) &&
        op->getOperand(0).getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  });
}

namespace {
struct ConvertElementType
    : pdlc::impl::NNConvertElementTypeBase<ConvertElementType> {
  using NNConvertElementTypeBase::NNConvertElementTypeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (type == "f32")
      return;
    if (type != "f64") {
      module.emitError() << "nn-convert-element-type knows no type '" << type
                         << "'; expected f32 or f64";
      return signalPassFailure();
    }
    auto phase = module->getAttrOfType<StringAttr>(NNDialect::kPhaseAttrName);
    if (phase && phase.getValue() != stringify(Phase::Model)) {
      module.emitError() << "is in phase " << phase.getValue()
                         << "; the element type changes in phase model only, "
                            "before formulas are chosen for it";
      return signalPassFailure();
    }
    if (auto compute =
            module->getAttrOfType<StringAttr>(NNDialect::kComputeAttrName)) {
      module.emitError() << "computes products in " << compute.getValue()
                         << ", which is for elements of f32; leave that out of "
                            "a test in f64";
      return signalPassFailure();
    }
    for (auto table : module.getOps<TableOp>())
      if (table.getStored()) {
        table.emitError() << "stores its rows in "
                          << stringifyStorage(*table.getStored())
                          << ", which is for elements of f32; leave that out "
                             "of a test in f64";
        return signalPassFailure();
      }
    WalkResult result = module.walk([](Operation *op) {
      auto constant = dyn_cast<ConstantOp>(op);
      if (!constant || isa<DenseElementsAttr>(constant.getValue()) ||
          !constant.getType().getElementType().isF32())
        return WalkResult::advance();
      constant.emitOpError("holds its elements in a form that cannot be "
                           "widened; write them as dense<...>");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    widenElementType(module);
  }
};
} // namespace
