//===- Mode.h - What the mode of a program means ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code asks for the properties of a mode, never for a mode; what each mode has
// is one row of the table in pdlabi/modes.h.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_MODE_H
#define PDLRT_ABI_MODE_H

#include "pdlabi/modes.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pdlrt {

using pdlabi::findMode;
using pdlabi::Mode;
using pdlabi::OwnerPlace;

/// The mode of a descriptor that has passed `checkDescriptor`.
const Mode &modeOf(const pdl_descriptor &descriptor);

/// The mode of that name; null if there is none.
const Mode *findModeNamed(std::string_view name);

/// Its name; of an id that is no mode's, the number.
std::string modeName(int64_t id);

/// The flags that translate a model for several processes, for messages:
/// "--mode=sync or --mode=async".
std::string serverModeFlags();

} // namespace pdlrt

#endif // PDLRT_ABI_MODE_H
