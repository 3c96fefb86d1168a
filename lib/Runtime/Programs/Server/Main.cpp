//===- Main.cpp - `main` of a compiled server -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file is compiled for the oldest x86-64 CPU. So the program can start on
// a CPU that is too old, and report that.
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi.h"
#include "pdlrt/Core/CpuCheck.h"
#include "pdlrt/Programs/Server/ServerMain.h"

/// Checks the CPU before the constructors of all other objects run, because
/// they may use instructions that an old CPU does not have.
__attribute__((constructor(101))) static void checkCpuFirst() {
  pdlrt::requireSupportedCpu(pdl_program_query(PDL_ABI_VERSION));
}

int main(int argc, char **argv) {
  return pdlrt::runServer(argc, argv, pdl_program_query,
                          pdlrt::createClusterTransport);
}
