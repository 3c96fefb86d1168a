//===- GemmWorkspace.h - Workspace of matrix products -----------*- C++ -*-===//
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

/// Data of a backend for one thread, such as compiled primitives.
class GemmBackendState {
public:
  virtual ~GemmBackendState() = default;
};

/// Scratch memory and caches of the matrix products of one worker, for one
/// product at a time. Memory grows to the largest product and is then reused.
class GemmWorkspace {
public:
  /// Allocates the memory that the strict kernels need for products of any
  /// size, so that they never allocate. Throws std::bad_alloc.
  GemmWorkspace();

  /// Returns at least `bytes` bytes, 64-byte aligned, valid until the next
  /// call.
  void *scratch(size_t bytes) {
    memory.reserve(bytes);
    return memory.data();
  }

  /// Data of the fast backend; initially null.
  std::unique_ptr<GemmBackendState> backendState;

  /// Known constant factors; null: none. They must outlive their use.
  PackedFactors *constants = nullptr;

  /// Creates `count` workspaces for parts of a product. Returns false if memory
  /// is exhausted.
  bool reserveParts(size_t count);
  /// Holds one of these workspaces during its lifetime: each thread that takes
  /// part has its own. There are at most as many as were reserved. Thread-safe.
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
  /// Workspaces that are not in use.
  std::vector<std::unique_ptr<GemmWorkspace>> parts;
};

} // namespace pdlrt

#endif // PDLRT_GEMM_GEMMWORKSPACE_H
