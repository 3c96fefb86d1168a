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

/// Returns the mode for which the trainer at `path` was compiled, from its
/// --version. Null if it has none, for instance if it is a script.
const pdlrt::Mode *modeOfTrainer(const std::string &path);

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_PROGRAMMODE_H
