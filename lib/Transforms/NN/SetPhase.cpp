//===- SetPhase.cpp - Set the phase attribute -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNSETPHASE
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;

namespace {
struct SetPhase : pdlc::impl::NNSetPhaseBase<SetPhase> {
  using NNSetPhaseBase::NNSetPhaseBase;

  void runOnOperation() override {
    getOperation()->setAttr(pdlc::nn::NNDialect::kPhaseAttrName,
                            StringAttr::get(&getContext(), phase));
  }
};
} // namespace
