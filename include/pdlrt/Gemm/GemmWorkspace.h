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
#include "pdlrt/Core/Mutex.h"

#include <memory>
#include <vector>

namespace pdlrt {

class PackedFactors;

/// Base class of the data that a backend keeps for one thread, such as compiled
/// primitives.
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

  /// Returns at least `bytes` bytes of memory, aligned to 64 bytes. Valid until
  /// the next call.
  void *scratch(size_t bytes) {
    memory.reserve(bytes);
    return memory.data();
  }

  /// Data of the fast backend; initially null.
  std::unique_ptr<GemmBackendState> backendState;

  /// Constant factors of products, which are packed once; null: none. They must
  /// stay valid while products use them.
  PackedFactors *constants = nullptr;

  /// Makes sure that at least `count` workspaces for parts of a product exist.
  /// Returns false if memory is exhausted.
  bool reserveParts(size_t count);
  /// Takes one of the workspaces for parts during its lifetime, for one thread
  /// of a product. At most as many can exist at the same time as `reserveParts`
  /// has made. Thread-safe.
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
  Mutex mutex;
  /// Workspaces that are not in use.
  std::vector<std::unique_ptr<GemmWorkspace>> parts PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // PDLRT_GEMM_GEMMWORKSPACE_H
