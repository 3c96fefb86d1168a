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
#include <string>
#include <vector>

namespace pdlrt::test {

/// Writes down each call as one word. It has the rounds of mode sync; an answer
/// says whose it is and what the round's payloads were. The payload "bad" is
/// refused; a round with "worse" in it fails.
class RecordingApplication final : public ServerApplication {
public:
  explicit RecordingApplication(uint32_t trainers) : count(trainers) {}

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
  Status check(const Envelope &, const Message &payload) override {
    const Entry entry(*this);
    return payload.toString() == "bad" ? Status::invalid("bytes are missing")
                                       : Status();
  }
  const RoundPolicy &roundPolicy() const override { return roundsOfSteps(); }
  Expected<Message> handle(const Envelope &request, Message payload) override {
    const Entry entry(*this);
    calls.push_back("handle" + std::to_string(request.trainer) + "." +
                    std::to_string(request.worker));
    if (answering)
      return answering(payload);
    return Message::ofString("rows of " + payload.toString());
  }
  void contribute(const Envelope &request, Message payload) override {
    const Entry entry(*this);
    calls.push_back("contribute" + std::to_string(request.trainer));
    parts += payload.toString();
  }
  Expected<std::vector<Message>> closeRound(MessageKind kind) override {
    const Entry entry(*this);
    if (whileClosing)
      whileClosing();
    calls.push_back(std::string("close-") + nameOf(kind));
    if (parts.find("worse") != std::string::npos)
      return Status::invalid("the sum is not finite");
    std::vector<Message> answers;
    for (uint32_t rank = 0; rank < count; ++rank)
      answers.push_back(
          Message::ofString(std::to_string(rank) + " reads " + parts));
    parts.clear();
    ++rounds;
    return answers;
  }

  /// Whether who is refused is a trainer of this job.
  bool knowsRefused = false;
  /// Whether who is refused may be one.
  bool guessesRefused = false;
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
  uint32_t count;
  std::string parts;
  std::atomic<bool> running{false};
};

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_RECORDINGAPPLICATION_H
