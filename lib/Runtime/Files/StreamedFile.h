//===- StreamedFile.h - Writes a file in the background ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread generates the bytes of a file in order, and another thread waits
// for the disk. Writes bypass the page cache if the file system supports it
// (DirectFile.h).
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_STREAMEDFILE_H
#define LIB_RUNTIME_FILES_STREAMEDFILE_H

#include "Files/DirectFile.h"
#include "Files/RunningDigest.h"
#include "pdlrt/Core/Mutex.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

namespace pdlrt {

/// A new file that is written by a thread in the background, while the caller
/// fills the other one of two buffers. The destructor removes the file unless
/// it is committed. Not thread-safe.
class StreamedFile {
public:
  explicit StreamedFile(std::string path);
  ~StreamedFile();
  StreamedFile(const StreamedFile &) = delete;
  StreamedFile &operator=(const StreamedFile &) = delete;

  /// Throws std::bad_alloc.
  Status create();
  /// Appends bytes. May return the error of an earlier write.
  Status write(const void *data, size_t size);
  /// Returns memory for at least one further byte. The caller may fill it
  /// instead of calling `write`, and then reports the number of bytes to
  /// `added`. This avoids a copy, and the bytes are still in a CPU cache when
  /// their checksum is computed.
  std::span<std::byte> room();
  Status added(size_t size);
  /// Syncs the bytes to disk. The name is synced with the folder
  /// (`flushFolder`).
  Status commit();
  /// Returns the digest of the bytes written so far.
  FileDigest digest() const { return made.digest(); }

private:
  Status handOver();
  void waitUntilWritten(MutexLock &lock) PDLRT_REQUIRES(mutex);
  void writeInBackground();
  int writeOut(const std::byte *bytes, size_t count, uint64_t offset);

  DirectFile file;
  RunningDigest made;
  AlignedBuffer memory[2];
  std::byte *buffers[2] = {};
  /// Index of the buffer that is being filled, the number of bytes in it, and
  /// their offset in the file.
  int current = 0;
  size_t filled = 0;
  uint64_t offset = 0;

  Mutex mutex;
  ConditionVariable changed;
  /// Bytes that the thread must write next. `bytes` is null if there are none.
  struct Pending {
    const std::byte *bytes = nullptr;
    size_t count = 0;
    uint64_t offset = 0;
  };
  Pending pending PDLRT_GUARDED_BY(mutex);
  /// The error number of a write; 0: none.
  int error PDLRT_GUARDED_BY(mutex) = 0;
  bool isOver PDLRT_GUARDED_BY(mutex) = false;
  std::thread writer;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_STREAMEDFILE_H
