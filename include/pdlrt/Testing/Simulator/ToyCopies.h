//===- ToyCopies.h - Copies in mode geo -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mode geo in simulations. The copy of a trainer already has the changes that
// its request sends. The response has the changes of others since the previous
// response. So a copy with the response is bitwise equal to the server's state
// at that time, if each request and each response was applied once.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TESTING_SIMULATOR_TOYCOPIES_H
#define PDLRT_TESTING_SIMULATOR_TOYCOPIES_H

#include "pdlrt/Server/ChangedKeys.h"
#include "pdlrt/Testing/Simulator/Toy.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Adds the changes of a request to a state.
void addChanges(const ToyRequest &request, ToyState &state);
/// Replaces the values of a copy that a response contains by the values in the
/// response.
void takeNews(const ToyResponse &response, ToyState &copy);

/// Tracks the changes of a server's state that trainers have not received yet,
/// as a server in mode geo does.
class ToyNews {
public:
  explicit ToyNews(uint32_t trainers) : seen(trainers) {}

  /// Adds the changes of a trainer's request to `state`. Returns the changes of
  /// others since the last request of this trainer.
  ToyResponse exchange(uint32_t trainer, const ToyRequest &request,
                       ToyState &state);

private:
  /// Time of the last exchange, by trainer.
  std::vector<uint64_t> seen;
  uint64_t clock = 0;
  uint64_t denseClock = 0;
  ChangedKeys changedKeys;
};

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_TOYCOPIES_H
