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

/// Passes all on to an application of mode async, and logs each request that
/// changes its state when it has been handled. What is refused is not logged.
class LoggedApplication final : public PassingApplication {
public:
  /// Both outlive it.
  LoggedApplication(ServerApplication &inner, AppliedLogWriter &log)
      : PassingApplication(inner), log(log) {}

  Expected<Message> handle(const Envelope &request, Message payload) override;

private:
  AppliedLogWriter &log;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_LOGGEDAPPLICATION_H
