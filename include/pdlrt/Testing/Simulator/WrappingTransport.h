//===- WrappingTransport.h - A transport with other connections -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the transports of simulations and their tests share: they leave servers
// alone and change what a client's calls meet. One thread at a time.
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

/// A call as its caller sees it: it ends once, later ends are ignored.
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
  /// A new call; forgets those that have ended.
  std::shared_ptr<WrappedCall> add(CallDone done) {
    std::erase_if(calls, [](const auto &old) { return !old->isOpen(); });
    return calls.emplace_back(std::make_shared<WrappedCall>(std::move(done)));
  }
  const std::vector<std::shared_ptr<WrappedCall>> &all() const { return calls; }
  /// Ends what is open as Unavailable.
  void endAll() {
    for (const auto &call : std::exchange(calls, {}))
      call->end({CallOutcome::Unavailable, {}});
  }

private:
  std::vector<std::shared_ptr<WrappedCall>> calls;
};

/// Makes the connection that a client gets out of the one that it asked for.
using WrapConnection = std::function<std::unique_ptr<Connection>(
    std::unique_ptr<Connection> inner)>;

/// A transport over `inner`, which outlives it: listens as `inner` does and
/// wraps each connection.
std::unique_ptr<Transport> createWrappingTransport(Transport &inner,
                                                   WrapConnection wrap);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_WRAPPINGTRANSPORT_H
