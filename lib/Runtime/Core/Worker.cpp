//===- Worker.cpp - What a stage's opaque worker points to ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Worker.h"

#include "pdlrt/Gemm/Gemm.h"

using namespace pdlrt;

GemmWorkspace &pdlrt::gemmWorkspaceOf(void *worker) {
  return static_cast<Worker *>(worker)->gemm;
}
