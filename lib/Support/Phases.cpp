//===- Phases.cpp - The named phases of a compilation -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Support/Phases.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

static constexpr StringLiteral phaseNames[] = {
    "model", "merged", "gradient", "fused", "placed",
    "split", "roles",  "buffers",  "tasks", "llvm"};

StringRef pdlc::stringify(Phase phase) {
  return phaseNames[static_cast<unsigned>(phase)];
}

std::optional<pdlc::Phase> pdlc::symbolizePhase(StringRef name) {
  for (auto [index, candidate] : enumerate(phaseNames))
    if (candidate == name)
      return static_cast<Phase>(index);
  return std::nullopt;
}

std::string pdlc::phaseList() { return join(ArrayRef(phaseNames), ", "); }
