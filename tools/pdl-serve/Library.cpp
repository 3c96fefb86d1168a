//===- Library.cpp - A library that answers requests ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::Status;

static bool readAt(int file, void *to, size_t size, uint64_t offset) {
  return ::pread(file, to, size, off_t(offset)) == ssize_t(size);
}

/// A library whose end is missing would be mapped, and end the process where it
/// is read.
static Status checkWhole(int file) {
  struct stat about = {};
  Elf64_Ehdr header = {};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode) ||
      !readAt(file, &header, sizeof(header), 0) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
      header.e_machine != EM_X86_64 || header.e_phentsize != sizeof(Elf64_Phdr))
    return Status::invalid("is no shared library of x86-64; put one there that "
                           "pdl-translate --emit=library made");
  const auto fileSize = uint64_t(about.st_size);
  const auto isInside = [&](uint64_t offset, uint64_t size) {
    return offset <= fileSize && size <= fileSize - offset;
  };
  const Status cut = Status::invalid("is cut off; copy it to a folder beside "
                                     "and rename that when it is whole");
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!isInside(header.e_shoff,
                uint64_t(header.e_shnum) * header.e_shentsize) ||
      !readAt(file, segments.data(), segments.size() * sizeof(Elf64_Phdr),
              header.e_phoff))
    return cut;
  for (const Elf64_Phdr &segment : segments)
    if (!isInside(segment.p_offset, segment.p_filesz))
      return cut;
  return {};
}

Expected<std::shared_ptr<const Library>>
Library::open(const std::string &path) {
  // Not std::make_shared: the constructor is private.
  std::shared_ptr<Library> library(new Library());
  const std::filesystem::path file = path;
  library->folder =
      ::open(file.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int opened =
      ::openat(library->folder, file.filename().c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0)
    return Status::invalid(path + ": " + std::strerror(errno));
  Status status = checkWhole(opened);
  ::close(opened);
  if (!status.ok())
    return Status::invalid(path + " " + status.message());
  const std::string &name = library->name = fmt::format(
      "/proc/self/fd/{}/{}", library->folder, file.filename().string());
  library->handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) {
    std::string reason = ::dlerror();
    if (const size_t at = reason.find(name); at != std::string::npos)
      reason.replace(at, name.size(), path);
    std::ranges::replace(reason, '\n', ' ');
    return Status::invalid(std::move(reason));
  }
  const auto query = reinterpret_cast<pdl_serving_query_function>(
      ::dlsym(library->handle, "pdl_serving_query"));
  if (!query)
    return Status::invalid(path + " is no library of a model; make one with "
                                  "pdl-translate MODEL --emit=library");
  library->table = query(PDL_SERVING_VERSION);
  if (!library->table)
    return Status::invalid(
        path +
        " does not serve here: this CPU lacks what it was compiled for, "
        "or it offers another version of pdl/serving.h than " +
        std::to_string(PDL_SERVING_VERSION) + "; translate the model again");
  library->described = library->table->describe();
  if (!library->described)
    return Status::internal(path + ": " + library->table->last_error());
  if (library->described->program_count == 0)
    return Status::invalid(path + " has no program that returns something; add "
                                  "one to the model and translate it again");
  return std::shared_ptr<const Library>(std::move(library));
}

Library::~Library() {
  if (handle) {
    ::dlclose(handle);
    // Threads may still have something of it to free: then it stays, and so
    // does its name, which another library must not get.
    if (void *rest = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      ::dlclose(rest);
      return;
    }
  }
  if (folder >= 0)
    ::close(folder);
}
