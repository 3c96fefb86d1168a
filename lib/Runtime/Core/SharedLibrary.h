//===- SharedLibrary.h - Functions of a library, by name --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CORE_SHAREDLIBRARY_H
#define LIB_RUNTIME_CORE_SHAREDLIBRARY_H

#include "pdlrt/Core/Status.h"

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <span>
#include <string>

namespace pdlrt {

/// A library that was opened, and the first function that it lacks.
class SharedLibrary {
public:
  explicit SharedLibrary(void *handle) : handle(handle) {}

  /// The name of the first function that was sought in vain; null: there is
  /// none.
  const char *firstMissing() const { return missing; }

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

private:
  void *handle;
  const char *missing = nullptr;
};

/// What the errors of `openOnce` say.
struct LibraryErrors {
  /// Whose reason, in brackets, stands between the two.
  const char *absent, *remedyOfAbsent;
  /// Before and behind its name, and behind that of the function.
  const char *lacking, *remedyOfLacking;
  /// Behind both.
  const char *otherwise = "";
};

/// The functions of the first library of these names that is there, which is
/// opened once; later calls give the same. `find(library, functions)` asks for
/// all of them. Thread-safe.
template <typename Functions, typename Find>
Expected<const Functions *> openOnce(std::span<const char *const> names,
                                     const LibraryErrors &errors, Find &&find) {
  static std::mutex mutex;
  static std::map<std::string, Functions> opened;
  const std::lock_guard lock(mutex);
  // That of the first one is the one that helps.
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
      return Status::invalid(std::string(errors.lacking) + name +
                             " has no function " + text +
                             errors.remedyOfLacking + errors.otherwise);
    }
    return &opened.emplace(name, functions).first->second;
  }
  return Status::invalid(std::string(errors.absent) + " (" + reason + ")" +
                         errors.remedyOfAbsent + errors.otherwise);
}

} // namespace pdlrt

#endif // LIB_RUNTIME_CORE_SHAREDLIBRARY_H
