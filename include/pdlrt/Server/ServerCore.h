//===- ServerCore.h - The protocol of a server ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The server's half of exactly-once: takes requests off a transport, sorts out
// copies and retries, forms rounds, watches who is there, and hands each
// request once to the application. Life signs never wait for work: what needs
// the application goes to an executor, all else is answered at once.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_SERVERCORE_H
#define PDLRT_SERVER_SERVERCORE_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Executor.h"
#include "pdlrt/Server/ServerApplication.h"
#include "pdlrt/Server/ServerCosts.h"
#include "pdlrt/Transport/Message.h"
#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace pdlrt {

/// What becomes of the job where a trainer is lost.
enum class FailurePolicy {
  /// It fails: all are told, and end.
  Abort,
  /// It waits until the trainer is back. Where all have left because they
  /// failed, the job fails.
  Wait,
};

struct ServerCoreOptions {
  /// Trainers of the job, ranks 0 to trainers - 1.
  uint32_t trainers = 1;
  /// Workers of a trainer that send by themselves, numbered from 1 on; 0 is the
  /// process. Rounds are worker 0's.
  uint32_t workersOfTrainer = 0;
  /// Of the map from blocks to servers; requests of another one are refused.
  uint64_t epoch = 0;
  /// A trainer that nothing has been heard of for that long, after its join, is
  /// lost. Zero: never.
  ClockTime silenceLimit = std::chrono::seconds(10);
  /// Under Abort: a trainer that has not joined for that long, after the
  /// server's start, is lost; under Wait, where none has joined. Less, a
  /// minute, where a start of its rank was refused that may have been meant for
  /// this job. Zero: never.
  ClockTime joinLimit = std::chrono::minutes(10);
  FailurePolicy onFailure = FailurePolicy::Abort;
  /// Under Wait, where new starts do not go on: the job has failed when no
  /// trainer at all was heard of for that long. Other servers may have failed
  /// it, and all who knew are gone. Zero: never.
  ClockTime abandonLimit = std::chrono::hours(1);
  /// Under Wait: how many answers of a sender are kept for a new start of its
  /// trainer, which goes back as far as that (docs/Protocol.md). Under Abort
  /// one is kept.
  uint32_t keptAnswers = 2;
  /// The same of its worker 0, if more.
  uint32_t keptOfProcess = 0;
  /// What the first start of a trainer is called; later ones count from there.
  /// A server that is started anew takes a larger one, so that it knows
  /// trainers of its life before.
  uint64_t firstIncarnation = 1;
  /// Tells this job from others for its trainers; a server draws it.
  uint64_t jobId = 0;
  /// What the parts of one sender's next request may have together; 0: requests
  /// come whole.
  uint64_t mostPartBytes = 0;
  /// Under Wait: whether a new start of a trainer goes on among the requests of
  /// an earlier one. If not, it fails the job, as does a trainer that has sent
  /// requests and then fails or dies: what is waited for cannot come.
  bool newStartsGoOn = true;
};

enum class JobState {
  Running,
  /// All trainers have left in order.
  Finished,
  /// Given up; requests are refused with the reason.
  Failed,
};

struct JobStatus {
  JobState state = JobState::Running;
  /// Why it failed.
  std::string sentence;
};

/// The protocol of one server of one job. Thread-safe. Beats, leaves and copies
/// are answered even while the application works.
class ServerCore {
public:
  /// Takes no joins before `open`. `executor` calls the application; it and
  /// `clock` outlive it.
  ServerCore(const ServerCoreOptions &options, Clock &clock,
             Executor &executor);
  /// Open from the start. Without an executor the application is called by the
  /// threads that bring requests.
  ServerCore(const ServerCoreOptions &options, ServerApplication &application,
             Clock &clock);
  /// Lets open requests go. Listeners that call `handle` must be gone.
  ~ServerCore();
  ServerCore(const ServerCore &) = delete;
  ServerCore &operator=(const ServerCore &) = delete;

  /// For a listener, which must go before the core: `screen`, then `handle`.
  RequestHandler handler();
  /// Handles one request. Bytes that are no request are refused and change
  /// nothing. Waits for the application only where the executor does.
  /// Responders are called without a lock held.
  void handle(const Message &request, Responder responder);
  /// The refusal of a request of which only the front is there, at least its
  /// head: who has not joined makes this process hold no more than a handshake.
  /// Nothing where all of it may be taken.
  std::optional<Message> screen(const Message &front, uint64_t size) const;

  /// What trainers that join before `open` are told, such as "loading
  /// saved/step-000000000100".
  void setProgress(const std::string &sentence);
  /// Takes joins from now on. `application` outlives the core.
  void open(ServerApplication &application);

  /// Asks trainers to stop, with the answers to their beats; the job then ends
  /// as they leave. Until then a trainer that is lost, or has left because it
  /// failed, or has not joined, fails the job under either policy: without it
  /// there is no stopping in order.
  void askToStop();

  JobStatus status() const;
  /// Who holds the job up, and since when, such as "waiting for the exchange of
  /// trainer 1 (3 s)"; empty if nobody does. A round that is open for less than
  /// `atLeast` holds nothing up.
  std::string waitingFor(ClockTime atLeast = ClockTime(0)) const;
  /// Of answers to steps that formed no rounds. Not while requests come.
  StalenessCounts staleness() const;
  /// Gives the job up for a reason of the server's own. No effect once it is
  /// over.
  void fail(const std::string &sentence);
  /// The same because of a trainer of this process. It has ended: nobody waits
  /// until it is told how the job has ended.
  void failWithTrainer(uint32_t rank, const std::string &why);

  /// Calls `action` once when the job is over, or soon if it is: by the thread
  /// that ends it, without a lock held. One action; a later call replaces it.
  void whenOver(std::function<void()> action);
  /// Blocks for at most `limit` of real time; whether the job is over. Needs a
  /// clock and a transport that run by themselves.
  bool waitUntilOver(std::chrono::nanoseconds limit) const;
  /// Whether each trainer knows the end of the job: it has left, or is silent,
  /// and all answers have been handed to the transport. A server goes on to
  /// listen until that is so, for some seconds at most: an answer that was sent
  /// may be lost, and a trainer may yet join.
  bool allTold() const;
  /// Blocks until then, for at most `limit` of real time; whether it is so.
  /// Needs a clock and a transport that run by themselves.
  bool waitUntilTold(std::chrono::nanoseconds limit) const;

private:
  class State;
  std::shared_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_SERVERCORE_H
