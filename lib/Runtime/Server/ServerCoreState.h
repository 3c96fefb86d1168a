//===- ServerCoreState.h - What a server knows of its job -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two locks. `mutex` guards who has sent what; it is held for moments, so that
// beats, leaves and copies are answered at any time. `applicationMutex` keeps
// calls of the application apart, and is taken before `mutex` where both are
// needed. Responders are called when neither is held.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_SERVERCORESTATE_H
#define LIB_RUNTIME_SERVER_SERVERCORESTATE_H

#include "Server/OpenRound.h"
#include "Server/Outbox.h"
#include "Server/Roster.h"
#include "pdlrt/Protocol/PartBox.h"
#include "pdlrt/Protocol/ReplayGuard.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Transport/Frame.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pdlrt {

/// Why a new start of a trainer fails the job, behind who it is.
inline constexpr const char *thatCannotComeBack =
    " trainers of this mode cannot go on where they were: start all again, "
    "with --resume where there is a checkpoint";

class ServerCore::State : public std::enable_shared_from_this<State> {
public:
  State(const ServerCoreOptions &given, Clock &by, Executor &on)
      : options(given), clock(by), executor(on), roster(options, clock),
        guard(given.onFailure == FailurePolicy::Wait ? given.keptAnswers : 1,
              given.onFailure == FailurePolicy::Wait ? given.keptOfProcess : 1),
        parts(given.mostPartBytes), steps(given.trainers), sums(given.trainers),
        progress(given.trainers) {}

  void handle(const Message &request, Responder responder);
  std::optional<Message> screen(const Message &front, uint64_t size) const;
  void setProgress(const std::string &sentence);
  void open(ServerApplication &with);
  void askToStop();
  void fail(const std::string &sentence);
  void failWithTrainer(uint32_t rank, const std::string &why);
  void close();
  void startWatching() { watchAt(clock.now() + roster.watchInterval()); }

  JobStatus currentStatus() const {
    const std::lock_guard lock(mutex);
    return job;
  }
  std::string waitingFor(ClockTime atLeast) const {
    const std::lock_guard lock(mutex);
    return waitingSentence(atLeast);
  }
  StalenessCounts staleness() {
    const std::lock_guard applicationLock(applicationMutex);
    return ahead;
  }
  void whenOver(std::function<void()> action);
  bool waitUntilOver(std::chrono::nanoseconds limit) const {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, limit,
                            [this] { return job.state != JobState::Running; });
  }
  bool waitUntilTold(std::chrono::nanoseconds limit) const;
  bool allTold() const {
    const std::lock_guard lock(mutex);
    return isTold();
  }

private:
  /// Copies of a request whose answer is to come.
  struct Waiting {
    Envelope head;
    Responder responder;
  };
  /// A request of who is not of the job.
  struct Reader {
    Envelope head;
    Message payload;
    Responder responder;
  };
  using SenderKey = std::pair<uint32_t, uint32_t>;
  static SenderKey keyOf(const Envelope &head) {
    return {head.trainer, head.worker};
  }

  // Without a lock.
  void take(const Message &request, Responder responder, Outbox &out);
  std::string headFault(const Envelope &head) const;
  std::string sizeFault(const Envelope &head, uint64_t size) const;
  std::string partsFault(const Frame &frame) const;
  /// Runs `step`; where memory does not suffice the job fails, with what this
  /// process `did`.
  template <typename Step>
  void withMemory(Outbox &out, const std::string &did, Step step);
  void takeJoin(const Frame &frame, Responder responder, Outbox &out);
  /// Lets the executor run `task`, whose letters are sent after it; it is what
  /// the server does with a request.
  void enqueue(const Envelope &head,
               std::function<void(State &self, Outbox &out)> task);
  void join(const Frame &frame, const StartSign &start, Responder responder,
            Outbox &out);
  void work(Frame frame, Outbox &out);

  // Of readers, without a lock.
  std::optional<Message> screenReader(Envelope head, uint64_t size) const;
  void handleReader(const Envelope &head, const Message &request,
                    Responder responder);
  void serveReaders();
  void serveOneReader();

  // With `applicationMutex`.
  void workAlone(Frame frame, const StepFacts &facts, Outbox &out);
  void workInRound(Frame frame, const StepFacts &facts, Outbox &out);
  void noteProgress(const Envelope &head, const StepFacts &facts);
  bool take(const Envelope &head, Message payload, Turn turn, Outbox &out);
  void closeIfComplete(OpenRound &round, Outbox &out);
  void answer(const std::vector<Envelope> &heads, Outbox &out);
  void answerHeld(Outbox &out);
  void countStaleness(const Envelope &head);
  /// Where rounds of steps do not wait for all, sums have rounds beside them.
  OpenRound &roundOf(MessageKind kind) {
    return kind == MessageKind::Reduce &&
                   !application->roundPolicy().waitsForAll(
                       MessageKind::Exchange)
               ? sums
               : steps;
  }
  /// A request, or task, that is handled until all of its letters are on their
  /// way, or it is let go.
  class Handling {
  public:
    explicit Handling(std::shared_ptr<State> of);
    ~Handling();
    Handling(const Handling &) = delete;
    Handling &operator=(const Handling &) = delete;

    const std::shared_ptr<State> state;
  };

  // With `mutex`.
  bool isStopping() const { return stopSince >= ClockTime(0); }
  bool waitsForLost() const {
    return options.onFailure == FailurePolicy::Wait && !isStopping();
  }
  /// Whether a new start of that trainer could not go on where it was.
  bool cannotComeBack(uint32_t rank) const {
    return !options.newStartsGoOn && guard.hasRequestsOf(rank);
  }
  /// Why nobody can join any more; empty if somebody can.
  std::string joinFault() const;
  void answerWait(const Envelope &head, std::string sentence,
                  Responder responder, Outbox &out);
  std::string readerFault(const Envelope &head, uint64_t size) const;
  std::string fenceFault(const Envelope &head) const;
  bool admit(Frame &frame, Responder responder, Outbox &out);
  bool takePart(Frame &frame, Responder responder, Outbox &out);
  bool isWhole(Frame &frame, Outbox &out);
  void hold(const Envelope &head, Responder responder, Outbox &out);
  void answerAsked(const Envelope &head, Responder responder, Outbox &out);
  void sort(const Envelope &head, ReplayGuard::Verdict verdict,
            Responder responder, Outbox &out);
  const OpenRound *roundThatWaitsFor(uint32_t trainer) const;
  void beat(const Frame &frame, Responder responder, Outbox &out);
  void leave(const Frame &frame, Responder responder, Outbox &out);
  void answerSender(const Envelope &head, MessageKind kind,
                    const Message &payload, Outbox &out);
  void beginStop(Outbox &out);
  void checkWhoIsThere(Outbox &out);
  void checkWhoMayComeBack(Outbox &out);
  void failWith(std::string sentence, Outbox &out);
  void endWith(JobState state, std::string sentence, Outbox &out);
  bool isTold() const {
    return job.state != JobState::Running && handlers == 0 &&
           roster.allAreGone(/*mayJoin=*/!isStopping());
  }
  std::string waitingSentence(ClockTime atLeast = ClockTime(0)) const;
  void watchAt(ClockTime when);
  void watch(ClockTime expected);

  const ServerCoreOptions options;
  Clock &clock;
  Executor &executor;

  std::mutex applicationMutex;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  /// Null until `open`; never changes again.
  ServerApplication *application = nullptr;
  std::string loading = "starting";
  bool closed = false;
  /// When somebody asked to stop; negative: nobody has.
  ClockTime stopSince{-1};
  /// Requests whose responses are not all on their way yet.
  size_t handlers = 0;
  JobStatus job;
  std::function<void()> overAction;
  Roster roster;
  ReplayGuard guard;
  PartBox parts;
  std::map<SenderKey, std::deque<Waiting>> waiting;
  /// Greets and joins that the executor has: sender, kind and start.
  using OpenJoin = std::tuple<SenderKey, MessageKind, uint64_t, uint64_t>;
  static OpenJoin openJoinOf(const Envelope &head, const StartSign &start) {
    return {keyOf(head), head.kind, head.incarnation, start.id};
  }
  std::set<OpenJoin> openJoins;
  OpenRound steps, sums;
  /// Those that wait, and whether the executor has a task for one of them.
  std::deque<Reader> readers;
  bool servesReaders = false;
  /// Who holds up those that are held back, and since when.
  std::vector<uint32_t> slowTrainers;
  ClockTime heldSince{0};

  // Of the application's lock.
  StepProgress progress;
  StalenessCounts ahead;
  /// A request that was taken, and whose answer may be held back.
  struct Held {
    Envelope head;
    /// It brought gradients.
    bool endsStep;
  };
  std::vector<Held> held;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_SERVERCORESTATE_H
