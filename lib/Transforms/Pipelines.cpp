//===- Pipelines.cpp - From model to a phase ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Transforms/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "pdlc/Transforms/Passes.h"

using namespace mlir;
using namespace pdlc;

/// Adds what leads from the phase before to `phase`.
static void addPhase(OpPassManager &manager, Phase phase,
                     const PipelineOptions &options) {
  switch (phase) {
  case Phase::Model:
    manager.addPass(createNNLinkStd());
    manager.addPass(createNNConvertElementType({options.elementType}));
    break;
  case Phase::Merged:
    manager.addPass(createNNLowerModel());
    // One value for equal lookups, before they are joined.
    manager.addPass(createCSEPass());
    manager.addPass(createNNMergeLookups());
    break;
  case Phase::Gradient:
    manager.addPass(createNNAutodiff());
    manager.addPass(createNNExpandUpdates());
    manager.addPass(createNNCheckUntouched());
    // The forward program holds some values that adjoints compute again.
    manager.addPass(createCSEPass());
    break;
  case Phase::Fused:
    manager.addPass(createNNFuseGemm());
    break;
  case Phase::Placed:
  case Phase::Split:
  case Phase::Roles:
    manager.addPass(createNNSetPhase({stringify(phase).str()}));
    break;
  case Phase::Buffers:
  case Phase::Tasks:
  case Phase::LLVM:
    break;
  }
  manager.addPass(createNNVerifyPhase({stringify(phase).str()}));
}

void pdlc::buildPipeline(OpPassManager &manager, Phase to,
                         const PipelineOptions &options) {
  for (unsigned phase = 0; phase <= static_cast<unsigned>(to); ++phase)
    addPhase(manager, static_cast<Phase>(phase), options);
}

namespace {
/// Options of `--pdl-pipeline`, as text.
struct PipelineArguments : PassPipelineOptions<PipelineArguments> {
  Option<std::string> to{*this, "to",
                         llvm::cl::desc("The phase to stop at (model, merged, "
                                        "gradient, fused, placed, split, "
                                        "roles, buffers, tasks, llvm)"),
                         llvm::cl::init("llvm")};
  Option<std::string> elementType{
      *this, "element-type",
      llvm::cl::desc("f32, or f64 for tests against mathematics"),
      llvm::cl::init("f32")};
  Option<std::string> numerics{*this, "numerics",
                               llvm::cl::desc("fast or strict (settled sums)"),
                               llvm::cl::init("fast")};
  Option<std::string> targetCpu{*this, "target-cpu",
                                llvm::cl::desc("The CPU to compile for"),
                                llvm::cl::init("x86-64-v3")};
};
} // namespace

void pdlc::registerPipelines() {
  PassPipelineRegistration<PipelineArguments>(
      "pdl-pipeline", "Compiles a model up to a named phase",
      [](OpPassManager &manager, const PipelineArguments &arguments) {
        std::optional<Phase> to = symbolizePhase(arguments.to);
        if (!to)
          llvm::report_fatal_error(
              llvm::Twine("--pdl-pipeline knows no phase '") + arguments.to +
                  "'; expected one of " + phaseList(),
              /*gen_crash_diag=*/false);
        PipelineOptions options;
        options.elementType = arguments.elementType;
        options.numerics = arguments.numerics;
        options.targetCpu = arguments.targetCpu;
        buildPipeline(manager, *to, options);
      });
}
