//===- Error.cpp - The calling thread's last error ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi.h"

#include <string>

static thread_local std::string lastError;

int32_t pdlrt_set_error(int32_t status, const char *sentence) {
  lastError = sentence;
  return status;
}

const char *pdlrt_last_error() { return lastError.c_str(); }
