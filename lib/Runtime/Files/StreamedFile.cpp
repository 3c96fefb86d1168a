//===- StreamedFile.cpp - Writes a file in the background -----------------===//
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
#include <cstring>
#include <system_error>
#include <utility>

using namespace pdlrt;

/// Number of bytes that are written to the disk at a time.
static constexpr size_t bufferBytes = size_t(2) << 20;
static_assert(bufferBytes % DirectFile::blockBytes == 0);

StreamedFile::StreamedFile(std::string path) : file(std::move(path)) {}

StreamedFile::~StreamedFile() {
  if (!writer.joinable())
    return;
  {
    const MutexLock lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  writer.join();
}

Status StreamedFile::create() {
  for (int b = 0; b < 2; ++b)
    buffers[b] = DirectFile::reserve(memory[b], bufferBytes);
  PDLRT_RETURN_IF_ERROR(file.create());
  try {
    const BlockedSignals blocked;
    writer = std::thread([this] { writeInBackground(); });
  } catch (const std::system_error &) { // NOLINT(bugprone-empty-catch)
    // Without a thread, bytes are written in the calling thread.
  }
  return {};
}

std::span<std::byte> StreamedFile::room() {
  return {buffers[current] + filled, bufferBytes - filled};
}

Status StreamedFile::added(size_t size) {
  made.add(buffers[current] + filled, size);
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

/// Waits until the thread has written the other buffer.
void StreamedFile::waitUntilWritten(MutexLock &lock) {
  changed.wait(lock, [this]() PDLRT_REQUIRES(mutex) { return !pending.bytes; });
}

/// Passes the current buffer to the writing thread, and continues with the
/// other buffer.
Status StreamedFile::handOver() {
  // Direct writes need whole blocks; `commit` truncates the last one.
  const size_t whole = DirectFile::wholeBlocks(filled);
  std::memset(buffers[current] + filled, 0, whole - filled);
  MutexLock lock(mutex);
  waitUntilWritten(lock);
  if (error == 0 && whole > 0 && writer.joinable()) {
    pending = {buffers[current], whole, offset};
    changed.notify_all();
  } else if (error == 0 && whole > 0) {
    error = writeOut(buffers[current], whole, offset);
  }
  offset += whole;
  filled = 0;
  current = 1 - current;
  return error == 0 ? Status() : file.writeFailure(error);
}

void StreamedFile::writeInBackground() {
  Trace::nameThread("disk");
  MutexLock lock(mutex);
  while (true) {
    changed.wait(lock, [this]() PDLRT_REQUIRES(mutex) {
      return pending.bytes || isOver;
    });
    const Pending next = pending;
    if (!next.bytes)
      return;
    lock.unlock();
    const int reason = writeOut(next.bytes, next.count, next.offset);
    lock.lock();
    if (error == 0)
      error = reason;
    pending = {};
    changed.notify_all();
  }
}

/// Returns 0 or an error number.
int StreamedFile::writeOut(const std::byte *bytes, size_t count,
                           uint64_t offset) {
  const TraceSpan span("write", {int64_t(count)});
  return file.write(bytes, count, offset);
}

Status StreamedFile::commit() {
  PDLRT_RETURN_IF_ERROR(handOver());
  {
    MutexLock lock(mutex);
    waitUntilWritten(lock);
    if (error != 0)
      return file.writeFailure(error);
  }
  return file.commit(made.size());
}
