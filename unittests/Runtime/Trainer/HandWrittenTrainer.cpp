//===- HandWrittenTrainer.cpp - The hand-written program as an executable -===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linked with PDLTrainerMain and PDLRuntime, as pdl-translate links a program.
//
//===----------------------------------------------------------------------===//

#include "HandWrittenProgram.h"

const pdl_descriptor *pdl_program_query(uint32_t version) {
  return version == PDL_ABI_VERSION ? handWrittenProgram({}) : nullptr;
}
