//===- AlignedBuffer.h - Aligned, uninitialized memory ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scratch memory that is reused in each step. It grows to the size that the
// largest batch needs, so that later steps do not allocate.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_ALIGNEDBUFFER_H
#define PDLRT_CORE_ALIGNEDBUFFER_H

#include "pdlabi/abi/codes.h"
#include "pdlrt/Core/OutOfMemory.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace pdlrt {

/// Owns memory that is aligned to `PDL_BUFFER_ALIGNMENT`. When it grows, its
/// content is lost. Throws std::bad_alloc. Not thread-safe.
class AlignedBuffer {
public:
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer &&other) noexcept
      : bytes(std::exchange(other.bytes, nullptr)),
        byteCapacity(std::exchange(other.byteCapacity, 0)) {}
  AlignedBuffer &operator=(AlignedBuffer &&other) noexcept {
    std::swap(bytes, other.bytes);
    std::swap(byteCapacity, other.byteCapacity);
    return *this;
  }
  ~AlignedBuffer() { release(); }

  /// Makes the buffer at least `size` bytes large. Returns its start, never
  /// null.
  void *reserve(size_t size) {
    if (size <= byteCapacity && bytes)
      return bytes;
    // A quarter more than requested, so that slowly growing batches cause few
    // allocations.
    size_t wanted = size + size / 4 + PDL_BUFFER_ALIGNMENT;
    wanted -= wanted % PDL_BUFFER_ALIGNMENT;
    release();
    bytes = allocateAligned(wanted);
    byteCapacity = wanted;
    return bytes;
  }
  /// Like `reserve`, for `count` objects of a trivial type.
  template <typename T> T *reserveFor(size_t count) {
    return static_cast<T *>(reserve(count * sizeof(T)));
  }

  void *data() const { return bytes; }
  size_t capacity() const { return byteCapacity; }

private:
  void release() {
    if (bytes)
      ::operator delete(bytes, std::align_val_t(PDL_BUFFER_ALIGNMENT));
    bytes = nullptr;
    byteCapacity = 0;
  }

  void *bytes = nullptr;
  size_t byteCapacity = 0;
};

/// Returns the size in bytes of one element of type `type`, a
/// `pdl_element_type`.
inline size_t elementSize(int32_t type) { return type == PDL_F32 ? 4 : 8; }

} // namespace pdlrt

#endif // PDLRT_CORE_ALIGNEDBUFFER_H
