//===- PackedFactors.h - Constant factors, packed once ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product copies its right factor into a layout that suits the caches: it
// packs the factor. For few rows this takes longer than the arithmetic. A
// factor that is a constant parameter, as in a library for inference, is packed
// once for all threads. The results of the products stay bitwise equal.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_PACKEDFACTORS_H
#define PDLRT_GEMM_PACKEDFACTORS_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Gemm/Gemm.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pdlrt {

/// A packed right factor.
struct PackedFactor {
  AlignedBuffer packed;
  /// True if all its elements are finite.
  bool isFinite = false;
};

/// Constant right factors of products, in the layouts of this CPU's strict
/// kernels, of AMX and of int8. `find` is thread-safe.
class PackedFactors {
public:
  PackedFactors() = default;
  PackedFactors(const PackedFactors &) = delete;
  PackedFactors &operator=(const PackedFactors &) = delete;
  ~PackedFactors();

  /// Declares that `bytes` bytes from `begin` do not change during the lifetime
  /// of this object. `begin` may be null: the range gets an index, for
  /// `packAs`, but has no effect. Call before any thread uses `find`. Throws
  /// std::bad_alloc.
  void addConstant(const void *begin, size_t bytes);

  /// Makes the products of these factors quantize them to int8 (Int8Gemm.h).
  /// Call before any thread uses `find`.
  void useInt8() { isInt8 = true; }
  bool usesInt8() const { return isInt8; }

  /// Value of `parts` for the layout of `packInt8Factor`.
  static constexpr int int8Layout = -1;

  /// Returns the packed factor B of a product. Packs B at its first use. The
  /// layout is that of the strict kernels if `parts` is 0, and that of
  /// `packInt8Factor` if it is `int8Layout`. Otherwise it is that of
  /// `packTileFactor` with this number of parts. Returns null if the product
  /// must use B itself: B is not in constant memory, is larger than 16 MiB, has
  /// only one column, or memory is exhausted.
  const PackedFactor *find(const GemmCall &call, int parts = 0);

  /// Packs in advance the factors that `other` has packed, and uses int8 if
  /// `other` does. Call before any thread uses `find`. A constant here
  /// corresponds to the constant of `other` that was added at the same index.
  /// Throws std::bad_alloc.
  void packAs(const PackedFactors &other);

  /// Returns the size of the packed factors in bytes.
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
    /// Position of the factor: index of the constant range, and offset in the
    /// range in bytes.
    size_t constant = 0, offset = 0;
    PackedFactor factor;
    const Entry *next = nullptr;
  };

  const Entry *lookUp(const GemmCall &call, int parts) const;
  const Entry *add(const GemmCall &call, int parts, size_t constant)
      PDLRT_EXCLUDES(mutex);

  std::vector<Constant> constants;
  bool isInt8 = false;
  std::atomic<const Entry *> first = nullptr;
  std::atomic<size_t> packedBytes = 0;
  /// Serializes additions.
  Mutex mutex;
};

} // namespace pdlrt

#endif // PDLRT_GEMM_PACKEDFACTORS_H
