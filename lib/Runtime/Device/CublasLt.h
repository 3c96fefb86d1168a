//===- CublasLt.h - The functions of NVIDIA's products ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of cuBLASLt that is used, by the names of its symbols (cuBLAS
// Library User Guide, "Using the cuBLASLt API"). The numbers below are the same
// in versions 11 to 13, and so are the results of heuristics; descriptors are
// made and kept by the library, which alone knows their size. It is opened when
// a program runs that needs it, so that neither building nor others do.
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

/// What elements, alpha and beta are: f32.
constexpr int float32 = 0;

/// What is computed with: f32, or f32 with factors that may be rounded to bf16
/// (and to TF32, unless a preference says no), or to TF32.
constexpr int computeFloat32 = 68, computeFast16BF = 75, computeFastTF32 = 77;

/// Attributes of an operation: how A and B are taken (int32_t), what follows
/// (uint32_t), the bias (const void *).
constexpr int transposeAttributeA = 3, transposeAttributeB = 4,
              epilogueAttribute = 7, biasAttribute = 8;
constexpr int32_t asItIs = 0, transposed = 1;
constexpr uint32_t noEpilogue = 1, biasEpilogue = 4;

/// Attributes of a preference: bytes of workspace (uint64_t), how parts of a
/// sum along k may be joined, how A, B, C and D are aligned at least (uint32_t
/// each), and what algorithms may be made of (uint64_t).
constexpr int workspaceAttribute = 1, reductionAttribute = 3,
              alignmentAttributeA = 5, alignmentAttributeB = 6,
              alignmentAttributeC = 7, alignmentAttributeD = 8,
              implementationAttribute = 12;
/// Parts of a sum stand in the workspace, in the type that is computed in, and
/// are added in a step behind; what has no parts is allowed with any mask.
constexpr uint32_t reductionInWorkspace = 2;
/// Factors are rounded to TF32. Unless it is set, an algorithm may be anything.
constexpr uint64_t implementationOfTF32 = uint64_t(4) << 16;

/// How a product is computed; opaque.
struct Algorithm {
  uint64_t data[8];
};

/// One answer of the heuristics.
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  Result state;
  float waves;
  int reserved[4];
};

/// Functions by the names of their symbols. Matrices are column-major.
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

/// The versions, the newest first.
constexpr const char *libraryNames[] = {
    "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};

/// Opens the first library of these names that is there, once; later calls give
/// the same. An error names the library or the function that is missing, and
/// what to do.
Expected<const Library *>
openLibrary(std::span<const char *const> names = libraryNames);

} // namespace pdlrt::cublaslt

#endif // LIB_RUNTIME_DEVICE_CUBLASLT_H
