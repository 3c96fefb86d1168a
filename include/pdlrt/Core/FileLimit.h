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

/// Returns an error if the limit of open files of this process is lower than
/// `least`. The number of files that are open now does not matter.
Status checkFileLimit(uint64_t least);

/// Returns text for an error message: this process has reached its limit of
/// open files, with the limit and the remedy. Connections count as open files.
std::string describeFileLimit();

/// Returns true if this process can open at least one file in addition to those
/// that it reserves for saves: 16, or an eighth of the limit of open files if
/// that is less. Call before accepting a connection. Takes microseconds. If
/// most file descriptors are in use, tests each of them.
bool hasFilesToSpare();

/// Returns true if this process can open no more files now. Takes microseconds.
bool isAtFileLimit();

} // namespace pdlrt

#endif // PDLRT_CORE_FILELIMIT_H
