//===- OutOfMemory.cpp - Errors of memory allocation ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/OutOfMemory.h"

#include "pdlabi/abi/codes.h"

#include <fmt/format.h>

using namespace pdlrt;

void *pdlrt::allocateAligned(size_t bytes) {
  try {
    return ::operator new(bytes, std::align_val_t(PDL_BUFFER_ALIGNMENT));
  } catch (const std::bad_alloc &) {
    throw OutOfMemory(bytes);
  }
}

std::string pdlrt::describeOutOfMemory(const std::bad_alloc &error,
                                       const std::string &doing) {
  const std::string what = "out of memory while it " + doing;
  const auto *known = dynamic_cast<const OutOfMemory *>(&error);
  if (!known)
    return what;
  return fmt::format("{} (it asked for {:.1f} MiB)", what,
                     double(known->bytesRequested()) / (1 << 20));
}
