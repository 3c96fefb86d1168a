//===- SetTarget.cpp - Target triple and CPU features ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "pdlc/Conversion/Passes.h"
#include "pdlc/Target/TargetSpec.h"

namespace pdlc {
#define GEN_PASS_DEF_RTSETTARGET
#include "pdlc/Conversion/Passes.h.inc"
} // namespace pdlc

using namespace mlir;

namespace {
struct SetTarget : pdlc::impl::RTSetTargetBase<SetTarget> {
  using RTSetTargetBase::RTSetTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::Expected<pdlc::TargetSpec> spec = pdlc::TargetSpec::get(targetCpu);
    if (!spec) {
      emitError(module.getLoc(), llvm::toString(spec.takeError()));
      return signalPassFailure();
    }
    Builder builder(&getContext());
    module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(),
                    builder.getStringAttr(spec->triple));
    module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                    builder.getStringAttr(spec->dataLayout));
    auto features =
        LLVM::TargetFeaturesAttr::get(&getContext(), spec->features);
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      if (function.isExternal())
        continue;
      // This function is called before the features of the CPU are known.
      if (function.getSymName() == pdlc::kQueryName) {
        function.setTargetCpu(StringRef("x86-64"));
        function.setTargetFeaturesAttr(
            LLVM::TargetFeaturesAttr::get(&getContext(), "+sse2"));
        continue;
      }
      function.setTargetCpu(spec->cpu);
      function.setTargetFeaturesAttr(features);
    }
  }
};
} // namespace
