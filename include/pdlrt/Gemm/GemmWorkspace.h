//===- GemmWorkspace.h - Memory of one thread of products -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_GEMMWORKSPACE_H
#define PDLRT_GEMM_GEMMWORKSPACE_H

#include "pdlrt/Core/AlignedVector.h"

#include <memory>

namespace pdlrt {

/// What a backend keeps for one thread, such as compiled primitives.
class GemmBackendState {
public:
  virtual ~GemmBackendState() = default;
};

/// Scratch memory and caches of the matrix products of one worker; one thread
/// at a time. Memory grows to what the largest product needs and then stays.
class GemmWorkspace {
public:
  /// Takes what the strict kernels need for products of any size, so that they
  /// never allocate. Throws std::bad_alloc.
  GemmWorkspace();

  /// At least `bytes` bytes, 64-byte aligned, valid until the next call.
  void *scratch(size_t bytes) {
    memory.reserve(bytes);
    return memory.data();
  }

  /// What the fast backend keeps here; null at first.
  std::unique_ptr<GemmBackendState> backendState;

private:
  AlignedVector<char> memory;
};

} // namespace pdlrt

#endif // PDLRT_GEMM_GEMMWORKSPACE_H
