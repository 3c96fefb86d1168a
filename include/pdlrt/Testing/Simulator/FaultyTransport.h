//===- FaultyTransport.h - A network that fails by seed ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TESTING_SIMULATOR_FAULTYTRANSPORT_H
#define PDLRT_TESTING_SIMULATOR_FAULTYTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <cstdint>

namespace pdlrt {

/// How often what goes wrong, in thousandths.
struct FaultRates {
  /// Of requests, and of responses: it is lost.
  uint32_t drop = 0;
  /// Of requests, and of responses: it is held for up to `longestDelay`, so
  /// that others overtake it.
  uint32_t delay = 0;
  ClockTime longestDelay = std::chrono::milliseconds(500);
  /// Of requests: a second copy comes, held for up to `longestDelay`.
  uint32_t duplicate = 0;
  /// Of calls: at it, all open calls of its connection end as Unavailable;
  /// their requests may still be handled.
  uint32_t disconnect = 0;
};

/// What a faulty transport did.
struct FaultCounts {
  uint64_t drops = 0, delays = 0, duplicates = 0, disconnects = 0;
};

/// A transport over `inner` that fails as the seed says: under a manual clock
/// the same calls meet the same faults. `inner` and `counts` outlive it. Not
/// thread-safe.
std::unique_ptr<Transport> createFaultyTransport(Transport &inner,
                                                 const FaultRates &rates,
                                                 uint64_t seed,
                                                 FaultCounts &counts);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_FAULTYTRANSPORT_H
