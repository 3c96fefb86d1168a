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
#include "pdlrt/Server/PassingApplication.h"

namespace pdlrt {

/// Passes all on, and logs what is done to the state in its order: requests of
/// steps that were taken, rounds that were closed, answers; and of joins how
/// many workers trainers have. What is refused is not logged.
class LoggedApplication final : public PassingApplication {
public:
  /// Both outlive it.
  LoggedApplication(ServerApplication &inner, AppliedLogWriter &log)
      : PassingApplication(inner), log(log) {}

  Expected<Message> join(const Envelope &request,
                         const Message &payload) override;
  Status take(const Envelope &request, Message payload, Turn turn) override;
  Status closeRound(MessageKind kind) override;
  Expected<std::vector<Message>>
  answer(std::span<const Envelope> requests) override;

private:
  AppliedLogWriter &log;
  bool knowsWorkers = false;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_LOGGEDAPPLICATION_H
