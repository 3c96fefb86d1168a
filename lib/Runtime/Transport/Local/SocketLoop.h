//===- SocketLoop.h - Event loop of sockets ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_LOCAL_SOCKETLOOP_H
#define LIB_RUNTIME_TRANSPORT_LOCAL_SOCKETLOOP_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Status.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pdlrt::localimpl {

/// A descriptor that is closed on destruction.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(Descriptor &&other) noexcept;
  Descriptor &operator=(Descriptor &&other) noexcept;
  ~Descriptor();

  int get() const { return number; }
  explicit operator bool() const { return number >= 0; }

private:
  int number = -1;
};

/// A time that is never reached.
inline constexpr ClockTime never = ClockTime::max();

/// A thread that waits until sockets can be read or written, and calls their
/// watchers. Thread-safe.
class SocketLoop {
public:
  /// The owner of a socket. Called only by the loop's thread, without any lock
  /// of the loop. If `canRead` or `canWrite` runs out of memory
  /// (std::bad_alloc), `hungUp` is called.
  class Watcher {
  public:
    virtual ~Watcher();
    virtual void canRead() = 0;
    virtual void canWrite() = 0;
    /// Called when the other side has closed the connection, possibly after
    /// bytes that can still be read; or memory was exhausted.
    virtual void hungUp() = 0;
  };

  /// `clock` must outlive it. Must be followed by `start`. The thread calls
  /// `onTime` when the time of `wakeBefore` has come, or earlier; it returns
  /// the time of its next call.
  SocketLoop(Clock &clock, std::function<ClockTime(ClockTime now)> onTime);
  /// Calls `stop`.
  ~SocketLoop();
  SocketLoop(const SocketLoop &) = delete;
  SocketLoop &operator=(const SocketLoop &) = delete;

  Status start();
  /// Ends the thread and drops all sockets and tasks. Must not be called from
  /// its thread.
  void stop();

  /// Watches a socket, which must stay open until it is removed. Returns 0 if
  /// memory is exhausted. The loop keeps `watcher` alive until then.
  uint64_t add(int socket, std::shared_ptr<Watcher> watcher, bool read);
  /// Sets the events to wait for from now on.
  void change(uint64_t number, int socket, bool read, bool write);
  void remove(uint64_t number, int socket);
  /// Runs `task` in the thread soon, never from within this call. A task that
  /// runs out of memory (std::bad_alloc) is aborted.
  void post(std::function<void()> task);
  /// Requests a call of `onTime` at `when`, or earlier.
  void wakeBefore(ClockTime when);

private:
  void run();
  void runTasks();
  void runTime();
  void kick();
  int pauseInMilliseconds() const;

  Clock &clock;
  const std::function<ClockTime(ClockTime now)> onTime;
  Descriptor poll, bell;
  std::atomic<bool> stopping{false};
  /// The time when the thread wakes up by itself.
  std::atomic<int64_t> wakes;
  std::mutex mutex;
  uint64_t lastNumber = 0;
  std::map<uint64_t, std::shared_ptr<Watcher>> watchers;
  std::vector<std::function<void()>> tasks;
  std::thread thread;
};

} // namespace pdlrt::localimpl

#endif // LIB_RUNTIME_TRANSPORT_LOCAL_SOCKETLOOP_H
