//===- admission.h - Admission of keys to tables ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Admission decides which keys get a row in a table. A table that admits keys
// by probability makes one random decision for each key, with Philox of the
// counter:
//
//   Counter words 0 and 1: the key, low half first.
//   Counter word 2:        2^32 - 1, a number that initial values do not use.
//   Counter word 3:        the symbol, as for initial values.
//   Key:                   the seed.
//
// So the same keys are admitted with any number of servers, and in every job
// with the same seed.
//
// A table that admits keys by score adds up the scores of a key's updates.
// Scores are converted to whole numbers of units, because a sum of whole
// numbers does not depend on the order of its terms. A key is admitted when it
// has 2^14 units.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_ADMISSION_H
#define PDLABI_ADMISSION_H

#include "pdlabi/philox.h"

#include <cmath>
#include <cstdint>

namespace pdlabi {

/// Returns true if `key` is admitted by probability. This is the case for a
/// fraction of about `probability` of all keys. `probability` must be in (0,
/// 1].
inline bool isDrawn(double probability, uint64_t seed, uint64_t symbolId,
                    int64_t key) {
  const auto bits = static_cast<uint64_t>(key);
  const PhiloxBlock block =
      philox({{static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32),
               0xffffffffu, static_cast<uint32_t>(symbolId)}},
             seed);
  return block.words[0] * 0x1p-32 < probability;
}

/// Number of units with which a key is admitted.
inline constexpr int64_t admissionUnits = int64_t(1) << 14;

/// Converts the score of a key in an update to units. `admission` is the score
/// at which a key is admitted; it must be positive. Rounds up, so that ten
/// updates with a tenth of `admission` admit a key. The result is in [0,
/// `admissionUnits`].
inline int64_t scoreUnits(double score, double admission) {
  const double units =
      std::ceil(score / admission * static_cast<double>(admissionUnits));
  // NaN scores count as 0.
  if (!(units > 0))
    return 0;
  return units < static_cast<double>(admissionUnits)
             ? static_cast<int64_t>(units)
             : admissionUnits;
}

/// Returns the number of units that a waiting key has after the end of a
/// period.
inline int64_t decayedUnits(int64_t units, double decay) {
  return static_cast<int64_t>(static_cast<double>(units) * decay);
}

} // namespace pdlabi

#endif // PDLABI_ADMISSION_H
