//===- HandWrittenTrainer.cpp - Hand-written program as a trainer ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linked with PDLTrainerMain and PDLRuntime, in the same way as pdl-translate
// links a program. The build chooses the mode and the role.
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"
#include "pdlabi/abi.h"

const pdl_descriptor *pdl_program_query(uint32_t version) {
  ProgramVariant variant;
  variant.mode = HAND_WRITTEN_MODE;
  variant.role = HAND_WRITTEN_ROLE;
  return version == PDL_ABI_VERSION ? handWrittenProgram(variant) : nullptr;
}
