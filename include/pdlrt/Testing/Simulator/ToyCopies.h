//===- ToyCopies.h - Copies that a toy server puts together -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mode geo among toys: what a request adds, its trainer has in its own copy
// already, and what its answer brings is what others have added since the
// answer before. So behind an answer a copy is the server's state of that
// moment, to the bit, if each request and each answer has counted once.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TESTING_SIMULATOR_TOYCOPIES_H
#define PDLRT_TESTING_SIMULATOR_TOYCOPIES_H

#include "pdlrt/Server/ChangedKeys.h"
#include "pdlrt/Testing/Simulator/Toy.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Adds what a request brings to a state.
void addChanges(const ToyRequest &request, ToyState &state);
/// Puts what an answer brings in the place of what a copy has.
void takeNews(const ToyAnswer &answer, ToyState &copy);

/// What trainers have yet to be told of a server's state, as a server of mode
/// geo knows it.
class ToyNews {
public:
  explicit ToyNews(uint32_t trainers) : seen(trainers) {}

  /// Adds a trainer's request to `state`, and returns what others have changed
  /// since the last one of that trainer.
  ToyAnswer exchange(uint32_t trainer, const ToyRequest &request,
                     ToyState &state);

private:
  /// By trainer: the clock at its last exchange.
  std::vector<uint64_t> seen;
  uint64_t clock = 0;
  uint64_t denseClock = 0;
  ChangedKeys changedKeys;
};

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_TOYCOPIES_H
