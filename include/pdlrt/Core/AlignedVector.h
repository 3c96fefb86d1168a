//===- AlignedVector.h - Vector with ABI alignment --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_ALIGNEDVECTOR_H
#define PDLRT_CORE_ALIGNEDVECTOR_H

#include "pdlabi/abi/codes.h"
#include "pdlrt/Core/OutOfMemory.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace pdlrt {

/// A vector of plain elements that starts at a multiple of
/// PDL_BUFFER_ALIGNMENT. `resize` does not initialize new elements. `clear`
/// keeps the memory, so a vector that is filled again does not allocate until
/// it exceeds its largest size so far. Throws std::bad_alloc.
template <typename T> class AlignedVector {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  AlignedVector() = default;
  AlignedVector(AlignedVector &&other) noexcept { swap(other); }
  AlignedVector &operator=(AlignedVector &&other) noexcept {
    swap(other);
    return *this;
  }
  ~AlignedVector() { release(); }

  T *data() { return memory; }
  const T *data() const { return memory; }
  size_t size() const { return count; }
  size_t capacity() const { return room; }
  bool empty() const { return count == 0; }
  T &operator[](size_t i) { return memory[i]; }
  const T &operator[](size_t i) const { return memory[i]; }
  T *begin() { return memory; }
  T *end() { return memory + count; }
  const T *begin() const { return memory; }
  const T *end() const { return memory + count; }

  void clear() { count = 0; }
  /// Leaves new elements uninitialized.
  void resize(size_t newCount) {
    reserve(newCount);
    count = newCount;
  }
  void append(T value) {
    if (count == room)
      grow(count + 1);
    memory[count++] = value;
  }
  void append(const T *values, size_t valueCount) {
    const size_t old = count;
    resize(count + valueCount);
    if (valueCount)
      std::memcpy(memory + old, values, valueCount * sizeof(T));
  }
  void reserve(size_t newRoom) {
    if (newRoom > room)
      grow(newRoom);
  }

private:
  static constexpr size_t alignment = PDL_BUFFER_ALIGNMENT;

  void release() {
    if (memory)
      ::operator delete(memory, std::align_val_t(alignment));
  }
  void swap(AlignedVector &other) noexcept {
    std::swap(memory, other.memory);
    std::swap(count, other.count);
    std::swap(room, other.room);
  }
  void grow(size_t least) {
    const size_t newRoom = std::max(least, room + room / 2);
    if (newRoom > SIZE_MAX / sizeof(T))
      throw OutOfMemory(SIZE_MAX);
    T *larger = static_cast<T *>(allocateAligned(newRoom * sizeof(T)));
    if (count)
      std::memcpy(larger, memory, count * sizeof(T));
    release();
    memory = larger;
    room = newRoom;
  }

  T *memory = nullptr;
  size_t count = 0;
  size_t room = 0;
};

} // namespace pdlrt

#endif // PDLRT_CORE_ALIGNEDVECTOR_H
