//===- ToyTrainer.cpp - Trainer for simulations ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToyTrainer.h"

#include "pdlrt/Testing/Simulator/ToyCopies.h"

#include <algorithm>
#include <optional>

using namespace pdlrt;

using Milliseconds = std::chrono::milliseconds;

/// State that the senders of one incarnation share.
struct ToyTrainer::Shared {
  ToyWorld world;
  uint32_t rank = 0;
  uint64_t start = 0;
  uint32_t workersLeft = 0;
  /// True if the process wants to send its sums. It does so when all of its
  /// workers have arrived there, too.
  bool sumsArePending = false;
  /// Assigned by the first server.
  uint64_t incarnation = 0;
  bool hasJoined = false;
  bool isLeaving = false;
  bool isOver = false;
  /// Sends Leave messages to the servers; set by the process's sender.
  std::function<void(const std::string &message)> leave = {};
  /// Returns true if a server has reported to a sender that another process has
  /// the rank.
  std::function<bool()> placeIsTaken = {};
  /// Ends all sessions, like the end of a process.
  std::function<void()> hangUp = {};
  /// Sends the pending sums; set by the process's sender.
  std::function<void()> sendSums = {};
  /// Lets the workers join; set by the trainer.
  std::function<void()> beginWorkers = {};

  void note(Event::What what, const std::string &text = "") const {
    Event event;
    event.what = what;
    event.when = world.clock.now();
    event.trainer = rank;
    event.incarnation = start;
    event.given = incarnation;
    event.text = text;
    world.history.push_back(event);
  }
  void giveUp(const std::string &message) {
    if (isLeaving)
      return;
    note(hasJoined ? Event::What::Failed : Event::What::Refused, message);
    leave(message);
  }
};

/// Sender with its sessions. Callbacks have weak references to it.
class ToyTrainer::Sender : public std::enable_shared_from_this<Sender> {
public:
  Sender(std::shared_ptr<Shared> of, uint32_t number)
      : shared(std::move(of)), worker(number),
        program(shared->world.scenario.programOf(number)),
        previous(shared->world.scenario.servers),
        copies(shared->world.scenario.servers),
        greetedAt(shared->world.scenario.servers),
        joinedAt(shared->world.scenario.servers) {}

  /// Greets all servers. Joins the first server, and then the others. Call only
  /// for the sender of the process.
  void greet();
  /// Joins all servers, after the process has.
  void begin();
  void leave(const std::string &message);
  bool placeIsTaken() const {
    return std::any_of(
        sessions.begin(), sessions.end(),
        [](const auto &session) { return session->placeIsTaken(); });
  }
  void hangUp() { sessions.clear(); }
  void sendLastMessages() {
    for (const auto &session : sessions)
      session->send(MessageKind::Leave, Message::ofString("it was killed"),
                    [](const Expected<Message> &) {});
  }
  /// Sends the sums when the workers have finished.
  void sendSums() { sendStep(); }

private:
  using Next = void (Sender::*)();

  const Scenario &scenario() const { return shared->world.scenario; }
  /// Returns true if the request of this step contains the changes of a copy.
  bool isOfCopies() const {
    return scenario().mode == ToyMode::Geo &&
           program[step] == MessageKind::Exchange;
  }
  /// Sends a request to each server. Calls `next` after all servers have
  /// responded.
  template <typename Send> void toAll(Send send, Next next);
  void answered(uint32_t server, Expected<Message> response, Next next);
  void lookAround(uint64_t number);
  void after(ClockTime delay, Next next) {
    shared->world.clock.runAfter(delay, [weak = weak_from_this(), next] {
      if (const auto self = weak.lock())
        ((*self).*next)();
    });
  }
  /// Returns a random delay, so that trainers arrive in different orders.
  ClockTime thinkingTime() const {
    const uint64_t drawn =
        drawFor(scenario().seed, 3,
                ((step * 64 + shared->start) * 8 + worker) * 8 + shared->rank);
    return Milliseconds(static_cast<int64_t>(drawn % 300));
  }

  void connect();
  RequestDone noting(std::vector<bool> Sender::*where, uint32_t server,
                     RequestDone done);
  void greetAt(uint32_t server, RequestDone done);
  void joinAt(uint32_t server, RequestDone done);
  void skip(RequestDone done);
  void greeted();
  void joinFirst();
  void joinOthers();
  void joinFrom(uint32_t first, uint32_t end, Next next);
  void processJoined();
  void joined();
  void think() { after(thinkingTime(), &Sender::sendStep); }
  void requestAgain();
  void sendStep();
  Message sendAhead(uint32_t server, const Message &payload);
  void readStep();
  void joinToLeave(uint32_t server, const std::string &message);
  void sayLeave(uint32_t server, const std::string &message);
  void over();
  void left();
  Event eventOf(Event::What what, uint32_t server) const;

  std::shared_ptr<Shared> shared;
  const uint32_t worker;
  const std::vector<MessageKind> &program;
  std::vector<std::unique_ptr<ServerSession>> sessions;
  std::vector<std::optional<Message>> responses;
  /// Number of the current group of requests. With it, results of earlier
  /// groups are recognized and ignored.
  uint64_t wave = 0;
  std::vector<ToyResponse> previous;
  /// Mode geo: copies of each server's state.
  std::vector<ToyState> copies;
  uint64_t step = 0;
  /// `greetedAt`: true if the server has responded to a Greet. `joinedAt`: true
  /// if it has responded to a Join. Indexed by server.
  std::vector<bool> greetedAt, joinedAt;
  size_t leavesLeft = 0;
  bool isAtEnd = false;
  bool hasGreetedAgain = false;
};

Event ToyTrainer::Sender::eventOf(Event::What what, uint32_t server) const {
  Event event;
  event.what = what;
  event.when = shared->world.clock.now();
  event.server = server;
  event.trainer = shared->rank;
  event.worker = worker;
  event.incarnation = shared->start;
  event.epoch = scenario().core.epoch;
  event.step = step;
  event.kind = program[step];
  return event;
}

template <typename Send> void ToyTrainer::Sender::toAll(Send send, Next next) {
  const uint64_t number = ++wave;
  responses.assign(sessions.size(), std::nullopt);
  for (uint32_t server = 0; server < sessions.size(); ++server)
    send(server, [weak = weak_from_this(), number, server,
                  next](Expected<Message> response) {
      if (const auto self = weak.lock(); self && self->wave == number)
        self->answered(server, std::move(response), next);
    });
  lookAround(number);
}

/// Gives up if a server that has responded has failed since, while other
/// servers do not respond. See ServerGroup::failureElsewhere.
void ToyTrainer::Sender::lookAround(uint64_t number) {
  if (wave != number)
    return;
  for (const auto &session : sessions)
    if (const Status failure = session->failure(); !failure.ok()) {
      ++wave;
      shared->giveUp(failure.message());
      return;
    }
  shared->world.clock.runAfter(std::chrono::seconds(5),
                               [weak = weak_from_this(), number] {
                                 if (const auto self = weak.lock())
                                   self->lookAround(number);
                               });
}

void ToyTrainer::Sender::answered(uint32_t server, Expected<Message> response,
                                  Next next) {
  if (!response.ok()) {
    // The other requests of this group are not needed any more.
    ++wave;
    shared->giveUp(response.status().message());
    return;
  }
  responses[server] = *std::move(response);
  if (std::all_of(responses.begin(), responses.end(),
                  [](const auto &each) { return each.has_value(); }))
    (this->*next)();
}

void ToyTrainer::Sender::connect() {
  RetryOptions options;
  options.attemptDeadline = std::chrono::seconds(2);
  // A process that others wait for must wait, too.
  options.silenceLimit = scenario().core.silenceLimit;
  if (scenario().core.onFailure == FailurePolicy::Wait) {
    options.silenceLimit = ClockTime(0);
    options.joinPatience = std::chrono::minutes(5);
  }
  for (uint32_t server = 0; server < scenario().servers; ++server) {
    auto session = createServerSession(
        shared->world.network, ToyWorld::addressOf(server),
        {shared->rank,
         worker,
         shared->incarnation,
         scenario().core.epoch,
         {shared->start,
          worker == 0 ? StartSign::Claim::Judged : StartSign::Claim::Decided,
          ProcessIdentity::ofThisProcess()}},
        options);
    if (session)
      sessions.push_back(std::move(*session));
  }
}

/// Calls `done` with an empty response, for a server to which no request is
/// sent.
void ToyTrainer::Sender::skip(RequestDone done) {
  shared->world.clock.runAfter(ClockTime(0),
                               [done = std::move(done)] { done(Message()); });
}

/// Records a successful response of the server before `done`.
RequestDone ToyTrainer::Sender::noting(std::vector<bool> Sender::*where,
                                       uint32_t server, RequestDone done) {
  return [weak = weak_from_this(), where, server,
          done = std::move(done)](Expected<Message> response) {
    if (const auto self = weak.lock(); self && response.ok())
      ((*self).*where)[server] = true;
    done(std::move(response));
  };
}

void ToyTrainer::Sender::greetAt(uint32_t server, RequestDone done) {
  sessions[server]->greet({},
                          noting(&Sender::greetedAt, server, std::move(done)));
}

void ToyTrainer::Sender::joinAt(uint32_t server, RequestDone done) {
  sessions[server]->join({},
                         noting(&Sender::joinedAt, server, std::move(done)));
}

void ToyTrainer::Sender::greet() {
  connect();
  toAll([&](uint32_t server,
            RequestDone done) { greetAt(server, std::move(done)); },
        &Sender::greeted);
}

/// Like ServerGroup::greetAll.
void ToyTrainer::Sender::greeted() {
  for (const auto &session : sessions)
    if (const Status failure = session->failure(); !failure.ok()) {
      shared->giveUp(failure.message());
      return;
    }
  const auto isDone = [](const auto &session) {
    return session->previousIncarnationIsDone();
  };
  if (std::all_of(sessions.begin(), sessions.end(), isDone)) {
    shared->giveUp("its part is done");
    return;
  }
  if (std::exchange(hasGreetedAgain, true) ||
      std::none_of(sessions.begin(), sessions.end(), isDone)) {
    joinFirst();
    return;
  }
  toAll(
      [&](uint32_t server, RequestDone done) {
        if (isDone(sessions[server]))
          skip(std::move(done));
        else
          greetAt(server, std::move(done));
      },
      &Sender::greeted);
}

void ToyTrainer::Sender::joinFrom(uint32_t first, uint32_t end, Next next) {
  toAll(
      [&](uint32_t server, RequestDone done) {
        if (server >= first && server < end)
          joinAt(server, std::move(done));
        else
          skip(std::move(done));
      },
      next);
}

void ToyTrainer::Sender::joinFirst() {
  shared->incarnation = sessions[0]->proposedIncarnation();
  for (const auto &session : sessions)
    session->becomeStart(shared->incarnation, session == sessions[0]
                                                  ? StartSign::Claim::Judged
                                                  : StartSign::Claim::Decided);
  joinFrom(0, 1, &Sender::joinOthers);
}

void ToyTrainer::Sender::joinOthers() {
  shared->hasJoined = true;
  shared->note(Event::What::Joined);
  joinFrom(1, scenario().servers, &Sender::processJoined);
}

void ToyTrainer::Sender::processJoined() {
  shared->beginWorkers();
  joined();
}

void ToyTrainer::Sender::begin() {
  connect();
  joinFrom(0, scenario().servers, &Sender::joined);
}

void ToyTrainer::Sender::joined() {
  uint64_t least = sessions[0]->nextSequence();
  for (const auto &session : sessions)
    least = std::min(least, session->nextSequence());
  // Sequence number n is step n - 1. All servers have request `least` - 1.
  const uint64_t first = std::max<uint64_t>(least - 1, 1);
  for (const auto &session : sessions)
    session->continueFrom(first);
  step = first - 1;
  if (least == 1)
    think();
  else
    requestAgain();
}

/// Repeats a request without its content, because the servers have it already.
void ToyTrainer::Sender::requestAgain() {
  toAll(
      [&](uint32_t server, RequestDone done) {
        ToyRequest nothing;
        nothing.step = step;
        sessions[server]->send(program[step], nothing.encode(),
                               std::move(done));
      },
      &Sender::readStep);
}

void ToyTrainer::Sender::sendStep() {
  if (shared->isLeaving)
    return;
  if (worker == 0 &&
      static_cast<int>(shared->rank) == scenario().failingTrainer &&
      step == scenario().failingStep) {
    shared->giveUp("its data ends in the middle of a line");
    return;
  }
  if (worker == 0 && program[step] == MessageKind::Reduce &&
      shared->workersLeft > 0) {
    shared->sumsArePending = true;
    return;
  }
  toAll(
      [&](uint32_t server, RequestDone done) {
        const ToyRequest request = toyRequestOf(
            scenario(), server, shared->rank, worker, step, previous[server]);
        Event event = eventOf(Event::What::Contributed, server);
        event.request = request;
        shared->world.history.push_back(event);
        if (isOfCopies())
          addChanges(request, copies[server]);
        sessions[server]->send(program[step],
                               sendAhead(server, request.encode()),
                               std::move(done));
      },
      &Sender::readStep);
}

/// Sends some bytes of about half of the exchanges in advance, in two parts,
/// but only for every third seed. Returns the rest of the payload.
Message ToyTrainer::Sender::sendAhead(uint32_t server, const Message &payload) {
  const uint64_t drawn =
      drawFor(scenario().seed, 5,
              ((step * 64 + shared->rank) * 8 + worker) * 8 + server);
  const uint64_t size = payload.size();
  if (program[step] != MessageKind::Exchange || worker != 0 ||
      scenario().core.maxPartBytes == 0 || scenario().seed % 3 != 2 ||
      drawn % 2 != 0 || size < 4)
    return payload;
  // The second part precedes the first one, with a byte between them.
  const uint64_t begin = (drawn >> 8) % (size - 3);
  const uint64_t second = 1 + (drawn >> 32) % (size - begin - 3),
                 first = size - begin - second - 1;
  const std::string bytes = payload.toString();
  sessions[server]->sendPart(
      0, Message::ofString(bytes.substr(begin + second + 1, first)), {});
  sessions[server]->sendPart(1, Message::ofString(bytes.substr(begin, second)),
                             {});
  sessions[server]->placeParts(
      {{begin, 1, 0, second}, {begin + 1, 0, 0, first}});
  return Message::ofString(bytes.substr(0, begin) +
                           bytes.substr(begin + second, 1));
}

void ToyTrainer::Sender::readStep() {
  for (uint32_t server = 0; server < sessions.size(); ++server) {
    const auto response =
        ToyResponse::decode(responses[server].value_or(Message()));
    if (!response) {
      shared->giveUp(response.status().message());
      return;
    }
    previous[server] = *response;
    Event event = eventOf(Event::What::Read, server);
    event.response = *response;
    if (isOfCopies()) {
      takeNews(*response, copies[server]);
      previous[server].dense = copies[server].dense;
      event.copy = copies[server];
    }
    shared->world.history.push_back(event);
  }
  if (++step < program.size()) {
    think();
    return;
  }
  isAtEnd = true;
  if (worker == 0)
    leave({});
  else if (--shared->workersLeft == 0 && shared->sumsArePending)
    shared->sendSums();
}

void ToyTrainer::Sender::leave(const std::string &message) {
  if (shared->isLeaving)
    return;
  shared->isLeaving = true;
  if (message.empty())
    shared->note(Event::What::Left);
  // Like DistributedJob::leave.
  if (shared->placeIsTaken()) {
    left();
    return;
  }
  // Open requests are not needed any more.
  ++wave;
  leavesLeft = sessions.size();
  for (uint32_t server = 0; server < sessions.size(); ++server)
    if (!message.empty() && greetedAt[server] && !joinedAt[server])
      joinToLeave(server, message);
    else
      sayLeave(server, message);
  // After a regular end, the process waits as long as its Leave takes. That a
  // Leave and the network are lost at the same time is not a fault that this
  // test looks for.
  after(std::chrono::seconds(10),
        message.empty() ? &Sender::over : &Sender::left);
}

/// Joins a server that was greeted, and leaves it at once. Otherwise the server
/// would wait for this process. See ServerGroup::joinToLeave.
void ToyTrainer::Sender::joinToLeave(uint32_t server,
                                     const std::string &message) {
  ServerSession &session = *sessions[server];
  session.becomeStart(shared->incarnation != 0 ? shared->incarnation : 1,
                      StartSign::Claim::OnlyIfFirst);
  session.join({}, [weak = weak_from_this(), server,
                    message](const Expected<Message> &) {
    if (const auto self = weak.lock())
      self->sayLeave(server, message);
  });
}

void ToyTrainer::Sender::sayLeave(uint32_t server, const std::string &message) {
  sessions[server]->send(MessageKind::Leave, Message::ofString(message),
                         [weak = weak_from_this()](const Expected<Message> &) {
                           const auto self = weak.lock();
                           if (self && --self->leavesLeft == 0)
                             self->left();
                         });
}

void ToyTrainer::Sender::over() { shared->isOver = true; }

/// Ends the sender, and later the sessions of its process.
void ToyTrainer::Sender::left() {
  over();
  shared->world.clock.runAfter(ClockTime(0), [weak = weak_from_this()] {
    if (const auto self = weak.lock())
      self->shared->hangUp();
  });
}

ToyTrainer::ToyTrainer(const ToyWorld &in, uint32_t rank, uint64_t start)
    : shared(std::make_shared<Shared>(
          Shared{in, rank, start, in.scenario.workers})) {
  shared->note(Event::What::Started);
  for (uint32_t worker = 0; worker <= in.scenario.workers; ++worker)
    senders.push_back(std::make_shared<Sender>(shared, worker));
  shared->leave =
      [weak = std::weak_ptr(senders.front())](const std::string &message) {
        if (const auto process = weak.lock())
          process->leave(message);
      };
  shared->sendSums = [weak = std::weak_ptr(senders.front())] {
    if (const auto process = weak.lock())
      process->sendSums();
  };
  shared->placeIsTaken = [this] {
    return std::any_of(senders.begin(), senders.end(), [](const auto &sender) {
      return sender->placeIsTaken();
    });
  };
  shared->hangUp = [this] {
    for (const auto &sender : senders)
      sender->hangUp();
  };
  shared->beginWorkers = [this] {
    for (size_t worker = 1; worker < senders.size(); ++worker)
      senders[worker]->begin();
  };
  senders.front()->greet();
}
ToyTrainer::~ToyTrainer() = default;
void ToyTrainer::sendLastMessages() { senders.front()->sendLastMessages(); }
bool ToyTrainer::isOver() const { return shared->isOver; }
bool ToyTrainer::hasJoined() const { return shared->hasJoined; }
bool ToyTrainer::isLeaving() const { return shared->isLeaving; }
