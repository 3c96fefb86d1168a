//===- History.h - Events of a simulated job --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TESTING_SIMULATOR_HISTORY_H
#define PDLRT_TESTING_SIMULATOR_HISTORY_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Server/ServerApplication.h"
#include "pdlrt/Testing/Simulator/Toy.h"
#include "pdlrt/Transport/Envelope.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// One event at a trainer or a server. `what` is its kind, and determines which
/// members are used: the comment of each kind lists them. A sender is
/// `trainer`, `worker` and `incarnation`.
struct Event {
  enum class What {
    /// An incarnation of a trainer starts.
    Started,
    /// The first server has accepted an incarnation: `given`, the number that
    /// it has assigned.
    Joined,
    /// An incarnation of a trainer ends because servers reject it: text.
    Refused,
    /// A sender passes a request to its ServerSession: server, sender, request.
    Contributed,
    /// A server has taken a request: server, sender, request, turn.
    Applied,
    /// A server has sent a response: server, sender, step, response.
    Responded,
    /// A server has closed a round: server, and its values after the round in
    /// `response.dense`.
    Closed,
    /// A sender has received a response: server, sender, step, response. In
    /// mode geo, also `copy`: the sender's copy of this server's state after
    /// the response.
    Read,
    /// A trainer has ended without an error.
    Left,
    /// A trainer has ended with an error: text.
    Failed,
    /// A trainer has died.
    Crashed,
    /// The job has ended at a server: text is empty, or the reason of the
    /// failure.
    ServerEnded,
    /// The time limit was reached: text lists the processes that had not ended.
    Hung,
  };
  What what = What::Started;
  ClockTime when{0};
  uint32_t server = 0;
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// Number of the trainer's process, from 1. In events about requests that a
  /// server has taken: the incarnation number that the server has assigned.
  uint64_t incarnation = 0;
  uint64_t given = 0;
  uint64_t epoch = 0;
  uint64_t step = 0;
  MessageKind kind = MessageKind::Exchange;
  Turn turn = Turn::Alone;
  ToyRequest request;
  ToyResponse response;
  ToyState copy;
  std::string text;

  /// Returns the event as one line.
  std::string describe() const;
};

/// The events, in the order in which they happened.
using History = std::vector<Event>;

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_HISTORY_H
