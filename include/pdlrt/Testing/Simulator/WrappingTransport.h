//===- WrappingTransport.h - Wraps connections of clients -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Common base of the transports of simulations and their tests. These
// transports change the calls of clients, but not the listeners of servers. Not
// thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TESTING_SIMULATOR_WRAPPINGTRANSPORT_H
#define PDLRT_TESTING_SIMULATOR_WRAPPINGTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace pdlrt {

/// A call of a client. Only the first end is reported to the client; later ones
/// are ignored.
class WrappedCall {
public:
  explicit WrappedCall(CallDone onEnd) : done(std::move(onEnd)) {}
  bool isOpen() const { return bool(done); }
  void end(CallResult result) {
    if (CallDone action = std::exchange(done, nullptr))
      action(std::move(result));
  }

private:
  CallDone done;
};

/// The open calls of one connection.
class WrappedCalls {
public:
  /// Adds a call, and removes those that have ended.
  std::shared_ptr<WrappedCall> add(CallDone done) {
    std::erase_if(calls, [](const auto &old) { return !old->isOpen(); });
    return calls.emplace_back(std::make_shared<WrappedCall>(std::move(done)));
  }
  const std::vector<std::shared_ptr<WrappedCall>> &all() const { return calls; }
  /// Ends open calls as Unavailable.
  void endAll() {
    for (const auto &call : std::exchange(calls, {}))
      call->end({CallOutcome::Unavailable, {}});
  }

private:
  std::vector<std::shared_ptr<WrappedCall>> calls;
};

/// Function that returns a wrapper of a client's connection.
using WrapConnection = std::function<std::unique_ptr<Connection>(
    std::unique_ptr<Connection> inner)>;

/// Creates a transport that listens like `inner`, and wraps each connection of
/// `inner` by `wrap`. `inner` must outlive it.
std::unique_ptr<Transport> createWrappingTransport(Transport &inner,
                                                   WrapConnection wrap);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_WRAPPINGTRANSPORT_H
