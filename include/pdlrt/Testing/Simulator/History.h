//===- History.h - What happened in a simulated job -------------*- C++ -*-===//
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

/// One thing that a trainer or a server saw. Which fields count depends on
/// `what`.
struct Event {
  enum class What {
    /// A start of a trainer begins.
    Started,
    /// The first server has let a start in; `given` is its incarnation.
    Joined,
    /// A start ends because servers do not let it in: text.
    Refused,
    /// A sender gives a request to its session: server, sender, request.
    Contributed,
    /// A server took a request: server, sender, request, turn.
    Applied,
    /// A server answered a request: server, sender, step, answer.
    Answered,
    /// A server finished a round: server, and its values after that in
    /// `answer.dense`.
    Closed,
    /// A sender got an answer: server, sender, step, answer; in mode geo its
    /// copy of that server's state behind it.
    Read,
    /// A trainer is done.
    Left,
    /// A trainer gave up: text.
    Failed,
    /// A trainer died.
    Crashed,
    /// A server's job is over: text is empty, or why it failed.
    ServerEnded,
    /// The time was up: text says who had not ended.
    Hung,
  };
  What what = What::Started;
  ClockTime when{0};
  uint32_t server = 0;
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// Which start of the trainer, from 1 on; of what a server takes: the
  /// incarnation that it has given to that one.
  uint64_t incarnation = 0;
  uint64_t given = 0;
  uint64_t epoch = 0;
  uint64_t step = 0;
  MessageKind kind = MessageKind::Exchange;
  Turn turn = Turn::Alone;
  ToyRequest request;
  ToyAnswer answer;
  ToyState copy;
  std::string text;

  /// One line.
  std::string describe() const;
};

/// All events, in the order in which they happened.
using History = std::vector<Event>;

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_HISTORY_H
