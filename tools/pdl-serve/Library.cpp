//===- Library.cpp - A loaded library of a model --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"
#include "pdlabi/library_checksum.h"
#include "pdlrt/Core/Mutex.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <new>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>
#include <xxhash.h>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::FileIdentity;
using pdlrt::Status;

static bool readAt(int file, void *to, size_t size, uint64_t offset) {
  return ::pread(file, to, size, off_t(offset)) == ssize_t(size);
}

namespace {

/// The libraries that are loaded in the process.
class Loaded {
public:
  /// Returns the library that was loaded from a file, or null if it is not in
  /// use.
  std::shared_ptr<const Library> find(const FileIdentity &file)
      PDLRT_REQUIRES(mutex) {
    const auto found = used.find(file);
    return found == used.end() ? nullptr : found->second.lock();
  }
  void add(const FileIdentity &file,
           const std::shared_ptr<const Library> &library)
      PDLRT_REQUIRES(mutex) {
    used[file] = library;
  }
  void remove(const FileIdentity &file) PDLRT_REQUIRES(mutex) {
    const auto found = used.find(file);
    if (found != used.end() && found->second.expired())
      used.erase(found);
  }

  /// If a library is no longer used but could not be unloaded, returns the
  /// folder and the name under which it was loaded; otherwise returns -1. A
  /// library that is loaded again uses that folder, so that repeated failures
  /// do not open more and more descriptors.
  std::pair<int, std::string> takeKept(const FileIdentity &file)
      PDLRT_REQUIRES(mutex) {
    const auto found = kept.find(file);
    if (found == kept.end())
      return {-1, {}};
    auto taken = std::move(found->second);
    kept.erase(found);
    return taken;
  }
  void keep(const FileIdentity &file, int folder, std::string name)
      PDLRT_REQUIRES(mutex) {
    if (!kept.try_emplace(file, folder, std::move(name)).second)
      ::close(folder);
  }
  /// Closes the folders of libraries that have been unloaded.
  void sweep() PDLRT_REQUIRES(mutex) {
    std::erase_if(kept, [](const auto &each) {
      const auto &[folder, name] = each.second;
      if (void *rest = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
        ::dlclose(rest);
        return false;
      }
      ::close(folder);
      return true;
    });
  }

  pdlrt::Mutex mutex;

private:
  std::map<FileIdentity, std::weak_ptr<const Library>>
      used PDLRT_GUARDED_BY(mutex);
  std::map<FileIdentity, std::pair<int, std::string>>
      kept PDLRT_GUARDED_BY(mutex);
};

/// File descriptor that the destructor closes.
struct Descriptor {
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  const int number;
};

} // namespace

static Loaded &loaded() {
  // Never destroyed, because versions may outlive static objects.
  static Loaded &all = *new Loaded();
  return all;
}

static Status checkElf(int file) {
  Elf64_Ehdr header = {};
  if (!readAt(file, &header, sizeof(header), 0) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
      header.e_machine != EM_X86_64 || header.e_phentsize != sizeof(Elf64_Phdr))
    return Status::failedPrecondition(
        "is no shared library of x86-64; put one there that "
        "pdl-translate --emit=library made");
  return {};
}

/// Returns the XXH3 of the first `size` bytes of a file.
static std::optional<uint64_t> hashOf(int file, uint64_t size) {
  std::vector<char> piece(size_t(1) << 20);
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(
      XXH3_createState(), &XXH3_freeState);
  if (!state)
    throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  for (uint64_t at = 0; at < size; at += piece.size()) {
    const auto count = size_t(std::min<uint64_t>(piece.size(), size - at));
    if (!readAt(file, piece.data(), count, at))
      return std::nullopt;
    XXH3_64bits_update(state.get(), piece.data(), count);
  }
  return XXH3_64bits_digest(state.get());
}

/// Opens a regular file of a folder. Does not block on pipes.
static int openRegular(int folder, const char *name, struct stat &about) {
  const int file =
      ::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file >= 0 && (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode))) {
    ::close(file);
    errno = EINVAL;
    return -1;
  }
  return file;
}

/// Compares the libraries in the same folder with their checksums in `lines`,
/// the lines at the end of the library.
static Status checkCompanions(int folder, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const size_t blank = line.find(' ');
    const std::string name(line.substr(0, blank));
    uint64_t wanted = 0;
    if (blank != std::string_view::npos)
      std::from_chars(line.data() + blank + 1, line.data() + line.size(),
                      wanted, 16);
    struct stat about = {};
    const Descriptor file(openRegular(folder, name.c_str(), about));
    // The library may be installed elsewhere in the system.
    if (file.number < 0)
      continue;
    if (hashOf(file.number, uint64_t(about.st_size)) != wanted)
      return Status::dataLoss(fmt::format("needs {}, and the file of that name "
                                          "next to it is damaged or another "
                                          "one; copy both anew",
                                          name));
  }
  return {};
}

/// Verifies the checksum of a library. If damaged bytes were used, the process
/// would end. `takesUnchecked`: accept a file without a checksum.
static Status checkChecksum(int folder, int file, uint64_t fileSize,
                            bool takesUnchecked) {
  pdl_library_checksum end = {};
  if (fileSize < sizeof(end) ||
      !readAt(file, &end, sizeof(end), fileSize - sizeof(end)))
    return Status::ioError("cannot be read");
  if (std::memcmp(end.magic, PDL_LIBRARY_CHECKSUM_MAGIC, sizeof(end.magic)) !=
      0) {
    if (takesUnchecked)
      return {};
    return Status::dataLoss(
        "has no checksum at its end: it is cut off, damaged, or older than "
        "checksums; copy it anew, translate the model again, or give "
        "--take-unchecked-libraries");
  }
  if (end.covered_bytes != fileSize - sizeof(end) ||
      end.companion_bytes > end.covered_bytes ||
      hashOf(file, end.covered_bytes) != end.xxh3)
    return Status::dataLoss("is damaged: it has another checksum than the one "
                            "at its end; copy it anew");
  std::string lines(end.companion_bytes, '\0');
  if (!readAt(file, lines.data(), lines.size(),
              end.covered_bytes - end.companion_bytes))
    return Status::ioError("cannot be read");
  return checkCompanions(folder, lines);
}

Expected<std::shared_ptr<const Library>> Library::open(const std::string &path,
                                                       bool takesUnchecked) {
  // Not std::make_shared: the constructor is private.
  std::shared_ptr<Library> library(new Library());
  const std::filesystem::path file = path;
  library->folder =
      ::open(file.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat about = {};
  const Descriptor opened(
      openRegular(library->folder, file.filename().c_str(), about));
  if (opened.number < 0)
    return Status::ofErrno(errno, path + ": " +
                                      (errno == EINVAL ? "is no regular file"
                                                       : std::strerror(errno)));
  Status status = checkElf(opened.number);
  if (status.ok())
    status = checkChecksum(library->folder, opened.number,
                           uint64_t(about.st_size), takesUnchecked);
  if (!status.ok())
    return Status(status.code(), path + " " + status.message());
  library->file = {about.st_dev, about.st_ino};
  library->name = fmt::format("/proc/self/fd/{}/{}", library->folder,
                              file.filename().string());
  // Declared after `library`, whose destructor takes the lock.
  const pdlrt::MutexLock lock(loaded().mutex);
  loaded().sweep();
  if (std::shared_ptr<const Library> same = loaded().find(library->file))
    return same;
  if (auto [folder, name] = loaded().takeKept(library->file); folder >= 0) {
    ::close(std::exchange(library->folder, folder));
    library->name = std::move(name);
  }
  const std::string &name = library->name;
  library->handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) {
    std::string reason = ::dlerror();
    if (const size_t at = reason.find(name); at != std::string::npos)
      reason.replace(at, name.size(), path);
    std::ranges::replace(reason, '\n', ' ');
    return Status::failedPrecondition(std::move(reason));
  }
  const auto query = reinterpret_cast<pdl_serving_query_function>(
      ::dlsym(library->handle, "pdl_serving_query"));
  if (!query)
    return Status::failedPrecondition(
        path + " is no library of a model; make one with "
               "pdl-translate MODEL --emit=library");
  library->table = query(PDL_SERVING_VERSION);
  if (!library->table)
    return Status::failedPrecondition(
        path +
        " does not serve here: this CPU lacks what it was compiled for, "
        "or it offers another version of pdl/serving.h than " +
        std::to_string(PDL_SERVING_VERSION) + "; translate the model again");
  library->described = library->table->describe();
  if (!library->described)
    return Status::internal(path + ": " + library->table->last_error());
  if (library->described->program_count == 0)
    return Status::failedPrecondition(
        path + " has no program that returns something; add "
               "one to the model and translate it again");
  loaded().add(library->file, library);
  return std::shared_ptr<const Library>(std::move(library));
}

Library::~Library() {
  if (handle) {
    const pdlrt::MutexLock lock(loaded().mutex);
    loaded().remove(file);
    ::dlclose(handle);
    // Some libraries stay loaded after dlclose. The name of such a library must
    // not be used for another one.
    if (void *rest = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      ::dlclose(rest);
      loaded().keep(file, folder, std::move(name));
      return;
    }
  }
  if (folder >= 0)
    ::close(folder);
}
