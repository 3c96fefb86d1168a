//===- Pipelines.h - From model to a phase ----------------------*- C++ -*-===//
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

/// What stage compute runs on: `cpu`, or `cuda`, NVIDIA's GPUs.
enum class Target { Cpu, Cuda };

/// The target of that name; none if there is none.
std::optional<Target> symbolizeTarget(llvm::StringRef name);

/// What a compilation can be told; the same for pdl-opt and pdl-translate.
struct PipelineOptions {
  /// `f32`, or `f64` for tests against mathematics.
  std::string elementType = "f32";
  /// `fast` or `strict`.
  std::string numerics = "fast";
  /// `f32`, or `bf16`: what the factors of large products are rounded to. A
  /// module that is beyond phase `model` says so itself.
  std::string compute = "f32";
  /// A name that LLVM knows, or `native`.
  std::string targetCpu = "x86-64-v3";
  Target target = Target::Cpu;
  /// Whether only what answers requests is kept; in mode local.
  bool serving = false;
  /// Whether products take up what follows them, and loops are joined. Without,
  /// programs compute the same, in numerics `strict` to the bit, more slowly.
  bool fuse = true;
  /// Where it has servers, phase `roles` leaves two modules in one; later
  /// phases treat each, or, where `isRole` is set, the module, which then is
  /// one of them.
  ps::Mode mode = ps::Mode::local;
  bool isRole = false;
  /// How parameters are cut; see `ps-partition`.
  bool slice = true;
  int64_t minBlockElements = 8192;
  int64_t targetBlockBytes = 128 * 1024;
};

/// Adds all passes that lead a module from phase `model` to phase `to`, with
/// the verifying pass of each phase on the way; with `from`, only those that
/// lead from that phase on.
void buildPipeline(mlir::OpPassManager &manager, Phase to,
                   const PipelineOptions &options,
                   std::optional<Phase> from = std::nullopt);

/// Adds the passes that make the kernels of a device, in the LLVM dialect, of a
/// module for one in phase `tasks`: functions of pointers, numbers, and the
/// number of a thread and of all threads. Nothing else of the program stays.
void buildDevicePipeline(mlir::OpPassManager &manager);

/// Registers `--pdl-pipeline="to=..."` and `--pdl-device-pipeline`.
void registerPipelines();

} // namespace pdlc

#endif // PDLC_TRANSFORMS_PIPELINES_H
