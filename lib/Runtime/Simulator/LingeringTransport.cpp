//===- LingeringTransport.cpp - Messages that outlive their sender --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LingeringTransport.h"

#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

/// Connections whose owners are gone.
using Graveyard = std::vector<std::unique_ptr<Connection>>;

struct LingeringCall {
  CallDone done;
  void end(CallResult result) {
    if (CallDone action = std::exchange(done, nullptr))
      action(std::move(result));
  }
};

class LingeringConnection final : public Connection {
public:
  LingeringConnection(std::shared_ptr<Graveyard> to,
                      std::unique_ptr<Connection> over)
      : graveyard(std::move(to)), inner(std::move(over)) {}
  ~LingeringConnection() override {
    graveyard->push_back(std::move(inner));
    for (const auto &open : std::exchange(calls, {}))
      open->end({CallOutcome::Unavailable, {}});
  }
  void call(Message request, ClockTime deadline, CallDone done) override {
    std::erase_if(calls, [](const auto &old) { return !old->done; });
    auto open = std::make_shared<LingeringCall>(std::move(done));
    calls.push_back(open);
    inner->call(std::move(request), deadline,
                [open](CallResult result) { open->end(std::move(result)); });
  }

private:
  std::shared_ptr<Graveyard> graveyard;
  std::unique_ptr<Connection> inner;
  std::vector<std::shared_ptr<LingeringCall>> calls;
};

class LingeringTransport final : public Transport {
public:
  explicit LingeringTransport(Transport &over) : inner(over) {}
  Clock &clock() override { return inner.clock(); }
  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    return inner.listen(address, std::move(handler));
  }
  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    auto over = inner.connect(address);
    if (!over)
      return std::move(over).status();
    return std::unique_ptr<Connection>(
        std::make_unique<LingeringConnection>(graveyard, std::move(*over)));
  }

private:
  Transport &inner;
  std::shared_ptr<Graveyard> graveyard = std::make_shared<Graveyard>();
};

} // namespace

std::unique_ptr<Transport> pdlrt::createLingeringTransport(Transport &inner) {
  return std::make_unique<LingeringTransport>(inner);
}
