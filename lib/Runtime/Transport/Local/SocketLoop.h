//===- SocketLoop.h - A thread that waits for sockets -----------*- C++ -*-===//
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

/// A descriptor that is closed at its end.
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

/// A time that does not come.
inline constexpr ClockTime never = ClockTime::max();

/// One thread that waits until sockets can be read or written, and calls whom
/// they belong to. All functions are thread-safe.
class SocketLoop {
public:
  /// Whom a socket belongs to. Called by the loop's thread alone, without any
  /// lock of the loop. Where memory does not suffice for `canRead` or
  /// `canWrite` (std::bad_alloc), `hungUp` is called.
  class Watcher {
  public:
    virtual ~Watcher();
    virtual void canRead() = 0;
    virtual void canWrite() = 0;
    /// The other end has gone, perhaps after bytes that can still be read; or
    /// memory did not suffice.
    virtual void hungUp() = 0;
  };

  /// `clock` outlives it. Must be followed by `start`. `onTime` is called by
  /// the thread when the time of `wakeBefore` has come, or before, and returns
  /// when it wants to be called again.
  SocketLoop(Clock &clock, std::function<ClockTime(ClockTime now)> onTime);
  /// As `stop`.
  ~SocketLoop();
  SocketLoop(const SocketLoop &) = delete;
  SocketLoop &operator=(const SocketLoop &) = delete;

  Status start();
  /// Ends the thread and forgets all sockets and tasks. Not from its thread.
  void stop();

  /// Watches a socket, which stays open until it is removed; 0: there is no
  /// memory for it. The loop keeps `watcher` alive until then.
  uint64_t add(int socket, std::shared_ptr<Watcher> watcher, bool read);
  /// What to wait for from now on.
  void change(uint64_t number, int socket, bool read, bool write);
  void remove(uint64_t number, int socket);
  /// Runs `task` in the thread soon; never from within this call. A task whose
  /// memory does not suffice (std::bad_alloc) ends there.
  void post(std::function<void()> task);
  /// `onTime` is called at `when`, or earlier.
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
  /// When the thread wakes by itself.
  std::atomic<int64_t> wakes;
  std::mutex mutex;
  uint64_t lastNumber = 0;
  std::map<uint64_t, std::shared_ptr<Watcher>> watchers;
  std::vector<std::function<void()>> tasks;
  std::thread thread;
};

} // namespace pdlrt::localimpl

#endif // LIB_RUNTIME_TRANSPORT_LOCAL_SOCKETLOOP_H
