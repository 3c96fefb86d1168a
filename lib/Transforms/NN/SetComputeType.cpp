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
    if (type != "bf16") {
      module.emitError() << "nn-set-compute-type knows no type '" << type
                         << "'; expected f32 or bf16";
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
                    TypeAttr::get(BFloat16Type::get(&getContext())));
  }
};
} // namespace
