//===- FaultyTransport.cpp - A network that fails by seed -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Simulator/FaultyTransport.h"

#include "pdlabi/philox.h"

#include <vector>

using namespace pdlrt;

namespace {

/// Decides faults, one draw after the other.
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

/// A call as its caller sees it.
struct FaultyCall {
  CallDone done;
  void end(CallResult result) {
    if (CallDone action = std::exchange(done, nullptr))
      action(std::move(result));
  }
};

class FaultyConnection final : public Connection {
public:
  FaultyConnection(Clock &onClock, std::shared_ptr<FaultSource> from,
                   std::unique_ptr<Connection> over)
      : clock(onClock), faults(std::move(from)), inner(std::move(over)) {}
  ~FaultyConnection() override {
    inner.reset();
    endAll();
  }

  void call(Message request, ClockTime deadline, CallDone done) override {
    const auto open = std::make_shared<FaultyCall>(std::move(done));
    std::erase_if(openCalls, [](const auto &old) { return !old->done; });
    openCalls.push_back(open);
    clock.runAt(deadline, [weak = std::weak_ptr(open)] {
      if (const auto late = weak.lock())
        late->end({CallOutcome::DeadlineExceeded, {}});
    });
    if (faults->happens(faults->rates.duplicate, faults->counts.duplicates))
      send(open, request, faults->randomDelay());
    if (!faults->happens(faults->rates.drop, faults->counts.drops))
      send(open, std::move(request), faults->delay());
    if (faults->happens(faults->rates.disconnect, faults->counts.disconnects))
      clock.runAfter(faults->delay(), [broken = std::vector(openCalls)] {
        for (const auto &call : broken)
          call->end({CallOutcome::Unavailable, {}});
      });
  }

private:
  void send(const std::shared_ptr<FaultyCall> &open, Message request,
            ClockTime delay) {
    // A copy may come long after its call's end; then only the connection's.
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
  void endAll() {
    for (const auto &call : std::exchange(openCalls, {}))
      call->end({CallOutcome::Unavailable, {}});
  }

  Clock &clock;
  std::shared_ptr<FaultSource> faults;
  std::shared_ptr<Connection> inner;
  std::vector<std::shared_ptr<FaultyCall>> openCalls;
};

class FaultyTransport final : public Transport {
public:
  FaultyTransport(Transport &over, const FaultRates &rates, uint64_t seed,
                  FaultCounts &counts)
      : inner(over),
        faults(std::make_shared<FaultSource>(rates, seed, counts)) {}
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
    return std::unique_ptr<Connection>(std::make_unique<FaultyConnection>(
        inner.clock(), faults, std::move(*over)));
  }

private:
  Transport &inner;
  std::shared_ptr<FaultSource> faults;
};

} // namespace

std::unique_ptr<Transport> pdlrt::createFaultyTransport(Transport &inner,
                                                        const FaultRates &rates,
                                                        uint64_t seed,
                                                        FaultCounts &counts) {
  return std::make_unique<FaultyTransport>(inner, rates, seed, counts);
}
