//===- HandWrittenTrainer.cpp - The hand-written program as an executable -===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linked with PDLTrainerMain and PDLRuntime, as pdl-translate links a program.
// Mode and role come from the build.
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"

const pdl_descriptor *pdl_program_query(uint32_t version) {
  ProgramVariant variant;
  variant.mode = HAND_WRITTEN_MODE;
  variant.role = HAND_WRITTEN_ROLE;
  return version == PDL_ABI_VERSION ? handWrittenProgram(variant) : nullptr;
}
