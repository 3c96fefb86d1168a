//===- Blocks.h - Words of random blocks ------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DEVICELIBRARY_BLOCKS_H
#define LIB_DEVICELIBRARY_BLOCKS_H

#include "pdlabi/philox.h"

#include <cstdint>

namespace pdldevice {

/// Returns word `number` of the block, 0 to 3. Selects from four copies:
/// indexing with a variable would force the block into memory.
inline uint32_t wordOf(pdlabi::PhiloxBlock block, int64_t number) {
  const uint32_t w0 = block.words[0], w1 = block.words[1];
  const uint32_t w2 = block.words[2], w3 = block.words[3];
  const uint32_t even = number & 2 ? w2 : w0, odd = number & 2 ? w3 : w1;
  return number & 1 ? odd : even;
}

} // namespace pdldevice

#endif // LIB_DEVICELIBRARY_BLOCKS_H
