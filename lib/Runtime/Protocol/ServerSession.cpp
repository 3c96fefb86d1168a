//===- ServerSession.cpp - One sender's requests to one server ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerSession.h"

#include "Protocol/SessionState.h"

#include <utility>

using namespace pdlrt;

ServerSession::~ServerSession() = default;

namespace {

class Session final : public ServerSession {
public:
  explicit Session(std::shared_ptr<SessionState> own) : state(std::move(own)) {}
  ~Session() override { state->close(); }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  void greet(Message handshake, RequestDone done) override {
    state->send(MessageKind::Greet, handshake, std::move(done));
  }
  uint64_t proposedIncarnation() const override {
    return state->proposedIncarnation();
  }
  bool previousIncarnationIsDone() const override {
    return state->previousIncarnationIsDone();
  }
  uint64_t jobId() const override { return state->jobId(); }
  void becomeStart(uint64_t incarnation, StartSign::Claim claim) override {
    state->becomeStart(incarnation, claim);
  }
  void join(Message handshake, RequestDone done) override {
    state->send(MessageKind::Join, handshake, std::move(done));
  }
  void send(MessageKind kind, Message payload, RequestDone done) override {
    state->send(kind, payload, std::move(done));
  }
  uint64_t nextSequence() const override { return state->nextSequence(); }
  void continueFrom(uint64_t sequence) override {
    state->continueFrom(sequence);
  }
  void sendPart(uint64_t number, const Message &bytes,
                std::function<void()> arrived) override {
    state->sendPart(number, bytes, std::move(arrived));
  }
  void placeParts(std::vector<PartPlace> places) override {
    state->placeParts(std::move(places));
  }
  void dropParts() noexcept override { state->dropParts(); }
  void leaveNote(Message note) override { state->leaveNote(std::move(note)); }
  std::vector<NumberedNote> notes() const override { return state->notes(); }
  std::string waitingFor() const override { return state->waitingFor(); }
  ClockTime silence() const override { return state->silence(); }
  Status failure() const override { return state->whyFailed(); }
  bool placeIsTaken() const override { return state->placeIsTaken(); }
  bool serverIsLost() const override { return state->serverIsLost(); }
  void noteLostServer() override { state->noteLostServer(); }
  const std::string &name() const override { return state->name; }

private:
  std::shared_ptr<SessionState> state;
};

} // namespace

Expected<std::unique_ptr<ServerSession>> pdlrt::createServerSession(
    Transport &transport, const std::string &address, const SenderName &sender,
    const RetryOptions &options, const SessionEvents &events,
    const std::string &name) {
  auto connection = transport.connect(address);
  if (!connection)
    return std::move(connection).status();
  return std::unique_ptr<ServerSession>(std::make_unique<Session>(
      std::make_shared<SessionState>(transport, address, name, sender, options,
                                     events, std::move(*connection))));
}
