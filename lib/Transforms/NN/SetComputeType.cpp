//===- SetComputeType.cpp - Set the type of large products ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Phases.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNSETCOMPUTETYPE
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {
struct SetComputeType : pdlc::impl::NNSetComputeTypeBase<SetComputeType> {
  using NNSetComputeTypeBase::NNSetComputeTypeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (type == "f32")
      return;
    if (!symbolizeCompute(type)) {
      module.emitError() << "nn-set-compute-type knows no type '" << type
                         << "'; expected f32, bf16, bf16x3 or bf16x6";
      return signalPassFailure();
    }
    auto phase = module->getAttrOfType<StringAttr>(NNDialect::kPhaseAttrName);
    if (phase && phase.getValue() != stringify(Phase::Model)) {
      module.emitError() << "is in phase " << phase.getValue()
                         << "; what products are computed in is part of the "
                            "fingerprint, and is chosen in phase model only";
      return signalPassFailure();
    }
    module->setAttr(NNDialect::kComputeAttrName,
                    StringAttr::get(&getContext(), type));
  }
};
} // namespace
