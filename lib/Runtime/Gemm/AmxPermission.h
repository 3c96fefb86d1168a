//===- AmxPermission.h - The right to use AMX -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_AMXPERMISSION_H
#define LIB_RUNTIME_GEMM_AMXPERMISSION_H

namespace pdlrt {

/// Returns true if the CPU has AMX with bf16 and the kernel lets all threads of
/// this process use its registers. The first call requests the permission.
/// Thread-safe.
bool requestAmx();

/// Returns true if the CPU has the instructions of AMX for int8. To use them, a
/// process also needs `requestAmx`.
bool hasAmxInt8();

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_AMXPERMISSION_H
