//===- FaultyTransport.cpp - Network with random faults -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/FaultyTransport.h"

#include "pdlabi/philox.h"
#include "pdlrt/Testing/Simulator/WrappingTransport.h"

#include <vector>

using namespace pdlrt;

namespace {

/// Decides on faults, by consecutive random numbers.
class FaultSource {
public:
  FaultSource(const FaultRates &given, uint64_t from, FaultCounts &counters)
      : rates(given), counts(counters), seed(from) {}

  bool happens(uint32_t thousandths, uint64_t &counter) {
    if (draw() % 1000 >= thousandths)
      return false;
    ++counter;
    return true;
  }
  ClockTime randomDelay() {
    const auto longest = static_cast<uint64_t>(rates.longestDelay.count());
    return ClockTime(static_cast<int64_t>(draw() % (longest + 1)));
  }
  ClockTime delay() {
    return happens(rates.delay, counts.delays) ? randomDelay() : ClockTime(0);
  }

  const FaultRates rates;
  FaultCounts &counts;

private:
  uint64_t draw() {
    const auto block =
        pdlabi::philox({{static_cast<uint32_t>(next),
                         static_cast<uint32_t>(next >> 32), 0, 0}},
                       seed);
    ++next;
    return uint64_t(block.words[0]) << 32 | block.words[1];
  }
  uint64_t seed;
  uint64_t next = 0;
};

class FaultyConnection final : public Connection {
public:
  FaultyConnection(Clock &onClock, std::shared_ptr<FaultSource> from,
                   std::unique_ptr<Connection> over)
      : clock(onClock), faults(std::move(from)), inner(std::move(over)) {}
  ~FaultyConnection() override {
    inner.reset();
    calls.endAll();
  }

  void call(Message request, ClockTime deadline, CallDone done) override {
    const auto open = calls.add(std::move(done));
    clock.runAt(deadline, [weak = std::weak_ptr(open)] {
      if (const auto late = weak.lock())
        late->end({CallOutcome::DeadlineExceeded, {}});
    });
    if (faults->happens(faults->rates.duplicate, faults->counts.duplicates))
      send(open, request, faults->randomDelay());
    if (!faults->happens(faults->rates.drop, faults->counts.drops))
      send(open, std::move(request), faults->delay());
    if (faults->happens(faults->rates.disconnect, faults->counts.disconnects))
      clock.runAfter(faults->delay(), [broken = calls.all()] {
        for (const auto &call : broken)
          call->end({CallOutcome::Unavailable, {}});
      });
  }

private:
  void send(const std::shared_ptr<WrappedCall> &open, Message request,
            ClockTime delay) {
    // A duplicate may arrive long after the end of its call, but not after the
    // connection was destroyed.
    clock.runAfter(delay, [weak = std::weak_ptr(inner), open,
                           request = std::move(request), &onClock = clock,
                           source = faults]() mutable {
      const auto to = weak.lock();
      if (!to)
        return;
      to->call(std::move(request), onClock.now() + std::chrono::hours(1),
               [open, &onClock, source](CallResult result) {
                 if (source->happens(source->rates.drop, source->counts.drops))
                   return;
                 onClock.runAfter(source->delay(),
                                  [open, result = std::move(result)]() mutable {
                                    open->end(std::move(result));
                                  });
               });
    });
  }

  Clock &clock;
  std::shared_ptr<FaultSource> faults;
  std::shared_ptr<Connection> inner;
  WrappedCalls calls;
};

} // namespace

std::unique_ptr<Transport> pdlrt::createFaultyTransport(Transport &inner,
                                                        const FaultRates &rates,
                                                        uint64_t seed,
                                                        FaultCounts &counts) {
  return createWrappingTransport(inner, [&clock = inner.clock(),
                                         faults = std::make_shared<FaultSource>(
                                             rates, seed, counts)](
                                            std::unique_ptr<Connection> over) {
    return std::make_unique<FaultyConnection>(clock, faults, std::move(over));
  });
}
