//===- JobLife.cpp - Start and end of a server's job ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/JobLife.h"

#include "Server/ServerMetrics.h"

#include <utility>

using namespace pdlrt;

/// Time in which trainers that have not joined can learn about a request to
/// stop.
static constexpr ClockTime stopPatience = std::chrono::seconds(2);

bool JobLife::stop() {
  if (isStopping() || !isRunning())
    return false;
  stopSince = clock.now();
  return true;
}

bool JobLife::stopsForLong() const {
  return isStopping() && clock.now() - stopSince >= stopPatience;
}

Status JobLife::endFault() const {
  return job.state == JobState::Finished
             ? Status::failedPrecondition("the job is finished")
             : job.failure();
}

void JobLife::fail(const Status &failure, Outbox &out) {
  if (!isRunning())
    return;
  end({JobState::Failed, failure.message(), failure.code()}, out);
  admission.refuseAll(failure, out);
}

void JobLife::lose(const Status &failure, Outbox &out) {
  if (!isRunning())
    return;
  if (!loss)
    countLostTrainer();
  if (!options.savesBeforeLoss || !isOpen() ||
      options.onFailure != FailurePolicy::Wait)
    fail(failure, out);
  else if (!loss)
    loss = failure;
}

void JobLife::end(JobStatus with, Outbox &out) {
  job = std::move(with);
  out.whenSent(std::exchange(overAction, nullptr));
  changed.notify_all();
}

void JobLife::whenOver(std::function<void()> action) {
  if (isRunning())
    overAction = std::move(action);
  else
    clock.runAt(clock.now(), std::move(action));
}
