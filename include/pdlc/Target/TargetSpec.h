//===- TargetSpec.h - The machine that a program is for ---------*- C++ -*-===//
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

/// The function that a program exports (pdlabi/abi.h). It is compiled for every
/// x86-64 CPU.
inline constexpr llvm::StringLiteral kQueryName = "pdl_program_query";
/// What it is called in a program of role pserver that stands beside a trainer
/// in one executable.
inline constexpr llvm::StringLiteral kOwnerQueryName = "pdl_owner_query";

/// The machine that a program is compiled for.
struct TargetSpec {
  std::string triple;
  std::string cpu;
  /// Beyond what the CPU's name implies, such as `+avx2,+fma`.
  std::string features;
  std::string dataLayout;

  /// Resolves a CPU's name, `native` to this machine's. Fails with a sentence
  /// where LLVM does not know the name or the CPU has less than x86-64-v3,
  /// which the settled numerics need. Thread-safe.
  static llvm::Expected<TargetSpec> get(llvm::StringRef cpu);

  /// What code for this machine may use, as `pdl_descriptor::cpu_features`.
  std::vector<uint64_t> featureWords() const;

  /// LLVM's code generator for this machine, set to form no FMA by itself.
  std::unique_ptr<llvm::TargetMachine> createMachine(
      llvm::CodeGenOptLevel effort = llvm::CodeGenOptLevel::Aggressive) const;
};

} // namespace pdlc

#endif // PDLC_TARGET_TARGETSPEC_H
