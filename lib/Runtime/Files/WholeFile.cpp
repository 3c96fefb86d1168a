//===- WholeFile.cpp - A file that is written at once ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/WholeFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace pdlrt;

/// Of addresses, places in the file and sizes, for a write past the cache.
static constexpr size_t blockBytes = 4096;
/// The system writes no more at once.
static constexpr size_t largestWrite = size_t(1) << 30;

static size_t roundUp(size_t bytes) {
  return (bytes + blockBytes - 1) / blockBytes * blockBytes;
}

std::byte *FileImage::reserve(size_t size) {
  auto *first =
      static_cast<std::byte *>(buffer.reserve(roundUp(size) + blockBytes));
  const size_t beyond = reinterpret_cast<uintptr_t>(first) % blockBytes;
  start = first + (blockBytes - beyond) % blockBytes;
  length = size;
  // What a write past the cache takes beyond the end.
  std::memset(start + size, 0, roundUp(size) - size);
  return start;
}

static Status failure(const std::string &path, const char *what) {
  return Status::invalid(path + ": " + what + ": " + std::strerror(errno) +
                         "; check that the folder exists, may be written, "
                         "and has room");
}

/// Whether what `errno` says may be the file system's answer to a write past
/// its cache: some refuse it when a file is opened, some later.
static bool mayBeRefusal() {
  return errno != ENOSPC && errno != EDQUOT && errno != EACCES &&
         errno != ENOENT;
}

/// False with `errno` where it fails.
static bool writeAll(int file, const std::byte *bytes, size_t count) {
  for (size_t offset = 0; offset < count;) {
    const ssize_t written =
        ::pwrite(file, bytes + offset, std::min(count - offset, largestWrite),
                 static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written == 0)
      errno = EIO;
    if (written <= 0)
      return false;
    offset += static_cast<size_t>(written);
  }
  return true;
}

Status FileImage::writeAs(const std::string &path, bool isDirect,
                          bool &isRefused) const {
  const int file = ::open(path.c_str(),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
                              (isDirect ? O_DIRECT : 0),
                          0666);
  if (file < 0) {
    isRefused = isDirect && mayBeRefusal();
    return failure(path, "cannot be created");
  }
  Status status;
  if (!writeAll(file, start, isDirect ? roundUp(length) : length) ||
      (isDirect && ::ftruncate(file, static_cast<off_t>(length)) != 0)) {
    isRefused = isDirect && mayBeRefusal();
    status = failure(path, "cannot be written");
  } else if (::fsync(file) != 0) {
    status = failure(path, "cannot be flushed to the disk");
  }
  ::close(file);
  return status;
}

Status FileImage::write(const std::string &path) const {
  bool isRefused = false;
  Status status = writeAs(path, /*isDirect=*/true, isRefused);
  if (isRefused)
    status = writeAs(path, /*isDirect=*/false, isRefused);
  if (!status.ok())
    ::unlink(path.c_str());
  return status;
}
