//===- Toy.h - What toy trainers send and read ------------------*- C++ -*-===//
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

/// A server's dense values: so few, and of so different sizes, that their bits
/// show in which order a sum was formed.
using ToyBlock = std::array<float, 4>;

/// The state of a toy server.
struct ToyState {
  std::map<int64_t, int64_t> counters;
  ToyBlock dense{};

  bool operator==(const ToyState &) const = default;
};

/// What a sender gives to one server in one step, and what it asks for.
struct ToyRequest {
  /// Which request of its sender, from 0 on.
  uint64_t step = 0;
  std::vector<std::pair<int64_t, int64_t>> increments;
  /// Absent from a sender that is out of data: then it is not added.
  bool hasPart = false;
  ToyBlock part{};
  std::vector<int64_t> keys;

  Message encode() const;
  static Expected<ToyRequest> decode(const Message &message);
  bool operator==(const ToyRequest &) const = default;
};

/// What a server answers: the state after the request, or after its round.
struct ToyAnswer {
  /// Whose answer it is.
  uint32_t trainer = 0;
  uint64_t step = 0;
  std::vector<std::pair<int64_t, int64_t>> counters;
  /// Of mode geo: whether others have changed it. Elsewhere it always comes.
  bool hasDense = true;
  ToyBlock dense{};

  Message encode() const;
  static Expected<ToyAnswer> decode(const Message &message);
  bool operator==(const ToyAnswer &) const = default;
};

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_TOY_H
