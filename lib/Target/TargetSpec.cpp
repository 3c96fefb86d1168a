//===- TargetSpec.cpp - Target machine of a program -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Target/TargetSpec.h"
#include "pdlabi/cpu.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace llvm;
using namespace pdlc;

static constexpr StringLiteral kTriple = "x86_64-pc-linux-gnu";

/// Features of x86-64-v3 that generated code and the runtime use.
static constexpr StringLiteral kNeededFeatures[] = {"avx2", "bmi2", "f16c",
                                                    "fma"};

/// CPUs after kOldestCpu that programs contain code for, the latest first.
/// Later ones, such as CPUs with AVX512-BF16 or AMX, add instructions that only
/// the runtime's products use; these have kernels of their own.
static constexpr StringLiteral kLaterLevels[] = {"x86-64-v4"};

static const Target *findTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
  std::string error;
  return TargetRegistry::lookupTarget(Triple(kTriple), error);
}

std::vector<uint64_t> TargetSpec::featureWords() const {
  std::unique_ptr<MCSubtargetInfo> subtarget(
      findTarget()->createMCSubtargetInfo(Triple(triple), cpu, features));
  std::vector<uint64_t> words(pdlabi::cpuFeatureWordCount);
  for (const SubtargetFeatureKV &feature :
       subtarget->getEnabledProcessorFeatures())
    if (size_t number = pdlabi::cpuFeatureNumber(feature.Key);
        number < pdlabi::cpuFeatureCount)
      words[number / 64] |= uint64_t(1) << number % 64;
  return words;
}

std::unique_ptr<TargetMachine>
TargetSpec::createMachine(CodeGenOptLevel effort) const {
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(
      findTarget()->createTargetMachine(Triple(triple), cpu, features, options,
                                        Reloc::PIC_, std::nullopt, effort));
}

Expected<TargetSpec> TargetSpec::get(StringRef cpu) {
  const Target *target = findTarget();
  if (!target)
    return createStringError("this LLVM cannot generate code for " + kTriple +
                             "; PDL needs one that was built with target X86");
  TargetSpec spec;
  spec.triple = kTriple;
  spec.cpu = cpu == "native" ? sys::getHostCPUName().str() : cpu.str();

  // Start with an empty CPU: LLVM would print its own error for a wrong one.
  std::unique_ptr<MCSubtargetInfo> any(
      target->createMCSubtargetInfo(Triple(kTriple), "", ""));
  if (!any->isCPUStringValid(spec.cpu))
    return createStringError("LLVM knows no CPU '" + cpu +
                             "'; use x86-64-v3, x86-64-v4, native, or a name "
                             "that `llc -mcpu=help` lists");
  SubtargetFeatures hostFeatures;
  if (cpu == "native")
    for (const auto &[name, enabled] : sys::getHostCPUFeatures())
      hostFeatures.AddFeature(name, enabled);
  std::unique_ptr<MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(
      Triple(kTriple), spec.cpu, hostFeatures.getString()));
  for (StringRef needed : kNeededFeatures)
    if (!subtarget->checkFeatures("+" + needed.str()))
      return createStringError(
          "CPU '" + spec.cpu + "' has no " + needed +
          ", which PDL's numerics need; use x86-64-v3 or a later one");
  // For a CPU that is given by name, the name implies all other features. This
  // machine may lack features of its CPU, for example if it is virtual, so list
  // them.
  spec.features = cpu == "native" ? hostFeatures.getString()
                                  : "+" + join(std::begin(kNeededFeatures),
                                               std::end(kNeededFeatures), ",+");
  spec.dataLayout =
      spec.createMachine()->createDataLayout().getStringRepresentation();
  return spec;
}

Expected<std::vector<TargetSpec>> TargetSpec::laterLevels() {
  std::vector<TargetSpec> levels;
  for (StringRef cpu : kLaterLevels) {
    Expected<TargetSpec> level = get(cpu);
    if (!level)
      return level.takeError();
    levels.push_back(std::move(*level));
  }
  return levels;
}
