//===- TrainFlagForms.h - Forms of a trainer's flags ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_TRAINER_TRAINFLAGFORMS_H
#define PDLRT_PROGRAMS_TRAINER_TRAINFLAGFORMS_H

#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/Flags.h"

#include <vector>

namespace pdlrt {

/// Returns the forms of the flags of command `train` of a trainer in mode
/// `mode`. `mode` may be null if the mode is not known; then returns the flags
/// of all modes.
std::vector<FlagForm> trainFlagForms(const Mode *mode);

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_TRAINFLAGFORMS_H
