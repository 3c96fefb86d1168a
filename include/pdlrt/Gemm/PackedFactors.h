//===- PackedFactors.h - Factors that are packed once -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product lays its right factor out for the caches, which for few rows takes
// longer than the arithmetic. Where the factor is a parameter that nobody
// changes, as in a library that answers requests, once is enough, for all
// threads. No bit depends on it.
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

/// One right factor.
struct PackedFactor {
  AlignedBuffer packed;
  /// Whether all its elements are.
  bool isFinite = false;
};

/// Constant right factors of products, as the strict kernels of this CPU read
/// them. Any number of threads may look for them.
class PackedFactors {
public:
  PackedFactors() = default;
  PackedFactors(const PackedFactors &) = delete;
  PackedFactors &operator=(const PackedFactors &) = delete;
  ~PackedFactors();

  /// Says that these bytes are constant while this lives; null: there are none,
  /// which counts all the same. Before any thread looks for factors. Throws
  /// std::bad_alloc.
  void addConstant(const void *begin, size_t bytes);

  /// The factor B of a product, packed when it is met first; null where it is
  /// not in constant memory, is too large to be there twice, or has one column,
  /// and where there is no memory.
  const PackedFactor *find(const GemmCall &call);

  /// Packs at once what `other` has packed, of the constants that were added
  /// here at the same places. Throws std::bad_alloc.
  void packAs(const PackedFactors &other);

  /// Of what is packed.
  size_t memoryBytes() const {
    return packedBytes.load(std::memory_order_relaxed);
  }

private:
  struct Constant {
    const char *begin;
    size_t bytes;
  };
  /// One packed factor. It does not change once others see it.
  struct Entry {
    GemmCall call;
    /// The constant that it is of, and where in that it begins.
    size_t constant = 0, offset = 0;
    PackedFactor factor;
    const Entry *next = nullptr;
  };

  const Entry *lookUp(const GemmCall &call) const;
  const Entry *add(const GemmCall &call, size_t constant);

  std::vector<Constant> constants;
  std::atomic<const Entry *> first = nullptr;
  std::atomic<size_t> packedBytes = 0;
  /// Of who adds.
  std::mutex mutex;
};

} // namespace pdlrt

#endif // PDLRT_GEMM_PACKEDFACTORS_H
