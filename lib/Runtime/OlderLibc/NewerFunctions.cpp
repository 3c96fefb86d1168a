//===- NewerFunctions.cpp - What older C libraries lack -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled programs link libstdc++ and libgcc_eh statically. These archives use
// symbols that the C library has only since glibc 2.32 to 2.36, so a program
// would not start on older systems. The definitions here are linked instead.
// They are hidden: shared libraries still use those of the C library.
//
//===----------------------------------------------------------------------===//

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

/// Returns 32 random bits. std::random_device calls this function, which glibc
/// has since 2.36.
HIDDEN uint32_t pdlrt_random_bits() __asm__("arc4random");

extern "C" uint32_t pdlrt_random_bits() {
  uint32_t bits = 0;
  // A read of at most 256 bytes is whole or fails.
  while (getrandom(&bits, sizeof bits, 0) != ssize_t(sizeof bits))
    if (errno != EINTR)
      std::abort();
  return bits;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE

namespace {
struct Search {
  ElfW(Addr) address;
  dl_find_object *result;
};
} // namespace

/// If the object contains the address, sets the result and returns 1, which
/// ends the iteration.
static int lookInto(dl_phdr_info *object, size_t, void *data) {
  auto *search = static_cast<Search *>(data);
  const ElfW(Phdr) *holder = nullptr, *frames = nullptr;
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = object->dlpi_phdr[i];
    const ElfW(Addr) begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && search->address >= begin &&
        search->address - begin < part.p_memsz)
      holder = &part;
    if (part.p_type == PT_GNU_EH_FRAME)
      frames = &part;
  }
  if (!holder || !frames)
    return 0;
  const auto pointer = [&](ElfW(Addr) address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader's addresses.
    return reinterpret_cast<void *>(object->dlpi_addr + address);
  };
  *search->result = {};
  search->result->dlfo_map_start = pointer(holder->p_vaddr);
  search->result->dlfo_map_end = pointer(holder->p_vaddr + holder->p_memsz);
  search->result->dlfo_eh_frame = pointer(frames->p_vaddr);
  return 1;
}

/// Finds the unwind tables of the code at `address`. Returns 0 if there are
/// some, and -1 otherwise. The unwinder of exceptions calls this function,
/// which glibc has only since 2.35.
HIDDEN int pdlrt_find_object(void *address, dl_find_object *result) noexcept
    __asm__("_dl_find_object");

extern "C" int pdlrt_find_object(void *address,
                                 dl_find_object *result) noexcept {
  Search search{reinterpret_cast<ElfW(Addr)>(address), result};
  return dl_iterate_phdr(lookInto, &search) == 1 ? 0 : -1;
}

#endif // DLFO_STRUCT_HAS_EH_DBASE

/// True if the process certainly has only one thread; glibc has it only since
/// 2.32. Here it is always false, so std::shared_ptr always counts atomically.
HIDDEN char pdlrt_single_threaded __asm__("__libc_single_threaded");
extern "C" char pdlrt_single_threaded = 0;

// Functions for the status of files. glibc has them only since 2.33; before,
// programs called __xstat and similar functions. They call the kernel directly,
// whose struct is the same as that of the C library.
using FileStatus = struct stat;

HIDDEN int pdlrt_stat(const char *path, FileStatus *status) __asm__("stat");
HIDDEN int pdlrt_stat64(const char *path, FileStatus *status) __asm__("stat64");
HIDDEN int pdlrt_lstat(const char *path, FileStatus *status) __asm__("lstat");
HIDDEN int pdlrt_lstat64(const char *path,
                         FileStatus *status) __asm__("lstat64");
HIDDEN int pdlrt_fstat(int file, FileStatus *status) __asm__("fstat");
HIDDEN int pdlrt_fstat64(int file, FileStatus *status) __asm__("fstat64");
HIDDEN int pdlrt_fstatat(int folder, const char *path, FileStatus *status,
                         int flags) __asm__("fstatat");
HIDDEN int pdlrt_fstatat64(int folder, const char *path, FileStatus *status,
                           int flags) __asm__("fstatat64");

static int statusAt(int folder, const char *path, FileStatus *status,
                    int flags) {
  return static_cast<int>(syscall(SYS_newfstatat, folder, path, status, flags));
}

extern "C" int pdlrt_stat(const char *path, FileStatus *status) {
  return statusAt(AT_FDCWD, path, status, 0);
}
extern "C" int pdlrt_stat64(const char *path, FileStatus *status) {
  return statusAt(AT_FDCWD, path, status, 0);
}
extern "C" int pdlrt_lstat(const char *path, FileStatus *status) {
  return statusAt(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
extern "C" int pdlrt_lstat64(const char *path, FileStatus *status) {
  return statusAt(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
extern "C" int pdlrt_fstat(int file, FileStatus *status) {
  return static_cast<int>(syscall(SYS_fstat, file, status));
}
extern "C" int pdlrt_fstat64(int file, FileStatus *status) {
  return static_cast<int>(syscall(SYS_fstat, file, status));
}
extern "C" int pdlrt_fstatat(int folder, const char *path, FileStatus *status,
                             int flags) {
  return statusAt(folder, path, status, flags);
}
extern "C" int pdlrt_fstatat64(int folder, const char *path, FileStatus *status,
                               int flags) {
  return statusAt(folder, path, status, flags);
}
