//===- ProgramMode.h - The mode of a compiled trainer -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_LAUNCH_PROGRAMMODE_H
#define PDL_TOOLS_PDL_LAUNCH_PROGRAMMODE_H

#include "pdlrt/Abi/Mode.h"

#include <string>

namespace pdllaunch {

/// Runs the trainer at `path` with --version, and returns the mode for which it
/// was compiled. Returns null if this is not known, for example because the
/// file is a script.
const pdlrt::Mode *modeOfTrainer(const std::string &path);

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_PROGRAMMODE_H
