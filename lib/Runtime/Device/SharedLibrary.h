//===- SharedLibrary.h - Functions of a library, by name --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DEVICE_SHAREDLIBRARY_H
#define LIB_RUNTIME_DEVICE_SHAREDLIBRARY_H

#include <dlfcn.h>

namespace pdlrt {

/// A library that was opened, and the first function that it lacks.
struct SharedLibrary {
  void *handle;
  const char *missing = nullptr;

  /// Null where it has none of that name.
  template <typename Function>
  void findOptional(Function &function, const char *name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
  }
  template <typename Function> void find(Function &function, const char *name) {
    findOptional(function, name);
    if (!function && !missing)
      missing = name;
  }
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_SHAREDLIBRARY_H
