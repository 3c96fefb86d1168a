//===- HandWrittenServer.cpp - The hand-written program, served -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linked with PDLServerMain (or, as the trainer of the same job,
// PDLTrainerMain) and PDLRuntimeGrpc, as pdl-translate links a program. The
// role and whether there is a clip come from the build.
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"

const pdl_descriptor *pdl_program_query(uint32_t version) {
  ProgramVariant variant;
  variant.clipped = true;
  variant.mode = HAND_WRITTEN_MODE;
  variant.role = HAND_WRITTEN_ROLE;
  return version == PDL_ABI_VERSION ? handWrittenProgram(variant) : nullptr;
}
