//===- LoggedApplication.h - A server that keeps a log ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_LOGGEDAPPLICATION_H
#define PDLRT_SERVER_LOGGEDAPPLICATION_H

#include "pdlrt/Server/AppliedLog.h"
#include "pdlrt/Server/ServerApplication.h"

namespace pdlrt {

/// Passes all on to an application of mode async, and logs each request that
/// changes its state when it has been handled. What is refused is not logged.
class LoggedApplication final : public ServerApplication {
public:
  /// Both outlive it.
  LoggedApplication(ServerApplication &inner, AppliedLogWriter &log)
      : inner(inner), log(log) {}

  Expected<Message> join(const Envelope &request,
                         const Message &payload) override {
    return inner.join(request, payload);
  }
  Status check(const Envelope &request, const Message &payload) override {
    return inner.check(request, payload);
  }
  bool formsRounds(MessageKind kind) const override {
    return inner.formsRounds(kind);
  }
  Message handle(const Envelope &request, Message payload) override;
  void contribute(const Envelope &request, Message payload) override {
    inner.contribute(request, std::move(payload));
  }
  Expected<std::vector<Message>> closeRound(MessageKind kind) override {
    return inner.closeRound(kind);
  }

private:
  ServerApplication &inner;
  AppliedLogWriter &log;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_LOGGEDAPPLICATION_H
