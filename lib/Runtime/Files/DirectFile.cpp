//===- DirectFile.cpp - Writes files without the page cache ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/DirectFile.h"

#include "Files/FileFailure.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

using namespace pdlrt;

/// Maximum size of a write system call.
static constexpr size_t largestWrite = size_t(1) << 30;

std::byte *DirectFile::reserve(AlignedBuffer &buffer, size_t bytes) {
  auto *first =
      static_cast<std::byte *>(buffer.reserve(wholeBlocks(bytes) + blockBytes));
  const size_t beyond = reinterpret_cast<uintptr_t>(first) % blockBytes;
  return first + (blockBytes - beyond) % blockBytes;
}

DirectFile::DirectFile(std::string path) : path(std::move(path)) {}

DirectFile::~DirectFile() {
  if (file < 0)
    return;
  ::close(file);
  ::unlink(path.c_str());
}

Status DirectFile::create() {
  if (isInObjectStore(path)) {
    auto store = storeOf(path);
    PDLRT_RETURN_IF_ERROR(store.status());
    auto writer = (*store)->create(path, /*expectedBytes=*/0);
    PDLRT_RETURN_IF_ERROR(writer.status());
    stored = *std::move(writer);
    return {};
  }
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  file = ::open(path.c_str(), flags | O_DIRECT, 0666);
  if (file < 0)
    file = ::open(path.c_str(), flags, 0666);
  return file < 0 ? fileFailure(path, "cannot be created", errno) : Status();
}

/// Returns true if a write may have failed because the file system does not
/// support direct writes.
static bool mayBeRefusal(int reason) {
  return reason != ENOSPC && reason != EDQUOT;
}

/// Appends bytes to an object, but keeps the last block.
int DirectFile::writeStored(const std::byte *bytes, size_t count) {
  if (count == 0)
    return 0;
  storeFailure = stored->write(lastBlock.data(), lastBlock.size());
  const size_t kept = std::min(count, blockBytes);
  if (storeFailure.ok())
    storeFailure = stored->write(bytes, count - kept);
  lastBlock.assign(reinterpret_cast<const char *>(bytes) + count - kept, kept);
  end += count;
  return storeFailure.ok() ? 0 : EIO;
}

Status DirectFile::commitStored(uint64_t size) {
  PDLRT_RETURN_IF_ERROR(storeFailure);
  const size_t padding = end - size;
  PDLRT_RETURN_IF_ERROR(
      stored->write(lastBlock.data(), lastBlock.size() - padding));
  PDLRT_RETURN_IF_ERROR(stored->commit());
  stored.reset();
  return {};
}

int DirectFile::write(const std::byte *bytes, size_t count, uint64_t offset) {
  if (stored)
    return writeStored(bytes, count);
  while (count > 0) {
    const ssize_t written = ::pwrite(file, bytes, std::min(count, largestWrite),
                                     static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written == 0)
      errno = EIO;
    if (written <= 0) {
      const int reason = errno, flags = ::fcntl(file, F_GETFL);
      if (!mayBeRefusal(reason) || flags < 0 || !(flags & O_DIRECT) ||
          ::fcntl(file, F_SETFL, flags & ~O_DIRECT) != 0)
        return reason;
      continue;
    }
    bytes += written;
    offset += static_cast<uint64_t>(written);
    count -= static_cast<size_t>(written);
    end = std::max(end, offset);
  }
  return 0;
}

Status DirectFile::commit(uint64_t size) {
  if (stored)
    return commitStored(size);
  if (end != size && ::ftruncate(file, static_cast<off_t>(size)) != 0)
    return writeFailure(errno);
  if (::fsync(file) != 0)
    return fileFailure(path, "cannot be flushed to the disk", errno);
  ::close(std::exchange(file, -1));
  return {};
}

Status DirectFile::writeFailure(int reason) const {
  if (!storeFailure.ok())
    return storeFailure;
  return fileFailure(path, "cannot be written", reason);
}
