//===- RecordingApplication.h - An application that writes down -*- C++ -*-===//
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

/// Writes down each call as one word. An answer says whose it is and what was
/// taken since the last one, or in its round. The payload "bad" is refused; a
/// round with "worse" in it fails; one that begins with "keys" brings no
/// gradients, and behind one that ends with "." its sender has no step.
class RecordingApplication final : public ServerApplication {
public:
  explicit RecordingApplication(uint32_t trainers) { (void)trainers; }

  Expected<Message> greet(const Envelope &, const Message &payload) override {
    const Entry entry(*this);
    if (payload.toString() == "bad")
      return Status::invalid("model A is not model B");
    return Message::ofString("hello");
  }
  Expected<Message> join(const Envelope &request,
                         const Message &payload) override {
    const Entry entry(*this);
    calls.push_back("join" + std::to_string(request.trainer));
    if (payload.toString() == "bad")
      return Status::invalid("model A is not model B");
    return Message::ofString("welcome");
  }
  bool isOfJob(const Message &) const override { return knowsRefused; }
  bool mayBeOfJob(const Message &) const override { return guessesRefused; }
  Expected<Message> answerVisit(const Message &payload) override {
    const Entry entry(*this);
    return answerReaders ? Expected<Message>(Message::ofString(
                               "visited " + payload.toString()))
                         : ServerApplication::answerVisit(payload);
  }
  Expected<Message> answerRead(const Message &payload) override {
    const Entry entry(*this);
    if (payload.toString() == "no memory")
      throw std::bad_alloc();
    return answerReaders ? Expected<Message>(
                               Message::ofString("read " + payload.toString()))
                         : ServerApplication::answerRead(payload);
  }
  Expected<StepFacts> check(const Envelope &, const Message &payload) override {
    const Entry entry(*this);
    if (payload.toString() == "bad")
      return Status::invalid("bytes are missing");
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
      return Status::invalid("the sum is not finite");
    sum = std::exchange(parts, {});
    ++rounds;
    return {};
  }
  Expected<std::vector<Message>>
  answer(std::span<const Envelope> requests) override {
    const Entry entry(*this);
    std::vector<Message> answers;
    for (const Envelope &request : requests)
      answers.push_back(
          Message::ofString(std::to_string(request.trainer) + " reads " + sum));
    return answers;
  }

  /// That of mode sync; outlives the application.
  const RoundPolicy *policy = &roundsOfSteps();
  /// Whether who is refused is a trainer of this job.
  bool knowsRefused = false;
  /// Whether who is refused may be one.
  bool guessesRefused = false;
  /// Whether those who only read are answered.
  bool answerReaders = false;
  /// The answer of handle; may be empty.
  std::function<Message(const Message &payload)> answering;
  /// Called within closeRound; may be empty.
  std::function<void()> whileClosing;
  std::vector<std::string> calls;
  /// Read while a server runs: what gRPC orders, a sanitizer does not see.
  std::atomic<int> rounds = 0;
  /// Whether calls came at the same time.
  std::atomic<bool> overlapped{false};

private:
  /// One call that runs.
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
