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
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace pdlrt::localimpl {

/// File descriptor that the destructor closes.
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

/// A thread that waits until sockets can be read or written, and calls the
/// watcher of each such socket. Thread-safe.
class SocketLoop {
public:
  /// Receives the events of one socket. Called only on the loop's thread, and
  /// without any lock of the loop. If `canRead` or `canWrite` throws
  /// std::bad_alloc, the loop calls `hungUp`.
  class Watcher {
  public:
    virtual ~Watcher();
    virtual void canRead() = 0;
    virtual void canWrite() = 0;
    /// Called when the other side has closed the connection, or when memory was
    /// exhausted. There may still be bytes to read.
    virtual void hungUp() = 0;
  };

  /// Creates a loop; `start` must be called before anything else. The thread
  /// calls `onTime` at the time that `wakeBefore` has requested, or earlier.
  /// `onTime` returns the time of its next call. `clock` must outlive the loop.
  SocketLoop(Clock &clock, std::function<ClockTime(ClockTime now)> onTime);
  /// Calls `stop`.
  ~SocketLoop();
  SocketLoop(const SocketLoop &) = delete;
  SocketLoop &operator=(const SocketLoop &) = delete;

  Status start();
  /// Ends the thread, and drops all sockets and tasks. Must not be called on
  /// the loop's thread.
  void stop();

  /// Watches a socket until `remove` is called. The socket must stay open and
  /// the loop keeps `watcher` alive until then. Returns the number of the
  /// socket in the loop, or 0 if memory is exhausted.
  uint64_t add(int socket, std::shared_ptr<Watcher> watcher, bool read);
  /// Sets the events to wait for from now on.
  void change(uint64_t number, int socket, bool read, bool write);
  void remove(uint64_t number, int socket);
  /// Runs `task` on the loop's thread soon, but never within this call. If the
  /// task throws std::bad_alloc, the loop continues with the next one.
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
  Mutex mutex;
  uint64_t lastNumber PDLRT_GUARDED_BY(mutex) = 0;
  std::map<uint64_t, std::shared_ptr<Watcher>> watchers PDLRT_GUARDED_BY(mutex);
  std::vector<std::function<void()>> tasks PDLRT_GUARDED_BY(mutex);
  std::thread thread;
};

} // namespace pdlrt::localimpl

#endif // LIB_RUNTIME_TRANSPORT_LOCAL_SOCKETLOOP_H
