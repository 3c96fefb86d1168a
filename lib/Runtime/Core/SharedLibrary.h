//===- SharedLibrary.h - Functions of a shared library ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CORE_SHAREDLIBRARY_H
#define LIB_RUNTIME_CORE_SHAREDLIBRARY_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"

#include <dlfcn.h>
#include <map>
#include <span>
#include <string>

namespace pdlrt {

/// A loaded library. Remembers the first required function that the library
/// lacks.
class SharedLibrary {
public:
  explicit SharedLibrary(void *handle) : handle(handle) {}

  /// Returns the name of the first required function that the library lacks, or
  /// null if it has all of them.
  const char *firstMissing() const { return missing; }

  /// Returns null if the library does not have the function.
  template <typename Function>
  void findOptional(Function &function, const char *name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
  }
  template <typename Function> void find(Function &function, const char *name) {
    findOptional(function, name);
    if (!function && !missing)
      missing = name;
  }

private:
  void *handle;
  const char *missing = nullptr;
};

/// Error messages of `openOnce`.
struct LibraryErrors {
  /// Before and after the loader's reason, in parentheses.
  const char *absent, *remedyOfAbsent;
  /// Texts before the library's name, and after the name of the missing
  /// function.
  const char *lacking, *remedyOfLacking;
  /// Text at the end of both messages.
  const char *otherwise = "";
};

/// Loads the first library of `names` that exists, and returns its functions. A
/// library is loaded only once; later calls return the same functions.
/// `find(library, functions)` looks up all functions. Thread-safe.
template <typename Functions, typename Find>
Expected<const Functions *> openOnce(std::span<const char *const> names,
                                     const LibraryErrors &errors, Find &&find) {
  static Mutex mutex;
  static std::map<std::string, Functions> opened PDLRT_GUARDED_BY(mutex);
  const MutexLock lock(mutex);
  // The loader's reason for the first name, which is the most useful one.
  std::string reason;
  for (const char *name : names) {
    if (const auto found = opened.find(name); found != opened.end())
      return &found->second;
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char *said = dlerror();
      if (reason.empty())
        reason = said ? said : name;
      continue;
    }
    SharedLibrary library(handle);
    Functions functions = {};
    find(library, functions);
    if (const char *missing = library.firstMissing()) {
      const std::string text = missing;
      dlclose(handle);
      return Status::failedPrecondition(
          std::string(errors.lacking) + name + " has no function " + text +
          errors.remedyOfLacking + errors.otherwise);
    }
    return &opened.emplace(name, functions).first->second;
  }
  return Status::notFound(std::string(errors.absent) + " (" + reason + ")" +
                          errors.remedyOfAbsent + errors.otherwise);
}

} // namespace pdlrt

#endif // LIB_RUNTIME_CORE_SHAREDLIBRARY_H
