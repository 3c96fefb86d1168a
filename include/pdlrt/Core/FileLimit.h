//===- FileLimit.h - How many files a process may open ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_FILELIMIT_H
#define PDLRT_CORE_FILELIMIT_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>

namespace pdlrt {

/// Lets this process have as many files open as the system grants it.
void raiseFileLimit();

/// An error where this process may not have `least` files open. Those that it
/// has open already are not counted.
Status checkFileLimit(uint64_t least);

/// Why a process cannot open more files, which connections are, and what helps:
/// part of a sentence.
std::string describeFileLimit();

/// Whether this process may open more files than the 16 (of a limit below 128:
/// an eighth of it) that it keeps for saves. Who takes connections asks first.
/// Takes microseconds, or as long as a look at all files where most are in use.
bool hasFilesToSpare();

/// Whether this process can open no more files now. Takes microseconds.
bool isAtFileLimit();

} // namespace pdlrt

#endif // PDLRT_CORE_FILELIMIT_H
