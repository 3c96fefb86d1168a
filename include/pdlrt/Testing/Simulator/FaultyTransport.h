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

/// Probabilities of faults, in thousandths.
struct FaultRates {
  /// Probability that a request is lost, and that a response is lost.
  uint32_t drop = 0;
  /// Probability that a request, or a response, is delayed by up to
  /// `longestDelay`, so that later ones overtake it.
  uint32_t delay = 0;
  ClockTime longestDelay = std::chrono::milliseconds(500);
  /// Probability that a second copy of a request arrives, delayed by up to
  /// `longestDelay`.
  uint32_t duplicate = 0;
  /// Probability that a call makes all open calls of its connection end as
  /// Unavailable. Their requests may still be handled.
  uint32_t disconnect = 0;
};

/// Numbers of faults that have occurred.
struct FaultCounts {
  uint64_t drops = 0, delays = 0, duplicates = 0, disconnects = 0;
};

/// Creates a transport over `inner` with random faults. With a manual clock,
/// the same calls with the same `seed` get the same faults. `inner` and
/// `counts` must outlive the transport. Not thread-safe.
std::unique_ptr<Transport> createFaultyTransport(Transport &inner,
                                                 const FaultRates &rates,
                                                 uint64_t seed,
                                                 FaultCounts &counts);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_FAULTYTRANSPORT_H
