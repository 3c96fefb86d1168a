//===- Outbox.h - Responses to send after unlocking -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_OUTBOX_H
#define LIB_RUNTIME_SERVER_OUTBOX_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/FailureCode.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Transport.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Collects responses while a mutex is locked, and sends them after it was
/// unlocked, because a responder may call this server. Only one thread may use
/// it at a time.
class Outbox {
public:
  void add(Responder to, Envelope head, MessageKind kind,
           const Message &payload, const Message &note = {}) {
    head.kind = kind;
    letters.emplace_back(std::move(to), joinFrame(head, payload, note));
  }
  void refuse(Responder to, const Envelope &head, const std::string &message) {
    add(std::move(to), head, MessageKind::Refusal, Message::ofString(message));
  }
  void refuse(Responder to, const Envelope &head, const Status &failure) {
    add(std::move(to), head, MessageKind::Refusal,
        Message::ofString(failure.message()),
        encodeFailureCode(failure.code()));
  }
  /// Drops a request without a response.
  void drop(Responder to) { dropped.push_back(std::move(to)); }
  /// Sets an action that runs after all responses were sent. Replaces an
  /// earlier action.
  void whenSent(std::function<void()> then) { after = std::move(then); }
  void send() {
    for (auto &[to, response] : std::exchange(letters, {}))
      to.respond(std::move(response));
    dropped.clear();
    if (const auto action = std::exchange(after, nullptr))
      action();
  }

private:
  std::vector<std::pair<Responder, Message>> letters;
  std::vector<Responder> dropped;
  std::function<void()> after;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_OUTBOX_H
