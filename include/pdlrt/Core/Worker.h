//===- Worker.h - What a stage's opaque worker points to --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_WORKER_H
#define PDLRT_CORE_WORKER_H

#include "pdlrt/Gemm/GemmWorkspace.h"

namespace pdlrt {

/// The state behind the `pdlrt_*` calls of one replica; one thread at a time.
struct Worker {
  GemmWorkspace gemm;
};

} // namespace pdlrt

#endif // PDLRT_CORE_WORKER_H
