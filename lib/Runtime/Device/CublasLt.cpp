//===- CublasLt.cpp - Functions of cuBLASLt -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device/CublasLt.h"

#include "Core/SharedLibrary.h"

using namespace pdlrt;
using namespace pdlrt::cublaslt;

static void findAll(SharedLibrary &library, Library &functions) {
  library.findOptional(functions.statusText, "cublasLtGetStatusString");
  library.find(functions.create, "cublasLtCreate");
  library.find(functions.destroy, "cublasLtDestroy");
  library.find(functions.createOperation, "cublasLtMatmulDescCreate");
  library.find(functions.destroyOperation, "cublasLtMatmulDescDestroy");
  library.find(functions.setOperation, "cublasLtMatmulDescSetAttribute");
  library.find(functions.createLayout, "cublasLtMatrixLayoutCreate");
  library.find(functions.destroyLayout, "cublasLtMatrixLayoutDestroy");
  library.find(functions.createPreference, "cublasLtMatmulPreferenceCreate");
  library.find(functions.destroyPreference, "cublasLtMatmulPreferenceDestroy");
  library.find(functions.setPreference, "cublasLtMatmulPreferenceSetAttribute");
  library.find(functions.heuristics, "cublasLtMatmulAlgoGetHeuristic");
  library.find(functions.multiply, "cublasLtMatmul");
}

static constexpr LibraryErrors errors = {
    "products of numerics fast need NVIDIA's cuBLASLt, which is not there",
    ": install it, such as NVIDIA's package libcublas-12-8",
    "NVIDIA's cuBLASLt ", ": install that of CUDA 11 or later",
    ", or translate the model with --numerics=strict, whose products need "
    "none"};

Expected<const Library *>
cublaslt::openLibrary(std::span<const char *const> names) {
  return openOnce<Library>(names, errors, findAll);
}
