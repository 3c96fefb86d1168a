//===- SessionFixture.h - Session with a scripted server --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_PROTOCOL_SESSIONFIXTURE_H
#define PDL_UNITTESTS_RUNTIME_PROTOCOL_SESSIONFIXTURE_H

#include "pdlrt/Protocol/Heartbeat.h"
#include "pdlrt/Protocol/ServerSession.h"
#include "pdlrt/Transport/Frame.h"

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt::test {

/// Records the end of a request.
struct Probe {
  int ends = 0;
  bool ok = false;
  std::string text;

  RequestDone done() {
    return [this](Expected<Message> respond) {
      ++ends;
      ok = respond.ok();
      text = ok ? respond->toString() : respond.status().message();
    };
  }
};

/// Server whose behavior a test defines; it sees heads and payloads.
class ServerSessionTest : public testing::Test {
protected:
  using Answerer =
      std::function<void(const Envelope &, const std::string &, Responder)>;

  void listen(Answerer respond) {
    auto opened = transport->listen(
        "server-7", [this, respond = std::move(respond)](const Message &request,
                                                         Responder back) {
          const auto frame = splitFrame(request);
          ASSERT_TRUE(frame.ok());
          if (frame->head.kind == MessageKind::Poll) {
            asked(frame->head, request.size(), std::move(back));
            return;
          }
          if (frame->head.kind != MessageKind::Heartbeat)
            seen.push_back(frame->head);
          respond(frame->head, frame->payload.toString(), std::move(back));
        });
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    listener = std::move(*opened);
  }
  /// Responds to a Poll. By default, reports that no request has arrived.
  std::function<void(const Envelope &, size_t size, Responder)> asked =
      [](const Envelope &head, size_t, Responder back) {
        respond(back, head, MessageKind::Wait, encodeHeartbeat({}).toString());
      };
  static void respond(Responder &back, Envelope head, MessageKind kind,
                      const std::string &text) {
    if (head.kind == MessageKind::Join)
      head.sequence = 1;
    head.kind = kind;
    back.respond(joinFrame(head, Message::ofString(text)));
  }
  static Answerer echo() {
    return
        [](const Envelope &head, const std::string &payload, Responder back) {
          respond(back, head, MessageKind::Response,
                  head.kind == MessageKind::Heartbeat ? "" : "re " + payload);
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
  /// Configures the next session to be created; see PartKeeper.
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

#endif // PDL_UNITTESTS_RUNTIME_PROTOCOL_SESSIONFIXTURE_H
