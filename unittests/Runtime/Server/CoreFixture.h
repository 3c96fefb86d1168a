//===- CoreFixture.h - Server core for tests --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SERVER_COREFIXTURE_H
#define PDL_UNITTESTS_RUNTIME_SERVER_COREFIXTURE_H

#include "Support/RecordingApplication.h"
#include "pdlrt/Protocol/Heartbeat.h"
#include "pdlrt/Protocol/PartBox.h"
#include "pdlrt/Protocol/StartSign.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Transport/Frame.h"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt::test {

/// Response to one request.
class Reply {
public:
  Reply() : sink(std::make_shared<CapturingSink>()) {}
  Responder responder() const { return Responder(sink); }

  bool came() const { return sink->response.has_value(); }
  MessageKind kind() const { return frame().head.kind; }
  std::string text() const {
    return came() ? frame().payload.toString() : "nothing";
  }
  Heartbeat sign() const {
    auto decoded = decodeHeartbeat(frame().payload);
    EXPECT_TRUE(decoded.ok()) << decoded.status().message();
    return decoded.ok() ? *decoded : Heartbeat();
  }
  Envelope head() const { return frame().head; }
  Message note() const { return frame().note; }

private:
  struct CapturingSink final : Responder::Sink {
    void respond(Message answered) override { response = std::move(answered); }
    std::optional<Message> response;
  };
  Frame frame() const {
    auto split = splitFrame(sink->response.value_or(Message()));
    EXPECT_TRUE(split.ok()) << split.status().message();
    return split.ok() ? *split : Frame();
  }
  std::shared_ptr<CapturingSink> sink;
};

/// Core with an application that records its calls, and a clock that tests
/// control.
class ServerCoreTest : public testing::Test {
protected:
  ServerCoreTest() { options.trainers = 2; }

  ServerCore &core() {
    if (!server) {
      application = std::make_unique<RecordingApplication>(options.trainers);
      server = std::make_unique<ServerCore>(options, *application, clock);
    }
    return *server;
  }
  Reply send(const Envelope &head, const std::string &payload = "") {
    const Reply reply;
    core().handle(joinFrame(head, Message::ofString(payload)),
                  reply.responder());
    return reply;
  }
  Reply join(uint32_t trainer, uint64_t incarnation = 1) {
    return send({MessageKind::Join, trainer, 0, incarnation, 0, 0}, "hello");
  }
  /// Sends a Join of a process with the sign `start`. If `incarnation` is 0,
  /// sends a Greet instead.
  Reply ask(uint32_t trainer, const StartSign &start, uint64_t incarnation = 0,
            const std::string &payload = "hello") {
    const Reply reply;
    const MessageKind kind =
        incarnation == 0 ? MessageKind::Greet : MessageKind::Join;
    core().handle(joinFrame({kind, trainer, 0, incarnation, 0, 0},
                            Message::ofString(payload), encodeStartSign(start)),
                  reply.responder());
    return reply;
  }
  Reply exchange(uint32_t trainer, uint64_t sequence,
                 const std::string &payload, uint64_t incarnation = 1) {
    return send({MessageKind::Exchange, trainer, 0, incarnation, sequence, 0},
                payload);
  }
  /// Sends a part of an exchange that has not arrived.
  Reply part(uint32_t trainer, uint64_t sequence, uint64_t number,
             const std::string &bytes, uint64_t incarnation = 1) {
    return send({MessageKind::Part, trainer, 0, incarnation, sequence, 0},
                encodePart(number, Message::ofString(bytes)).toString());
  }
  Reply inParts(const Envelope &head, const std::string &own,
                const std::vector<PartPlace> &places) {
    const Reply reply;
    core().handle(joinFrame(head, Message::ofString(own), {}, places),
                  reply.responder());
    return reply;
  }
  Reply exchangeInParts(uint32_t trainer, uint64_t sequence,
                        const std::string &own,
                        const std::vector<PartPlace> &places,
                        uint64_t incarnation = 1) {
    return inParts(
        {MessageKind::Exchange, trainer, 0, incarnation, sequence, 0}, own,
        places);
  }
  Reply beat(uint32_t trainer, uint64_t incarnation = 1, bool stop = false) {
    const Reply reply;
    core().handle(
        joinFrame({MessageKind::Heartbeat, trainer, 0, incarnation, 0, 0},
                  encodeHeartbeat({stop, {}})),
        reply.responder());
    return reply;
  }
  Reply leave(uint32_t trainer, const std::string &message = "",
              uint64_t incarnation = 1) {
    return send({MessageKind::Leave, trainer, 0, incarnation, 0, 0}, message);
  }
  /// Creates a server whose application has the policy `policy`, and joins all
  /// trainers.
  void joinAll(const RoundPolicy &policy) {
    server.reset();
    core();
    application->policy = &policy;
    joinAll();
  }
  void joinAll() {
    for (uint32_t rank = 0; rank < options.trainers; ++rank)
      ASSERT_EQ(join(rank).text(), "welcome");
    application->calls.clear();
  }
  void advance(ClockTime time) { clock.advanceTo(clock.now() + time); }

  ServerCoreOptions options;
  ManualClock clock;
  std::unique_ptr<RecordingApplication> application;
  std::unique_ptr<ServerCore> server;
};

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SERVER_COREFIXTURE_H
