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
// One that admits them by score adds up what they score in updates, in units of
// which a row takes 2^14: a sum of whole numbers depends on no order.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_ADMISSION_H
#define PDLABI_ADMISSION_H

#include "pdlabi/philox.h"

#include <cmath>
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

/// What a row takes.
inline constexpr int64_t admissionUnits = int64_t(1) << 14;

/// The units of what a key scores in an update, where a row takes `admission`,
/// above 0. Rounded up, so that ten times a tenth is the whole; nothing below
/// 0, and no more than a row takes.
inline int64_t scoreUnits(double score, double admission) {
  const double units =
      std::ceil(score / admission * static_cast<double>(admissionUnits));
  // A score that is no number is none.
  if (!(units > 0))
    return 0;
  return units < static_cast<double>(admissionUnits)
             ? static_cast<int64_t>(units)
             : admissionUnits;
}

/// The units that are left of a key's at the end of a period.
inline int64_t decayedUnits(int64_t units, double decay) {
  return static_cast<int64_t>(static_cast<double>(units) * decay);
}

} // namespace pdlabi

#endif // PDLABI_ADMISSION_H
