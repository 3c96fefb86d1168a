//===- Executor.cpp - Executes tasks in order -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Executor.h"
#include "pdlrt/Core/BlockedSignals.h"

#include <pthread.h>
#include <utility>

using namespace pdlrt;

Executor::~Executor() = default;

ThreadExecutor::ThreadExecutor() {
  const BlockedSignals blocked;
  thread = std::thread([this] { loop(); });
}

ThreadExecutor::~ThreadExecutor() {
  {
    const MutexLock lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
  // Destroying a task may submit another one.
  while (!tasks.empty())
    std::exchange(tasks, {}).clear();
}

void ThreadExecutor::run(std::function<void()> task) {
  {
    const MutexLock lock(mutex);
    tasks.push_back(std::move(task));
  }
  changed.notify_one();
}

void ThreadExecutor::loop() {
  MutexLock lock(mutex);
  while (!stopping) {
    if (tasks.empty()) {
      changed.wait(lock);
      continue;
    }
    std::function<void()> task = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    task();
    // Destroy the task while the mutex is not locked, because the destructor of
    // the task may call this executor.
    task = nullptr;
    lock.lock();
  }
}
