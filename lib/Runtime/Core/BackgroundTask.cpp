//===- BackgroundTask.cpp - Work on a separate thread ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/BackgroundTask.h"

#include "pdlrt/Core/BlockedSignals.h"
#include "pdlrt/Core/Trace.h"

#include <system_error>
#include <utility>

using namespace pdlrt;

void BackgroundTask::run(const std::function<Status()> &work) {
  try {
    status = work();
  } catch (...) {
    thrown = std::current_exception();
  }
  done.store(true, std::memory_order_release);
}

BackgroundTask::BackgroundTask(std::string name, std::function<Status()> work) {
  try {
    const BlockedSignals blocked;
    thread = std::thread([this, name, work] {
      Trace::nameThread(name);
      run(work);
    });
  } catch (const std::system_error &) {
    run(work);
  }
}

BackgroundTask::~BackgroundTask() {
  if (thread.joinable())
    thread.join();
}

Status BackgroundTask::wait() {
  if (thread.joinable())
    thread.join();
  if (thrown)
    std::rethrow_exception(std::exchange(thrown, nullptr));
  return std::move(status);
}
