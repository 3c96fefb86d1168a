//===- SessionFixture.h - A session and server that tests write -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_PROTOCOL_SESSIONFIXTURE_H
#define UNITTESTS_RUNTIME_PROTOCOL_SESSIONFIXTURE_H

#include "pdlrt/Protocol/LifeSign.h"
#include "pdlrt/Protocol/ServerSession.h"
#include "pdlrt/Transport/Frame.h"

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt::test {

/// The end of a request.
struct Probe {
  int ends = 0;
  bool ok = false;
  std::string text;

  RequestDone done() {
    return [this](Expected<Message> answer) {
      ++ends;
      ok = answer.ok();
      text = ok ? answer->toString() : answer.status().message();
    };
  }
};

/// A server that a test writes: it sees heads and payloads.
class ServerSessionTest : public testing::Test {
protected:
  using Answerer =
      std::function<void(const Envelope &, const std::string &, Responder)>;

  void listen(Answerer answer) {
    auto opened = transport->listen(
        "server-7", [this, answer = std::move(answer)](const Message &request,
                                                       Responder back) {
          const auto frame = splitFrame(request);
          ASSERT_TRUE(frame.ok());
          if (frame->head.kind == MessageKind::Ask) {
            asked(frame->head, request.size(), std::move(back));
            return;
          }
          if (frame->head.kind != MessageKind::Beat)
            seen.push_back(frame->head);
          answer(frame->head, frame->payload.toString(), std::move(back));
        });
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    listener = std::move(*opened);
  }
  /// What it answers to an ask: that nothing has come, unless a test says so.
  std::function<void(const Envelope &, size_t size, Responder)> asked =
      [](const Envelope &head, size_t, Responder back) {
        respond(back, head, MessageKind::Wait, encodeLifeSign({}).toString());
      };
  static void respond(Responder &back, Envelope head, MessageKind kind,
                      const std::string &text) {
    if (head.kind == MessageKind::Join)
      head.sequence = 1;
    head.kind = kind;
    back.answer(joinFrame(head, Message::ofString(text)));
  }
  static Answerer echo() {
    return
        [](const Envelope &head, const std::string &payload, Responder back) {
          respond(back, head, MessageKind::Answer,
                  head.kind == MessageKind::Beat ? "" : "re " + payload);
        };
  }
  ServerSession &session() {
    if (!client) {
      auto created =
          createServerSession(keeping ? *keeping : *transport, "server-7",
                              {3, 0, 11, 4}, options, events);
      EXPECT_TRUE(created.ok());
      client = std::move(*created);
    }
    return *client;
  }
  void join() {
    Probe probe;
    session().join(Message::ofString("hello"), probe.done());
    advance(std::chrono::milliseconds(1));
    ASSERT_TRUE(probe.ok) << probe.text;
    seen.clear();
  }
  /// Of the session that is made next: see PartKeeper.
  void keepParts(std::function<bool()> takes, int &kept);
  void advance(ClockTime time) { clock.advanceTo(clock.now() + time); }

  ManualClock clock;
  std::unique_ptr<Transport> transport = createInProcessTransport(clock);
  std::unique_ptr<Transport> keeping;
  RetryOptions options;
  SessionEvents events;
  std::vector<Envelope> seen;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<ServerSession> client;
};

} // namespace pdlrt::test

#endif // UNITTESTS_RUNTIME_PROTOCOL_SESSIONFIXTURE_H
