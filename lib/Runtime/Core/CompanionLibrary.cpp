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

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>

using namespace pdlrt;

static constexpr const char *descriptorFolder = "/proc/self/fd";

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

/// Returns true if a file has `size` bytes like those in memory at `offset`.
static bool fileHasBytes(int file, const char *memory, size_t size,
                         off_t offset) {
  std::array<char, 4096> piece;
  for (size_t at = 0; at < size;) {
    const size_t count = std::min(piece.size(), size - at);
    if (::pread(file, piece.data(), count, offset + off_t(at)) !=
            ssize_t(count) ||
        std::memcmp(piece.data(), memory + at, count) != 0)
      return false;
    at += count;
  }
  return true;
}

/// Returns true if a loaded library has the code and the constants of a file.
/// The file of the loaded one may be gone.
static bool hasCodeOf(const dl_phdr_info &loaded, int file) {
  bool any = false;
  for (const ElfW(Phdr) &each :
       std::span(loaded.dlpi_phdr, loaded.dlpi_phnum)) {
    if (each.p_type != PT_LOAD || (each.p_flags & PF_W) != 0)
      continue;
    any = true;
    // The first segment also has the headers of all segments.
    if (!fileHasBytes(
            file,
            reinterpret_cast<const char *>(loaded.dlpi_addr + each.p_vaddr),
            each.p_filesz, off_t(each.p_offset)))
      return false;
  }
  return any;
}

/// Returns the path by which another caller has loaded a companion with the
/// same code; null if none has. Valid for ever, because companions stay loaded.
static const char *pathOfLoaded(const std::string &name,
                                const std::string &path) {
  struct Search {
    const std::string ending;
    const int file;
    const char *found = nullptr;
  } search = {"/" + name, ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (search.file < 0)
    return nullptr;
  // The function holds a lock of the dynamic linker, and must not throw.
  ::dl_iterate_phdr(
      [](dl_phdr_info *loaded, size_t, void *into) {
        auto &search = *static_cast<Search *>(into);
        const std::string_view own = loaded->dlpi_name ? loaded->dlpi_name : "";
        if (!own.starts_with(descriptorFolder) ||
            !own.ends_with(search.ending) || !hasCodeOf(*loaded, search.file))
          return 0;
        search.found = own.data();
        return 1;
      },
      &search);
  ::close(search.file);
  return search.found;
}

Expected<void *> pdlrt::findInCompanion(const std::string &name,
                                        const char *symbol) {
  std::filesystem::path folder = ownFolder();
  // pdl-serve opens libraries by paths in "/proc/self/fd/N". When it has
  // unloaded them, N may become the number of another folder. The dynamic
  // linker, however, identifies open libraries by their paths, so it would
  // return the old library. A descriptor that stays open prevents this, because
  // its number is not used again.
  int own = -1;
  const char *shared = nullptr;
  if (folder.parent_path() == descriptorFolder) {
    // Companions stay loaded, so each swap of a model would add one.
    shared = pathOfLoaded(name, folder / name);
    if (!shared)
      own = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  if (own >= 0)
    folder = std::filesystem::path(descriptorFolder) / std::to_string(own);
  // Tools are in bin/, and the libraries that they share in lib/pdl/.
  if (std::error_code code;
      !shared && own < 0 && !std::filesystem::exists(folder / name, code))
    if (const auto common = folder.parent_path() / "lib" / "pdl";
        std::filesystem::exists(common / name, code))
      folder = common;
  // A path, not a name: for a name the linker would return an open library of
  // another folder, which may have another version.
  const std::string path = shared ? shared : (folder / name).string();
  void *const opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *const found = opened ? ::dlsym(opened, symbol) : nullptr;
  if (found)
    return found;
  Status status = Status::notFound("cannot load " + path + ": " + ::dlerror());
  if (own >= 0 && !opened)
    ::close(own);
  return status;
}
