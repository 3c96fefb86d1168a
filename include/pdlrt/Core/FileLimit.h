//===- FileLimit.h - Limit of open files ------------------------*- C++ -*-===//
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

/// Raises this process's limit of open files to the hard limit.
void raiseFileLimit();

/// Returns an error if this process may not have `least` files open. Files that
/// are already open are not counted.
Status checkFileLimit(uint64_t least);

/// Returns why a process cannot open more files, which include connections, and
/// the remedy: a part of an error message.
std::string describeFileLimit();

/// Returns true if this process may open more files than the 16 that it
/// reserves for saves (an eighth of a limit below 128). Check it before
/// accepting connections. Takes microseconds, or, if most files are in use, the
/// time to list all open files.
bool hasFilesToSpare();

/// Returns true if this process can open no more files now. Takes microseconds.
bool isAtFileLimit();

} // namespace pdlrt

#endif // PDLRT_CORE_FILELIMIT_H
