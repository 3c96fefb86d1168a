//===- PassingApplication.h - Forwards calls to an application --*- C++ -*-===//
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

/// Base class of decorators: forwards all calls to another application. Derived
/// classes override some functions. The rules for calls are those of
/// ServerApplication.
class PassingApplication : public ServerApplication {
public:
  /// `over` must outlive this object.
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
  Expected<Message> respondToVisit(const Message &payload) override {
    return inner.respondToVisit(payload);
  }
  Expected<Message> respondToRead(const Message &payload) override {
    return inner.respondToRead(payload);
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
  respond(std::span<const Envelope> requests) override {
    return inner.respond(requests);
  }

protected:
  ServerApplication &inner;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_PASSINGAPPLICATION_H
