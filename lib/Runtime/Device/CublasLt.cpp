//===- CublasLt.cpp - The functions of NVIDIA's products ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device/CublasLt.h"

#include "Device/SharedLibrary.h"

#include <map>
#include <mutex>
#include <string>

using namespace pdlrt;
using namespace pdlrt::cublaslt;

static const char *findAll(void *handle, Library &functions) {
  SharedLibrary library{handle};
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
  return library.missing;
}

/// What helps where there is none.
static constexpr const char *remedy =
    ", or translate the model with --numerics=strict, whose products need none";

Expected<const Library *>
cublaslt::openLibrary(std::span<const char *const> names) {
  static std::mutex mutex;
  static std::map<std::string, Library> opened;
  const std::lock_guard lock(mutex);
  // The reason of the newest one is the one that helps.
  std::string reason;
  for (const char *name : names) {
    if (const auto found = opened.find(name); found != opened.end())
      return &found->second;
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char *said = dlerror();
      if (reason.empty())
        reason = said ? said : name;
      continue;
    }
    Library library;
    if (const char *missing = findAll(handle, library)) {
      dlclose(handle);
      return Status::invalid(std::string("NVIDIA's cuBLASLt, ") + name +
                             ", has no function " + missing +
                             ": install that of CUDA 11 or later" + remedy);
    }
    return &opened.emplace(name, library).first->second;
  }
  return Status::invalid(
      "products of numerics fast need NVIDIA's cuBLASLt, which is not there (" +
      reason + "): install it, such as NVIDIA's package libcublas-12-8" +
      remedy);
}
