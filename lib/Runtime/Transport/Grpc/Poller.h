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

/// What a completion queue gives back when an operation has ended.
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
  /// Before an operation starts.
  void *arm(std::shared_ptr<Object> object) {
    owner = std::move(object);
    Tag *tag = this;
    noteStart(tag);
    return tag;
  }
  /// Where it did not start after all.
  void disarm() { owner = nullptr; }
  void ended(bool ok) override {
    const std::shared_ptr<Object> object = std::move(owner);
    (object.get()->*step)(ok);
  }

private:
  Step step;
  std::shared_ptr<Object> owner;
};

/// Counts objects that start operations, so that a queue closes after them.
class LiveCount {
public:
  /// The first member of a counted object, so that the rest of it goes before.
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

/// Threads that serve a queue and run other people's code between: handlers and
/// ends of calls. One of them, the leader, waits for operations and runs that
/// code itself, because a change of threads costs more than most of it. Where
/// the code lasts, another thread takes the lead. All but one may be in such
/// code at once; the rest waits in line, so that the network is always served.
class Poller {
public:
  /// Waits for the end of an operation; false once the queue is shut down and
  /// empty.
  using Next = std::function<bool(Tag *&tag, bool &ok)>;
  explicit Poller(Next nextEnd) : next(std::move(nextEnd)) {}
  /// The queue has been shut down; returns when it is empty and no task runs.
  ~Poller();
  Poller(const Poller &) = delete;
  Poller &operator=(const Poller &) = delete;

  /// Starts at least two threads; called once. After an error those that could
  /// be started run.
  Status start(unsigned threadCount);
  /// Runs `task` now, or on another of the threads. Called by these threads.
  /// What a task throws is thrown by the call that ran it, when no task waits
  /// any more.
  void run(std::function<void()> task);
  /// Forgets tasks that have not begun, those to come too.
  void refuseTasks();

private:
  using SteadyClock = std::chrono::steady_clock;
  void loop();
  void lead(std::unique_lock<std::mutex> &lock);
  bool leaderIsLate() const {
    return inTask && SteadyClock::now() - taskStart > patience;
  }

  /// How long the network waits for other people's code.
  static constexpr std::chrono::milliseconds patience{5};

  const Next next;
  size_t mostBusy = 1;
  std::mutex mutex;
  std::condition_variable changed;
  /// Counts leaders, to tell one that it is none any more.
  std::atomic<uint64_t> term{0};
  bool hasLeader = false;
  /// One of the others watches the leader.
  bool hasWatcher = false;
  bool finished = false;
  /// Whether the leader runs a task, and since when.
  bool inTask = false;
  SteadyClock::time_point taskStart;
  size_t busy = 0;
  bool refusing = false;
  std::deque<std::function<void()>> waiting;
  std::vector<std::thread> threads;
};

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_POLLER_H
