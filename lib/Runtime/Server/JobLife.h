//===- JobLife.h - Start and end of a server's job --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_JOBLIFE_H
#define LIB_RUNTIME_SERVER_JOBLIFE_H

#include "Server/Admission.h"
#include "Server/Outbox.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Server/ServerCore.h"

#include <functional>
#include <optional>
#include <string>

namespace pdlrt {

/// State of a job on one server. The job loads and runs, may be requested to
/// stop, and ends exactly once. Not thread-safe.
class JobLife {
public:
  /// The arguments must outlive this object. When the job ends, all requests in
  /// `admission` are refused, and `changed` is notified.
  JobLife(const ServerCoreOptions &options, Clock &clock, Admission &admission,
          ConditionVariable &changed)
      : options(options), clock(clock), admission(admission), changed(changed) {
  }

  /// `setProgress` sets the status before `open` (`ServerCore::setProgress`),
  /// and `progress` returns it.
  void setProgress(const std::string &to) { loading = to; }
  const std::string &progress() const { return loading; }
  /// Records that trainers may join.
  void open() { opened = true; }
  bool isOpen() const { return opened; }

  /// Records a request to stop the job. Returns false if the job has ended, or
  /// if there was such a request before.
  bool stop();
  bool isStopping() const { return stopSince >= ClockTime(0); }
  /// Returns true if the request to stop is so old that each trainer that has
  /// not joined could have learned about it.
  bool stopsForLong() const;

  const JobStatus &status() const { return job; }
  bool isRunning() const { return job.state == JobState::Running; }
  bool hasFailed() const { return job.state == JobState::Failed; }
  /// Returns the reason why no process can join any more, or success.
  Status endFault() const;
  /// Returns the result of `ServerCore::pendingLoss`.
  const std::optional<Status> &pendingLoss() const { return loss; }

  /// Fails the job. Does nothing if the job has ended.
  void fail(const Status &failure, Outbox &out);
  /// Ends the job because a trainer is lost. If servers save the state without
  /// trainers, the job ends only after that save.
  void lose(const Status &failure, Outbox &out);
  /// Ends the job with success.
  void finish(Outbox &out) { end({JobState::Finished, {}, PDL_OK}, out); }
  /// Sets an action to run when the job ends (`ServerCore::whenOver`). An empty
  /// action removes it.
  void whenOver(std::function<void()> action);
  void forgetAction() { overAction = nullptr; }

private:
  void end(JobStatus with, Outbox &out);

  const ServerCoreOptions &options;
  Clock &clock;
  Admission &admission;
  ConditionVariable &changed;
  std::string loading = "starting";
  bool opened = false;
  /// Time of the request to stop; negative: none.
  ClockTime stopSince{-1};
  JobStatus job;
  std::optional<Status> loss;
  std::function<void()> overAction;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_JOBLIFE_H
