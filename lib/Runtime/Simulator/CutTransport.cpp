//===- CutTransport.cpp - A network that is away at times -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CutTransport.h"

#include <algorithm>
#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

using CutTimes = std::function<bool(ClockTime now)>;

struct CutCall {
  CallDone done;
  void end(CallResult result) {
    if (CallDone action = std::exchange(done, nullptr))
      action(std::move(result));
  }
};

class CutConnection final : public Connection {
public:
  CutConnection(Clock &by, CutTimes when, std::unique_ptr<Connection> over)
      : clock(by), isCut(std::move(when)), inner(std::move(over)) {}
  ~CutConnection() override {
    inner.reset();
    for (const auto &open : std::exchange(calls, {}))
      open->end({CallOutcome::Unavailable, {}});
  }
  void call(Message request, ClockTime deadline, CallDone done) override {
    std::erase_if(calls, [](const auto &old) { return !old->done; });
    auto open = std::make_shared<CutCall>(std::move(done));
    calls.push_back(open);
    const auto endLate = [&onClock = clock,
                          deadline](const std::shared_ptr<CutCall> &late) {
      onClock.runAt(deadline, [weak = std::weak_ptr(late)] {
        if (const auto call = weak.lock())
          call->end({CallOutcome::DeadlineExceeded, {}});
      });
    };
    if (isCut(clock.now())) {
      endLate(open);
      return;
    }
    inner->call(
        std::move(request), deadline,
        [open, endLate, &onClock = clock, cut = isCut](CallResult result) {
          if (cut(onClock.now()))
            endLate(open);
          else
            open->end(std::move(result));
        });
  }

private:
  Clock &clock;
  CutTimes isCut;
  std::unique_ptr<Connection> inner;
  std::vector<std::shared_ptr<CutCall>> calls;
};

class CutTransport final : public Transport {
public:
  CutTransport(Transport &over, CutTimes when)
      : inner(over), isCut(std::move(when)) {}
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
    return std::unique_ptr<Connection>(std::make_unique<CutConnection>(
        inner.clock(), isCut, std::move(*over)));
  }

private:
  Transport &inner;
  CutTimes isCut;
};

} // namespace

std::unique_ptr<Transport>
pdlrt::createCutTransport(Transport &inner,
                          std::function<bool(ClockTime now)> isCut) {
  return std::make_unique<CutTransport>(inner, std::move(isCut));
}
