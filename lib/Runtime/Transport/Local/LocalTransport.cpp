//===- LocalTransport.cpp - Transport over unix sockets -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/LocalTransport.h"

#include "Transport/Local/LocalConnection.h"
#include "Transport/Local/LocalListener.h"
#include "Transport/StartThread.h"
#include "pdlrt/Transport/Address.h"

#include <utility>

using namespace pdlrt;
using namespace pdlrt::localimpl;

static Expected<Address> parseUnix(const std::string &text) {
  Expected<Address> address = parseAddress(text);
  if (address && address->kind == Address::Kind::Tcp)
    return Status::invalidArgument("the address " + text +
                                   " is no unix socket; give unix:PATH");
  return address;
}

namespace {

class LocalTransport final : public Transport {
public:
  LocalTransport(RealClock &clock, const LocalOptions &options)
      : side(clock, options) {}
  Clock &clock() override { return side.clock; }

  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    Expected<Address> parsed = parseUnix(address);
    if (!parsed)
      return std::move(parsed).status();
    return createListener(side.clock, side.options, *parsed,
                          std::move(handler));
  }

  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    const Expected<Address> parsed = parseUnix(address);
    if (!parsed)
      return parsed.status();
    PDLRT_RETURN_IF_ERROR(threads.once([this] { return side.loop.start(); }));
    return createConnection(side, *parsed);
  }

private:
  ClientSide side;
  FirstStart threads;
};

} // namespace

std::unique_ptr<Transport>
pdlrt::createLocalTransport(RealClock &clock, const LocalOptions &options) {
  return std::make_unique<LocalTransport>(clock, options);
}
