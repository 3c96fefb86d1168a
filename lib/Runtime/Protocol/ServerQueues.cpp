//===- ServerQueues.cpp - Requests that are not waited for ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerQueues.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

using namespace pdlrt;

static constexpr std::chrono::milliseconds pollInterval{100};

class ServerQueues::State : public std::enable_shared_from_this<State> {
public:
  State(ServerGroup &group, size_t bound)
      : group(group), bound(bound), queues(group.size()) {}

  void add(MessageKind kind, std::vector<Message> payloads) {
    std::vector<size_t> idle;
    {
      const std::lock_guard lock(mutex);
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

  /// No more requests leave.
  void close() {
    const std::lock_guard lock(mutex);
    closed = true;
  }

  // With `mutex`.
  bool isFull() const {
    return std::ranges::any_of(
        queues, [this](const auto &queue) { return queue.size() >= bound; });
  }
  bool isEmpty() const {
    return std::ranges::all_of(queues,
                               [](const auto &queue) { return queue.empty(); });
  }
  bool hasIdleServer() const {
    return std::ranges::any_of(queues,
                               [](const auto &queue) { return queue.empty(); });
  }
  bool isFullAt(size_t server) const { return queues[server].size() >= bound; }
  bool isEmptyAt(size_t server) const { return queues[server].empty(); }

  mutable std::mutex mutex;
  std::condition_variable changed;
  Status failure;
  std::vector<Answer> answers;
  double busy = 0;

private:
  using SteadyClock = std::chrono::steady_clock;
  struct Request {
    MessageKind kind;
    Message payload;
  };

  void sendFirst(size_t server) {
    Request first;
    {
      const std::lock_guard lock(mutex);
      if (closed)
        return;
      first = queues[server].front();
    }
    group.session(server).send(
        first.kind, std::move(first.payload),
        [self = shared_from_this(), server](Expected<Message> answer) {
          self->end(server, std::move(answer));
        });
  }

  /// By a thread of the transport.
  void end(size_t server, Expected<Message> answer) {
    bool goesOn = false;
    {
      const std::lock_guard lock(mutex);
      if (answer) {
        queues[server].pop_front();
        answers.push_back({server, std::move(*answer)});
        goesOn = !queues[server].empty();
        if (isEmpty())
          busy += std::chrono::duration<double>(SteadyClock::now() - busySince)
                      .count();
      } else if (failure.ok()) {
        failure = answer.status();
      }
    }
    changed.notify_all();
    if (goesOn)
      sendFirst(server);
  }

  ServerGroup &group;
  const size_t bound;
  bool closed = false;
  std::vector<std::deque<Request>> queues;
  SteadyClock::time_point busySince;
};

ServerQueues::ServerQueues(ServerGroup &group, size_t bound)
    : group(group), state(std::make_shared<State>(group, bound)) {}

ServerQueues::~ServerQueues() { state->close(); }

void ServerQueues::add(MessageKind kind, std::vector<Message> payloads) {
  state->add(kind, std::move(payloads));
}

bool ServerQueues::isFull() const {
  const std::lock_guard lock(state->mutex);
  return state->isFull();
}

bool ServerQueues::hasIdleServer() const {
  const std::lock_guard lock(state->mutex);
  return state->hasIdleServer();
}

bool ServerQueues::isEmpty() const {
  const std::lock_guard lock(state->mutex);
  return state->isEmpty();
}

Status ServerQueues::failure() const {
  const std::lock_guard lock(state->mutex);
  return state->failure;
}

std::vector<ServerQueues::Answer> ServerQueues::takeAnswers() {
  const std::lock_guard lock(state->mutex);
  return std::exchange(state->answers, {});
}

double ServerQueues::busySeconds() const {
  const std::lock_guard lock(state->mutex);
  return state->busy;
}

Status ServerQueues::waitUntil(const std::function<bool()> &isReached,
                               const ServerGroup::HasEnded &hasEnded) {
  auto nextReport = group.firstReport();
  std::unique_lock lock(state->mutex);
  for (;;) {
    if (!state->failure.ok())
      return state->failure;
    if (isReached())
      return {};
    state->changed.wait_for(lock, pollInterval);
    if (!state->failure.ok() || isReached())
      continue;
    lock.unlock();
    PDLRT_RETURN_IF_ERROR(group.lookAround(hasEnded, nextReport));
    lock.lock();
  }
}

Status ServerQueues::waitForRoom() {
  return waitUntil([this] { return !state->isFull(); },
                   [this](size_t server) {
                     const std::lock_guard lock(state->mutex);
                     return !state->isFullAt(server);
                   });
}

Status ServerQueues::waitUntilEmpty() {
  return waitUntil([this] { return state->isEmpty(); },
                   [this](size_t server) {
                     const std::lock_guard lock(state->mutex);
                     return state->isEmptyAt(server);
                   });
}
