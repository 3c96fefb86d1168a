//===- Error.cpp - Last error of a thread ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/status.h"

#include <cstring>

/// Not a std::string: the destructor of a thread-local string would run at the
/// end of the thread. It would keep a closed library, and what it maps, in
/// memory until then.
static thread_local char lastError[8192];

int32_t pdlrt_set_error(int32_t status, const char *message) {
  const size_t size = ::strnlen(message, sizeof(lastError) - 1);
  // `message` may be the last error itself.
  std::memmove(lastError, message, size);
  lastError[size] = '\0';
  return status;
}

const char *pdlrt_last_error() { return lastError; }
