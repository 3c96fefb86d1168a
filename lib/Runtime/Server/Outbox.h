//===- Outbox.h - Responses to send when no lock is held --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_OUTBOX_H
#define LIB_RUNTIME_SERVER_OUTBOX_H

#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Transport.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Gathers responses under a lock, and sends them after it: a responder may
/// call back. One thread at a time.
class Outbox {
public:
  void add(Responder to, Envelope head, MessageKind kind,
           const Message &payload, const Message &note = {}) {
    head.kind = kind;
    letters.emplace_back(std::move(to), joinFrame(head, payload, note));
  }
  void refuse(Responder to, const Envelope &head, const std::string &sentence) {
    add(std::move(to), head, MessageKind::Refusal, Message::ofString(sentence));
  }
  /// Lets a request go without an answer.
  void drop(Responder to) { dropped.push_back(std::move(to)); }
  /// An action behind all responses; a later one replaces it.
  void whenSent(std::function<void()> then) { after = std::move(then); }
  void send() {
    for (auto &[to, response] : std::exchange(letters, {}))
      to.answer(std::move(response));
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
