//===- ServerQueues.cpp - Asynchronous requests to all servers ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerQueues.h"

#include "Protocol/LongWait.h"
#include "pdlrt/Core/Mutex.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

using namespace pdlrt;

static constexpr std::chrono::milliseconds queuePollInterval{100};

class ServerQueues::State : public std::enable_shared_from_this<State> {
public:
  State(ServerGroup &group, size_t bound)
      : group(group), bound(bound), queues(group.size()) {}

  void add(MessageKind kind, std::vector<Message> payloads) {
    std::vector<size_t> idle;
    {
      const MutexLock lock(mutex);
      if (isEmpty())
        busySince = SteadyClock::now();
      for (size_t server = 0; server < queues.size(); ++server) {
        if (queues[server].empty())
          idle.push_back(server);
        queues[server].push_back({kind, std::move(payloads[server])});
      }
    }
    for (const size_t server : idle)
      sendFirst(server);
  }

  /// Stops sending further requests.
  void close() {
    const MutexLock lock(mutex);
    closed = true;
  }

  bool isFull() const PDLRT_REQUIRES(mutex) {
    return std::ranges::any_of(
        queues, [this](const auto &queue) { return queue.size() >= bound; });
  }
  bool isEmpty() const PDLRT_REQUIRES(mutex) {
    return std::ranges::all_of(queues,
                               [](const auto &queue) { return queue.empty(); });
  }
  bool hasIdleServer() const PDLRT_REQUIRES(mutex) {
    return std::ranges::any_of(queues,
                               [](const auto &queue) { return queue.empty(); });
  }
  bool isFullAt(size_t server) const PDLRT_REQUIRES(mutex) {
    return queues[server].size() >= bound;
  }
  bool isEmptyAt(size_t server) const PDLRT_REQUIRES(mutex) {
    return queues[server].empty();
  }

  mutable Mutex mutex;
  ConditionVariable changed;
  Status failure PDLRT_GUARDED_BY(mutex);
  std::vector<Response> responses PDLRT_GUARDED_BY(mutex);
  double busy PDLRT_GUARDED_BY(mutex) = 0;

private:
  using SteadyClock = std::chrono::steady_clock;
  struct Request {
    MessageKind kind;
    Message payload;
  };

  void sendFirst(size_t server) {
    Request first;
    {
      const MutexLock lock(mutex);
      if (closed)
        return;
      first = queues[server].front();
    }
    group.session(server).send(
        first.kind, std::move(first.payload),
        [self = shared_from_this(), server](Expected<Message> response) {
          self->end(server, std::move(response));
        });
  }

  /// Called by a thread of the transport.
  void end(size_t server, Expected<Message> response) {
    bool goesOn = false;
    {
      const MutexLock lock(mutex);
      if (response) {
        queues[server].pop_front();
        responses.push_back({server, std::move(*response)});
        goesOn = !queues[server].empty();
        if (isEmpty())
          busy += std::chrono::duration<double>(SteadyClock::now() - busySince)
                      .count();
      } else if (failure.ok()) {
        failure = response.status();
      }
    }
    changed.notify_all();
    if (goesOn)
      sendFirst(server);
  }

  ServerGroup &group;
  const size_t bound;
  bool closed PDLRT_GUARDED_BY(mutex) = false;
  std::vector<std::deque<Request>> queues PDLRT_GUARDED_BY(mutex);
  SteadyClock::time_point busySince PDLRT_GUARDED_BY(mutex);
};

ServerQueues::ServerQueues(ServerGroup &group, size_t bound)
    : group(group), state(std::make_shared<State>(group, bound)) {}

ServerQueues::~ServerQueues() { state->close(); }

void ServerQueues::add(MessageKind kind, std::vector<Message> payloads) {
  state->add(kind, std::move(payloads));
}

bool ServerQueues::isFull() const {
  const MutexLock lock(state->mutex);
  return state->isFull();
}

bool ServerQueues::hasIdleServer() const {
  const MutexLock lock(state->mutex);
  return state->hasIdleServer();
}

bool ServerQueues::isEmpty() const {
  const MutexLock lock(state->mutex);
  return state->isEmpty();
}

Status ServerQueues::failure() const {
  const MutexLock lock(state->mutex);
  return state->failure;
}

std::vector<ServerQueues::Response> ServerQueues::takeResponses() {
  const MutexLock lock(state->mutex);
  return std::exchange(state->responses, {});
}

double ServerQueues::busySeconds() const {
  const MutexLock lock(state->mutex);
  return state->busy;
}

Status ServerQueues::waitUntil(const std::function<bool()> &isReached,
                               const ServerGroup::HasEnded &hasEnded) {
  auto nextReport = group.firstReport();
  LongWait longWait;
  MutexLock lock(state->mutex);
  for (;;) {
    if (!state->failure.ok())
      return state->failure;
    if (isReached())
      return {};
    state->changed.wait_for(lock, queuePollInterval);
    if (!state->failure.ok() || isReached())
      continue;
    lock.unlock();
    PDLRT_RETURN_IF_ERROR(group.lookAround(hasEnded, nextReport));
    longWait.note([&] { return group.waitingLine(hasEnded); });
    lock.lock();
  }
}

Status ServerQueues::waitForRoom() {
  return waitUntil(
      [this]() PDLRT_REQUIRES(state->mutex) { return !state->isFull(); },
      [this](size_t server) {
        const MutexLock lock(state->mutex);
        return !state->isFullAt(server);
      });
}

Status ServerQueues::waitUntilEmpty() {
  return waitUntil(
      [this]() PDLRT_REQUIRES(state->mutex) { return state->isEmpty(); },
      [this](size_t server) {
        const MutexLock lock(state->mutex);
        return state->isEmptyAt(server);
      });
}
