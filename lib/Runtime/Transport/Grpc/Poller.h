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
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace pdlrt::grpcimpl {

/// Returned by a completion queue when an operation has ended.
class Tag {
public:
  virtual ~Tag() = default;
  virtual void ended(bool ok) = 0;
};

/// Tag of an operation of an `Object`. It keeps the object alive.
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

/// Counts objects that start operations. A queue is closed after the last one
/// is destroyed.
class LiveCount {
public:
  /// Must be the first member of a counted object, so that it is destroyed
  /// last.
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

  Mutex mutex;
  ConditionVariable changed;
  size_t count PDLRT_GUARDED_BY(mutex) = 0;
};

/// Threads that wait for operations of gRPC and run callbacks. One of them, the
/// leader, waits, and runs callbacks itself, because most callbacks take less
/// time than switching threads. If a callback takes long, another thread
/// becomes the leader. One thread never runs callbacks while all others do;
/// further callbacks then wait, so that the network is always served.
class Poller {
public:
  /// Waits until an operation ends, and returns true. Returns false when the
  /// queue is shut down and empty.
  using Next = std::function<bool(Tag *&tag, bool &ok)>;
  explicit Poller(Next nextEnd) : next(std::move(nextEnd)) {}
  /// Waits until the queue is empty and no task runs. The queue must have been
  /// shut down.
  ~Poller();
  Poller(const Poller &) = delete;
  Poller &operator=(const Poller &) = delete;

  /// Starts `threadCount` threads, but at least two. Call only once. After an
  /// error, those threads run that could be started.
  Status start(unsigned threadCount);
  /// Runs `task` on this thread now, or on another thread of the poller. Must
  /// be called on a thread of the poller. If tasks throw, the call that has run
  /// them throws when no task is waiting any more.
  void run(std::function<void()> task);
  /// Drops waiting tasks and all later tasks.
  void refuseTasks();

private:
  using SteadyClock = std::chrono::steady_clock;
  void loop();
  /// Not analyzed: it unlocks the lock of its caller for a while.
  void lead(MutexLock &lock)
      PDLRT_REQUIRES(mutex) PDLRT_NO_THREAD_SAFETY_ANALYSIS;
  bool leaderIsLate() const PDLRT_REQUIRES(mutex) {
    return inTask && SteadyClock::now() - taskStart > patience;
  }

  /// Maximum time for which network events wait for a running callback.
  static constexpr std::chrono::milliseconds patience{5};

  const Next next;
  size_t maxBusy = 1;
  Mutex mutex;
  ConditionVariable changed;
  /// Number of leaders so far. It tells a thread that it is no longer the
  /// leader.
  std::atomic<uint64_t> term{0};
  bool hasLeader PDLRT_GUARDED_BY(mutex) = false;
  /// True if another thread watches the leader.
  bool hasWatcher PDLRT_GUARDED_BY(mutex) = false;
  bool finished PDLRT_GUARDED_BY(mutex) = false;
  /// `inTask`: true if the leader runs a task. `taskStart`: start of that task.
  bool inTask PDLRT_GUARDED_BY(mutex) = false;
  SteadyClock::time_point taskStart PDLRT_GUARDED_BY(mutex);
  size_t busy PDLRT_GUARDED_BY(mutex) = 0;
  bool refusing PDLRT_GUARDED_BY(mutex) = false;
  std::deque<std::function<void()>> waiting PDLRT_GUARDED_BY(mutex);
  std::vector<std::thread> threads;
};

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_POLLER_H
