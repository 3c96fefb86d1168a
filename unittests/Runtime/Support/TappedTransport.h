//===- TappedTransport.h - Records the bytes on a network -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_TAPPEDTRANSPORT_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_TAPPEDTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt::test {

/// Records the messages that processes exchange over a transport on one thread.
/// The shared transports must end before this object.
class TappedTransport {
public:
  explicit TappedTransport(std::unique_ptr<Transport> over)
      : inner(std::move(over)) {}

  const std::vector<std::string> &sent() const { return requests; }
  const std::vector<std::string> &answered() const { return responses; }
  std::unique_ptr<Transport> share() { return std::make_unique<Shared>(*this); }

private:
  class Tap final : public Connection {
  public:
    Tap(TappedTransport &to, std::unique_ptr<Connection> over)
        : tapped(to), inner(std::move(over)) {}
    void call(Message request, ClockTime deadline, CallDone done) override {
      tapped.requests.push_back(request.toString());
      inner->call(std::move(request), deadline,
                  [&to = tapped, done = std::move(done)](CallResult result) {
                    if (result.outcome == CallOutcome::Responded)
                      to.responses.push_back(result.response.toString());
                    done(std::move(result));
                  });
    }

  private:
    TappedTransport &tapped;
    const std::unique_ptr<Connection> inner;
  };

  class Shared final : public Transport {
  public:
    explicit Shared(TappedTransport &of) : tapped(of) {}
    Clock &clock() override { return tapped.inner->clock(); }
    Expected<std::unique_ptr<Listener>>
    listen(const std::string &address, RequestHandler handler) override {
      return tapped.inner->listen(address, std::move(handler));
    }
    Expected<std::unique_ptr<Connection>>
    connect(const std::string &address) override {
      auto made = tapped.inner->connect(address);
      if (!made)
        return made;
      return std::unique_ptr<Connection>(
          std::make_unique<Tap>(tapped, std::move(*made)));
    }

  private:
    TappedTransport &tapped;
  };

  const std::unique_ptr<Transport> inner;
  std::vector<std::string> requests, responses;
};

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_TAPPEDTRANSPORT_H
