//===- Pipelines.h - Pipelines between phases -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TRANSFORMS_PIPELINES_H
#define PDLC_TRANSFORMS_PIPELINES_H

#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Support/Phases.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace pdlc {

/// Device that runs stage compute: `cpu`, or `cuda` for NVIDIA GPUs.
enum class Target { Cpu, Cuda };

/// Returns the target of that name; nothing if the name is unknown.
std::optional<Target> symbolizeTarget(llvm::StringRef name);

/// Options of a compilation, shared by pdl-opt and pdl-translate.
struct PipelineOptions {
  /// `f32`, or `f64` for comparison with exact mathematics.
  std::string elementType = "f32";
  /// Numerics: `fast` or `strict`.
  std::string numerics = "fast";
  /// Type to which the factors of large products are rounded: `f32`, `bf16`,
  /// `bf16x3` or `bf16x6`. Ignored for modules that have passed phase `model`,
  /// because they contain the type as an attribute.
  std::string compute = "f32";
  /// CPU name that LLVM knows, or `native`.
  std::string targetCpu = "x86-64-v3";
  Target target = Target::Cpu;
  /// If true, keeps only the parts of the model that serving needs. Requires
  /// mode local.
  bool serving = false;
  /// If true, fuses products with the ops that follow them, and joins loops. If
  /// false, programs compute the same values more slowly; with numerics
  /// `strict`, results are bit-identical.
  bool fuse = true;
  /// The mode to compile for. In a mode with servers, phase `roles` splits the
  /// module into two modules, one for each role, and later phases process each
  /// of them. `isRole` is true for a module of one role.
  ps::Mode mode = ps::Mode::local;
  bool isRole = false;
  /// Partitioning of parameters; see `ps-partition`.
  bool slice = true;
  int64_t minBlockElements = 8192;
  int64_t targetBlockBytes = 128 * 1024;
};

/// Adds all passes that bring a module from phase `model` to phase `to`,
/// including the verifying pass of each phase. With `from`, adds only the
/// passes after that phase.
void buildPipeline(mlir::OpPassManager &manager, Phase to,
                   const PipelineOptions &options,
                   std::optional<Phase> from = std::nullopt);

/// Adds the passes that extract the kernels of a device from a module in phase
/// `tasks` and convert them to the LLVM dialect. The arguments of a kernel are
/// pointers, numbers, a thread index and a number of threads. The rest of the
/// program is removed.
void buildDevicePipeline(mlir::OpPassManager &manager);

/// Registers `--pdl-pipeline="to=..."` and `--pdl-device-pipeline`.
void registerPipelines();

} // namespace pdlc

#endif // PDLC_TRANSFORMS_PIPELINES_H
