//===- CompanionLibrary.h - Shared libraries next to a program --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// pdl-translate puts some shared libraries into the folder of a compiled
// program or library. They are opened when they are needed, because they
// depend on libraries that not every system has.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_COMPANIONLIBRARY_H
#define PDLRT_CORE_COMPANIONLIBRARY_H

#include "pdlrt/Core/Status.h"

#include <string>

namespace pdlrt {

/// Opens the shared library `name` in the folder of the program or library that
/// contains this code, and returns the address of its symbol `symbol`. The
/// library stays loaded, and its folder open if the caller's library was opened
/// by a descriptor of the folder. Returns an error of one line, the reason of
/// the dynamic linker, if the file cannot be loaded or has no such symbol.
/// Thread-safe.
Expected<void *> findInCompanion(const std::string &name, const char *symbol);

} // namespace pdlrt

#endif // PDLRT_CORE_COMPANIONLIBRARY_H
