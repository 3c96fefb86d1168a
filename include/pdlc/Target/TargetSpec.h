//===- TargetSpec.h - Target machine of a program ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TARGET_TARGETSPEC_H
#define PDLC_TARGET_TARGETSPEC_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace pdlc {

/// Name of the function that a program exports (pdlabi/abi.h). It is compiled
/// for every x86-64 CPU.
inline constexpr llvm::StringLiteral kQueryName = "pdl_program_query";
/// Name of the same function in a server program (role pserver) that is linked
/// into the executable of a trainer.
inline constexpr llvm::StringLiteral kOwnerQueryName = "pdl_owner_query";

/// The oldest CPU that programs run on.
inline constexpr llvm::StringLiteral kOldestCpu = "x86-64-v3";

/// Names of constants in a module of phase `llvm`: the descriptor, and the
/// parts of it that describe the CPU.
inline constexpr llvm::StringLiteral kDescriptorName = "pdl.descriptor";
inline constexpr llvm::StringLiteral kTargetCpuName = "pdl.target_cpu";
inline constexpr llvm::StringLiteral kCpuFeaturesName = "pdl.cpu_features";

/// Machine that a program is compiled for.
struct TargetSpec {
  std::string triple;
  std::string cpu;
  /// Features in addition to those that the CPU's name implies, such as
  /// `+avx2,+fma`.
  std::string features;
  std::string dataLayout;

  /// Resolves the name of a CPU; `native` is the CPU of the compiling machine.
  /// Fails with an error message if LLVM does not know the name, or if the CPU
  /// lacks x86-64-v3, which reproducible numerics need. Thread-safe.
  static llvm::Expected<TargetSpec> get(llvm::StringRef cpu);

  /// Returns the CPUs that a program gets copies of its code for, if it runs on
  /// every CPU from `kOldestCpu` on: the latest first, without `kOldestCpu`.
  static llvm::Expected<std::vector<TargetSpec>> laterLevels();

  /// Returns the CPU features that compiled code may use, in the form of
  /// `pdl_descriptor::cpu_features`.
  std::vector<uint64_t> featureWords() const;

  /// Creates LLVM's code generator for this target. It does not contract
  /// multiplications and additions into FMA.
  std::unique_ptr<llvm::TargetMachine> createMachine(
      llvm::CodeGenOptLevel effort = llvm::CodeGenOptLevel::Aggressive) const;
};

} // namespace pdlc

#endif // PDLC_TARGET_TARGETSPEC_H
