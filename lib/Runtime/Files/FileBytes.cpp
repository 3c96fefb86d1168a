//===- FileBytes.cpp - Files that are read by offset ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/FileBytes.h"

#include "Files/BlockCache.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace pdlrt;

/// Maximum size of a read system call.
static constexpr size_t largestRead = size_t(1) << 30;

Expected<FileBytes> FileBytes::open(const std::string &path,
                                    const std::string &remedy) {
  if (isInObjectStore(path)) {
    auto store = storeOf(path);
    PDLRT_RETURN_IF_ERROR(store.status());
    auto opened = (*store)->open(path);
    PDLRT_RETURN_IF_ERROR(opened.status());
    FileBytes bytes(path, (*opened)->info().bytes, -1);
    bytes.stored = cacheBlocks(*std::move(opened));
    return bytes;
  }
  // Nonblocking: otherwise `open` would wait if the path is a pipe without
  // writers. A pipe is refused below.
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return Status::ofErrno(errno, path + ": cannot be opened: " +
                                      (errno == EMFILE ? describeFileLimit()
                                                       : std::strerror(errno)));
  FileBytes bytes(path, 0, descriptor);
  struct stat info;
  if (fstat(descriptor, &info) != 0)
    return Status::ofErrno(errno,
                           path + ": cannot be read: " + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return Status::invalidArgument(path + ": is not a regular file; " + remedy);
  bytes.length = static_cast<uint64_t>(info.st_size);
  return bytes;
}

FileBytes::~FileBytes() {
  if (file >= 0)
    ::close(file);
}

Status FileBytes::readAt(uint64_t offset, size_t count, void *out) const {
  if (stored)
    return stored->readAt(offset, count, out);
  auto *next = static_cast<std::byte *>(out);
  while (count > 0) {
    const ssize_t got = ::pread(file, next, std::min(count, largestRead),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return Status::ofErrno(errno,
                             where + ": byte " + std::to_string(offset) +
                                 " cannot be read: " + std::strerror(errno) +
                                 "; check the disk, or use another copy");
    if (got == 0)
      return Status::dataLoss(where + ": ends at byte " +
                              std::to_string(offset) + ", but had " +
                              std::to_string(length) +
                              " when it was opened; do not change a file "
                              "that is read");
    next += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<size_t>(got);
  }
  return {};
}

Expected<std::shared_ptr<const void>> FileBytes::map() const {
  if (stored)
    return Status::failedPrecondition(
        where + ": cannot be mapped, because it is in an object store; copy it "
                "to this host");
  const size_t bytes = length;
  void *memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED)
    return Status::ofErrno(
        errno, where + ": cannot be mapped: " + std::strerror(errno));
  return std::shared_ptr<const void>(memory, [bytes](const void *begin) {
    ::munmap(const_cast<void *>(begin), bytes);
  });
}
