//===- StreamedFile.cpp - A file that is written while it is made ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/StreamedFile.h"

#include "pdlrt/Core/BlockedSignals.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <xxhash.h>

using namespace pdlrt;

/// Of addresses, places in the file and sizes, for a write past the cache.
static constexpr size_t blockBytes = 4096;
/// What the disk gets at once.
static constexpr size_t bufferBytes = size_t(2) << 20;

struct StreamedFile::Hash {
  Hash() { XXH3_64bits_reset(&state); }
  XXH3_state_t state;
};

StreamedFile::StreamedFile(std::string path)
    : path(std::move(path)), hash(std::make_unique<Hash>()) {}

StreamedFile::~StreamedFile() {
  if (writer.joinable()) {
    {
      const std::lock_guard lock(mutex);
      isOver = true;
    }
    changed.notify_all();
    writer.join();
  }
  if (file < 0)
    return;
  ::close(file);
  ::unlink(path.c_str());
}

Status StreamedFile::create() {
  for (int b = 0; b < 2; ++b) {
    auto *first =
        static_cast<std::byte *>(memory[b].reserve(bufferBytes + blockBytes));
    const size_t beyond = reinterpret_cast<uintptr_t>(first) % blockBytes;
    buffers[b] = first + (blockBytes - beyond) % blockBytes;
  }
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  file = ::open(path.c_str(), flags | O_DIRECT, 0666);
  // Some file systems have no writes past the cache.
  if (file < 0)
    file = ::open(path.c_str(), flags, 0666);
  if (file < 0)
    return failure("cannot be created", errno);
  try {
    const BlockedSignals blocked;
    writer = std::thread([this] { writeBehind(); });
  } catch (const std::system_error &) {
    // Then bytes are written as they are handed over.
  }
  return {};
}

std::span<std::byte> StreamedFile::room() {
  return {buffers[current] + filled, bufferBytes - filled};
}

Status StreamedFile::added(size_t size) {
  XXH3_64bits_update(&hash->state, buffers[current] + filled, size);
  made += size;
  filled += size;
  return filled == bufferBytes ? handOver() : Status();
}

Status StreamedFile::write(const void *data, size_t size) {
  const auto *bytes = static_cast<const std::byte *>(data);
  while (size > 0) {
    const std::span<std::byte> next = room();
    const size_t some = std::min(size, next.size());
    std::memcpy(next.data(), bytes, some);
    PDLRT_RETURN_IF_ERROR(added(some));
    bytes += some;
    size -= some;
  }
  return {};
}

/// Has the current buffer written, and goes on in the other one.
Status StreamedFile::handOver() {
  // What goes past the cache are whole blocks; `commit` cuts the last one.
  const size_t whole = (filled + blockBytes - 1) / blockBytes * blockBytes;
  std::memset(buffers[current] + filled, 0, whole - filled);
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return !due; });
  if (error == 0 && whole > 0 && writer.joinable()) {
    due = buffers[current];
    dueBytes = whole;
    dueOffset = offset;
    changed.notify_all();
  } else if (error == 0 && whole > 0) {
    error = writeOut(buffers[current], whole, offset);
  }
  offset += whole;
  filled = 0;
  current = 1 - current;
  return error == 0 ? Status() : failure("cannot be written", error);
}

void StreamedFile::writeBehind() {
  Trace::nameThread("disk");
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return due || isOver; });
    if (!due)
      return;
    lock.unlock();
    const int reason = writeOut(due, dueBytes, dueOffset);
    lock.lock();
    if (error == 0)
      error = reason;
    due = nullptr;
    changed.notify_all();
  }
}

/// Whether an error may be the file system's answer to a write past its cache.
static bool mayBeRefusal(int reason) {
  return reason != ENOSPC && reason != EDQUOT;
}

/// 0, or why not.
int StreamedFile::writeOut(const std::byte *bytes, size_t count,
                           uint64_t offset) {
  const TraceSpan span("write", {int64_t(count)});
  while (count > 0) {
    const ssize_t written =
        ::pwrite(file, bytes, count, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written == 0)
      errno = EIO;
    if (written <= 0) {
      // Some take the flag, and refuse the write.
      const int reason = errno, flags = ::fcntl(file, F_GETFL);
      if (!mayBeRefusal(reason) || flags < 0 || !(flags & O_DIRECT) ||
          ::fcntl(file, F_SETFL, flags & ~O_DIRECT) != 0)
        return reason;
      continue;
    }
    bytes += written;
    offset += static_cast<uint64_t>(written);
    count -= static_cast<size_t>(written);
  }
  return 0;
}

Status StreamedFile::commit() {
  PDLRT_RETURN_IF_ERROR(handOver());
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !due; });
    if (error != 0)
      return failure("cannot be written", error);
  }
  if (offset != made && ::ftruncate(file, static_cast<off_t>(made)) != 0)
    return failure("cannot be written", errno);
  if (::fsync(file) != 0)
    return failure("cannot be flushed to the disk", errno);
  ::close(std::exchange(file, -1));
  return {};
}

FileDigest StreamedFile::digest() const {
  return {made, XXH3_64bits_digest(&hash->state)};
}

Status StreamedFile::failure(const char *what, int reason) const {
  return Status::invalid(path + ": " + what + ": " + std::strerror(reason) +
                         "; check that the folder exists, may be written, and "
                         "has room");
}
