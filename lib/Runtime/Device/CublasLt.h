//===- CublasLt.h - Functions of cuBLASLt -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of cuBLASLt that are used, under the names of its symbols
// (cuBLAS Library User Guide, "Using the cuBLASLt API"). The constants below
// and the layout of heuristic results are the same in versions 11 to 13. The
// library creates and owns its descriptors, so their sizes are not needed.
// Programs that need the library load it at run time. So neither the build nor
// other programs depend on it.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DEVICE_CUBLASLT_H
#define LIB_RUNTIME_DEVICE_CUBLASLT_H

#include "Device/CudaDriver.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace pdlrt::cublaslt {

using Result = int;
using Handle = struct HandleTag *;
using Operation = struct OperationTag *;
using Layout = struct LayoutTag *;
using Preference = struct PreferenceTag *;

constexpr Result success = 0, notSupported = 15;

/// Type of elements, alpha and beta: f32.
constexpr int float32 = 0;

/// Compute types. The first computes in f32. The second may round factors to
/// bf16, and also to TF32 unless a preference excludes that. The third may
/// round factors to TF32.
constexpr int computeFloat32 = 68, computeFast16BF = 75, computeFastTF32 = 77;

/// Attributes of an operation: whether A and B are transposed (int32_t), the
/// epilogue (uint32_t), and the bias (const void *).
constexpr int transposeAttributeA = 3, transposeAttributeB = 4,
              epilogueAttribute = 7, biasAttribute = 8;
constexpr int32_t asItIs = 0, transposed = 1;
constexpr uint32_t noEpilogue = 1, biasEpilogue = 4;

/// Attributes of a preference. The first is the size of the workspace in bytes
/// (uint64_t). The second has the allowed ways to add partial sums along k
/// (uint32_t). Four are the minimum alignments of A, B, C and D (uint32_t
/// each). The last one limits the implementations of algorithms (uint64_t).
constexpr int workspaceAttribute = 1, reductionAttribute = 3,
              alignmentAttributeA = 5, alignmentAttributeB = 6,
              alignmentAttributeC = 7, alignmentAttributeD = 8,
              implementationAttribute = 12;
/// Value of `reductionAttribute`: partial sums are stored in the workspace, in
/// the compute type, and added in a later step. Algorithms that have no partial
/// sums are allowed with any value.
constexpr uint32_t reductionInWorkspace = 2;
/// Value of `implementationAttribute`: only implementations that round factors
/// to TF32. If the attribute is 0, any implementation is allowed.
constexpr uint64_t implementationOfTF32 = uint64_t(4) << 16;

/// The algorithm of a product; opaque.
struct Algorithm {
  uint64_t data[8];
};

/// A result of the heuristics.
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  Result state;
  float waves;
  int reserved[4];
};

/// Functions under the names of their symbols. Matrices are column-major.
struct Library {
  /// Null in early versions.
  const char *(*statusText)(Result status);
  Result (*create)(Handle *handle);
  Result (*destroy)(Handle handle);
  Result (*createOperation)(Operation *operation, int compute, int scaleType);
  Result (*destroyOperation)(Operation operation);
  Result (*setOperation)(Operation operation, int attribute, const void *value,
                         size_t bytes);
  Result (*createLayout)(Layout *layout, int type, uint64_t rows,
                         uint64_t columns, int64_t leadingDimension);
  Result (*destroyLayout)(Layout layout);
  Result (*createPreference)(Preference *preference);
  Result (*destroyPreference)(Preference preference);
  Result (*setPreference)(Preference preference, int attribute,
                          const void *value, size_t bytes);
  Result (*heuristics)(Handle handle, Operation operation, Layout a, Layout b,
                       Layout c, Layout d, Preference preference, int asked,
                       Heuristic *results, int *count);
  /// D = alpha op(A) op(B) + beta C.
  Result (*multiply)(Handle handle, Operation operation, const void *alpha,
                     const void *a, Layout aLayout, const void *b,
                     Layout bLayout, const void *beta, const void *c,
                     Layout cLayout, void *d, Layout dLayout,
                     const Algorithm *algorithm, void *workspace,
                     size_t workspaceBytes, cuda::Stream stream);
};

/// Names of the versions, newest first.
constexpr const char *libraryNames[] = {
    "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};

/// Loads the first library of `names` that exists. It is loaded only once;
/// later calls return the same. An error names the missing library or function,
/// and a remedy.
Expected<const Library *>
openLibrary(std::span<const char *const> names = libraryNames);

} // namespace pdlrt::cublaslt

#endif // LIB_RUNTIME_DEVICE_CUBLASLT_H
