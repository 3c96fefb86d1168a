//===- Phases.h - The named phases of a compilation -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_SUPPORT_PHASES_H
#define PDLC_SUPPORT_PHASES_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace pdlc {

/// Phases in order. The attribute `nn.phase` of a module names the phase that
/// it has reached.
enum class Phase : unsigned {
  Model,
  Merged,
  Gradient,
  Fused,
  Placed,
  Split,
  Roles,
  Buffers,
  Tasks,
  LLVM
};

llvm::StringRef stringify(Phase phase);
std::optional<Phase> symbolizePhase(llvm::StringRef name);
/// Lists the names of all phases, for messages.
std::string phaseList();

} // namespace pdlc

#endif // PDLC_SUPPORT_PHASES_H
