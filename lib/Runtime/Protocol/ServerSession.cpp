//===- ServerSession.cpp - One sender's requests to one server ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerSession.h"

#include "Protocol/SentParts.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Core/ProcessIdentity.h"
#include "pdlrt/Protocol/JoinAnswer.h"
#include "pdlrt/Protocol/LifeSign.h"
#include "pdlrt/Protocol/PartBox.h"
#include "pdlrt/Transport/Frame.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

using namespace pdlrt;

ServerSession::~ServerSession() = default;

/// A silence of less is no news.
static constexpr ClockTime reportedSilence = std::chrono::seconds(3);

namespace {

/// What the callbacks share; they hold it weakly.
///
/// `mutex` guards the fields and is never held while a callback runs.
/// `ending` is held while one runs, so that the destructor can wait for it; it
/// is recursive, because a callback may send, or destroy the session.
class SessionState : public std::enable_shared_from_this<SessionState> {
public:
  SessionState(Transport &on, const std::string &to, const std::string &called,
               const SenderName &from, const RetryOptions &given,
               SessionEvents tell, std::unique_ptr<Connection> over)
      : where(to), name(called.empty() ? "server " + to : called),
        transport(on), clock(on.clock()), options(given),
        events(std::move(tell)), sender(from), connection(std::move(over)) {}

  void send(MessageKind kind, const Message &payload, RequestDone done);
  void close();

  uint64_t offeredIncarnation() const {
    const std::lock_guard lock(mutex);
    return offered;
  }
  bool earlierStartIsDone() const {
    const std::lock_guard lock(mutex);
    return earlierIsDone;
  }
  bool hasJoined() const {
    const std::lock_guard lock(mutex);
    return joined;
  }
  uint64_t jobId() const {
    const std::lock_guard lock(mutex);
    return job;
  }
  void becomeStart(uint64_t incarnation, StartSign::Claim claim) {
    const std::lock_guard lock(mutex);
    sender.incarnation = incarnation;
    sender.start.claim = claim;
  }
  uint64_t nextSequence() const {
    const std::lock_guard lock(mutex);
    return next;
  }
  void continueFrom(uint64_t sequence) {
    const std::lock_guard lock(mutex);
    next = sequence;
  }
  void sendPart(uint64_t part, const Message &bytes,
                std::function<void()> arrived);
  std::unique_ptr<Connection> connectAgain() noexcept;
  void dropParts() noexcept;
  void placeParts(std::vector<PartPlace> places) {
    const std::lock_guard lock(mutex);
    nextPlaces = std::move(places);
  }
  void leaveNote(Message note) {
    const std::lock_guard lock(mutex);
    nextNote = std::move(note);
  }
  std::vector<NumberedNote> notes() const {
    const std::lock_guard lock(mutex);
    return earlierNotes;
  }
  bool serverIsLost() const {
    const std::lock_guard lock(mutex);
    return isLost;
  }
  void noteLostServer() {
    const std::lock_guard lock(mutex);
    lostElsewhere = true;
  }
  bool placeIsTaken() const {
    const std::lock_guard lock(mutex);
    return placeTaken;
  }
  std::string waitingFor() const {
    const std::lock_guard lock(mutex);
    // What it said before says nothing of now.
    return silentFor() > reportedSilence
               ? "not heard of for " + inSeconds(silentFor())
               : waitingSentence;
  }
  ClockTime silence() const {
    const std::lock_guard lock(mutex);
    return silentFor();
  }
  Status whyFailed() const {
    const std::lock_guard lock(mutex);
    return failure;
  }

  const std::string where, name;

private:
  struct OpenRequest {
    uint64_t number = 0;
    Envelope head;
    Message message;
    RequestDone done;
    /// The server may have it: it is asked before all bytes are sent again.
    bool mayBeThere = false;
    /// It was asked, and has not: it is sent again at once.
    bool isMissed = false;
    ClockTime since{0};
    ClockTime pause{0};
    ClockTime attemptTime{0};
    /// Its answer, while calls with its parts have not ended: these may still
    /// read the bytes.
    std::optional<Expected<Message>> answer;
  };

  Envelope headOf(MessageKind kind, uint64_t sequence) const {
    return {kind,          sender.trainer,
            sender.worker, kind == MessageKind::Greet ? 0 : sender.incarnation,
            sequence,      sender.epoch};
  }
  /// The open request, if it is that one; with `mutex`.
  OpenRequest *findOpen(uint64_t number) {
    return !closed && open && open->number == number ? &*open : nullptr;
  }
  /// A trainer that has joined, and does not know it, sends no beats: a join is
  /// repeated before it counts as silent.
  ClockTime firstAttemptTime(MessageKind kind) const {
    return asksToJoin(kind) && options.silenceLimit > ClockTime(0)
               ? std::min<ClockTime>(options.attemptDeadline,
                                     options.silenceLimit / 2)
               : options.attemptDeadline;
  }
  ClockTime longerPause(ClockTime pause) const {
    return pause == ClockTime(0)
               ? options.firstPause
               : std::min<ClockTime>(2 * pause, options.longestPause);
  }
  ClockTime longerAttempt(ClockTime time) const {
    return std::min<ClockTime>(2 * time, 32 * options.attemptDeadline);
  }
  /// Calls `then` of this session at a time, if it still exists.
  template <typename Action> void later(ClockTime when, Action then) {
    clock.runAt(when, [weak = weak_from_this(), then = std::move(then)] {
      if (const auto self = weak.lock())
        then(*self);
    });
  }

  /// Ends a request soon: not within the call that finds the fault. With
  /// `mutex`.
  void reject(RequestDone done, Status status);
  void endRejected();
  void attempt(uint64_t number);
  void attemptEnded(uint64_t number, const CallResult &result);
  void attemptAgain(uint64_t number);
  void attemptPart(uint64_t sequence, uint64_t part);
  void partEnded(const Envelope &head, uint64_t part, const CallResult &result);
  std::function<void()> takePartEnd(const Envelope &head, uint64_t part,
                                    const CallResult &result);
  /// Runs `step`; where memory does not suffice the session fails: a part that
  /// is not repeated would be waited for in vain.
  template <typename Step> void withMemory(Step step);
  void endAnswered();
  /// The response's payload, or the server's refusal; nothing where it is no
  /// response to that request.
  std::optional<Expected<Message>> readResponse(const Message &response,
                                                const Envelope &head);
  void greetAgain(const Envelope &head, const Message &greeting);
  void greetEnded(const Envelope &head, const CallResult &result);
  void takeJoinAnswer(MessageKind asked, uint64_t sequence, JoinAnswer said);
  /// Says which process the server is; with `mutex`.
  void learnProcess(const ProcessIdentity &said);
  void beat(ClockTime expected);
  void beatEnded(const Envelope &head, const CallResult &result);
  void takeWait(const Envelope &head, const Message &payload);
  void takeSign(const Message &payload);
  /// As failWith(), of a server that is not there any more.
  void loseServer(const Status &status);
  /// Nothing but a Leave is sent from now on.
  void failWith(const Status &status);
  void finish(uint64_t number, Expected<Message> result);

  ClockTime beatInterval() const {
    return std::max<ClockTime>(options.beatInterval,
                               std::chrono::milliseconds(1));
  }
  /// Since the first beat that was not answered; with `mutex`.
  ClockTime silentFor() const {
    return joined && askedSince > lastHeard ? clock.now() - askedSince
                                            : ClockTime(0);
  }
  /// Whether the server may still be there, after a call without an answer;
  /// false where that has ended the session.
  bool mayBeThere(const CallResult &result);
  bool checkProcess();
  /// What it means for a server that has gone if this process did not run for
  /// long: part of a sentence. With `mutex`.
  std::string describeStop() const;

  Transport &transport;
  Clock &clock;
  const RetryOptions options;
  const SessionEvents events;

  std::recursive_mutex ending;
  mutable std::mutex mutex;
  SenderName sender;
  uint64_t offered = 0;
  bool earlierIsDone = false;
  /// The greeting is repeated at each beat until the join.
  bool greetsAgain = false;
  uint64_t job = 0;
  std::unique_ptr<Connection> connection;
  bool closed = false;
  bool joined = false;
  Status failure;
  bool placeTaken = false;
  /// The server is lost; another one of the job is.
  bool isLost = false, lostElsewhere = false;
  uint64_t next = 1;
  uint64_t lastNumber = 0;
  std::optional<OpenRequest> open;
  std::vector<std::pair<RequestDone, Status>> rejected;
  ClockTime lastHeard{0};
  /// When the first beat was sent since then; earlier than it: none was.
  ClockTime askedSince{-1};
  /// Where the server's process is of this host.
  ProcessIdentity process;
  /// Since when the address has refused connections, and when it did so last;
  /// negative: it does not.
  ClockTime refusedSince{-1}, refusedLast{-1};
  /// When the next beat is due, and the longest time after that in which this
  /// process did not run.
  ClockTime beatDue{0}, longestStop{0};
  /// Another connection, of a server that is silent.
  std::unique_ptr<Connection> fresh;
  std::string waitingSentence;
  Message nextNote;
  std::vector<PartPlace> nextPlaces;
  SentParts parts;
  /// The end of a call that brought a part.
  std::condition_variable partCallEnded;
  std::vector<NumberedNote> earlierNotes;
};

void SessionState::send(MessageKind kind, const Message &payload,
                        RequestDone done) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex);
    Status fault;
    if (!asksToJoin(kind) && !joined)
      fault = Status::internal(name + ": " + nameOf(kind) +
                               " is sent before the join");
    else if (kind != MessageKind::Leave && open)
      fault = Status::internal(name + ": " + nameOf(kind) +
                               " is sent while another request is open");
    else if (kind != MessageKind::Leave)
      fault = failure;
    if (!fault.ok()) {
      reject(std::move(done), std::move(fault));
      return;
    }
    if (open)
      reject(std::move(open->done),
             Status::invalid(name + ": this trainer has left"));
    if (kind == MessageKind::Leave)
      parts.clear();
    const bool isNumbered = !asksToJoin(kind) && kind != MessageKind::Leave;
    number = ++lastNumber;
    OpenRequest request;
    request.number = number;
    request.head = headOf(kind, isNumbered ? next++ : 0);
    request.message = joinFrame(
        request.head, payload,
        isNumbered         ? std::exchange(nextNote, {})
        : asksToJoin(kind) ? encodeStartSign(sender.start)
        : kind == MessageKind::Leave && lostElsewhere
            ? Message::ofString(noteOfLostServer)
            : Message(),
        isNumbered ? std::exchange(nextPlaces, {}) : std::vector<PartPlace>());
    request.done = std::move(done);
    request.since = clock.now();
    request.attemptTime = firstAttemptTime(kind);
    open = std::move(request);
  }
  attempt(number);
}

template <typename Step> void SessionState::withMemory(Step step) {
  std::string fault;
  try {
    step();
    return;
  } catch (const std::bad_alloc &error) {
    fault = describeOutOfMemory(error, "sent gradients early");
  }
  failWith(Status::outOfMemory(std::move(fault)));
}

void SessionState::sendPart(uint64_t part, const Message &bytes,
                            std::function<void()> arrived) {
  uint64_t sequence = 0;
  Status fault;
  {
    const std::lock_guard lock(mutex);
    if (closed || !failure.ok())
      return;
    if (!joined || open)
      fault = Status::internal(
          name + ": a part of a request is sent " +
          (joined ? "while a request is open" : "before the join"));
    else {
      sequence = next;
      SentPart sent;
      sent.head = headOf(MessageKind::Part, sequence);
      sent.message = joinFrame(sent.head, encodePart(part, bytes));
      sent.arrived = std::move(arrived);
      sent.attemptTime = options.attemptDeadline;
      parts.add(part, std::move(sent));
    }
  }
  if (fault.ok())
    attemptPart(sequence, part);
  else
    failWith(fault);
}

void SessionState::attemptPart(uint64_t sequence, uint64_t part) {
  withMemory([&] {
    const std::lock_guard lock(mutex);
    const SentPart *sent = parts.find(sequence, part);
    if (closed || !failure.ok() || !sent || (open && open->answer))
      return;
    SentParts::Call call(parts);
    connection->call(sent->message, clock.now() + sent->attemptTime,
                     [weak = weak_from_this(), head = sent->head,
                      part](const CallResult &result) {
                       if (const auto self = weak.lock())
                         self->partEnded(head, part, result);
                     });
    call.isUnderWay();
  });
}

/// What comes of a call's end; returns what tells the sender that the part has
/// arrived, if it has.
std::function<void()> SessionState::takePartEnd(const Envelope &head,
                                                uint64_t part,
                                                const CallResult &result) {
  std::optional<Expected<Message>> response;
  if (result.outcome == CallOutcome::Answered)
    response = readResponse(result.response, head);
  else
    mayBeThere(result);
  if (response && !response->ok())
    failWith(response->status());
  const std::lock_guard lock(mutex);
  SentPart *sent = parts.find(head.sequence, part);
  if (!sent || (response && !response->ok()))
    return {};
  if (response) {
    sent->isThere = true;
    sent->message = {};
    return std::move(sent->arrived);
  }
  if (result.outcome == CallOutcome::DeadlineExceeded)
    sent->attemptTime = longerAttempt(sent->attemptTime);
  sent->pause = longerPause(sent->pause);
  later(clock.now() + sent->pause,
        [sequence = head.sequence, part](SessionState &self) {
          self.attemptPart(sequence, part);
        });
  return {};
}

void SessionState::partEnded(const Envelope &head, uint64_t part,
                             const CallResult &result) {
  std::function<void()> arrived;
  withMemory([&] { arrived = takePartEnd(head, part, result); });
  // Before the request can end: an arrival belongs to its step.
  if (arrived)
    arrived();
  {
    const std::lock_guard lock(mutex);
    parts.callEnds();
  }
  partCallEnded.notify_all();
  endAnswered();
}

/// Another connection; null where there is none to have.
std::unique_ptr<Connection> SessionState::connectAgain() noexcept {
  try {
    auto made = transport.connect(where);
    return made ? std::move(*made) : nullptr;
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void SessionState::dropParts() noexcept {
  std::unique_ptr<Connection> old;
  {
    std::unique_lock lock(mutex);
    parts.clear();
    if (closed || !parts.areRead())
      return;
    if (auto made = connectAgain())
      old = std::exchange(connection, std::move(made));
    // Its calls end by themselves too, later.
    else
      partCallEnded.wait(lock, [this] { return !parts.areRead(); });
  }
  // Which ends its calls; a request that was among them is sent again.
  old.reset();
}

/// Ends a request whose answer has come, when no call reads its parts any more.
void SessionState::endAnswered() {
  uint64_t number = 0;
  std::optional<Expected<Message>> answer;
  {
    const std::lock_guard lock(mutex);
    if (!open || !open->answer || parts.areRead())
      return;
    number = open->number;
    answer.swap(open->answer);
  }
  finish(number, std::move(*answer));
}

void SessionState::reject(RequestDone done, Status status) {
  rejected.emplace_back(std::move(done), std::move(status));
  later(clock.now(), [](SessionState &self) { self.endRejected(); });
}

void SessionState::endRejected() {
  const std::lock_guard wait(ending);
  std::vector<std::pair<RequestDone, Status>> due;
  {
    const std::lock_guard lock(mutex);
    due.swap(rejected);
  }
  for (auto &[done, status] : due)
    done(std::move(status));
}

void SessionState::attempt(uint64_t number) {
  const std::lock_guard lock(mutex);
  OpenRequest *request = findOpen(number);
  if (!request)
    return;
  ClockTime deadline = clock.now() + request->attemptTime;
  if (asksToJoin(request->head.kind))
    deadline = std::min(deadline, request->since + options.joinPatience);
  // A round may wait for others for long; its bytes need not come again.
  const bool asks =
      request->head.sequence > 0 && std::exchange(request->mayBeThere, true);
  Envelope ask = request->head;
  ask.kind = MessageKind::Ask;
  connection->call(asks ? joinFrame(ask, {}) : request->message, deadline,
                   [weak = weak_from_this(), number](const CallResult &result) {
                     if (const auto self = weak.lock())
                       self->attemptEnded(number, result);
                   });
}

/// Whether a greet or a join was refused because another start has the place.
static bool saysTaken(const Message &refusal) {
  const auto frame = splitFrame(refusal);
  return frame && frame->head.kind == MessageKind::Refusal &&
         frame->head.sequence == sequenceOfTaken;
}

std::optional<Expected<Message>>
SessionState::readResponse(const Message &response, const Envelope &head) {
  auto frame = splitFrame(response);
  if (!frame)
    return Expected<Message>(std::move(frame).status().withContext(name));
  {
    const std::lock_guard lock(mutex);
    refusedSince = ClockTime(-1);
  }
  Envelope expected = head;
  expected.kind = frame->head.kind;
  if (asksToJoin(head.kind))
    expected.sequence = frame->head.sequence;
  Envelope unread;
  unread.kind = MessageKind::Refusal;
  Envelope replaced = expected;
  replaced.incarnation = incarnationOfReplaced;
  if (frame->head.kind == MessageKind::Refusal && !asksToJoin(head.kind) &&
      frame->head == replaced && frame->head != expected) {
    const std::lock_guard lock(mutex);
    placeTaken = true;
    expected = replaced;
  }
  if (frame->head.kind == MessageKind::Refusal &&
      (frame->head == expected || frame->head == unread))
    return Expected<Message>(
        Status::invalid(name + " refuses: " + frame->payload.toString()));
  if (frame->head.kind == MessageKind::Wait && frame->head == expected) {
    takeWait(head, frame->payload);
    return std::nullopt;
  }
  if (frame->head.kind != MessageKind::Answer || frame->head != expected)
    return std::nullopt;
  {
    const std::lock_guard lock(mutex);
    lastHeard = clock.now();
  }
  if (asksToJoin(head.kind)) {
    auto said = decodeJoinAnswer(frame->note);
    if (!said)
      return Expected<Message>(std::move(said).status().withContext(name));
    takeJoinAnswer(head.kind, frame->head.sequence, std::move(*said));
  }
  return Expected<Message>(std::move(frame->payload));
}

void SessionState::attemptEnded(uint64_t number, const CallResult &result) {
  Envelope head;
  Message greeting;
  {
    const std::lock_guard lock(mutex);
    const OpenRequest *request = findOpen(number);
    if (!request)
      return;
    head = request->head;
    if (head.kind == MessageKind::Greet)
      greeting = request->message;
  }
  if (result.outcome != CallOutcome::Answered && !mayBeThere(result))
    return;
  if (result.outcome == CallOutcome::Answered)
    if (auto response = readResponse(result.response, head)) {
      if (!response->ok()) {
        const std::lock_guard lock(mutex);
        if (failure.ok())
          failure = response->status();
        placeTaken |= asksToJoin(head.kind) && saysTaken(result.response);
      } else if (head.kind == MessageKind::Greet) {
        const std::lock_guard lock(mutex);
        if (!std::exchange(greetsAgain, true))
          later(clock.now() + beatInterval(),
                [head, greeting](SessionState &self) {
                  self.greetAgain(head, greeting);
                });
      }
      finish(number, std::move(*response));
      return;
    }
  if (head.sequence > 0) {
    const std::lock_guard lock(mutex);
    OpenRequest *request = findOpen(number);
    if (request && std::exchange(request->isMissed, false)) {
      later(clock.now(),
            [number](SessionState &self) { self.attempt(number); });
      return;
    }
    if (request && result.outcome == CallOutcome::DeadlineExceeded)
      request->attemptTime = longerAttempt(request->attemptTime);
  }
  attemptAgain(number);
}

void SessionState::attemptAgain(uint64_t number) {
  {
    const std::lock_guard lock(mutex);
    OpenRequest *request = findOpen(number);
    if (!request)
      return;
    request->pause = longerPause(request->pause);
    const ClockTime when = clock.now() + request->pause;
    if (!asksToJoin(request->head.kind) ||
        when < request->since + options.joinPatience) {
      later(when, [number](SessionState &self) { self.attempt(number); });
      return;
    }
  }
  finish(number, Status::invalid(name + " did not answer for " +
                                 inSeconds(options.joinPatience) +
                                 ": is it started there, and reachable?"));
}

/// The server lives: its time to answer a join begins anew. A request that it
/// was asked for has not come there.
void SessionState::takeWait(const Envelope &head, const Message &payload) {
  {
    const std::lock_guard lock(mutex);
    if (open && asksToJoin(head.kind) && asksToJoin(open->head.kind))
      open->since = clock.now();
    else if (open && open->head == head) {
      open->mayBeThere = false;
      open->isMissed = true;
    }
  }
  takeSign(payload);
}

/// Says that this start still means to join.
void SessionState::greetAgain(const Envelope &head, const Message &greeting) {
  const std::lock_guard lock(mutex);
  if (closed || joined || !failure.ok())
    return;
  const ClockTime now = clock.now();
  if (!open)
    connection->call(greeting, now + options.attemptDeadline,
                     [weak = weak_from_this(), head](const CallResult &result) {
                       if (const auto self = weak.lock())
                         self->greetEnded(head, result);
                     });
  later(now + beatInterval(), [head, greeting](SessionState &self) {
    self.greetAgain(head, greeting);
  });
}

void SessionState::greetEnded(const Envelope &head, const CallResult &result) {
  if (result.outcome != CallOutcome::Answered) {
    mayBeThere(result);
    return;
  }
  const auto response = readResponse(result.response, head);
  if (!response || response->ok())
    return;
  const std::lock_guard lock(mutex);
  // A join that is under way has an answer of its own. Once it is settled which
  // start this is, the job's first server judges alone: an earlier start that
  // is heard of again, here, is about to end.
  if (!open && !joined && failure.ok() && sender.incarnation == 0) {
    failure = response->status();
    placeTaken |= saysTaken(result.response);
  }
}

void SessionState::takeJoinAnswer(MessageKind asked, uint64_t sequence,
                                  JoinAnswer said) {
  const std::lock_guard lock(mutex);
  learnProcess(said.process);
  job = said.job;
  if (asked == MessageKind::Greet) {
    offered = sequence;
    // An answer may be older than one that came before.
    earlierIsDone |= said.earlierStartIsDone;
    return;
  }
  if (joined)
    return;
  joined = true;
  waitingSentence.clear();
  next = sequence;
  earlierNotes = std::move(said.notes);
  const ClockTime when = clock.now() + beatInterval();
  beatDue = when;
  later(when, [when](SessionState &self) { self.beat(when); });
}

void SessionState::beat(ClockTime expected) {
  const bool stop = events.wasAskedToStop && events.wasAskedToStop();
  ClockTime silence{0};
  std::unique_ptr<Connection> old;
  {
    const std::lock_guard lock(mutex);
    if (closed || !failure.ok())
      return;
    const ClockTime now = clock.now();
    // Time in which this process itself did not run says nothing of the server.
    if (const ClockTime late = now - expected; late > beatInterval()) {
      longestStop = std::max(longestStop, late);
      lastHeard = std::min(lastHeard + late, now);
      askedSince = std::min(askedSince + late, now);
      if (refusedSince >= ClockTime(0)) {
        refusedSince = std::min(refusedSince + late, now);
        refusedLast = std::min(refusedLast + late, now);
      }
    }
    silence = silentFor();
    const bool isLost =
        options.silenceLimit > ClockTime(0) && silence > options.silenceLimit;
    if (!isLost) {
      if (askedSince <= lastHeard)
        askedSince = now;
      const Envelope head = headOf(MessageKind::Beat, 0);
      const Message message = joinFrame(
          head, encodeLifeSign({stop, {}, ProcessIdentity::ofThisProcess()}));
      const ClockTime deadline =
          now + (options.silenceLimit > ClockTime(0) ? options.silenceLimit
                                                     : options.attemptDeadline);
      const auto ended = [weak = weak_from_this(),
                          head](const CallResult &result) {
        if (const auto self = weak.lock())
          self->beatEnded(head, result);
      };
      connection->call(message, deadline, ended);
      // After a cut network a connection of before may stay silent for as long
      // again as the cut lasted; a new one does not.
      old = std::move(fresh);
      const bool isQuiet = silence > 2 * beatInterval();
      if (isQuiet)
        if (auto made = transport.connect(where)) {
          fresh = std::move(*made);
          fresh->call(message, deadline, ended);
        }
      const ClockTime when = now + beatInterval() / (isQuiet ? 2 : 1);
      beatDue = when;
      later(when, [when](SessionState &self) { self.beat(when); });
      return;
    }
  }
  loseServer(
      Status::invalid(name + " was not heard of for " + inSeconds(silence) +
                      ": it has died or its network is cut. " + startAllAgain));
}

bool SessionState::mayBeThere(const CallResult &result) {
  if (result.fault == CallFault::TooManyFiles && !hasJoined()) {
    failWith(
        Status::invalid(name + " cannot be reached: " + describeFileLimit()));
    return false;
  }
  ClockTime refused{0};
  std::string stopped;
  {
    const std::lock_guard lock(mutex);
    stopped = describeStop();
    // Until somebody answers there: a call that is lost says nothing.
    if (result.fault == CallFault::Refused && joined) {
      const ClockTime now = clock.now();
      // In between it may have been there.
      if (refusedSince < ClockTime(0) ||
          now - refusedLast > options.refusalLimit)
        refusedSince = now;
      refusedLast = now;
      refused = now - refusedSince;
    }
  }
  if (refused <= options.refusalLimit)
    return checkProcess();
  loseServer(Status::invalid(
      name + " has ended: its address has refused connections for " +
      inSeconds(refused) +
      (stopped.empty() ? ". If the job has ended without this trainer, another "
                         "start has taken its place. If not: "
                       : stopped) +
      startAllAgain));
  return false;
}

/// Whether the server's process is there, as far as this host knows; false
/// where that has ended the session.
bool SessionState::checkProcess() {
  std::string stopped;
  {
    const std::lock_guard lock(mutex);
    if (!process.hasEnded())
      return true;
    stopped = describeStop();
  }
  loseServer(Status::invalid(
      name + (stopped.empty() ? " has died. " : " has ended" + stopped) +
      startAllAgain));
  return false;
}

std::string SessionState::describeStop() const {
  const ClockTime stop =
      std::max(longestStop, joined ? clock.now() - beatDue : ClockTime(0));
  if (stop <= reportedSilence)
    return {};
  return ": this process was stopped for " + inSeconds(stop) +
         ", and the job has ended or gone on without it, as the others say. ";
}

void SessionState::beatEnded(const Envelope &head, const CallResult &result) {
  if (result.outcome != CallOutcome::Answered) {
    mayBeThere(result);
    return;
  }
  auto response = readResponse(result.response, head);
  if (!response)
    return;
  if (!response->ok()) {
    failWith(response->status());
    return;
  }
  takeSign(**response);
}

/// What the server says of itself. Bytes that say nothing change nothing.
void SessionState::takeSign(const Message &payload) {
  auto sign = decodeLifeSign(payload);
  if (!sign)
    return;
  if (sign->stop && events.onStopRequest)
    events.onStopRequest();
  const std::lock_guard lock(mutex);
  waitingSentence = std::move(sign->sentence);
  learnProcess(sign->process);
}

void SessionState::learnProcess(const ProcessIdentity &said) {
  // It may have died while this was on its way.
  if (said.isOfThisHost())
    process = said;
}

void SessionState::loseServer(const Status &status) {
  {
    const std::lock_guard lock(mutex);
    isLost |= failure.ok();
  }
  failWith(status);
}

void SessionState::failWith(const Status &status) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex);
    if (closed)
      return;
    if (failure.ok())
      failure = status;
    if (!open || open->head.kind == MessageKind::Leave)
      return;
    number = open->number;
  }
  finish(number, status);
}

void SessionState::finish(uint64_t number, Expected<Message> result) {
  const std::lock_guard wait(ending);
  RequestDone done;
  {
    const std::lock_guard lock(mutex);
    if (!open || open->number != number)
      return;
    if (result.ok() && open->head.sequence > 0 && parts.areRead()) {
      open->answer = std::move(result);
      return;
    }
    done = std::move(open->done);
    open.reset();
    parts.clear();
  }
  done(std::move(result));
}

void SessionState::close() {
  std::unique_ptr<Connection> last, lastFresh;
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex);
    closed = true;
    last = std::move(connection);
    lastFresh = std::move(fresh);
    if (open)
      number = open->number;
  }
  last.reset();
  lastFresh.reset();
  endRejected();
  // Also waits for a callback that runs.
  finish(number,
         Status::invalid(name + ": the session ended before the answer"));
}

class Session final : public ServerSession {
public:
  explicit Session(std::shared_ptr<SessionState> own) : state(std::move(own)) {}
  ~Session() override { state->close(); }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  void greet(Message handshake, RequestDone done) override {
    state->send(MessageKind::Greet, handshake, std::move(done));
  }
  uint64_t offeredIncarnation() const override {
    return state->offeredIncarnation();
  }
  bool earlierStartIsDone() const override {
    return state->earlierStartIsDone();
  }
  uint64_t jobId() const override { return state->jobId(); }
  void becomeStart(uint64_t incarnation, StartSign::Claim claim) override {
    state->becomeStart(incarnation, claim);
  }
  void join(Message handshake, RequestDone done) override {
    state->send(MessageKind::Join, handshake, std::move(done));
  }
  void send(MessageKind kind, Message payload, RequestDone done) override {
    state->send(kind, payload, std::move(done));
  }
  uint64_t nextSequence() const override { return state->nextSequence(); }
  void continueFrom(uint64_t sequence) override {
    state->continueFrom(sequence);
  }
  void sendPart(uint64_t number, const Message &bytes,
                std::function<void()> arrived) override {
    state->sendPart(number, bytes, std::move(arrived));
  }
  void placeParts(std::vector<PartPlace> places) override {
    state->placeParts(std::move(places));
  }
  void dropParts() noexcept override { state->dropParts(); }
  void leaveNote(Message note) override { state->leaveNote(std::move(note)); }
  std::vector<NumberedNote> notes() const override { return state->notes(); }
  std::string waitingFor() const override { return state->waitingFor(); }
  ClockTime silence() const override { return state->silence(); }
  Status failure() const override { return state->whyFailed(); }
  bool placeIsTaken() const override { return state->placeIsTaken(); }
  bool serverIsLost() const override { return state->serverIsLost(); }
  void noteLostServer() override { state->noteLostServer(); }
  const std::string &name() const override { return state->name; }

private:
  std::shared_ptr<SessionState> state;
};

} // namespace

Expected<std::unique_ptr<ServerSession>> pdlrt::createServerSession(
    Transport &transport, const std::string &address, const SenderName &sender,
    const RetryOptions &options, const SessionEvents &events,
    const std::string &name) {
  auto connection = transport.connect(address);
  if (!connection)
    return std::move(connection).status();
  return std::unique_ptr<ServerSession>(std::make_unique<Session>(
      std::make_shared<SessionState>(transport, address, name, sender, options,
                                     events, std::move(*connection))));
}
