//===- StoredStream.h - Reads a stored file from begin to end ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_STOREDSTREAM_H
#define LIB_RUNTIME_FILES_STOREDSTREAM_H

#include "pdlrt/Core/BackgroundTask.h"
#include "pdlrt/Files/Store.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace pdlrt {

/// Reads a file sequentially and requests the next ranges in advance, each on a
/// thread of its own. The first requests are small, so that a caller which
/// reads only a header causes little traffic. Uses at most 32 MiB. Not
/// thread-safe.
class StoredStream {
public:
  explicit StoredStream(std::shared_ptr<const StoredFile> file);
  /// Cancels requests whose bytes are not read yet.
  ~StoredStream();
  StoredStream(const StoredStream &) = delete;
  StoredStream &operator=(const StoredStream &) = delete;

  /// Reads up to `size` > 0 bytes; returns 0 at the end.
  Expected<size_t> read(char *destination, size_t size);
  /// Skips `count` bytes without reading them. They must exist.
  void skip(uint64_t count);

private:
  struct Piece {
    uint64_t offset = 0;
    std::vector<char> bytes;
    std::unique_ptr<BackgroundTask> task;
  };
  static constexpr size_t maxPieces = 4, firstPieceBytes = size_t(256) << 10,
                          maxPieceBytes = size_t(8) << 20;

  void request();
  void dropPieces();

  const std::shared_ptr<const StoredFile> file;
  std::atomic<bool> isCancelled{false};
  std::deque<std::unique_ptr<Piece>> pieces;
  /// Offset of the next byte for the caller, and of the next request.
  uint64_t position = 0, requested = 0;
  size_t pieceBytes = firstPieceBytes;
  /// Number of requests at a time; grows while the caller reads.
  size_t ahead = 1;
  bool isFrontReady = false;
  /// The error that ended reading.
  Status failure;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_STOREDSTREAM_H
