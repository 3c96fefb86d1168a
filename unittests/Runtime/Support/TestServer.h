//===- TestServer.h - A server that records its calls -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_TESTSERVER_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_TESTSERVER_H

#include "RecordingApplication.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Transport/Transport.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace pdlrt::test {

/// One server over a transport, which must outlive it.
struct TestServer {
  RecordingApplication application;
  ServerCore core;
  std::unique_ptr<Listener> listener;

  TestServer(Transport &transport, const std::string &address,
             const ServerCoreOptions &options)
      : application(options.trainers),
        core(options, application, transport.clock()) {
    auto opened = transport.listen(address, core.handler());
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    listener = std::move(*opened);
  }
};

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_TESTSERVER_H
