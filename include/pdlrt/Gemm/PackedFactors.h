//===- PackedFactors.h - Constant factors, packed once ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product packs its right factor for the caches, which for few rows takes
// longer than the arithmetic. If the factor is a constant parameter, as in a
// library for inference, it is packed once for all threads. Results are bitwise
// equal.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_PACKEDFACTORS_H
#define PDLRT_GEMM_PACKEDFACTORS_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Gemm/Gemm.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace pdlrt {

/// A packed right factor.
struct PackedFactor {
  AlignedBuffer packed;
  /// True if all its elements are finite.
  bool isFinite = false;
};

/// Constant right factors of products, in the layouts of this CPU's strict
/// kernels and of AMX. `find` is thread-safe.
class PackedFactors {
public:
  PackedFactors() = default;
  PackedFactors(const PackedFactors &) = delete;
  PackedFactors &operator=(const PackedFactors &) = delete;
  ~PackedFactors();

  /// Declares that these bytes are constant during the lifetime of this object.
  /// A null range is counted but has no effect. Call before any thread uses
  /// `find`. Throws std::bad_alloc.
  void addConstant(const void *begin, size_t bytes);

  /// Returns the factor B of a product, which is packed at its first use. If
  /// `parts` is not 0, it is in the layout of `packTileFactor`. Returns null if
  /// it is not in constant memory, is too large to be stored twice, has one
  /// column, or if memory is exhausted.
  const PackedFactor *find(const GemmCall &call, int parts = 0);

  /// Packs the factors that `other` has packed, for the constants that were
  /// added here at the same indices. Throws std::bad_alloc.
  void packAs(const PackedFactors &other);

  /// Returns the memory of the packed factors.
  size_t memoryBytes() const {
    return packedBytes.load(std::memory_order_relaxed);
  }

private:
  struct Constant {
    const char *begin;
    size_t bytes;
  };
  /// One packed factor. It does not change after other threads can see it.
  struct Entry {
    GemmCall call;
    int parts = 0;
    /// Index of its constant, and its offset in it.
    size_t constant = 0, offset = 0;
    PackedFactor factor;
    const Entry *next = nullptr;
  };

  const Entry *lookUp(const GemmCall &call, int parts) const;
  const Entry *add(const GemmCall &call, int parts, size_t constant);

  std::vector<Constant> constants;
  std::atomic<const Entry *> first = nullptr;
  std::atomic<size_t> packedBytes = 0;
  /// Serializes additions.
  std::mutex mutex;
};

} // namespace pdlrt

#endif // PDLRT_GEMM_PACKEDFACTORS_H
