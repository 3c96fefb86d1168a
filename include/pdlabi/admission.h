//===- admission.h - Which keys of a table get rows -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table that admits keys by probability draws for each key once: by Philox of
// the counter
//
//   counter words 0, 1 = the key, low half first
//   counter word 2     = 2^32 - 1, which no block of initial values has
//   counter word 3     = the symbol, as of initial values
//   key                = the seed
//
// So the same keys get rows on any number of servers, and in each job with that
// seed.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_ADMISSION_H
#define PDLABI_ADMISSION_H

#include "pdlabi/philox.h"

#include <cstdint>

namespace pdlabi {

/// Whether a key is of the part `probability`, above 0 and at most 1, of all
/// keys.
inline bool isDrawn(double probability, uint64_t seed, uint64_t symbolId,
                    int64_t key) {
  const auto bits = static_cast<uint64_t>(key);
  const PhiloxBlock block =
      philox({{static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32),
               0xffffffffu, static_cast<uint32_t>(symbolId)}},
             seed);
  return block.words[0] * 0x1p-32 < probability;
}

} // namespace pdlabi

#endif // PDLABI_ADMISSION_H
