//===- TaskThreads.cpp - Threads for work that takes long -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskThreads.h"

#include <utility>

using namespace pdlserve;

TaskThreads::TaskThreads(unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([this] { work(); });
}

TaskThreads::~TaskThreads() {
  {
    const std::lock_guard lock(mutex);
    isEnding = true;
  }
  changed.notify_all();
}

void TaskThreads::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex);
    tasks.push_back(std::move(task));
  }
  changed.notify_one();
}

void TaskThreads::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return isEnding || !tasks.empty(); });
    if (tasks.empty())
      return;
    const std::function<void()> task = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}
