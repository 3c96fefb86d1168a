//===- CpuLevels.h - Copies of a program for later CPUs ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_CPULEVELS_H
#define LIB_TARGET_CPULEVELS_H

#include "pdlc/Target/TargetSpec.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"
#include <memory>
#include <vector>

namespace pdlc {

/// Copies all code and the descriptor of a program for each CPU of `specs`, the
/// latest first. Returns one module per CPU. Their definitions have names that
/// end with the name of the CPU. Changes `pdl_program_query` of `module` so
/// that it returns the descriptor that `pdlrt_choose_descriptor` chooses.
///
/// Each copy has its own descriptor, because a descriptor contains the
/// addresses of functions. So the choice is made once, and calls cost nothing.
std::vector<std::unique_ptr<llvm::Module>>
addCpuLevels(llvm::Module &module, llvm::ArrayRef<TargetSpec> specs);

} // namespace pdlc

#endif // LIB_TARGET_CPULEVELS_H
