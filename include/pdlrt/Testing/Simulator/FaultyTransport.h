//===- FaultyTransport.h - Network with random faults -----------*- C++ -*-===//
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

/// Rates of faults, in thousandths.
struct FaultRates {
  /// Rate of lost requests, and of lost responses.
  uint32_t drop = 0;
  /// Rate of requests, and of responses, that are delayed by up to
  /// `longestDelay`, so that others overtake it.
  uint32_t delay = 0;
  ClockTime longestDelay = std::chrono::milliseconds(500);
  /// Rate of requests of which a second copy arrives, delayed by up to
  /// `longestDelay`.
  uint32_t duplicate = 0;
  /// Rate of calls at which all open calls of the connection end as
  /// Unavailable; their requests may still be handled.
  uint32_t disconnect = 0;
};

/// Number of faults that occurred.
struct FaultCounts {
  uint64_t drops = 0, delays = 0, duplicates = 0, disconnects = 0;
};

/// Creates a transport over `inner` with faults determined by the seed: with a
/// manual clock, the same calls get the same faults. `inner` and `counts` must
/// outlive it. Not thread-safe.
std::unique_ptr<Transport> createFaultyTransport(Transport &inner,
                                                 const FaultRates &rates,
                                                 uint64_t seed,
                                                 FaultCounts &counts);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_FAULTYTRANSPORT_H
