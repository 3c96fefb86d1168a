//===- CutTransport.cpp - Network with interruptions ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CutTransport.h"

#include "pdlrt/Testing/Simulator/WrappingTransport.h"

#include <utility>

using namespace pdlrt;

namespace {

using CutTimes = std::function<bool(ClockTime now)>;

class CutConnection final : public Connection {
public:
  CutConnection(Clock &by, CutTimes when, std::unique_ptr<Connection> over)
      : clock(by), isCut(std::move(when)), inner(std::move(over)) {}
  ~CutConnection() override {
    inner.reset();
    calls.endAll();
  }
  void call(Message request, ClockTime deadline, CallDone done) override {
    const auto open = calls.add(std::move(done));
    const auto endLate = [&onClock = clock,
                          deadline](const std::shared_ptr<WrappedCall> &late) {
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
  WrappedCalls calls;
};

} // namespace

std::unique_ptr<Transport>
pdlrt::createCutTransport(Transport &inner,
                          std::function<bool(ClockTime now)> isCut) {
  return createWrappingTransport(
      inner, [&clock = inner.clock(),
              isCut = std::move(isCut)](std::unique_ptr<Connection> over) {
        return std::make_unique<CutConnection>(clock, isCut, std::move(over));
      });
}
