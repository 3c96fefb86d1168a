//===- AssignComputeTypes.cpp - Choose products that round factors --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNASSIGNCOMPUTETYPES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Minimum size of each dimension. Narrower products are memory-bound.
static constexpr int64_t minSize = 16;

static bool isLarge(RankedTensorType type) {
  return llvm::all_of(type.getShape(), [](int64_t size) {
    return ShapedType::isDynamic(size) || size >= minSize;
  });
}

namespace {
struct AssignComputeTypes
    : pdlc::impl::NNAssignComputeTypesBase<AssignComputeTypes> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    uint64_t rounded = 0;
    if (auto name =
            module->getAttrOfType<StringAttr>(NNDialect::kComputeAttrName)) {
      const Compute compute = *symbolizeCompute(name.getValue());
      module.walk([&](GemmOp gemm) {
        // Together, the shapes of the two factors contain all three sizes.
        if (!getElementTypeOrSelf(gemm.getType()).isF32() ||
            !isLarge(tensorOf(gemm.getLhs())) ||
            !isLarge(tensorOf(gemm.getRhs())))
          return;
        gemm.setCompute(compute);
        ++rounded;
      });
    }
    reportStatistic(*this, module, numProducts, "products-rounded", rounded);
  }
};
} // namespace
