//===- CompanionLibrary.cpp - Shared libraries next to a program ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/CompanionLibrary.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <filesystem>

using namespace pdlrt;

/// Returns the folder of the object that contains this code; empty: unknown.
static std::filesystem::path ownFolder() {
  Dl_info own = {};
  link_map *object = nullptr;
  if (!::dladdr1(reinterpret_cast<const void *>(&ownFolder), &own,
                 reinterpret_cast<void **>(&object), RTLD_DL_LINKMAP))
    return {};
  if (object && object->l_name && *object->l_name)
    return std::filesystem::path(object->l_name).parent_path();
  // For the main program, the name in the link map is empty, and `dli_fname` is
  // the name by which it was called, which may be relative.
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code).parent_path();
}

Expected<void *> pdlrt::findInCompanion(const std::string &name,
                                        const char *symbol) {
  std::filesystem::path folder = ownFolder();
  // pdl-serve opens libraries by paths in "/proc/self/fd/N". When it has
  // unloaded them, N may become the number of another folder. The dynamic
  // linker, however, identifies open libraries by their paths, so it would
  // return the old library. A descriptor that stays open prevents this, because
  // its number is not used again.
  const std::filesystem::path descriptors = "/proc/self/fd";
  int own = -1;
  if (folder.parent_path() == descriptors)
    own = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (own >= 0)
    folder = descriptors / std::to_string(own);
  // A path, not a name: for a name the linker would return an open library of
  // another folder, which may have another version.
  const std::string path = (folder / name).string();
  void *const opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *const found = opened ? ::dlsym(opened, symbol) : nullptr;
  if (found)
    return found;
  Status status = Status::notFound("cannot load " + path + ": " + ::dlerror());
  if (own >= 0 && !opened)
    ::close(own);
  return status;
}
