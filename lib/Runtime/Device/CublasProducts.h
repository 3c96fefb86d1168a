//===- CublasProducts.h - Products on a stream of a GPU ---------*- C++ -*-===//
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

/// The handle of a device, by which its streams ask for products. Thread-safe.
class CublasHandle {
public:
  /// For the device that is current, and for products as `DeviceCode` says. The
  /// library outlives it.
  static Expected<std::unique_ptr<CublasHandle>>
  create(const cublaslt::Library &library, bool roundsToTF32);
  using OpenLibrary =
      Expected<const cublaslt::Library *>(std::span<const char *const> names);
  /// The same of the first library of these names that is there and starts: one
  /// that is too new for the driver may stand beside one that fits. `library`
  /// gets it. An error is that of the first.
  static Expected<std::unique_ptr<CublasHandle>>
  createFirst(const cublaslt::Library *&library, bool roundsToTF32,
              std::span<const char *const> names = cublaslt::libraryNames,
              OpenLibrary *open = cublaslt::openLibrary);
  CublasHandle(const CublasHandle &) = delete;
  CublasHandle &operator=(const CublasHandle &) = delete;
  /// With the device current.
  ~CublasHandle() { (void)library.destroy(handle); }

  /// The sentence of an error; `what` was to be done.
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

/// The products of a stream, and how each kind of them is computed, which is
/// asked for once. One thread at a time, with the device current.
class CublasProducts {
public:
  /// Memory for a product's own use. NVIDIA's advice for its newest GPUs.
  static constexpr size_t workspaceBytes = size_t(32) << 20;
  /// Kinds that are kept: batches of many sizes make many.
  static constexpr size_t mostPlans = 1024;

  /// All three outlive it.
  CublasProducts(Device &device, const CublasHandle &handle,
                 cuda::Stream stream);
  ~CublasProducts();

  /// `DeviceStream::multiply`.
  Expected<bool> multiply(const DeviceProduct &product);

private:
  /// All that an algorithm depends on.
  struct Kind {
    int64_t m, n, k, cStride;
    bool transposeA, transposeB, roundsFactors;
    /// Of A, B, C and the bias, in bytes; without a bias 0.
    std::array<uint32_t, 4> alignments;

    auto operator<=>(const Kind &) const = default;
  };
  struct Plan;

  static Kind kindOf(const DeviceProduct &product);
  Expected<Plan *> planOf(const Kind &kind);
  /// Whether factors may become TF32.
  bool takesTF32(const Kind &kind) const {
    return handle.roundsToTF32 && !kind.roundsFactors;
  }
  Status describe(Plan &plan, const Kind &kind);
  Status choose(Plan &plan, const Kind &kind);

  Device &device;
  const CublasHandle &handle;
  const cuda::Stream stream;
  DeviceBuffer workspace;
  /// The last used first.
  std::list<Plan> plans;
  std::map<Kind, std::list<Plan>::iterator> planByKind;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_CUBLASPRODUCTS_H
