//===- StreamedFile.h - A file that is written while it is made -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread makes the bytes in order, another waits for the disk. They go past
// the system's cache where the file system allows it (DirectFile.h).
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_STREAMEDFILE_H
#define LIB_RUNTIME_FILES_STREAMEDFILE_H

#include "Files/DirectFile.h"
#include "Files/RunningDigest.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>

namespace pdlrt {

/// A new file, which is gone unless it is committed. Takes two buffers of
/// memory. Used by one thread.
class StreamedFile {
public:
  explicit StreamedFile(std::string path);
  ~StreamedFile();
  StreamedFile(const StreamedFile &) = delete;
  StreamedFile &operator=(const StreamedFile &) = delete;

  /// Throws std::bad_alloc.
  Status create();
  /// An error may be that of bytes before.
  Status write(const void *data, size_t size);
  /// Room for at least a byte that comes next, to be filled in place of a
  /// `write` of as many bytes as `added` then says, which are in a cache.
  std::span<std::byte> room();
  Status added(size_t size);
  /// Flushes the bytes to the disk; the name is flushed with its folder.
  Status commit();
  /// Of what was written so far.
  FileDigest digest() const { return made.digest(); }

private:
  Status handOver();
  void writeBehind();
  int writeOut(const std::byte *bytes, size_t count, uint64_t offset);

  DirectFile file;
  RunningDigest made;
  AlignedBuffer memory[2];
  std::byte *buffers[2] = {};
  /// Which buffer is filled, how far, and where in the file it goes.
  int current = 0;
  size_t filled = 0;
  uint64_t offset = 0;

  std::mutex mutex;
  std::condition_variable changed;
  /// What the thread has to write; none: null.
  const std::byte *due = nullptr;
  size_t dueBytes = 0;
  uint64_t dueOffset = 0;
  /// The error of a write; 0: none.
  int error = 0;
  bool isOver = false;
  std::thread writer;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_STREAMEDFILE_H
