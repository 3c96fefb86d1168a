//===- CompanionLibrary.h - Shared libraries next to a program --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// pdl-translate puts some shared libraries into the folder of a compiled
// program or library. They are loaded only when they are needed, because they
// depend on libraries that not every system has.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_COMPANIONLIBRARY_H
#define PDLRT_CORE_COMPANIONLIBRARY_H

#include "pdlrt/Core/Status.h"

#include <string>

namespace pdlrt {

/// Loads the shared library `name` from the folder of the program or library
/// that contains this code, or, if it is not there, from the folder lib/pdl
/// next to that folder. Returns the address of its symbol `symbol`. The
/// library is never unloaded. If the code itself was loaded by a path below
/// /proc/self/fd, the folder's descriptor stays open too, and callers whose
/// companions have the same code share the first of them. If the file cannot be
/// loaded or has no such symbol, returns an error with the message of the
/// dynamic linker. Thread-safe.
Expected<void *> findInCompanion(const std::string &name, const char *symbol);

} // namespace pdlrt

#endif // PDLRT_CORE_COMPANIONLIBRARY_H
