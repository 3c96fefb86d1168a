//===- ProbeName.h - Names of probe files -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_PROBENAME_H
#define LIB_RUNTIME_CHECKPOINT_PROBENAME_H

namespace pdlrt {

/// Prefix of temporary files. With them processes check that they see the same
/// folder of checkpoints (`SaveProbe`).
inline constexpr const char *probePrefix = ".pdl-probe-";

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_PROBENAME_H
