//===- ServerCore.cpp - The protocol of a server --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two locks. `mutex` guards who has sent what; it is held for moments, so that
// beats and copies are answered at any time. `applicationMutex` keeps calls of
// the application apart, and is taken before `mutex` where both are needed.
// Responders are called when neither is held.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/ServerCore.h"

#include "Server/Outbox.h"
#include "Server/Roster.h"
#include "pdlrt/Rpc/Frame.h"
#include "pdlrt/Server/ReplayGuard.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

using namespace pdlrt;

/// Copies of one open request that are held; attempts before have timed out.
static constexpr size_t heldCopies = 16;

class ServerCore::State : public std::enable_shared_from_this<State> {
public:
  State(const ServerCoreOptions &given, ServerApplication &on, Clock &by)
      : options(given), application(on), clock(by), roster(options, clock),
        guard(given.onFailure == FailurePolicy::Wait ? given.keptAnswers : 1) {
    round.payloads.resize(given.trainers);
  }

  void handle(const Message &request, Responder responder);
  void fail(const std::string &sentence);
  void close();
  void startWatching();

  JobStatus currentStatus() const {
    const std::lock_guard lock(mutex);
    return job;
  }
  std::string waitingFor(ClockTime atLeast) const {
    const std::lock_guard lock(mutex);
    return waitingSentence(atLeast);
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
  /// What has come of the current round. `payloads` and `next` belong to the
  /// application's lock, the rest to `mutex`.
  struct Round {
    bool open = false;
    MessageKind kind = MessageKind::Exchange;
    ClockTime since{0};
    std::vector<bool> contributed;
    std::vector<std::optional<Frame>> payloads;
    uint32_t next = 0;
  };
  using SenderKey = std::pair<uint32_t, uint32_t>;
  static SenderKey keyOf(const Envelope &head) {
    return {head.trainer, head.worker};
  }

  // Without a lock.
  void take(const Message &request, Responder responder, Outbox &out);
  std::string headFault(const Envelope &head) const;
  void join(const Frame &frame, Responder responder, Outbox &out);
  void work(Frame frame, Outbox &out);
  void workOnRound(Frame frame, Outbox &out);

  // With `mutex`.
  std::string joinFault(const Envelope &head) const;
  bool admit(const Frame &frame, Responder responder, Outbox &out);
  void beat(const Envelope &head, Responder responder, Outbox &out);
  void leave(const Frame &frame, Responder responder, Outbox &out);
  void answerSender(const Envelope &head, MessageKind kind,
                    const Message &payload, Outbox &out);
  void failWith(std::string sentence, Outbox &out);
  void endWith(JobState state, std::string sentence, Outbox &out);
  bool isTold() const {
    return job.state != JobState::Running && handlers == 0 &&
           roster.allLeftOrSilent();
  }
  std::string waitingSentence(ClockTime atLeast = ClockTime(0)) const;
  void watchAt(ClockTime when);
  void watch(ClockTime expected);

  const ServerCoreOptions options;
  ServerApplication &application;
  Clock &clock;

  std::mutex applicationMutex;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool closed = false;
  /// Requests whose responses are not all on their way yet.
  size_t handlers = 0;
  JobStatus job;
  std::function<void()> overAction;
  Roster roster;
  ReplayGuard guard;
  std::map<SenderKey, std::deque<Waiting>> waiting;
  Round round;
};

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

void ServerCore::State::handle(const Message &request, Responder responder) {
  {
    const std::lock_guard lock(mutex);
    ++handlers;
  }
  Outbox out;
  take(request, std::move(responder), out);
  out.send();
  const std::lock_guard lock(mutex);
  if (--handlers == 0 && job.state != JobState::Running)
    changed.notify_all();
}

void ServerCore::State::take(const Message &request, Responder responder,
                             Outbox &out) {
  auto frame = splitFrame(request);
  if (!frame) {
    out.refuse(std::move(responder), {}, frame.status().message());
    return;
  }
  const Envelope head = frame->head;
  if (const std::string fault = headFault(head); !fault.empty()) {
    out.refuse(std::move(responder), head, fault);
  } else if (head.kind == MessageKind::Join) {
    join(*frame, std::move(responder), out);
  } else {
    bool isFresh = false;
    {
      const std::lock_guard lock(mutex);
      if (closed)
        return;
      if (const std::string fence = roster.fenceFault(head); !fence.empty()) {
        out.refuse(std::move(responder), head, fence);
      } else {
        roster.heard(head.trainer);
        if (head.kind == MessageKind::Leave)
          leave(*frame, std::move(responder), out);
        else if (job.state == JobState::Failed)
          out.refuse(std::move(responder), head, job.sentence);
        else if (head.kind == MessageKind::Beat)
          beat(head, std::move(responder), out);
        else
          isFresh = admit(*frame, std::move(responder), out);
      }
    }
    if (isFresh)
      work(std::move(*frame), out);
  }
}

std::string ServerCore::State::headFault(const Envelope &head) const {
  if (head.kind == MessageKind::Answer || head.kind == MessageKind::Refusal)
    return std::string("a server takes requests, not an ") + nameOf(head.kind);
  if (head.trainer >= options.trainers)
    return trainerName(head.trainer) + " is not of this job, which has " +
           std::to_string(options.trainers) +
           " trainers with ranks from 0 on: start trainers and servers with "
           "the same number";
  if (head.worker > options.workersOfTrainer)
    return "worker " + std::to_string(head.worker) + " of " +
           trainerName(head.trainer) + " is not of this job, in which " +
           std::to_string(options.workersOfTrainer) +
           " workers of a trainer send by themselves";
  if (head.epoch != options.epoch)
    return trainerName(head.trainer) + " uses epoch " +
           std::to_string(head.epoch) + " of the map, this server epoch " +
           std::to_string(options.epoch) +
           ": start both from one list of servers";
  return {};
}

void ServerCore::State::beat(const Envelope &head, Responder responder,
                             Outbox &out) {
  out.add(std::move(responder), head, MessageKind::Answer,
          Message::ofString(waitingSentence()));
}

/// Sorts out copies; true for a new request, which is then worked on.
bool ServerCore::State::admit(const Frame &frame, Responder responder,
                              Outbox &out) {
  const Envelope &head = frame.head;
  if (roster.hasLeft(head.trainer)) {
    out.refuse(std::move(responder), head,
               trainerName(head.trainer) + " has left this job");
    return false;
  }
  switch (guard.admit(head, frame.note)) {
  case ReplayGuard::Verdict::Fresh:
    waiting[keyOf(head)].push_back({head, std::move(responder)});
    return true;
  case ReplayGuard::Verdict::Pending: {
    std::deque<Waiting> &copies = waiting[keyOf(head)];
    copies.push_back({head, std::move(responder)});
    if (copies.size() > heldCopies) {
      out.drop(std::move(copies.front().responder));
      copies.pop_front();
    }
    return false;
  }
  case ReplayGuard::Verdict::Repeat: {
    const ReplayGuard::StoredAnswer &answer = guard.answerTo(head);
    out.add(std::move(responder), head, answer.kind, answer.payload);
    return false;
  }
  case ReplayGuard::Verdict::Stale:
    return false;
  case ReplayGuard::Verdict::Gap:
    out.refuse(std::move(responder), head,
               trainerName(head.trainer) + " sends request " +
                   std::to_string(head.sequence) +
                   " out of turn: this is a fault of PDL, please report it");
    return false;
  case ReplayGuard::Verdict::Fenced:
  case ReplayGuard::Verdict::Unknown:
    out.refuse(std::move(responder), head,
               "worker " + std::to_string(head.worker) + " of " +
                   trainerName(head.trainer) +
                   " sends before its join: this is a fault of PDL, please "
                   "report it");
    return false;
  }
  return false;
}

void ServerCore::State::leave(const Frame &frame, Responder responder,
                              Outbox &out) {
  const Envelope &head = frame.head;
  out.add(std::move(responder), head, MessageKind::Answer, {});
  // A worker that ends says nothing of its process.
  if (roster.hasLeft(head.trainer) || head.worker != 0)
    return;
  const std::string failure = frame.payload.toString();
  roster.leave(head.trainer, failure);
  if (job.state != JobState::Running)
    return;
  if (!failure.empty()) {
    // Where all have failed, nobody is there to wait.
    if (options.onFailure == FailurePolicy::Abort || roster.allFailed())
      failWith(trainerName(head.trainer) + " failed: " + failure, out);
  } else if (round.open) {
    failWith(trainerName(head.trainer) +
                 " has left while others wait for its " + nameOf(round.kind) +
                 ": start all trainers with the same options",
             out);
  } else if (roster.allAreDone()) {
    endWith(JobState::Finished, {}, out);
  }
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

std::string ServerCore::State::joinFault(const Envelope &head) const {
  if (job.state == JobState::Failed)
    return job.sentence;
  if (job.state == JobState::Finished)
    return "the job is finished";
  return roster.joinFault(head);
}

void ServerCore::State::join(const Frame &frame, Responder responder,
                             Outbox &out) {
  const Envelope &head = frame.head;
  const std::lock_guard applicationLock(applicationMutex);
  std::string fault;
  {
    const std::lock_guard lock(mutex);
    if (closed)
      return;
    fault = joinFault(head);
  }
  if (!fault.empty()) {
    out.refuse(std::move(responder), head, fault);
    return;
  }
  auto reply = application.join(head, frame.payload);
  if (!reply) {
    out.refuse(std::move(responder), head, reply.status().message());
    return;
  }

  const std::lock_guard lock(mutex);
  // The job may have ended meanwhile.
  fault = joinFault(head);
  if (!fault.empty()) {
    out.refuse(std::move(responder), head, fault);
    return;
  }
  const auto next = guard.join(head);
  if (!next) {
    out.refuse(std::move(responder), head, next.status().message());
    return;
  }
  if (roster.join(head)) {
    if (*next > 1 && !options.newStartsGoOn) {
      failWith(trainerName(head.trainer) +
                   " was started anew in the middle of the job, and trainers "
                   "of this mode cannot go on where they were: start all "
                   "again, with --resume where there is a checkpoint",
               out);
      out.refuse(std::move(responder), head, job.sentence);
      return;
    }
    // Requests of the earlier start stay in their round; nobody waits there.
    for (auto &[key, copies] : waiting)
      if (key.first == head.trainer)
        for (Waiting &copy : std::exchange(copies, {}))
          out.refuse(std::move(copy.responder), copy.head,
                     roster.fenceFault(copy.head));
  }
  roster.heard(head.trainer);
  Envelope answer = head;
  answer.sequence = *next;
  out.add(std::move(responder), answer, MessageKind::Answer, *reply,
          encodeNotes(guard.notesOf(head)));
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Keeps the answer and sends it to all copies.
void ServerCore::State::answerSender(const Envelope &head, MessageKind kind,
                                     const Message &payload, Outbox &out) {
  if (job.state == JobState::Failed)
    return;
  guard.answered(head, payload, kind);
  for (Waiting &copy : std::exchange(waiting[keyOf(head)], {}))
    out.add(std::move(copy.responder), copy.head, kind, payload);
}

void ServerCore::State::work(Frame frame, Outbox &out) {
  const Envelope head = frame.head;
  const std::lock_guard applicationLock(applicationMutex);
  {
    const std::lock_guard lock(mutex);
    if (closed || job.state != JobState::Running)
      return;
  }
  const bool formsRound = application.formsRounds(head.kind);
  std::string fault;
  if (const Status status = application.check(head, frame.payload);
      !status.ok())
    fault = status.message();
  else if (formsRound && head.worker != 0)
    fault = "worker " + std::to_string(head.worker) + " of " +
            trainerName(head.trainer) + " sends its " + nameOf(head.kind) +
            " by itself, but one is due for the whole trainer";
  if (!fault.empty()) {
    const std::lock_guard lock(mutex);
    answerSender(head, MessageKind::Refusal, Message::ofString(fault), out);
  } else if (formsRound) {
    workOnRound(std::move(frame), out);
  } else {
    const Message payload = application.handle(head, std::move(frame.payload));
    const std::lock_guard lock(mutex);
    answerSender(head, MessageKind::Answer, payload, out);
  }
}

void ServerCore::State::workOnRound(Frame frame, Outbox &out) {
  const MessageKind kind = frame.head.kind;
  const uint32_t rank = frame.head.trainer;
  {
    const std::lock_guard lock(mutex);
    if (round.open && round.kind != kind) {
      const auto first =
          std::find(round.contributed.begin(), round.contributed.end(), true) -
          round.contributed.begin();
      answerSender(frame.head, MessageKind::Refusal,
                   Message::ofString(
                       trainerName(rank) + " sends its " + nameOf(kind) +
                       " while " + trainerName(static_cast<uint32_t>(first)) +
                       " waits with its " + nameOf(round.kind) +
                       ": start all trainers with the same options"),
                   out);
      return;
    }
    if (const auto other = roster.firstThatIsDone()) {
      failWith(trainerName(*other) + " has left, but " + trainerName(rank) +
                   " goes on with its " + nameOf(kind) +
                   ": start all trainers with the same options",
               out);
      return;
    }
    if (!round.open) {
      round.open = true;
      round.kind = kind;
      round.since = clock.now();
      round.contributed.assign(options.trainers, false);
    }
    round.contributed[rank] = true;
  }

  round.payloads[rank] = std::move(frame);
  for (; round.next < options.trainers; ++round.next) {
    std::optional<Frame> &due = round.payloads[round.next];
    if (!due)
      return;
    application.contribute(due->head, std::move(due->payload));
  }
  Expected<std::vector<Message>> finished = application.closeRound(kind);

  const std::lock_guard lock(mutex);
  round.open = false;
  round.next = 0;
  if (!finished) {
    for (std::optional<Frame> &payload : round.payloads)
      payload.reset();
    failWith(finished.status().message(), out);
    return;
  }
  const std::vector<Message> &answers = *finished;
  const bool isWhole = answers.size() == options.trainers;
  for (uint32_t each = 0; each < options.trainers; ++each) {
    const auto contribution = std::exchange(round.payloads[each], std::nullopt);
    if (isWhole && contribution)
      answerSender(contribution->head, MessageKind::Answer, answers[each], out);
  }
  if (!isWhole)
    failWith("the server's " + std::string(nameOf(kind)) + " gave " +
                 std::to_string(answers.size()) + " answers for " +
                 std::to_string(options.trainers) +
                 " trainers: this is a fault of PDL, please report it",
             out);
}

//===----------------------------------------------------------------------===//
// The job's end
//===----------------------------------------------------------------------===//

void ServerCore::State::failWith(std::string sentence, Outbox &out) {
  if (job.state != JobState::Running)
    return;
  endWith(JobState::Failed, std::move(sentence), out);
  for (auto &[key, copies] : waiting)
    for (Waiting &copy : std::exchange(copies, {}))
      out.refuse(std::move(copy.responder), copy.head, job.sentence);
}

void ServerCore::State::endWith(JobState state, std::string sentence,
                                Outbox &out) {
  job = {state, std::move(sentence)};
  out.whenSent(std::exchange(overAction, nullptr));
  changed.notify_all();
}

void ServerCore::State::fail(const std::string &sentence) {
  Outbox out;
  {
    const std::lock_guard lock(mutex);
    failWith(sentence, out);
  }
  out.send();
}

void ServerCore::State::whenOver(std::function<void()> action) {
  const std::lock_guard lock(mutex);
  if (job.state == JobState::Running)
    overAction = std::move(action);
  else
    clock.runAt(clock.now(), std::move(action));
}

bool ServerCore::State::waitUntilTold(std::chrono::nanoseconds limit) const {
  // Silence is no event.
  constexpr std::chrono::milliseconds interval(100);
  const auto end = std::chrono::steady_clock::now() + limit;
  std::unique_lock lock(mutex);
  while (!isTold()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end)
      return false;
    changed.wait_until(lock, std::min<decltype(end)>(end, now + interval));
  }
  return true;
}

void ServerCore::State::close() {
  // Waits for a request that is worked on: the application goes next.
  const std::lock_guard applicationLock(applicationMutex);
  std::map<SenderKey, std::deque<Waiting>> dropped;
  const std::lock_guard lock(mutex);
  closed = true;
  dropped.swap(waiting);
  overAction = nullptr;
}

//===----------------------------------------------------------------------===//
// Who is there
//===----------------------------------------------------------------------===//

void ServerCore::State::startWatching() {
  if (roster.watchInterval() > ClockTime(0))
    watchAt(clock.now() + roster.watchInterval());
}

void ServerCore::State::watchAt(ClockTime when) {
  clock.runAt(when, [weak = weak_from_this(), when] {
    if (const auto self = weak.lock())
      self->watch(when);
  });
}

void ServerCore::State::watch(ClockTime expected) {
  Outbox out;
  {
    const std::lock_guard lock(mutex);
    if (closed)
      return;
    const ClockTime late = clock.now() - expected;
    if (late > roster.watchInterval())
      roster.forgive(late);
    if (options.onFailure == FailurePolicy::Abort)
      for (uint32_t rank = 0; rank < options.trainers; ++rank)
        if (const std::string fault = roster.absenceOf(rank); !fault.empty())
          failWith(fault, out);
    watchAt(clock.now() + roster.watchInterval());
  }
  out.send();
}

std::string ServerCore::State::waitingSentence(ClockTime atLeast) const {
  if (job.state != JobState::Running)
    return {};
  std::vector<uint32_t> due = roster.notJoined();
  if (!due.empty())
    return "waiting for " + trainerNames(due) + " to join (" +
           inSeconds(roster.sinceStart()) + ")";

  const ClockTime now = clock.now();
  std::string troubles;
  for (uint32_t rank = 0; rank < options.trainers; ++rank) {
    const std::string trouble = roster.troubleOf(rank);
    if (!trouble.empty())
      troubles += (troubles.empty() ? "" : "; ") + trouble;
    if (round.open && now - round.since >= atLeast && !round.contributed[rank])
      due.push_back(rank);
  }
  if (!due.empty())
    return "waiting for the " + std::string(nameOf(round.kind)) + " of " +
           trainerNames(due) + " (" + inSeconds(now - round.since) +
           (troubles.empty() ? "" : "; " + troubles) + ")";
  return troubles.empty() ? "" : "waiting: " + troubles;
}

//===----------------------------------------------------------------------===//
// ServerCore
//===----------------------------------------------------------------------===//

ServerCore::ServerCore(const ServerCoreOptions &options,
                       ServerApplication &application, Clock &clock)
    : state(std::make_shared<State>(options, application, clock)) {
  state->startWatching();
}
ServerCore::~ServerCore() { state->close(); }
void ServerCore::handle(const Message &request, Responder responder) {
  state->handle(request, std::move(responder));
}
JobStatus ServerCore::status() const { return state->currentStatus(); }
std::string ServerCore::waitingFor(ClockTime atLeast) const {
  return state->waitingFor(atLeast);
}
void ServerCore::fail(const std::string &sentence) { state->fail(sentence); }
void ServerCore::whenOver(std::function<void()> action) {
  state->whenOver(std::move(action));
}
bool ServerCore::waitUntilOver(std::chrono::nanoseconds limit) const {
  return state->waitUntilOver(limit);
}
bool ServerCore::allTold() const { return state->allTold(); }
bool ServerCore::waitUntilTold(std::chrono::nanoseconds limit) const {
  return state->waitUntilTold(limit);
}
