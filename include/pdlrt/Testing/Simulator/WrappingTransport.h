//===- WrappingTransport.h - Wraps connections of clients -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Common base of the transports of simulations and their tests: they do not
// change servers, but the calls of clients. Not thread-safe.
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

/// A call, from the view of its caller: it ends once; later ends are ignored.
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

/// The calls of one connection.
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

/// Wraps the connection that a client has requested.
using WrapConnection = std::function<std::unique_ptr<Connection>(
    std::unique_ptr<Connection> inner)>;

/// Creates a transport over `inner`, which must outlive it: listens like
/// `inner` and wraps each connection.
std::unique_ptr<Transport> createWrappingTransport(Transport &inner,
                                                   WrapConnection wrap);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_WRAPPINGTRANSPORT_H
