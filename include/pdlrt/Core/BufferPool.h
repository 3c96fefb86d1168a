//===- BufferPool.h - Reused memory for messages ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_BUFFERPOOL_H
#define PDLRT_CORE_BUFFERPOOL_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Mutex.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace pdlrt {

/// Allocates aligned memory for messages, and reuses it. A buffer returns to
/// the pool when its last owner releases it, which may happen on any thread,
/// and after the pool was destroyed. Thread-safe.
class BufferPool {
public:
  BufferPool() : shelf(std::make_shared<Shelf>()) {}

  /// Returns at least `bytes` uninitialized bytes. Throws std::bad_alloc.
  std::shared_ptr<std::byte> take(size_t bytes) {
    auto buffer = std::make_unique<AlignedBuffer>(shelf->pick(bytes));
    auto *start = static_cast<std::byte *>(buffer->reserve(bytes));
    return {start, [home = shelf,
                    owned = std::shared_ptr<AlignedBuffer>(std::move(buffer))](
                       std::byte *) { home->putBack(std::move(*owned)); }};
  }

private:
  struct Shelf {
    /// Returns the smallest free buffer that has `bytes` bytes. If all are
    /// smaller, returns the first one, which then grows.
    AlignedBuffer pick(size_t bytes) {
      const MutexLock lock(mutex);
      if (buffers.empty())
        return {};
      size_t best = 0;
      for (size_t i = 1; i < buffers.size(); ++i) {
        const size_t size = buffers[i].capacity();
        const size_t bestSize = buffers[best].capacity();
        if (size >= bytes && (bestSize < bytes || size < bestSize))
          best = i;
      }
      AlignedBuffer chosen = std::move(buffers[best]);
      buffers.erase(buffers.begin() + ptrdiff_t(best));
      return chosen;
    }
    void putBack(AlignedBuffer buffer) {
      const MutexLock lock(mutex);
      buffers.push_back(std::move(buffer));
    }
    Mutex mutex;
    std::vector<AlignedBuffer> buffers PDLRT_GUARDED_BY(mutex);
  };
  std::shared_ptr<Shelf> shelf;
};

} // namespace pdlrt

#endif // PDLRT_CORE_BUFFERPOOL_H
