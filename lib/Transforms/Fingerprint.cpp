//===- Fingerprint.cpp - What tells two models apart ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/hash.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace pdlc {
#define GEN_PASS_DEF_NNFINGERPRINT
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;

namespace {
struct Fingerprint : pdlc::impl::NNFingerprintBase<Fingerprint> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // The fingerprint itself and the phase say nothing about the model.
    module->removeAttr(pdlc::nn::NNDialect::kFingerprintAttrName);
    Attribute phase = module->removeAttr(pdlc::nn::NNDialect::kPhaseAttrName);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, OpPrintingFlags().printGenericOpForm());
    if (phase)
      module->setAttr(pdlc::nn::NNDialect::kPhaseAttrName, phase);
    module->setAttr(
        pdlc::nn::NNDialect::kFingerprintAttrName,
        StringAttr::get(&getContext(),
                        llvm::utohexstr(pdlabi::hashText(text, 0),
                                        /*LowerCase=*/true, /*Width=*/16)));
  }
};
} // namespace
