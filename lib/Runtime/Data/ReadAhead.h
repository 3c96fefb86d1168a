//===- ReadAhead.h - Bytes that are read beside their parsing ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_READAHEAD_H
#define LIB_RUNTIME_DATA_READAHEAD_H

#include "pdlrt/Core/Status.h"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pdlrt {

/// Reads bytes on a thread of its own, a few pieces ahead of who takes them.
/// What is taken, errors included, is what `source` would give, in its order.
/// One thread at a time.
class ReadAhead {
public:
  /// Reads up to `size` bytes; 0 at the end. It must not wait for long: the
  /// destructor waits for it.
  using Source = std::function<Expected<size_t>(char *bytes, size_t size)>;

  /// Null where no thread can be started: then `source` is to be read by the
  /// caller. What `source` uses outlives the object.
  static std::unique_ptr<ReadAhead> start(Source source);
  ~ReadAhead();

  /// Takes up to `size` > 0 bytes; 0 at the end.
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
  std::array<Piece, 4> pieces;
  std::mutex mutex;
  std::condition_variable changed;
  /// Pieces that were filled, and that were used up, since the begin.
  size_t filled = 0, used = 0;
  bool stopping = false;
  size_t offset = 0; ///< what is taken of the first piece that is not used up
  std::thread thread;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_READAHEAD_H
