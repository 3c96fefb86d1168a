//===- Toy.h - Messages of toy trainers -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TESTING_SIMULATOR_TOY_H
#define PDLRT_TESTING_SIMULATOR_TOY_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Message.h"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace pdlrt {

/// The dense values of a toy server. They are few, and their magnitudes differ
/// so much that their bits reveal the order of additions.
using ToyBlock = std::array<float, 4>;

/// The state of a toy server.
struct ToyState {
  std::map<int64_t, int64_t> counters;
  ToyBlock dense{};

  bool operator==(const ToyState &) const = default;
};

/// A sender's request to one server in one step.
struct ToyRequest {
  /// Number of the request among all requests of its sender, from 0.
  uint64_t step = 0;
  std::vector<std::pair<int64_t, int64_t>> increments;
  /// False if the sender is out of data; then the request adds nothing.
  bool hasPart = false;
  ToyBlock part{};
  std::vector<int64_t> keys;

  Message encode() const;
  static Expected<ToyRequest> decode(const Message &message);
  bool operator==(const ToyRequest &) const = default;
};

/// A server's response: the state after the request, or after the round of the
/// request.
struct ToyResponse {
  /// Rank of the trainer that gets the response.
  uint32_t trainer = 0;
  uint64_t step = 0;
  std::vector<std::pair<int64_t, int64_t>> counters;
  /// In mode geo, true if other trainers have changed the dense block. In other
  /// modes always true.
  bool hasDense = true;
  ToyBlock dense{};

  Message encode() const;
  static Expected<ToyResponse> decode(const Message &message);
  bool operator==(const ToyResponse &) const = default;
};

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_TOY_H
