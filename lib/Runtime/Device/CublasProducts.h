//===- CublasProducts.h - Matrix products on a GPU stream -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DEVICE_CUBLASPRODUCTS_H
#define LIB_RUNTIME_DEVICE_CUBLASPRODUCTS_H

#include "Device/CublasLt.h"
#include "pdlrt/Device/Device.h"

#include <array>
#include <list>
#include <map>
#include <memory>
#include <span>

namespace pdlrt {

/// cuBLASLt handle of a device. All streams of the device share it.
/// Thread-safe.
class CublasHandle {
public:
  /// Creates a handle for the current device. If `roundsToTF32`, products may
  /// round their factors to TF32. The library must outlive the handle.
  static Expected<std::unique_ptr<CublasHandle>>
  create(const cublaslt::Library &library, bool roundsToTF32);
  using OpenLibrary =
      Expected<const cublaslt::Library *>(std::span<const char *const> names);
  /// Creates a handle with the first library of `names` that exists and can be
  /// initialized, and sets `library` to it. A library may fail because it is
  /// too new for the driver; an older one may be installed next to it. If all
  /// fail, returns the error of the first one.
  static Expected<std::unique_ptr<CublasHandle>>
  createFirst(const cublaslt::Library *&library, bool roundsToTF32,
              std::span<const char *const> names = cublaslt::libraryNames,
              OpenLibrary *open = cublaslt::openLibrary);
  CublasHandle(const CublasHandle &) = delete;
  CublasHandle &operator=(const CublasHandle &) = delete;
  /// The device must be current.
  ~CublasHandle() { (void)library.destroy(handle); }

  /// Returns the error of a call, or ok. `what` describes the operation, for
  /// the message.
  Status check(cublaslt::Result result, const char *what) const;

  const cublaslt::Library &library;

private:
  friend class CublasProducts;
  CublasHandle(const cublaslt::Library &library, cublaslt::Handle handle,
               bool roundsToTF32)
      : library(library), handle(handle), roundsToTF32(roundsToTF32) {}

  const cublaslt::Handle handle;
  const bool roundsToTF32;
};

/// Matrix products on one stream. Chooses the algorithm once for each
/// combination of sizes, transpositions and alignments. Not thread-safe. The
/// device must be current.
class CublasProducts {
public:
  /// Size of the workspace, as NVIDIA recommends for its newest GPUs.
  static constexpr size_t workspaceBytes = size_t(32) << 20;
  /// Maximum number of cached plans; batches of many sizes need many.
  static constexpr size_t maxPlans = 1024;

  /// The arguments must outlive this object.
  CublasProducts(Device &device, const CublasHandle &handle,
                 cuda::Stream stream);
  ~CublasProducts();

  /// Implements `DeviceStream::multiply`.
  Expected<bool> multiply(const DeviceProduct &product);

private:
  /// The properties that determine the algorithm.
  struct Kind {
    int64_t m, n, k, cStride;
    bool transposeA, transposeB, roundsFactors;
    /// Alignments of A, B, C and the bias, in bytes; 0 for no bias.
    std::array<uint32_t, 4> alignments;

    auto operator<=>(const Kind &) const = default;
  };
  struct Plan;

  static Kind kindOf(const DeviceProduct &product);
  Expected<Plan *> planOf(const Kind &kind);
  /// Returns true if factors may be rounded to TF32.
  bool takesTF32(const Kind &kind) const {
    return handle.roundsToTF32 && !kind.roundsFactors;
  }
  Status describe(Plan &plan, const Kind &kind);
  Status choose(Plan &plan, const Kind &kind);

  Device &device;
  const CublasHandle &handle;
  const cuda::Stream stream;
  DeviceBuffer workspace;
  /// Most recently used first.
  std::list<Plan> plans;
  std::map<Kind, std::list<Plan>::iterator> planByKind;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_CUBLASPRODUCTS_H
