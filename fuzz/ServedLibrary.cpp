//===- ServedLibrary.cpp - Library for the server of a fuzzer -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"

#include "pdlabi/abi/descriptor.h"

/// Defined as by pdl-translate.
extern "C" const pdl_descriptor *pdl_program_query(uint32_t) {
  return handWrittenProgram({});
}
