//===- Poller.h - Threads of a completion queue -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_GRPC_POLLER_H
#define LIB_RUNTIME_TRANSPORT_GRPC_POLLER_H

#include "Transport/Grpc/ThreadSanitizer.h"
#include "pdlrt/Core/Status.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pdlrt::grpcimpl {

/// Returned by a completion queue when an operation has ended.
class Tag {
public:
  virtual ~Tag() = default;
  virtual void ended(bool ok) = 0;
};

/// The tag of an operation of an `Object`, which it keeps alive.
template <typename Object> class MemberTag final : public Tag {
public:
  using Step = void (Object::*)(bool ok);
  explicit MemberTag(Step onEnd) : step(onEnd) {}
  /// Returns the tag for an operation that is about to start.
  void *arm(std::shared_ptr<Object> object) {
    owner = std::move(object);
    Tag *tag = this;
    noteStart(tag);
    return tag;
  }
  /// Releases the object if the operation did not start.
  void disarm() { owner = nullptr; }
  void ended(bool ok) override {
    const std::shared_ptr<Object> object = std::move(owner);
    (object.get()->*step)(ok);
  }

private:
  Step step;
  std::shared_ptr<Object> owner;
};

/// Counts objects that start operations, so that a queue is closed after them.
class LiveCount {
public:
  /// The first member of a counted object, so that it is destroyed last.
  class Guard {
  public:
    explicit Guard(LiveCount &in) : count(in) { count.enter(); }
    ~Guard() { count.leave(); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

  private:
    LiveCount &count;
  };
  void waitForNone();

private:
  void enter();
  void leave();

  std::mutex mutex;
  std::condition_variable changed;
  size_t count = 0;
};

/// Threads that process a queue and, in between, run callbacks: handlers and
/// completion callbacks. One of them, the leader, waits for operations and runs
/// callbacks itself, because switching threads costs more than most of them. If
/// a callback takes long, another thread becomes the leader. All threads but
/// one may run callbacks at the same time; further callbacks wait, so that the
/// network is always served.
class Poller {
public:
  /// Waits for the end of an operation. Returns false when the queue is shut
  /// down and empty.
  using Next = std::function<bool(Tag *&tag, bool &ok)>;
  explicit Poller(Next nextEnd) : next(std::move(nextEnd)) {}
  /// The queue must have been shut down. Returns when it is empty and no task
  /// is running.
  ~Poller();
  Poller(const Poller &) = delete;
  Poller &operator=(const Poller &) = delete;

  /// Starts at least two threads. Call once. After an error, the threads that
  /// could be started are running.
  Status start(unsigned threadCount);
  /// Runs `task` now, or on another of the threads. Must be called by these
  /// threads. An exception of a task is thrown by the call that ran it, when no
  /// more tasks are waiting.
  void run(std::function<void()> task);
  /// Drops tasks that have not started, and later ones.
  void refuseTasks();

private:
  using SteadyClock = std::chrono::steady_clock;
  void loop();
  void lead(std::unique_lock<std::mutex> &lock);
  bool leaderIsLate() const {
    return inTask && SteadyClock::now() - taskStart > patience;
  }

  /// Maximum time that the network waits for a callback.
  static constexpr std::chrono::milliseconds patience{5};

  const Next next;
  size_t maxBusy = 1;
  std::mutex mutex;
  std::condition_variable changed;
  /// Counts leaders, so that a thread notices that it is no longer the leader.
  std::atomic<uint64_t> term{0};
  bool hasLeader = false;
  /// True if another thread watches the leader.
  bool hasWatcher = false;
  bool finished = false;
  /// True if the leader runs a task, and its start time.
  bool inTask = false;
  SteadyClock::time_point taskStart;
  size_t busy = 0;
  bool refusing = false;
  std::deque<std::function<void()>> waiting;
  std::vector<std::thread> threads;
};

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_POLLER_H
