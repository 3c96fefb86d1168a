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

Status FileImage::writeTo(int file, const std::string &path,
                          bool isDirect) const {
  auto useCache = [&] {
    isDirect = false;
    return ::fcntl(file, F_SETFL, 0) == 0;
  };
  for (size_t offset = 0; offset < length;) {
    const size_t end = isDirect ? roundUp(length) : length;
    const ssize_t count =
        ::pwrite(file, start + offset, std::min(end - offset, largestWrite),
                 static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    // Whoever opens a file so may refuse to write it.
    if (count < 0 && errno == EINVAL && isDirect && useCache())
      continue;
    if (count < 0)
      return failure(path, "cannot be written");
    offset += static_cast<size_t>(count);
    if (isDirect && offset % blockBytes != 0 && offset < length && !useCache())
      return failure(path, "cannot be written");
  }
  if (isDirect && ::ftruncate(file, static_cast<off_t>(length)) != 0)
    return failure(path, "cannot be written");
  return ::fsync(file) == 0 ? Status()
                            : failure(path, "cannot be flushed to the disk");
}

Status FileImage::write(const std::string &path) const {
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  bool isDirect = true;
  int file = ::open(path.c_str(), flags | O_DIRECT, 0666);
  if (file < 0 && errno == EINVAL) {
    isDirect = false;
    file = ::open(path.c_str(), flags, 0666);
  }
  if (file < 0)
    return failure(path, "cannot be created");
  Status status = writeTo(file, path, isDirect);
  ::close(file);
  if (!status.ok())
    ::unlink(path.c_str());
  return status;
}
