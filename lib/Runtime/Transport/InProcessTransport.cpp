//===- InProcessTransport.cpp - Transport within one process --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/OpenCall.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Transport.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <vector>

using namespace pdlrt;

namespace {

void endLater(Clock &clock, const std::shared_ptr<OpenCall> &call,
              CallResult result) {
  clock.runAt(clock.now(), [call, result = std::move(result)]() mutable {
    call->end(std::move(result));
  });
}

/// The listener at an address.
struct ListenerState {
  RequestHandler handler;
  Mutex mutex;
  ConditionVariable changed;
  bool stopped PDLRT_GUARDED_BY(mutex) = false;
  int running PDLRT_GUARDED_BY(mutex) = 0;
  std::map<const void *, std::shared_ptr<OpenCall>>
      unanswered PDLRT_GUARDED_BY(mutex);
};

/// Sends the response to one request.
class InProcessSink final : public Responder::Sink {
public:
  InProcessSink(Clock &onClock, std::shared_ptr<OpenCall> open,
                std::shared_ptr<ListenerState> from)
      : clock(onClock), call(std::move(open)), listener(std::move(from)) {
    const MutexLock lock(listener->mutex);
    listener->unanswered.emplace(this, call);
  }
  ~InProcessSink() override {
    if (!answered.exchange(true))
      finish({CallOutcome::Unavailable, {}});
  }
  void respond(Message response) override {
    if (!answered.exchange(true))
      finish({CallOutcome::Responded, std::move(response)});
  }

private:
  void finish(CallResult result) {
    {
      const MutexLock lock(listener->mutex);
      // The listener was destroyed and has ended the call.
      if (!listener->unanswered.erase(this))
        return;
    }
    endLater(clock, call, std::move(result));
  }

  Clock &clock;
  std::shared_ptr<OpenCall> call;
  std::shared_ptr<ListenerState> listener;
  std::atomic<bool> answered{false};
};

/// The addresses in use.
struct Network {
  Mutex mutex;
  std::map<std::string, std::shared_ptr<ListenerState>>
      listeners PDLRT_GUARDED_BY(mutex);

  std::shared_ptr<ListenerState> find(const std::string &address) {
    const MutexLock lock(mutex);
    const auto found = listeners.find(address);
    return found == listeners.end() ? nullptr : found->second;
  }
};

class InProcessListener final : public Listener {
public:
  InProcessListener(Clock &onClock, std::shared_ptr<Network> in, std::string at,
                    std::shared_ptr<ListenerState> own)
      : clock(onClock), network(std::move(in)), where(std::move(at)),
        state(std::move(own)) {}
  ~InProcessListener() override {
    {
      const MutexLock lock(network->mutex);
      network->listeners.erase(where);
    }
    std::map<const void *, std::shared_ptr<OpenCall>> open;
    {
      MutexLock lock(state->mutex);
      state->stopped = true;
      state->changed.wait(lock, [this]() PDLRT_REQUIRES(state->mutex) {
        return state->running == 0;
      });
      open.swap(state->unanswered);
    }
    for (const auto &[sink, call] : open)
      endLater(clock, call, {CallOutcome::Unavailable, {}});
    // Responders may outlive the listener and share `state`. They must not keep
    // the handler alive, because it refers to objects that may be destroyed
    // after the listener.
    state->handler = {};
  }
  const std::string &address() const override { return where; }

private:
  Clock &clock;
  std::shared_ptr<Network> network;
  std::string where;
  std::shared_ptr<ListenerState> state;
};

class InProcessConnection final : public Connection {
public:
  InProcessConnection(Clock &onClock, std::shared_ptr<Network> in,
                      std::string to)
      : clock(onClock), network(std::move(in)), address(std::move(to)) {}
  ~InProcessConnection() override {
    std::vector<std::weak_ptr<OpenCall>> calls;
    {
      const MutexLock lock(mutex);
      calls.swap(openCalls);
    }
    for (const std::weak_ptr<OpenCall> &open : calls)
      if (const auto call = open.lock())
        call->end({CallOutcome::Unavailable, {}});
  }

  void call(Message request, ClockTime deadline, CallDone done) override {
    auto open = std::make_shared<OpenCall>(std::move(done));
    {
      const MutexLock lock(mutex);
      if (openCalls.size() >= sweepAt) {
        std::erase_if(openCalls, [](const auto &old) { return old.expired(); });
        sweepAt = 2 * openCalls.size() + 16;
      }
      openCalls.push_back(open);
    }
    // The timer may stay in the queue long after the call's end.
    clock.runAt(deadline, [weak = std::weak_ptr(open)] {
      if (const auto late = weak.lock())
        late->end({CallOutcome::DeadlineExceeded, {}});
    });
    clock.runAt(clock.now(), [&onClock = clock, in = network, to = address,
                              open, request = std::move(request)]() mutable {
      deliver(onClock, in->find(to), std::move(open), std::move(request));
    });
  }

private:
  static void deliver(Clock &clock, std::shared_ptr<ListenerState> listener,
                      std::shared_ptr<OpenCall> open, Message request) {
    if (listener) {
      const MutexLock lock(listener->mutex);
      if (listener->stopped)
        listener = nullptr;
      else
        ++listener->running;
    }
    if (!listener) {
      open->end({CallOutcome::Unavailable, {}, CallFault::Refused});
      return;
    }
    Responder responder(
        std::make_shared<InProcessSink>(clock, std::move(open), listener));
    Message rest = request;
    const Message front = takeFront(rest, std::min(minFront, request.size()));
    if (auto refusal = listener->handler.screen(front, request.size()))
      responder.respond(*std::move(refusal));
    else
      listener->handler(std::move(request), std::move(responder));
    {
      const MutexLock lock(listener->mutex);
      --listener->running;
    }
    listener->changed.notify_all();
  }

  Clock &clock;
  std::shared_ptr<Network> network;
  std::string address;
  Mutex mutex;
  std::vector<std::weak_ptr<OpenCall>> openCalls PDLRT_GUARDED_BY(mutex);
  size_t sweepAt PDLRT_GUARDED_BY(mutex) = 16;
};

class InProcessTransport final : public Transport {
public:
  explicit InProcessTransport(Clock &onClock) : ownClock(onClock) {}
  Clock &clock() override { return ownClock; }

  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    if (address.empty())
      return Status::invalidArgument(
          "cannot listen at an empty address: name one");
    auto state = std::make_shared<ListenerState>();
    state->handler = std::move(handler);
    const MutexLock lock(network->mutex);
    if (!network->listeners.emplace(address, state).second)
      return Status::unavailable(
          "cannot listen at '" + address +
          "': another process listens there; choose another");
    return std::unique_ptr<Listener>(std::make_unique<InProcessListener>(
        ownClock, network, address, std::move(state)));
  }

  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    if (address.empty())
      return Status::invalidArgument(
          "cannot connect to an empty address: name one");
    return std::unique_ptr<Connection>(
        std::make_unique<InProcessConnection>(ownClock, network, address));
  }

private:
  Clock &ownClock;
  std::shared_ptr<Network> network = std::make_shared<Network>();
};

} // namespace

std::unique_ptr<Transport> pdlrt::createInProcessTransport(Clock &clock) {
  return std::make_unique<InProcessTransport>(clock);
}
