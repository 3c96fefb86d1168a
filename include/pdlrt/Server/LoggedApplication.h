//===- LoggedApplication.h - Logs the requests of a server ------*- C++ -*-===//
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

/// Forwards all calls to another application, and logs everything that changes
/// the state, in order: step requests that were taken, closed rounds,
/// responses, and the number of workers from joins. Does not log refused
/// requests.
class LoggedApplication final : public PassingApplication {
public:
  /// `inner` and `log` must outlive this object.
  LoggedApplication(ServerApplication &inner, AppliedLogWriter &log)
      : PassingApplication(inner), log(log) {}

  Expected<Message> join(const Envelope &request,
                         const Message &payload) override;
  Status take(const Envelope &request, Message payload, Turn turn) override;
  Status closeRound(MessageKind kind) override;
  Expected<std::vector<Message>>
  respond(std::span<const Envelope> requests) override;

private:
  AppliedLogWriter &log;
  bool knowsWorkers = false;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_LOGGEDAPPLICATION_H
