//===- PassingApplication.h - Before another application --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_PASSINGAPPLICATION_H
#define PDLRT_SERVER_PASSINGAPPLICATION_H

#include "pdlrt/Server/ServerApplication.h"

#include <utility>
#include <vector>

namespace pdlrt {

/// Stands before an application and passes all on; who derives from it changes
/// some of that. Calls come as an application's do.
class PassingApplication : public ServerApplication {
public:
  /// `over` outlives it.
  explicit PassingApplication(ServerApplication &over) : inner(over) {}

  Expected<Message> greet(const Envelope &request,
                          const Message &payload) override {
    return inner.greet(request, payload);
  }
  Expected<Message> join(const Envelope &request,
                         const Message &payload) override {
    return inner.join(request, payload);
  }
  bool isOfJob(const Message &handshake) const override {
    return inner.isOfJob(handshake);
  }
  bool mayBeOfJob(const Message &handshake) const override {
    return inner.mayBeOfJob(handshake);
  }
  Expected<Message> answerVisit(const Message &payload) override {
    return inner.answerVisit(payload);
  }
  Expected<Message> answerRead(const Message &payload) override {
    return inner.answerRead(payload);
  }
  Expected<StepFacts> check(const Envelope &request,
                            const Message &payload) override {
    return inner.check(request, payload);
  }
  const RoundPolicy &roundPolicy() const override {
    return inner.roundPolicy();
  }
  Expected<Message> handle(const Envelope &request, Message payload) override {
    return inner.handle(request, std::move(payload));
  }
  Status take(const Envelope &request, Message payload, Turn turn) override {
    return inner.take(request, std::move(payload), turn);
  }
  Status closeRound(MessageKind kind) override {
    return inner.closeRound(kind);
  }
  Expected<std::vector<Message>>
  answer(std::span<const Envelope> requests) override {
    return inner.answer(requests);
  }

protected:
  ServerApplication &inner;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_PASSINGAPPLICATION_H
