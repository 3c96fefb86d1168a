//===- WatchedGroup.cpp - Device group that may fail ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/WatchedGroup.h"

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Trace.h"

#include <thread>
#include <utility>

using namespace pdlrt;

static constexpr std::chrono::milliseconds lookInterval(50);

namespace {

class WatchedGroup final : public DeviceGroup {
public:
  WatchedGroup(std::unique_ptr<DeviceGroup> watched,
               std::function<Status()> failureOfJob,
               std::chrono::milliseconds patience)
      : group(std::move(watched)), failure(std::move(failureOfJob)),
        patience(patience), watcher([this] { watch(); }) {}
  ~WatchedGroup() override;

  std::string describe() const override { return group->describe(); }
  Status gather(size_t bytes, std::span<const Part> parts) override {
    return explain(group->gather(bytes, parts));
  }
  Status sum(int32_t type, int64_t count,
             std::span<const Part> parts) override {
    return explain(group->sum(type, count, parts));
  }
  Status check() override;
  void abort() override { group->abort(); }

private:
  void watch();
  Status explain(Status status);

  const std::unique_ptr<DeviceGroup> group;
  const std::function<Status()> failure;
  const std::chrono::milliseconds patience;
  Mutex mutex;
  ConditionVariable changed;
  bool isDone PDLRT_GUARDED_BY(mutex) = false;
  /// Error of the job or of the group because of which the group was aborted.
  Status ended PDLRT_GUARDED_BY(mutex);
  /// Declared last, so that the thread ends before the members above are
  /// destroyed.
  std::thread watcher;
};

} // namespace

WatchedGroup::~WatchedGroup() {
  {
    const MutexLock lock(mutex);
    isDone = true;
  }
  changed.notify_all();
  watcher.join();
}

void WatchedGroup::watch() {
  Trace::nameThread("group of devices");
  MutexLock lock(mutex);
  while (!changed.wait_for(lock, lookInterval,
                           [this]() PDLRT_REQUIRES(mutex) { return isDone; })) {
    lock.unlock();
    Status found = failure();
    // Only checks the group if no other process has failed. After such a
    // failure, work on this device may never end.
    if (found.ok())
      found = group->check();
    lock.lock();
    if (found.ok())
      continue;
    ended = std::move(found);
    lock.unlock();
    group->abort();
    return;
  }
}

Status WatchedGroup::check() {
  Status status;
  {
    const MutexLock lock(mutex);
    status = ended;
  }
  return explain(status.ok() ? group->check() : std::move(status));
}

/// Returns the job's error, if the job fails within `patience`; otherwise
/// returns `status`. If a process dies, the group notices its closed
/// connections before the job reports it.
Status WatchedGroup::explain(Status status) {
  if (status.ok())
    return status;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    PDLRT_RETURN_IF_ERROR(failure());
    std::this_thread::sleep_for(lookInterval);
  }
  return status;
}

std::unique_ptr<DeviceGroup>
pdlrt::watchGroup(std::unique_ptr<DeviceGroup> group,
                  std::function<Status()> failure,
                  std::chrono::milliseconds patience) {
  return std::make_unique<WatchedGroup>(std::move(group), std::move(failure),
                                        patience);
}
