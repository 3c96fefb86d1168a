//===- OneDnnLibrary.cpp - Opens oneDNN next to a program -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneDnnLibrary.h"
#include "pdlabi/abi.h"
#include "pdlrt/Core/CompanionLibrary.h"
#include "pdlrt/Core/CpuCheck.h"
#include "pdlrt/Core/Log.h"

#include <cstdlib>

using namespace pdlrt;

static Expected<FastGemm> openOneDnn() {
  // oneDNN reads its own limit once, when it is first used.
  if (isCpuLimited())
    setenv("ONEDNN_MAX_CPU_ISA",
           isSupported(GemmIsa::v4) ? "AVX512_CORE" : "AVX2", /*replace=*/1);
  const Expected<void *> found =
      findInCompanion("libpdl-onednn.so.1", "pdlrt_onednn_gemm");
  if (!found)
    return found.status();
  const auto query = reinterpret_cast<decltype(&pdlrt_onednn_gemm)>(*found);
  const FastGemm products =
      query(PDL_ABI_VERSION, sizeof(GemmWorkspace), sizeof(GemmCall));
  if (!products)
    return Status::failedPrecondition(
        "libpdl-onednn.so.1 is of another version of PDL");
  return products;
}

extern "C" void pdlrt_register_onednn() {
  const Expected<FastGemm> products = openOneDnn();
  if (!products)
    return logWarning(
        "numerics fast cannot use oneDNN: " + products.status().message() +
        "; matrix products use PDL's own kernels, which are slower. Copy the "
        "folder of the program as a whole, and see \"What libraries and "
        "programs of models need\" in Serving");
  registerFastGemm(*products);
}
