//===- EnoughMemory.h - Handles exhausted memory ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_LOCAL_ENOUGHMEMORY_H
#define LIB_RUNTIME_TRANSPORT_LOCAL_ENOUGHMEMORY_H

#include <new>

namespace pdlrt::localimpl {

/// Calls `action`. Returns false if it has thrown std::bad_alloc.
template <typename Action> bool hasMemoryFor(const Action &action) {
  try {
    action();
  } catch (const std::bad_alloc &) {
    return false;
  }
  return true;
}

} // namespace pdlrt::localimpl

#endif // LIB_RUNTIME_TRANSPORT_LOCAL_ENOUGHMEMORY_H
