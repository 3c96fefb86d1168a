//===- Pipelines.cpp - Pipelines between phases ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Transforms/Pipelines.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "pdlc/Conversion/Passes.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace pdlc;

/// Number of chunks into which a device divides sums over a batch, with fast
/// numerics. A sum of few columns then uses 128 times as many threads. For
/// batches of some thousand samples, adding the elements of a chunk and adding
/// the chunks take about equally long.
static constexpr int64_t sumChunksOfDevice = 128;

/// Adds the passes that convert loops, memory, arithmetic and functions to the
/// LLVM dialect.
static void addLLVMLowering(OpPassManager &manager) {
  manager.addPass(createRTSerializeLoops());
  manager.addPass(createRTCallsToLLVM());
  // Runs per function, because its cost grows faster than linearly.
  manager.addNestedPass<func::FuncOp>(createSCFToControlFlowPass());
  // A single pass, because each conversion reads the whole module.
  manager.addPass(createConvertToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  // Do not add MLIR's CSE here. For each load, it inspects all ops between two
  // loads; LLVM does the same at less cost.
  manager.addPass(createCanonicalizerPass());
}

/// Returns true if trainers may apply the rules of parameters on devices. This
/// requires a device, and a mode in which trainers own parameters.
static bool trainersHaveRules(const PipelineOptions &options) {
  const ps::ModeProperties &mode = ps::propertiesOf(options.mode);
  return options.target == Target::Cuda && mode.trainersOwn() &&
         mode.parametersWith == pdlabi::OwnerPlace::Trainers;
}

/// Adds the passes from the previous phase to `phase`.
static void addPhase(OpPassManager &manager, Phase phase,
                     const PipelineOptions &options) {
  const bool isDistributed = ps::propertiesOf(options.mode).hasServers;
  switch (phase) {
  case Phase::Model:
    manager.addPass(createNNLinkStd());
    manager.addPass(createNNAddAverages());
    manager.addPass(createNNSetComputeType({options.compute}));
    manager.addPass(createNNConvertElementType({options.elementType}));
    manager.addPass(createNNCheckModel());
    break;
  case Phase::Merged:
    manager.addPass(createNNLowerModel());
    manager.addPass(createNNSplitTables());
    manager.addPass(createNNJoinCycle());
    // Unify equal lookups before they are merged.
    manager.addPass(createCSEPass());
    manager.addPass(createNNMergeLookups());
    manager.addPass(createNNFingerprint());
    if (options.serving)
      manager.addPass(createNNKeepServing());
    break;
  case Phase::Gradient:
    manager.addPass(createNNAutodiff());
    manager.addPass(createNNSplitClips());
    manager.addPass(createNNExpandUpdates());
    manager.addPass(createNNCheckScalars());
    manager.addPass(createNNCheckUntouched());
    // Reuse values of the forward program that adjoints would recompute.
    manager.addPass(createCSEPass());
    manager.addPass(createNNGateTurns());
    break;
  case Phase::Fused:
    manager.addPass(createNNCanonicalize());
    manager.addPass(createNNFuseGemm({options.fuse}));
    manager.addPass(createNNAssignComputeTypes());
    manager.addPass(createNNBroadcastSplats());
    break;
  case Phase::Placed:
    manager.addPass(
        createPSSettleDelays({ps::propertiesOf(options.mode).name}));
    if (isDistributed) {
      manager.addPass(createPSPartition(
          {ps::propertiesOf(options.mode).name, options.slice,
           options.minBlockElements, options.targetBlockBytes}));
      manager.addPass(createPSCheckCopies());
    }
    manager.addPass(createNNSetPhase({stringify(phase).str()}));
    break;
  case Phase::Split:
    manager.addPass(createNNAssignStages());
    if (isDistributed) {
      manager.addPass(createPSInsertSendRecv());
      manager.addPass(createPSFuseMessages());
    }
    manager.addPass(createNNSetPhase({stringify(phase).str()}));
    break;
  case Phase::Roles:
    manager.addPass(createNNSetPhase({stringify(phase).str()}));
    if (isDistributed) {
      manager.addPass(createPSOutlineRoles());
      manager.addPass(createPSVerifyRoles());
      if (trainersHaveRules(options))
        manager.addPass(createPSShareRules());
    }
    break;
  case Phase::Buffers:
    // Rules become device kernels only in these two cases. In all others,
    // servers own the state, or it is a trainer's copy on the host.
    manager.addPass(createNNUpdatesToKernels(
        {trainersHaveRules(options) ||
         (options.target == Target::Cuda && !isDistributed)}));
    if (isDistributed)
      manager.addPass(createPSToRT());
    manager.addPass(
        createNNToRT({options.numerics,
                      options.target == Target::Cuda ? sumChunksOfDevice : 1,
                      options.fuse}));
    manager.addPass(createCSEPass());
    manager.addPass(createNNSetPhase({stringify(phase).str()}));
    break;
  case Phase::Tasks:
    manager.addPass(createRTOutlineKernels());
    // Unify equal addresses that are passed to kernels.
    manager.addPass(createCSEPass());
    manager.addPass(createRTDeduplicateKernels());
    if (options.target == Target::Cuda) {
      manager.addPass(createRTLaunchKernels({options.numerics}));
      manager.addPass(createCSEPass());
      manager.addPass(createRTDistributeLoops());
    }
    manager.addPass(createNNSetPhase({stringify(phase).str()}));
    break;
  case Phase::LLVM:
    // Functions of formulas have no vector variants.
    manager.addPass(createMathToABI());
    manager.addPass(createRTVectorizeRows());
    manager.addPass(createRTShareLoops());
    addLLVMLowering(manager);
    manager.addPass(
        createRTDescriptorToLLVM({options.numerics, options.targetCpu}));
    manager.addPass(createRTSetTarget({options.targetCpu}));
    manager.addPass(createNNSetPhase({stringify(phase).str()}));
    break;
  }
  manager.addPass(createNNVerifyPhase({stringify(phase).str()}));
}

std::optional<Target> pdlc::symbolizeTarget(StringRef name) {
  return llvm::StringSwitch<std::optional<Target>>(name)
      .Case("cpu", Target::Cpu)
      .Case("cuda", Target::Cuda)
      .Default(std::nullopt);
}

void pdlc::buildPipeline(OpPassManager &manager, Phase to,
                         const PipelineOptions &options,
                         std::optional<Phase> from) {
  unsigned first = from ? static_cast<unsigned>(*from) + 1 : 0;
  manager.addPass(createPDLCheckStart(
      {stringify(from.value_or(Phase::Model)).str(),
       ps::propertiesOf(options.mode).name, options.isRole}));
  // After phase roles, the two modules are processed separately.
  const bool nests =
      ps::propertiesOf(options.mode).hasServers && !options.isRole;
  // The module may have been edited by hand after that phase.
  if (from)
    (nests && *from > Phase::Roles ? manager.nest<ModuleOp>() : manager)
        .addPass(createNNVerifyPhase({stringify(*from).str()}));
  for (unsigned phase = first; phase <= static_cast<unsigned>(to); ++phase)
    addPhase(nests && phase > static_cast<unsigned>(Phase::Roles)
                 ? manager.nest<ModuleOp>()
                 : manager,
             static_cast<Phase>(phase), options);
}

void pdlc::buildDevicePipeline(OpPassManager &manager) {
  // After this pass, the functions that formulas call have names.
  manager.addPass(createMathToABI());
  manager.addPass(createRTExtractKernels());
  addLLVMLowering(manager);
}

/// Static storage, because an option does not copy its description.
static llvm::StringRef modeDescription() {
  static const std::string text =
      "Who holds the state and who waits for whom: " +
      ps::modeList(/*withServers=*/false);
  return text;
}

namespace {
/// Textual options of `--pdl-pipeline`.
struct PipelineArguments : PassPipelineOptions<PipelineArguments> {
  Option<std::string> to{*this, "to",
                         llvm::cl::desc("The phase to stop at (model, merged, "
                                        "gradient, fused, placed, split, "
                                        "roles, buffers, tasks, llvm)"),
                         llvm::cl::init("llvm")};
  Option<std::string> from{
      *this, "from",
      llvm::cl::desc("The phase that the module is in; without it, all phases "
                     "are gone through from model"),
      llvm::cl::init("")};
  Option<std::string> elementType{
      *this, "element-type",
      llvm::cl::desc("f32, or f64 for tests against mathematics"),
      llvm::cl::init("f32")};
  Option<std::string> numerics{*this, "numerics",
                               llvm::cl::desc("fast or strict (settled sums)"),
                               llvm::cl::init("fast")};
  Option<std::string> compute{
      *this, "compute",
      llvm::cl::desc("f32; bf16: factors of large products are rounded to "
                     "bf16; bf16x3, bf16x6: large products are sums of "
                     "products of bf16 parts"),
      llvm::cl::init("f32")};
  Option<std::string> targetCpu{*this, "target-cpu",
                                llvm::cl::desc("The CPU to compile for"),
                                llvm::cl::init("x86-64-v3")};
  Option<std::string> target{
      *this, "target", llvm::cl::desc("What compute runs on: cpu or cuda"),
      llvm::cl::init("cpu")};
  Option<bool> serving{*this, "serving",
                       llvm::cl::desc("Keep only what answers requests"),
                       llvm::cl::init(false)};
  Option<bool> fuse{
      *this, "fuse",
      llvm::cl::desc(
          "Fuse products with the ops that follow them, and join loops; "
          "without, each op is computed by itself"),
      llvm::cl::init(true)};
  Option<std::string> mode{*this, "mode", llvm::cl::desc(modeDescription()),
                           llvm::cl::init("local")};
  Option<bool> slice{*this, "slice",
                     llvm::cl::desc("Cut parameters into several blocks"),
                     llvm::cl::init(true)};
  Option<int64_t> minBlockElements{
      *this, "min-block-elements",
      llvm::cl::desc("The least elements of a block"), llvm::cl::init(8192)};
  Option<int64_t> targetBlockBytes{
      *this, "target-block-bytes",
      llvm::cl::desc("About how many bytes a block has"),
      llvm::cl::init(128 * 1024)};
};
} // namespace

/// Returns the phase called `name`. Reports an error through `reject` if there
/// is none.
static std::optional<Phase>
findPhase(StringRef name,
          function_ref<LogicalResult(const llvm::Twine &)> reject) {
  std::optional<Phase> phase = symbolizePhase(name);
  if (!phase)
    (void)reject("--pdl-pipeline knows no phase '" + name +
                 "'; expected one of " + phaseList());
  return phase;
}

void pdlc::registerPipelines() {
  registerPassPipeline(
      "pdl-device-pipeline",
      "Of a module for a device, in phase tasks, makes its kernels in the LLVM "
      "dialect",
      [](OpPassManager &manager, StringRef text,
         function_ref<LogicalResult(const llvm::Twine &)> reject)
          -> LogicalResult {
        if (!text.empty())
          return reject("--pdl-device-pipeline takes no options");
        buildDevicePipeline(manager);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)>) {});
  registerPassPipeline(
      "pdl-pipeline", "Compiles a model up to a named phase",
      [](OpPassManager &manager, StringRef text,
         function_ref<LogicalResult(const llvm::Twine &)> reject)
          -> LogicalResult {
        PipelineArguments arguments;
        if (failed(arguments.parseFromString(text)))
          return failure();
        std::optional<Phase> to = findPhase(arguments.to, reject), from;
        if (!to)
          return failure();
        if (!arguments.from.empty()) {
          from = findPhase(arguments.from, reject);
          if (!from)
            return failure();
          if (*to < *from)
            return reject("--pdl-pipeline cannot go back from phase " +
                          stringify(*from) + " to phase " + stringify(*to) +
                          "; start with a module of an earlier phase");
        }
        PipelineOptions options;
        options.elementType = arguments.elementType;
        options.numerics = arguments.numerics;
        options.compute = arguments.compute;
        options.targetCpu = arguments.targetCpu;
        std::optional<Target> target = symbolizeTarget(arguments.target);
        if (!target)
          return reject("--pdl-pipeline knows no target '" + arguments.target +
                        "'; expected cpu or cuda");
        options.target = *target;
        options.serving = arguments.serving;
        options.fuse = arguments.fuse;
        options.slice = arguments.slice;
        options.minBlockElements = arguments.minBlockElements;
        options.targetBlockBytes = arguments.targetBlockBytes;
        std::optional<ps::Mode> mode = ps::modeOf(arguments.mode);
        if (!mode)
          return reject("--pdl-pipeline knows no mode '" + arguments.mode +
                        "'; expected " + ps::modeList(/*withServers=*/false));
        options.mode = *mode;
        buildPipeline(manager, *to, options, from);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) {
        visit(PipelineArguments());
      });
}
