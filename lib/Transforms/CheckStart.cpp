//===- CheckStart.cpp - Check the input of a pipeline ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Support/Phases.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_PDLCHECKSTART
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

static StringRef phaseOf(ModuleOp module) {
  auto phase = module->getAttrOfType<StringAttr>(nn::NNDialect::kPhaseAttrName);
  return phase ? phase.getValue() : stringify(Phase::Model);
}

static LogicalResult checkPhase(ModuleOp module, Phase expected) {
  StringRef phase = phaseOf(module);
  if (phase == stringify(expected))
    return success();
  return module.emitError()
         << "is in phase " << phase << ", but the pipeline starts with phase "
         << stringify(expected) << "; say from=" << phase;
}

/// Checks that the module was cut for `mode`. A module that has not passed
/// phase `fused` suits all modes.
static LogicalResult checkMode(ModuleOp module, ps::Mode mode) {
  std::optional<Phase> phase = symbolizePhase(phaseOf(module));
  const bool isCut = phase && *phase >= Phase::Placed;
  const ps::ModeProperties &actual = ps::getMode(module);
  if (&actual == &ps::propertiesOf(mode) || (!isCut && !actual.hasServers))
    return success();
  return module.emitError()
         << "was cut for mode " << actual.name << "; say mode=" << actual.name
         << ", or start with the module of phase fused";
}

namespace {
struct CheckStart : pdlc::impl::PDLCheckStartBase<CheckStart> {
  using PDLCheckStartBase::PDLCheckStartBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<Phase> start = symbolizePhase(from);
    std::optional<ps::Mode> wanted = ps::modeOf(mode);
    if (!start || !wanted) {
      module.emitError() << "pdl-check-start knows no phase '" << from
                         << "' or no mode '" << mode << "'; phases are "
                         << phaseList() << ", modes "
                         << ps::modeList(/*withServers=*/false);
      return signalPassFailure();
    }
    if (failed(check(module, *start, *wanted)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult check(ModuleOp module, Phase start, ps::Mode wanted) {
    if (failed(checkMode(module, wanted)))
      return failure();
    if (isRole || start < Phase::Roles || !ps::propertiesOf(wanted).hasServers)
      return checkPhase(module, start);
    // The outer module stays in phase `roles`; the nested modules advance.
    if (failed(checkPhase(module, Phase::Roles)))
      return failure();
    if (module.getOps<ModuleOp>().empty())
      return module.emitError()
             << "holds no module of a role, with which the phases after "
             << stringify(Phase::Roles)
             << " continue; give all that this phase left";
    for (ModuleOp role : module.getOps<ModuleOp>())
      if (failed(checkPhase(role, start)))
        return failure();
    return success();
  }
};
} // namespace
