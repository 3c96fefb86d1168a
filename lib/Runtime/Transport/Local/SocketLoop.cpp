//===- SocketLoop.cpp - Event loop of sockets -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Local/SocketLoop.h"

#include "Transport/Local/EnoughMemory.h"
#include "Transport/StartThread.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::localimpl;

Descriptor::Descriptor(Descriptor &&other) noexcept
    : number(std::exchange(other.number, -1)) {}

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
  std::swap(number, other.number);
  return *this;
}

Descriptor::~Descriptor() {
  if (number >= 0)
    ::close(number);
}

SocketLoop::Watcher::~Watcher() = default;

/// The number of the wake-up descriptor, which has no watcher.
static constexpr uint64_t bellNumber = 0;
/// Interval of retries after memory was exhausted.
static constexpr std::chrono::milliseconds memoryPause(100);

SocketLoop::SocketLoop(Clock &clock,
                       std::function<ClockTime(ClockTime now)> onTime)
    : clock(clock), onTime(std::move(onTime)), wakes(never.count()) {}

SocketLoop::~SocketLoop() { stop(); }

Status SocketLoop::start() {
  poll = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  bell = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = bellNumber;
  if (!poll || !bell ||
      ::epoll_ctl(poll.get(), EPOLL_CTL_ADD, bell.get(), &event) != 0)
    return Status::ofErrno(
        errno, std::string("cannot wait for sockets: ") + std::strerror(errno) +
                   "; raise the limit of open files (ulimit -n)");
  return startThread(thread, "the thread of unix sockets", [this] { run(); });
}

void SocketLoop::stop() {
  stopping = true;
  if (bell)
    kick();
  if (thread.joinable())
    thread.join();
  // Destroyed after `lock`, because their destructors may call this loop.
  std::map<uint64_t, std::shared_ptr<Watcher>> forgotten;
  std::vector<std::function<void()>> dropped;
  const MutexLock lock(mutex);
  forgotten.swap(watchers);
  dropped.swap(tasks);
}

void SocketLoop::kick() {
  const uint64_t one = 1;
  (void)!::write(bell.get(), &one, sizeof(one));
}

uint64_t SocketLoop::add(int socket, std::shared_ptr<Watcher> watcher,
                         bool read) {
  uint64_t number = 0;
  const bool isKept = hasMemoryFor([&] {
    const MutexLock lock(mutex);
    number = ++lastNumber;
    watchers.emplace(number, std::move(watcher));
  });
  if (!isKept)
    return 0;
  epoll_event event{};
  event.events = read ? EPOLLIN : 0;
  event.data.u64 = number;
  if (::epoll_ctl(poll.get(), EPOLL_CTL_ADD, socket, &event) == 0)
    return number;
  std::shared_ptr<Watcher> dropped;
  const MutexLock lock(mutex);
  dropped = std::move(watchers[number]);
  watchers.erase(number);
  return 0;
}

void SocketLoop::change(uint64_t number, int socket, bool read, bool write) {
  epoll_event event{};
  event.events = (read ? EPOLLIN : 0) | (write ? EPOLLOUT : 0);
  event.data.u64 = number;
  ::epoll_ctl(poll.get(), EPOLL_CTL_MOD, socket, &event);
}

void SocketLoop::remove(uint64_t number, int socket) {
  ::epoll_ctl(poll.get(), EPOLL_CTL_DEL, socket, nullptr);
  std::shared_ptr<Watcher> dropped;
  const MutexLock lock(mutex);
  if (auto node = watchers.extract(number))
    dropped = std::move(node.mapped());
}

void SocketLoop::post(std::function<void()> task) {
  {
    const MutexLock lock(mutex);
    tasks.push_back(std::move(task));
  }
  kick();
}

void SocketLoop::wakeBefore(ClockTime when) {
  int64_t known = wakes;
  while (when.count() < known)
    if (wakes.compare_exchange_weak(known, when.count())) {
      kick();
      return;
    }
}

int SocketLoop::pauseInMilliseconds() const {
  const int64_t when = wakes;
  if (when == never.count())
    return -1;
  const ClockTime left = ClockTime(when) - clock.now();
  const int64_t milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
  return static_cast<int>(
      std::clamp<int64_t>(left.count() <= 0 ? 0 : milliseconds, 0,
                          std::numeric_limits<int>::max()));
}

void SocketLoop::runTasks() {
  uint64_t count = 0;
  (void)!::read(bell.get(), &count, sizeof(count));
  std::vector<std::function<void()>> due;
  {
    const MutexLock lock(mutex);
    due.swap(tasks);
  }
  for (std::function<void()> &task : due) {
    // If memory is exhausted, a task of a socket closes its socket itself, and
    // other tasks end with the deadlines of their calls.
    (void)hasMemoryFor(task);
    // Destroy it before the next one runs.
    task = nullptr;
  }
}

void SocketLoop::runTime() {
  const ClockTime now = clock.now();
  if (wakes > now.count())
    return;
  wakes = never.count();
  if (!hasMemoryFor([&] { wakeBefore(onTime(now)); }))
    wakeBefore(now + memoryPause);
}

/// Calls the functions of a watcher for the events of its socket.
static void tell(SocketLoop::Watcher &watcher, uint32_t events) {
  const auto act = [&] {
    if (events & EPOLLIN)
      watcher.canRead();
    else if (events & (EPOLLHUP | EPOLLERR))
      watcher.hungUp();
    if (events & EPOLLOUT)
      watcher.canWrite();
  };
  // If memory is exhausted, close only this connection. If that fails, too, its
  // calls end at their deadlines.
  if (!hasMemoryFor(act))
    (void)hasMemoryFor([&] { watcher.hungUp(); });
}

void SocketLoop::run() {
  Trace::nameThread("network");
  constexpr int maxEvents = 64;
  epoll_event events[maxEvents];
  while (!stopping) {
    const int count =
        ::epoll_wait(poll.get(), events, maxEvents, pauseInMilliseconds());
    for (int i = 0; i < count && !stopping; ++i) {
      // The system's struct is packed: references into it would not be aligned.
      const uint64_t number = events[i].data.u64;
      if (number == bellNumber) {
        runTasks();
        continue;
      }
      std::shared_ptr<Watcher> watcher;
      {
        const MutexLock lock(mutex);
        const auto found = watchers.find(number);
        if (found == watchers.end())
          continue;
        watcher = found->second;
      }
      tell(*watcher, events[i].events);
    }
    runTime();
  }
}
