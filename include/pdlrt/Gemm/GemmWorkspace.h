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
#include <mutex>
#include <vector>

namespace pdlrt {

class PackedFactors;

/// What a backend keeps for one thread, such as compiled primitives.
class GemmBackendState {
public:
  virtual ~GemmBackendState() = default;
};

/// Scratch memory and caches of the matrix products of one worker; one product
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

  /// Factors that never change while they are here; null: none is known. They
  /// outlive their use.
  PackedFactors *constants = nullptr;

  /// Makes `count` workspaces for parts of a product, if there is memory.
  bool reserveParts(size_t count);
  /// One of them, while it lives: each thread that takes part has its own. At
  /// most as many as were reserved at once. Thread-safe.
  class Part {
  public:
    explicit Part(GemmWorkspace &whole) : whole(whole), own(whole.takePart()) {}
    ~Part() { whole.givePart(std::move(own)); }
    Part(const Part &) = delete;
    Part &operator=(const Part &) = delete;
    GemmWorkspace &operator*() { return *own; }

  private:
    GemmWorkspace &whole;
    std::unique_ptr<GemmWorkspace> own;
  };

private:
  std::unique_ptr<GemmWorkspace> takePart();
  void givePart(std::unique_ptr<GemmWorkspace> part);

  AlignedVector<char> memory;
  std::mutex mutex;
  /// Those that no thread has.
  std::vector<std::unique_ptr<GemmWorkspace>> parts;
};

} // namespace pdlrt

#endif // PDLRT_GEMM_GEMMWORKSPACE_H
