//===- ReadAhead.h - Reads ahead on a separate thread -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_READAHEAD_H
#define LIB_RUNTIME_DATA_READAHEAD_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace pdlrt {

/// Reads bytes on a separate thread, a few pieces ahead of the consumer. `read`
/// returns the same bytes and errors as `source`, in the same order. Not
/// thread-safe.
class ReadAhead {
public:
  /// Reads up to `size` bytes; returns 0 at the end. Must not wait for long,
  /// because the destructor waits for it.
  using Source = std::function<Expected<size_t>(char *bytes, size_t size)>;

  /// Starts the thread. Returns null if that fails; the caller must then read
  /// `source` itself. Everything that `source` uses must outlive this object.
  static std::unique_ptr<ReadAhead> start(Source source);
  ~ReadAhead();

  /// Returns up to `size` > 0 bytes; 0 at the end.
  Expected<size_t> read(char *destination, size_t size);

private:
  struct Piece {
    std::vector<char> bytes;
    size_t size = 0;
    Status status;
  };
  static constexpr size_t pieceBytes = size_t(1) << 18;

  explicit ReadAhead(Source source) : source(std::move(source)) {}
  void run();

  Source source;
  /// Piece number n is at n modulo 4. The thread writes piece `filled`, and the
  /// consumer reads piece `used`. They differ while both do, so no lock is
  /// held.
  std::array<Piece, 4> pieces;
  Mutex mutex;
  ConditionVariable changed;
  /// Number of pieces that were filled, and that were consumed, since the
  /// start.
  size_t filled PDLRT_GUARDED_BY(mutex) = 0;
  size_t used PDLRT_GUARDED_BY(mutex) = 0;
  bool stopping PDLRT_GUARDED_BY(mutex) = false;
  size_t offset = 0; ///< Consumed bytes of the current piece.
  std::thread thread;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_READAHEAD_H
