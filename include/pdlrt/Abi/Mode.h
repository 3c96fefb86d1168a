//===- Mode.h - Mode of a compiled program ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table in pdlabi/modes.h has the properties of each mode. Code tests these
// properties, never the identity of a mode.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_MODE_H
#define PDLRT_ABI_MODE_H

#include "pdlabi/abi/descriptor.h"
#include "pdlabi/modes.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pdlrt {

using pdlabi::findMode;
using pdlabi::Mode;
using pdlabi::OwnerPlace;

/// Returns the mode of a descriptor that has passed `checkDescriptor`.
const Mode &modeOf(const pdl_descriptor &descriptor);

/// Returns the mode with this name; null if there is none.
const Mode *findModeNamed(std::string_view name);

/// Returns the name of a mode, or the number of an unknown mode.
std::string modeName(int64_t id);

/// Returns the compiler flags for training with several processes, as text for
/// messages: "--mode=sync or --mode=async".
std::string serverModeFlags();

} // namespace pdlrt

#endif // PDLRT_ABI_MODE_H
