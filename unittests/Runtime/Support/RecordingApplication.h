//===- RecordingApplication.h - Records calls of an application -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_RECORDINGAPPLICATION_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_RECORDINGAPPLICATION_H

#include "pdlrt/Server/ServerApplication.h"

#include <atomic>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt::test {

/// Records each call as one word. A response names its receiver, and the
/// requests taken since the last response or in the receiver's round. The
/// payload "bad" is refused. A round with "worse" in it fails. A payload that
/// starts with "keys" carries no gradients. A sender has no further step after
/// a payload that ends with ".".
class RecordingApplication final : public ServerApplication {
public:
  explicit RecordingApplication(uint32_t trainers) { (void)trainers; }

  Expected<Message> greet(const Envelope &, const Message &payload) override {
    const Entry entry(*this);
    if (payload.toString() == "bad")
      return Status::invalidArgument("model A is not model B");
    return Message::ofString("hello");
  }
  Expected<Message> join(const Envelope &request,
                         const Message &payload) override {
    const Entry entry(*this);
    calls.push_back("join" + std::to_string(request.trainer));
    if (payload.toString() == "bad")
      return Status::invalidArgument("model A is not model B");
    return Message::ofString("welcome");
  }
  bool isOfJob(const Message &) const override { return knowsRefused; }
  bool mayBeOfJob(const Message &) const override { return guessesRefused; }
  Expected<Message> respondToVisit(const Message &payload) override {
    const Entry entry(*this);
    return respondToReaders ? Expected<Message>(Message::ofString(
                                  "visited " + payload.toString()))
                            : ServerApplication::respondToVisit(payload);
  }
  Expected<Message> respondToRead(const Message &payload) override {
    const Entry entry(*this);
    if (payload.toString() == "no memory")
      throw std::bad_alloc();
    return respondToReaders ? Expected<Message>(Message::ofString(
                                  "read " + payload.toString()))
                            : ServerApplication::respondToRead(payload);
  }
  Expected<StepFacts> check(const Envelope &, const Message &payload) override {
    const Entry entry(*this);
    if (payload.toString() == "bad")
      return Status::invalidArgument("bytes are missing");
    const std::string text = payload.toString();
    return StepFacts{!text.starts_with("keys"), !text.ends_with(".")};
  }
  const RoundPolicy &roundPolicy() const override { return *policy; }
  Expected<Message> handle(const Envelope &request, Message payload) override {
    const Entry entry(*this);
    calls.push_back("handle" + std::to_string(request.trainer) + "." +
                    std::to_string(request.worker));
    if (answering)
      return answering(payload);
    return Message::ofString("rows of " + payload.toString());
  }
  Status take(const Envelope &request, Message payload, Turn turn) override {
    const Entry entry(*this);
    static constexpr const char *turns[] = {"alone", "take", "late", "drop"};
    calls.push_back(turns[size_t(turn)] + std::to_string(request.trainer));
    if (turn == Turn::Alone)
      sum = payload.toString();
    else if (turn != Turn::Dropped)
      parts += payload.toString();
    return {};
  }
  Status closeRound(MessageKind kind) override {
    const Entry entry(*this);
    if (whileClosing)
      whileClosing();
    calls.push_back(std::string("close-") + nameOf(kind));
    if (parts.find("worse") != std::string::npos)
      return Status::invalidArgument("the sum is not finite");
    sum = std::exchange(parts, {});
    ++rounds;
    return {};
  }
  Expected<std::vector<Message>>
  respond(std::span<const Envelope> requests) override {
    const Entry entry(*this);
    std::vector<Message> responses;
    for (const Envelope &request : requests)
      responses.push_back(
          Message::ofString(std::to_string(request.trainer) + " reads " + sum));
    return responses;
  }

  /// Policy of the application; by default that of mode sync. Must outlive the
  /// application.
  const RoundPolicy *policy = &roundsOfSteps();
  /// True if a refused process is a trainer of this job.
  bool knowsRefused = false;
  /// True if a refused process may be a trainer of this job.
  bool guessesRefused = false;
  /// True if requests of readers get responses.
  bool respondToReaders = false;
  /// Response of `handle`; may be empty.
  std::function<Message(const Message &payload)> answering;
  /// Called within closeRound; may be empty.
  std::function<void()> whileClosing;
  std::vector<std::string> calls;
  /// Atomic, because a sanitizer does not see the ordering of gRPC.
  std::atomic<int> rounds = 0;
  /// True if calls overlapped.
  std::atomic<bool> overlapped{false};

private:
  /// Call of the application that is running.
  class Entry {
  public:
    explicit Entry(RecordingApplication &in) : within(in) {
      if (within.running.exchange(true))
        within.overlapped = true;
    }
    ~Entry() { within.running = false; }

  private:
    RecordingApplication &within;
  };
  std::string parts, sum;
  std::atomic<bool> running{false};
};

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_RECORDINGAPPLICATION_H
