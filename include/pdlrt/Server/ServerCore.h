//===- ServerCore.h - Protocol of a server ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The protocol of a server. It receives requests from a transport, handles
// duplicates and retries, forms rounds, monitors the trainers, and passes each
// request to the application once. Calls of the application run on an executor.
// Everything else, such as heartbeats, is answered immediately and never waits
// for the application.
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
  /// The job fails. All processes are told of it and end.
  Abort,
  /// The job waits until the trainer is restarted. If all trainers have left
  /// because of a failure, the job fails. In some modes, the loss of a single
  /// trainer fails it too (`ServerCoreOptions::restartsContinue`).
  Wait,
};

struct ServerCoreOptions {
  /// Number of trainers in the job; their ranks start at 0.
  uint32_t trainers = 1;
  /// Maximum number of senders of a trainer in addition to worker 0
  /// (WorkerNumbers.h). Worker 0 is the process itself; only its requests form
  /// rounds.
  uint32_t workersOfTrainer = 0;
  /// Version of the map from blocks to servers. Requests with another version
  /// are refused.
  uint64_t epoch = 0;
  /// A trainer that has joined and from which no message arrives for this time,
  /// plus a fifth of it (at most 2 s), counts as lost. Zero disables the limit.
  ClockTime silenceLimit = std::chrono::seconds(10);
  /// A trainer that has not joined within this time after `open`, or after its
  /// last Greet, counts as lost. Under Wait, this applies only if no trainer
  /// has joined. If a process of the trainer's rank was refused that may have
  /// been meant for this job, the limit is at most one minute. Zero disables
  /// the limit.
  ClockTime joinLimit = std::chrono::minutes(10);
  FailurePolicy onFailure = FailurePolicy::Abort;
  /// Under Wait without `restartsContinue`, the job fails if no trainer sends a
  /// message for this time. Otherwise this server could wait forever: other
  /// servers may have failed the job, and all processes that know it may have
  /// ended. Zero disables the limit.
  ClockTime abandonLimit = std::chrono::hours(1);
  /// Under Wait, number of responses that are stored for each sender. A
  /// restarted trainer can repeat this many requests (docs/Protocol.md). Under
  /// Abort, one response is stored.
  uint32_t keptResponses = 2;
  /// Number of responses that are stored for worker 0, if it is larger than
  /// `keptResponses`.
  uint32_t keptOfProcess = 0;
  /// Incarnation number of the first process of each trainer. Restarts get the
  /// following numbers. A restarted server uses a larger number, so that it
  /// recognizes trainers that a previous process of the server has admitted.
  uint64_t firstIncarnation = 1;
  /// Random number by which trainers distinguish this job from others.
  uint64_t jobId = 0;
  /// Maximum total size of the parts of one sender's next request, in bytes. 0
  /// if parts are not allowed.
  uint64_t maxPartBytes = 0;
  /// Under Wait, true if a restarted trainer can continue with the requests of
  /// its previous incarnation. If false, the job fails if a trainer that has
  /// sent requests fails, dies or is restarted, because requests for which
  /// others wait could never arrive.
  bool restartsContinue = true;
  /// Under Wait, true if the state is saved before a lost trainer ends the job
  /// (`ServerCore::pendingLoss`).
  bool savesBeforeLoss = false;
};

enum class JobState {
  Running,
  /// The job has ended: all trainers have left without an error.
  Finished,
  /// The job has failed. Requests are refused with the reason.
  Failed,
};

struct JobStatus {
  JobState state = JobState::Running;
  /// Reason of the failure; empty if the job has not failed.
  std::string message;
  /// Error code of the failure; PDL_OK if the job has not failed.
  pdl_status code = PDL_OK;

  /// Returns the failure as an error; success if the job has not failed.
  Status failure() const {
    return state == JobState::Failed ? Status(code, message) : Status();
  }
};

/// Protocol of one server of one job. Heartbeats, Leave messages and duplicates
/// are answered even while the application works. Thread-safe.
class ServerCore {
public:
  /// Creates a core that accepts no joins before `open`. Calls of the
  /// application run on `executor`. `executor` and `clock` must outlive the
  /// core.
  ServerCore(const ServerCoreOptions &options, Clock &clock,
             Executor &executor);
  /// Creates a core that accepts joins immediately and has no executor: threads
  /// of the transport call the application.
  ServerCore(const ServerCoreOptions &options, ServerApplication &application,
             Clock &clock);
  /// Waits for the call of the application in progress, and drops open
  /// requests. Listeners that call `handle` must have been destroyed before.
  ~ServerCore();
  ServerCore(const ServerCore &) = delete;
  ServerCore &operator=(const ServerCore &) = delete;

  /// Returns a handler that calls `screen`, then `handle`. The listener that
  /// gets it must be destroyed before the core.
  RequestHandler handler();
  /// Handles one request. Refuses malformed bytes without a change. Waits for
  /// the application only if the executor runs tasks within `run`. Calls
  /// `responder` without holding a lock.
  void handle(const Message &request, Responder responder);
  /// Checks a request of which only the front has arrived, at least its head.
  /// `size` is its whole size. Returns a refusal if the rest must not be read,
  /// otherwise nullopt. So a process that has not joined cannot make this
  /// process store large messages: a handshake, a request of a server (1 MiB)
  /// or a Read (`largestRead`) at most.
  std::optional<Message> screen(const Message &front, uint64_t size) const;

  /// Sets the status that is the response to joins before `open`, such as
  /// "loading saved/step-000000000100".
  void setProgress(const std::string &message);
  /// Accepts joins from now on. `application` must outlive the core.
  void open(ServerApplication &application);

  /// Requests a graceful shutdown of all trainers, in the responses to their
  /// heartbeats. The job ends when they have left. Until then, a trainer that
  /// is lost, has failed, or has not joined fails the job under both policies,
  /// because a graceful shutdown needs all trainers.
  void requestStop();

  /// Handler of requests from other servers of the job (MessageKind::Peer). It
  /// returns the payload of the response, or an error with the reason of a
  /// refusal. Threads of the transport call it, so it must return quickly. Set
  /// it before a listener gets `handler()`.
  using PeerHandler = std::function<Expected<Message>(const Message &payload)>;
  void respondToPeers(PeerHandler handler);
  /// Returns why the job cannot continue after the loss of a trainer, or
  /// nullopt if it can. Always nullopt without `savesBeforeLoss`. After such a
  /// loss the job still runs, but admits no restarted trainer. The caller must
  /// save the state and then call `fail`, which ends the job.
  std::optional<std::string> pendingLoss() const;
  /// Returns the progress of all senders that have joined.
  std::vector<SenderMark> marks() const;
  /// Task of `betweenRequests`, which runs it once on the executor, between two
  /// requests, with the progress of all senders. The state then contains all
  /// gradients whose senders have got a response. Afterwards `ended` is called
  /// once with the result of the task; an exception of the task is an error. If
  /// the job has ended, or if the core or the executor is destroyed before the
  /// task runs, `ended` gets an error and the task does not run. `ended` may
  /// run on any thread and must not throw. If `betweenRequests` throws
  /// std::bad_alloc, the task does not run, and `ended` may not be called.
  using BetweenTask = std::function<Status(const std::vector<SenderMark> &)>;
  using BetweenEnd = std::function<void(Status)>;
  void betweenRequests(BetweenTask task, BetweenEnd ended);

  JobStatus status() const;
  /// Returns a status line such as "waiting for the exchange of trainer 1 (3
  /// s)". Leaves out waits for requests that are shorter than `atLeast`.
  /// Returns an empty text if the job does not wait, or has ended.
  std::string waitingFor(ClockTime atLeast = ClockTime(0)) const;
  /// Returns true if that trainer has failed, has died, is silent, or was
  /// refused.
  bool isInTrouble(uint32_t rank) const;
  /// Returns the histogram of steps by which senders were ahead
  /// (`StalenessCounts`), for steps that formed no rounds. Waits for the call
  /// of the application in progress.
  StalenessCounts staleness() const;
  /// Fails the job with the error `failure` of this server. If there is a
  /// pending loss, the error code is that of the loss. Has no effect after the
  /// end of the job.
  void fail(const Status &failure);
  /// Fails the job with the error of the trainer in this process, which has
  /// ended. So the core does not wait until this trainer has been told of the
  /// end.
  void failWithTrainer(uint32_t rank, const Status &why);

  /// Calls `action` once when the job ends, or soon if it has already ended.
  /// `action` runs without a lock held, on the thread that ends the job or on a
  /// thread of the clock. A later call replaces the action.
  void whenOver(std::function<void()> action);
  /// Blocks until the job has ended, for at most `limit`. Returns true if it
  /// has ended. The clock must be a RealClock.
  bool waitUntilOver(std::chrono::nanoseconds limit) const;
  /// Returns true if no trainer has to be told of the end of the job any more:
  /// each trainer has left, or sends no messages, and all responses were passed
  /// to the transport. A server listens until then, or for some seconds at
  /// most, because a response may be lost, and a trainer may still join.
  bool allNotified() const;
  /// Blocks until `allNotified` is true, for at most `limit`. Returns its
  /// value. The clock must be a RealClock.
  bool waitUntilNotified(std::chrono::nanoseconds limit) const;

private:
  class State;
  std::shared_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_SERVERCORE_H
