//===- ServerCore.h - Protocol of a server ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The server's part of exactly-once delivery: receives requests from a
// transport, handles copies and retries, forms rounds, monitors the trainers,
// and passes each request once to the application. Heartbeats never wait for
// work: an executor runs what needs the application; everything else is
// answered at once.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_SERVERCORE_H
#define PDLRT_SERVER_SERVERCORE_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Executor.h"
#include "pdlrt/Protocol/ReplayGuard.h"
#include "pdlrt/Server/ServerApplication.h"
#include "pdlrt/Server/ServerCosts.h"
#include "pdlrt/Transport/Message.h"
#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Reaction to the loss of a trainer.
enum class FailurePolicy {
  /// The job fails. All processes are told and end.
  Abort,
  /// The job waits until the trainer restarts. If all trainers have left
  /// because of a failure, the job fails.
  Wait,
};

struct ServerCoreOptions {
  /// Number of trainers in the job; their ranks start at 0.
  uint32_t trainers = 1;
  /// Number of workers of a trainer that send their own requests, numbered from
  /// 1. Worker 0 is the process; only its requests form rounds.
  uint32_t workersOfTrainer = 0;
  /// Epoch of the map from blocks to servers. Requests with another epoch are
  /// refused.
  uint64_t epoch = 0;
  /// After its join, a trainer that was silent for this long is lost. Zero
  /// disables the limit.
  ClockTime silenceLimit = std::chrono::seconds(10);
  /// Under Abort: a trainer that has not joined within this time after the
  /// server's start is lost. Under Wait: the limit applies if no trainer has
  /// joined. It is one minute if a process of that rank was refused and may
  /// have been meant for this job. Zero disables the limit.
  ClockTime joinLimit = std::chrono::minutes(10);
  FailurePolicy onFailure = FailurePolicy::Abort;
  /// Under Wait without `restartsContinue`: the job has failed if no trainer
  /// has sent a message for this long. Other servers may have failed the job,
  /// and all processes that know this may have ended. Zero disables the limit.
  ClockTime abandonLimit = std::chrono::hours(1);
  /// Under Wait: number of responses to a sender that are stored. A restart of
  /// its trainer can repeat that many requests (docs/Protocol.md). Under Abort
  /// one response is stored.
  uint32_t keptResponses = 2;
  /// Number of stored responses to worker 0, if larger than `keptResponses`.
  uint32_t keptOfProcess = 0;
  /// Incarnation of the first process of each trainer; later ones count up from
  /// it. A restarted server uses a larger number, so that it recognizes
  /// trainers of its previous incarnation.
  uint64_t firstIncarnation = 1;
  /// Random number by which trainers distinguish this job from others.
  uint64_t jobId = 0;
  /// Maximum total size in bytes of the parts of one sender's next request; 0
  /// if requests may not be sent in parts.
  uint64_t maxPartBytes = 0;
  /// Under Wait: true if a restarted trainer continues among the requests of
  /// its previous incarnation. If false, a restart fails the job, and so does a
  /// trainer that has sent requests and then fails or dies, because what others
  /// wait for can never arrive.
  bool restartsContinue = true;
  /// Under Wait: true if the state is saved before a lost trainer ends the job
  /// (`ServerCore::pendingLoss`).
  bool savesBeforeLoss = false;
};

enum class JobState {
  Running,
  /// The job has ended: all trainers have left without an error.
  Finished,
  /// The job has failed; requests are refused with the reason.
  Failed,
};

struct JobStatus {
  JobState state = JobState::Running;
  /// Reason of the failure.
  std::string sentence;
  /// Code of the failure; PDL_OK without one.
  pdl_status code = PDL_OK;

  /// Returns the failure; success if the job has not failed.
  Status failure() const {
    return state == JobState::Failed ? Status(code, sentence) : Status();
  }
};

/// Protocol of one server of one job. Thread-safe. Heartbeats, leaves and
/// copies are answered even while the application works.
class ServerCore {
public:
  /// Creates a core that accepts no joins before `open`. `executor` calls the
  /// application. `executor` and `clock` must outlive the core.
  ServerCore(const ServerCoreOptions &options, Clock &clock,
             Executor &executor);
  /// Creates a core that accepts joins at once. It takes no executor: the
  /// transport's threads call the application.
  ServerCore(const ServerCoreOptions &options, ServerApplication &application,
             Clock &clock);
  /// Drops open requests. Destroy the listeners that call `handle` first.
  ~ServerCore();
  ServerCore(const ServerCore &) = delete;
  ServerCore &operator=(const ServerCore &) = delete;

  /// Returns the handler for a listener, which must be destroyed before the
  /// core. It calls `screen`, then `handle`.
  RequestHandler handler();
  /// Handles one request. Malformed bytes are refused and change nothing.
  /// Blocks on the application only if the executor does. No lock is held while
  /// a responder runs.
  void handle(const Message &request, Responder responder);
  /// Returns the refusal of a request of which only the front has arrived (at
  /// least its head), or nothing if the rest may be read. So a process that has
  /// not joined cannot make this process store more than a handshake.
  std::optional<Message> screen(const Message &front, uint64_t size) const;

  /// Sets the status that trainers receive if they join before `open`, such as
  /// "loading saved/step-000000000100".
  void setProgress(const std::string &sentence);
  /// Accepts joins from now on. `application` must outlive the core.
  void open(ServerApplication &application);

  /// Asks trainers to stop, with the responses to their heartbeats. The job
  /// then ends as they leave. Until it has ended, a trainer that is lost, has
  /// failed, or has not joined fails the job under either policy, because a
  /// graceful shutdown needs it.
  void requestStop();

  /// Sets the handler of requests from other servers of the job
  /// (MessageKind::Peer). It returns the payload of the response, or the reason
  /// for a refusal. Threads that deliver requests call it, so it must return
  /// quickly. Call this before a listener has the handler.
  using PeerHandler = std::function<Expected<Message>(const Message &payload)>;
  void respondToPeers(PeerHandler handler);
  /// Returns the reason why the job cannot continue, if there is one. Only with
  /// `savesBeforeLoss`. The job then runs on without restarted trainers until
  /// `fail` ends it.
  std::optional<std::string> pendingLoss() const;
  /// Returns the progress of all senders.
  std::vector<SenderMark> marks() const;
  /// Runs `task` once on the executor between two requests, with the progress
  /// of all senders at that time. The state then contains all gradients whose
  /// senders were answered. Then calls `ended` once with the task's result. An
  /// exception of `task` is an error. If the job has ended, or if the core or
  /// the executor is destroyed before, `task` does not run and `ended` gets an
  /// error. `ended` may run on any thread and must not throw. Throws
  /// std::bad_alloc; then `task` does not run and `ended` may not be called.
  using BetweenTask = std::function<Status(const std::vector<SenderMark> &)>;
  using BetweenEnd = std::function<void(Status)>;
  void betweenRequests(BetweenTask task, BetweenEnd ended);

  JobStatus status() const;
  /// Returns a status line such as "waiting for the exchange of trainer 1 (3
  /// s)"; empty if the job does not wait. Rounds open for less than `atLeast`
  /// are not reported.
  std::string waitingFor(ClockTime atLeast = ClockTime(0)) const;
  /// Returns true if that trainer has failed, has died, is silent, or was
  /// refused.
  bool isInTrouble(uint32_t rank) const;
  /// Returns the staleness of responses to steps that formed no rounds. Do not
  /// call while requests arrive.
  StalenessCounts staleness() const;
  /// Fails the job for a reason of the server's own. If there is a pending
  /// loss, the job fails with its code. No effect after the end of the job.
  void fail(const Status &failure);
  /// Fails the job because of a trainer in this process. That trainer has
  /// ended, so the core does not wait until it has been told about the end.
  void failWithTrainer(uint32_t rank, const Status &why);

  /// Calls `action` once when the job ends, or soon if it has ended. It runs on
  /// the thread that ends the job, without a lock held. A later call replaces
  /// the action.
  void whenOver(std::function<void()> action);
  /// Blocks until the job has ended, for at most `limit` of real time. Returns
  /// true if it has ended. Clock and transport must run on their own.
  bool waitUntilOver(std::chrono::nanoseconds limit) const;
  /// Returns true if each trainer knows about the end of the job: it has left
  /// or is silent, and all responses were handed to the transport. A server
  /// continues to listen until then, for some seconds at most, because a
  /// response may be lost and a trainer may still join.
  bool allNotified() const;
  /// Blocks until `allNotified`, for at most `limit` of real time. Returns its
  /// value. Clock and transport must run on their own.
  bool waitUntilNotified(std::chrono::nanoseconds limit) const;

private:
  class State;
  std::shared_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_SERVERCORE_H
