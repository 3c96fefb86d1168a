//===- Checker.cpp - Checks histories for exactly-once --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/Checker.h"

#include "pdlabi/hash.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

/// Server, trainer, worker, step.
using RequestKey = std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>;

/// The expected state of a server, computed from the history.
struct ServerModel {
  std::map<int64_t, int64_t> counters;
  ToyBlock dense{};
  /// Steps of the rounds of all trainers, in the order in which the rounds are
  /// closed.
  std::vector<uint64_t> roundSteps;
  size_t roundsClosed = 0;
  std::vector<const Event *> round;
  /// Mode quorum. `first`: the requests of the first trainers that have arrived
  /// in the open round. `gathered`: gradients whose senders got their responses
  /// before the round was closed. They are added before those in `first`.
  std::vector<const Event *> first, gathered;
  /// Number of rounds that were complete, and number of rounds that were
  /// closed. `respondedAt`: both numbers at the last response to each trainer.
  /// `rests`: the trainers without further steps.
  uint64_t completed = 0, closed = 0;
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> respondedAt;
  std::set<uint32_t> rests;
  /// If workers send requests themselves. `ended`: number of finished steps of
  /// each (trainer, worker). `resting`: the workers without further steps.
  std::map<std::pair<uint32_t, uint32_t>, int64_t> ended;
  std::set<std::pair<uint32_t, uint32_t>> resting;
  /// Mode geo, for each trainer: the keys that other trainers have changed
  /// since its last response, whether they have changed the dense values, and
  /// its copy of the state.
  std::map<uint32_t, std::set<int64_t>> unreportedKeys;
  std::set<uint32_t> unreportedDense;
  std::map<uint32_t, ToyState> copies;
  /// Requests that were taken and have no response yet. If a request belongs to
  /// a round, the round is closed.
  std::map<std::pair<uint32_t, uint32_t>, const Event *> open;
};

class Checker {
public:
  Checker(const Scenario &in, const History &of)
      : scenario(in), history(of), servers(in.servers) {
    for (ServerModel &server : servers)
      for (uint64_t step = 0; step < in.program.size(); ++step)
        if (in.isRoundOfAll(in.program[step]))
          server.roundSteps.push_back(step);
  }

  std::string check() {
    for (const Event &event : history)
      if (const std::string fault = checkEvent(event); !fault.empty())
        return fault + " | " + event.describe();
    return checkEnd();
  }

private:
  /// A server gets to know a request at an unknown time: after it was sent
  /// (`Given`), and at the latest when the server takes it (`Taken`). Checks
  /// use the bound that proves a fault.
  enum class Seen { Given, Taken };
  static RequestKey keyOf(const Event &event) {
    return {event.server, event.trainer, event.worker, event.step};
  }
  std::string checkEvent(const Event &event);
  std::string contributed(const Event &event);
  std::string applied(const Event &event);
  std::string takenOfQuorum(const Event &event);
  std::string heldWithoutReason(const ServerModel &server) const;
  bool meets(const ServerModel &server, uint32_t trainer, Seen seen) const;
  bool isTooFarAhead(const ServerModel &server, const Event &request,
                     Seen seen) const;
  std::string answered(const Event &event);
  static bool isFirst(const ServerModel &server, const Event &response);
  std::set<uint32_t> absent(const ServerModel &server,
                            const std::vector<const Event *> &come,
                            Seen seen) const;
  std::string faultOfQuorum(const ServerModel &server,
                            const std::vector<const Event *> &come) const;
  bool isFull(const ServerModel &server, const std::vector<const Event *> &come,
              const std::set<uint32_t> &resting) const;
  bool mayHaveBeen(bool full, const ServerModel &server,
                   const std::vector<const Event *> &come) const;
  std::string paused(ServerModel &server) const;
  std::string closed(const Event &event);
  std::string read(const Event &event);
  bool isOfCopies(const Event &event) const {
    return scenario.mode == ToyMode::Geo && event.kind == MessageKind::Exchange;
  }
  void addToCopies(ServerModel &server, const Event &event) const;
  ToyResponse newsFor(ServerModel &server, const Event &request) const;
  std::string joined(const Event &event);
  std::string refused(const Event &event) const;
  std::string lostPlace(const Event &event) const;
  bool isLate(const Event &event) const;
  bool wasCutOff(uint32_t trainer, ClockTime now) const;
  std::string failed(const std::string &text) const;
  std::string checkEnd() const;
  void apply(ServerModel &server, const std::vector<const Event *> &requests);
  ToyResponse responseTo(const ServerModel &server, const Event &request) const;

  const Scenario &scenario;
  const History &history;
  std::vector<ServerModel> servers;
  std::map<RequestKey, const Event *> given;
  std::set<RequestKey> taken;
  std::map<RequestKey, ToyResponse> toRead;
  /// Expected copy of the state at the trainer after the response in `toRead`.
  std::map<RequestKey, ToyState> toHold;
  std::set<RequestKey> wasRead;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> lastTaken;
  std::set<uint32_t> leftTrainers, endedTrainers, deadTrainers;
  /// `outside`: for each trainer, the running incarnations that have not
  /// joined. `place`: the incarnation that has joined last. `lastGiven`: its
  /// number.
  std::map<uint32_t, std::set<uint64_t>> outside;
  std::map<uint32_t, uint64_t> place, lastGiven;
  std::map<uint32_t, std::string> endedServers;
};

std::string Checker::checkEvent(const Event &event) {
  switch (event.what) {
  case Event::What::Started:
    deadTrainers.erase(event.trainer);
    outside[event.trainer].insert(event.incarnation);
    return {};
  case Event::What::Joined:
    return joined(event);
  case Event::What::Refused:
    outside[event.trainer].erase(event.incarnation);
    if (const auto there = place.find(event.trainer);
        (there == place.end() || there->second == 0) &&
        outside[event.trainer].empty())
      endedTrainers.insert(event.trainer);
    return refused(event);
  case Event::What::Contributed:
    return contributed(event);
  case Event::What::Applied:
    return applied(event);
  case Event::What::Responded:
    return answered(event);
  case Event::What::Closed:
    return closed(event);
  case Event::What::Read:
    return read(event);
  case Event::What::Left:
    if (isLate(event))
      return "a start that lost its place goes on to its end";
    leftTrainers.insert(event.trainer);
    endedTrainers.insert(event.trainer);
    return {};
  case Event::What::Failed:
    // A process may learn that a later incarnation was admitted before that
    // incarnation knows it itself.
    if (isLate(event) ||
        (wasCutOff(event.trainer, event.when) && lostPlace(event).empty()))
      return lostPlace(event);
    endedTrainers.insert(event.trainer);
    return failed(event.text);
  case Event::What::Crashed:
    deadTrainers.insert(event.trainer);
    outside[event.trainer].erase(event.incarnation);
    if (place[event.trainer] == event.incarnation)
      place[event.trainer] = 0;
    return {};
  case Event::What::ServerEnded:
    if (!endedServers.emplace(event.server, event.text).second)
      return "a server ends twice";
    return event.text.empty() ? "" : failed(event.text);
  case Event::What::Hung:
    return "a process waits for ever";
  }
  return {};
}

/// Returns true if the network of a trainer was cut, once or by overlapping
/// cuts, for so long that servers consider the trainer lost.
bool Checker::wasCutOff(uint32_t trainer, ClockTime now) const {
  std::vector<ToyCut> cuts;
  for (const ToyCut &cut : scenario.cuts)
    if (cut.trainer == trainer)
      cuts.push_back(cut);
  std::sort(cuts.begin(), cuts.end(),
            [](const ToyCut &a, const ToyCut &b) { return a.when < b.when; });
  for (size_t first = 0; first < cuts.size(); ++first) {
    ClockTime end = cuts[first].when + cuts[first].length;
    for (size_t next = first + 1; next < cuts.size() && cuts[next].when <= end;
         ++next)
      end = std::max(end, cuts[next].when + cuts[next].length);
    const ClockTime lost = cuts[first].when + scenario.core.silenceLimit;
    if (lost <= now && lost <= end)
      return true;
  }
  return false;
}

std::string Checker::joined(const Event &event) {
  if (event.given <= lastGiven[event.trainer])
    return "a start gets the incarnation of an earlier one";
  lastGiven[event.trainer] = event.given;
  outside[event.trainer].erase(event.incarnation);
  const uint64_t before =
      std::exchange(place[event.trainer], event.incarnation);
  const bool hasFailed = endedTrainers.contains(event.trainer);
  if (before != 0 && !hasFailed && !wasCutOff(event.trainer, event.when))
    return "a start takes the place of one that lives";
  return {};
}

/// Checks a refusal. A process may be refused if another process has its rank,
/// if a join of a dead incarnation has overtaken its own, or if the job has
/// ended. Otherwise returns an error.
std::string Checker::refused(const Event &event) const {
  const auto there = place.find(event.trainer);
  const auto others = outside.find(event.trainer);
  const bool isTaken = (there != place.end() && there->second != 0) ||
                       (others != outside.end() && !others->second.empty());
  if (isTaken && !scenario.seconds.empty())
    return {};
  // The message is the join of a dead incarnation, which was still in flight.
  if (event.incarnation > 1 && !scenario.crashes.empty() &&
      event.text.find("a later one has joined") != std::string::npos)
    return {};
  return failed(event.text);
}

/// Returns true if a later incarnation of the trainer has joined.
bool Checker::isLate(const Event &event) const {
  const auto there = place.find(event.trainer);
  return there != place.end() && there->second != 0 &&
         there->second != event.incarnation;
}

std::string Checker::lostPlace(const Event &event) const {
  return event.text.find("is over") != std::string::npos ||
                 event.text.find("a later one has joined") != std::string::npos
             ? ""
             : "a start that lost its place is not told so";
}

std::string Checker::contributed(const Event &event) {
  const auto [first, isNew] = given.emplace(keyOf(event), &event);
  if (!isNew && first->second->incarnation == event.incarnation)
    return "a start gives a request twice";
  if (first->second->request != event.request)
    return "a new start gives something else";
  return {};
}

std::string Checker::applied(const Event &event) {
  const auto found = given.find(keyOf(event));
  if (found == given.end() || event.epoch != scenario.core.epoch)
    return "a server takes what no process gave to it";
  if (found->second->request != event.request ||
      found->second->kind != event.kind)
    return "a server takes something else than was given to it";
  if (!taken.insert(keyOf(event)).second)
    return "a server takes a request twice";
  const uint64_t due = lastTaken[{event.server, event.trainer, event.worker}]++;
  if (event.step != due)
    return "a server skips a request of a sender";

  ServerModel &server = servers[event.server];
  if (const std::string fault = heldWithoutReason(server); !fault.empty())
    return fault;
  const std::pair sender(event.trainer, event.worker);
  if (!scenario.isRoundOfAll(event.kind)) {
    const StepFacts facts = scenario.factsOf(event.worker, event.request);
    if (event.kind == MessageKind::Exchange) {
      server.ended[sender] += facts.contributes;
      if (!facts.goesOn) {
        server.resting.insert(sender);
        server.rests.insert(event.trainer);
      }
    }
    if (scenario.mode == ToyMode::Quorum && facts.contributes)
      return takenOfQuorum(event);
    if (event.turn != Turn::Alone)
      return "what forms no round is taken as if it did";
    server.open[sender] = &event;
    if (isOfCopies(event))
      addToCopies(server, event);
    else
      apply(server, {&event});
    return {};
  }
  if (event.turn != Turn::InRound)
    return "a round of all trainers takes what is late";
  if (server.roundsClosed >= server.roundSteps.size() ||
      server.roundSteps[server.roundsClosed] != event.step)
    return "a request comes into another round";
  if (server.round.size() != event.trainer)
    return "requests of a round are not taken in rank order";
  server.round.push_back(&event);
  return {};
}

/// Checks gradients in mode quorum.
std::string Checker::takenOfQuorum(const Event &event) {
  ServerModel &server = servers[event.server];
  const auto [completed, closed] = server.respondedAt[event.trainer];
  const bool isLate = closed != server.closed;
  const Turn due = !isLate                                ? Turn::InRound
                   : scenario.late == LateGradients::Drop ? Turn::Dropped
                                                          : Turn::Late;
  if (event.turn != due)
    return isLate ? "a late request is taken as if it were none"
                  : "a request is taken for late that is not";
  // The round was completed by a pause, so the response is sent immediately, as
  // for late gradients.
  if (completed == server.completed) {
    if (!server.first.empty() && server.first.back()->trainer >= event.trainer)
      return "requests of a round are not taken in rank order";
    server.first.push_back(&event);
    return {};
  }
  if (event.turn != Turn::Dropped)
    server.gathered.push_back(&event);
  server.open[{event.trainer, event.worker}] = &event;
  return {};
}

/// Returns true if a trainer waits in the round of sums.
bool Checker::meets(const ServerModel &server, uint32_t trainer,
                    Seen seen) const {
  if (seen == Seen::Taken)
    return std::any_of(
        server.round.begin(), server.round.end(),
        [trainer](const Event *each) { return each->trainer == trainer; });
  return server.roundsClosed < server.roundSteps.size() &&
         given.contains({uint32_t(&server - servers.data()), trainer, 0,
                         server.roundSteps[server.roundsClosed]});
}

/// Returns true if the sender of a request is further ahead of the slowest
/// sender than the staleness bound allows. A trainer that has sent no request
/// has finished no step. A worker counts only after its first request.
bool Checker::isTooFarAhead(const ServerModel &server, const Event &request,
                            Seen seen) const {
  if (scenario.mode != ToyMode::BoundedStaleness)
    return false;
  std::optional<int64_t> slowest;
  for (uint32_t trainer = 0; trainer < scenario.trainers; ++trainer) {
    if (meets(server, trainer, seen))
      continue;
    bool hasCome = false;
    for (uint32_t worker = 1; worker <= scenario.workers; ++worker)
      if (const auto found = server.ended.find({trainer, worker});
          found != server.ended.end()) {
        hasCome = true;
        if (!server.resting.contains({trainer, worker}))
          slowest = std::min(slowest.value_or(found->second), found->second);
      }
    if (!hasCome)
      slowest = 0;
  }
  const auto own = server.ended.find({request.trainer, request.worker});
  return slowest && own != server.ended.end() &&
         own->second - *slowest > scenario.staleness;
}

/// Returns an error if a request has no response although the server may send
/// one. Called before the server continues.
std::string Checker::heldWithoutReason(const ServerModel &server) const {
  for (const auto &[sender, request] : server.open)
    if (!isTooFarAhead(server, *request, Seen::Taken))
      return "a request waits for its answer without a reason";
  return {};
}

std::string Checker::answered(const Event &event) {
  ServerModel &server = servers[event.server];
  if (isFirst(server, event))
    if (const std::string fault = paused(server); !fault.empty())
      return fault;
  const auto found = server.open.find({event.trainer, event.worker});
  if (found == server.open.end() || found->second->step != event.step)
    return "a server answers what it has not taken, or whose round is open";
  const Event &request = *found->second;
  if (request.kind == MessageKind::Exchange &&
      isTooFarAhead(server, request, Seen::Given))
    return "a sender is let further ahead of the slowest than it may be";
  const ToyResponse due = isOfCopies(request) ? newsFor(server, request)
                                              : responseTo(server, request);
  if (!(due == event.response))
    return "an answer is not what was written";
  if (isOfCopies(request))
    toHold[keyOf(event)] = {server.counters, server.dense};
  if (request.kind == MessageKind::Exchange)
    server.respondedAt[event.trainer] = {server.completed, server.closed};
  toRead[keyOf(event)] = due;
  server.open.erase(found);
  return {};
}

/// Mode quorum: returns true if the receiver of `response` is among the first
/// trainers of the open round.
bool Checker::isFirst(const ServerModel &server, const Event &response) {
  return std::any_of(
      server.first.begin(), server.first.end(),
      [&](const Event *each) { return each->trainer == response.trainer; });
}

/// Mode quorum: returns the trainers that are not in the round and have no
/// further step before all trainers meet. Whether a trainer has arrived at the
/// meeting may be unknown between two events; `seen` selects the assumption.
std::set<uint32_t> Checker::absent(const ServerModel &server,
                                   const std::vector<const Event *> &come,
                                   Seen seen) const {
  std::set<uint32_t> resting = server.rests;
  for (uint32_t trainer = 0; trainer < scenario.trainers; ++trainer)
    if (meets(server, trainer, seen))
      resting.insert(trainer);
  for (const Event *request : come)
    resting.erase(request->trainer);
  return resting;
}

/// Returns an error if a round has more gradients than its quorum, or if it was
/// closed with fewer gradients.
std::string
Checker::faultOfQuorum(const ServerModel &server,
                       const std::vector<const Event *> &come) const {
  const size_t resting = absent(server, come, Seen::Given).size();
  if (come.size() > scenario.quorum)
    return "a round waits for more than its quorum";
  if (come.empty() ? resting < scenario.trainers
                   : come.size() + resting < scenario.quorum)
    return "a round is closed without its quorum";
  return {};
}

/// Returns true if a round that gets no more requests has enough gradients.
/// Usually it is full as it is. But if a trainer without further steps has done
/// at least as many steps as the slowest trainer in the round, the trainers in
/// the round are catching up. Then the gradients of several of their steps are
/// collected.
bool Checker::isFull(const ServerModel &server,
                     const std::vector<const Event *> &come,
                     const std::set<uint32_t> &resting) const {
  const auto stepsOf = [&server](uint32_t trainer) {
    const auto found = server.ended.find({trainer, 0});
    return found == server.ended.end() ? 0 : found->second;
  };
  int64_t slowest = INT64_MAX;
  for (const Event *request : come)
    slowest = std::min(slowest, stepsOf(request->trainer));
  size_t needed = scenario.late == LateGradients::Drop ? scenario.quorum
                                                       : scenario.trainers;
  bool catchesUp = false;
  for (const uint32_t trainer : resting)
    if (stepsOf(trainer) >= slowest)
      catchesUp = true;
    else
      needed -= needed > 0;
  return !catchesUp || come.size() + server.gathered.size() >= needed;
}

/// Returns true if the round may have been full (or not full, if `full` is
/// false) for one of the sets of trainers that may have been absent.
bool Checker::mayHaveBeen(bool full, const ServerModel &server,
                          const std::vector<const Event *> &come) const {
  std::vector<std::set<uint32_t>> all = {absent(server, come, Seen::Taken)};
  for (const uint32_t trainer : absent(server, come, Seen::Given))
    if (!all.front().contains(trainer))
      for (size_t i = 0, count = all.size(); i < count; ++i) {
        all.push_back(all[i]);
        all.back().insert(trainer);
      }
  return std::any_of(all.begin(), all.end(), [&](const auto &resting) {
    return isFull(server, come, resting) == full;
  });
}

/// Checks a pause: the first trainers get responses before their round is
/// closed.
std::string Checker::paused(ServerModel &server) const {
  const std::vector<const Event *> come = std::exchange(server.first, {});
  if (const std::string fault = faultOfQuorum(server, come); !fault.empty())
    return fault;
  if (!mayHaveBeen(/*full=*/false, server, come))
    return "a round pauses that has all its gradients";
  for (const Event *request : come) {
    server.gathered.push_back(request);
    server.open[{request->trainer, request->worker}] = request;
  }
  ++server.completed;
  return {};
}

std::string Checker::closed(const Event &event) {
  ServerModel &server = servers[event.server];
  const bool isOfAll = scenario.isRoundOfAll(event.kind);
  std::vector<const Event *> come =
      std::exchange(isOfAll ? server.round : server.first, {});
  std::vector<const Event *> summed = come;
  if (isOfAll) {
    if (come.size() != scenario.trainers)
      return "a round is closed without all trainers";
    if (!server.gathered.empty())
      return "late gradients are left over";
    ++server.roundsClosed;
    // After a round of all trainers, no trainer is late, and steps are counted
    // from zero again.
    server.rests.clear();
    server.ended.clear();
    for (uint32_t trainer = 0; trainer < scenario.trainers; ++trainer)
      server.respondedAt[trainer] = {server.completed, server.closed};
  } else {
    if (const std::string fault = faultOfQuorum(server, come); !fault.empty())
      return fault;
    if (!mayHaveBeen(/*full=*/true, server, come))
      return "a round is closed without its gradients";
    summed.insert(summed.begin(), server.gathered.begin(),
                  server.gathered.end());
    server.gathered.clear();
    ++server.completed;
    ++server.closed;
  }
  apply(server, summed);
  for (size_t i = 0; i < server.dense.size(); ++i)
    if (std::bit_cast<uint32_t>(server.dense[i]) !=
        std::bit_cast<uint32_t>(event.response.dense[i]))
      return "values are not the rank-ordered sums";
  for (const Event *request : come)
    server.open[{request->trainer, request->worker}] = request;
  if (isOfAll && scenario.endsMeeting(come.front()->step))
    for (uint32_t trainer = 0; trainer < scenario.trainers; ++trainer)
      if (server.copies[trainer] != ToyState{server.counters, server.dense})
        return "trainers that have met have other values than the server";
  return {};
}

/// Adds the changes that a trainer has made to its copy, and records them for
/// the other trainers.
void Checker::addToCopies(ServerModel &server, const Event &event) const {
  if (!event.request.hasPart)
    return;
  for (size_t i = 0; i < server.dense.size(); ++i)
    server.dense[i] += event.request.part[i];
  for (const auto &[key, increment] : event.request.increments)
    server.counters[key] += increment;
  for (uint32_t other = 0; other < scenario.trainers; ++other) {
    if (other == event.trainer)
      continue;
    server.unreportedDense.insert(other);
    for (const auto &[key, increment] : event.request.increments)
      server.unreportedKeys[other].insert(key);
  }
}

/// Returns each key once, in the order of the protocol.
ToyResponse Checker::newsFor(ServerModel &server, const Event &request) const {
  ToyResponse response;
  response.trainer = request.trainer;
  response.step = request.step;
  for (const int64_t key :
       std::exchange(server.unreportedKeys[request.trainer], {}))
    response.counters.emplace_back(key, server.counters[key]);
  std::sort(response.counters.begin(), response.counters.end(),
            [](const auto &a, const auto &b) {
              return std::pair(pdlabi::shardOfKey(a.first), a.first) <
                     std::pair(pdlabi::shardOfKey(b.first), b.first);
            });
  response.hasDense = server.unreportedDense.erase(request.trainer) > 0;
  if (response.hasDense)
    response.dense = server.dense;
  return response;
}

/// Applies a round: adds the increments, halves the block and adds the sum of
/// the parts. The sum starts with a copy of the first part.
void Checker::apply(ServerModel &server,
                    const std::vector<const Event *> &requests) {
  const ToyBlock *first = nullptr;
  ToyBlock sum{};
  for (const Event *request : requests) {
    for (const auto &[key, increment] : request->request.increments)
      server.counters[key] += increment;
    if (!request->request.hasPart)
      continue;
    const ToyBlock &part = request->request.part;
    if (first)
      for (size_t i = 0; i < sum.size(); ++i)
        sum[i] += part[i];
    else
      sum = part;
    first = &part;
  }
  for (size_t i = 0; first && i < sum.size(); ++i) {
    server.dense[i] *= 0.5f;
    server.dense[i] += sum[i];
  }
}

ToyResponse Checker::responseTo(const ServerModel &server,
                                const Event &request) const {
  ToyResponse response;
  response.trainer = request.trainer;
  response.step = request.step;
  for (const int64_t key : request.request.keys) {
    const auto found = server.counters.find(key);
    response.counters.emplace_back(
        key, found == server.counters.end() ? 0 : found->second);
  }
  response.dense = server.dense;
  return response;
}

std::string Checker::read(const Event &event) {
  const auto found = toRead.find(keyOf(event));
  if (found == toRead.end())
    return "a sender reads before it is answered";
  if (!(found->second == event.response))
    return "a sender reads what was not written";
  if (const auto held = toHold.find(keyOf(event)); held != toHold.end()) {
    if (held->second != event.copy)
      return "a copy is not what the server had when it answered";
    servers[event.server].copies[event.trainer] = event.copy;
  }
  return {};
}

/// Checks the error message at the end of a trainer or a server.
std::string Checker::failed(const std::string &text) const {
  if (scenario.succeeds())
    return "a job that nothing ended has failed";
  if (text == "its data ends in the middle of a line")
    return {};
  // Allowed: a server that has failed and reported it ends. A trainer that has
  // not received the report finds that the server does not respond.
  for (const auto &[server, end] : endedServers)
    for (const char *what :
         {" did not respond for ", " has ended: its address "})
      if (!end.empty() && text.find("server s" + std::to_string(server) +
                                    what) != std::string::npos)
        return {};
  for (const uint32_t culprit : scenario.culprits())
    if (text.find("trainer " + std::to_string(culprit)) != std::string::npos)
      return {};
  return "a failure names no process that may have failed";
}

std::string Checker::checkEnd() const {
  for (uint32_t server = 0; server < scenario.servers; ++server)
    if (!endedServers.contains(server))
      return "server " + std::to_string(server) + " does not end";
  for (uint32_t rank = 0; rank < scenario.trainers; ++rank)
    if (!endedTrainers.contains(rank) && !deadTrainers.contains(rank))
      return "trainer " + std::to_string(rank) + " does not end";
  // If a trainer died before the end, the others need not finish.
  const bool wasCut =
      !scenario.succeeds() && leftTrainers.size() < scenario.trainers;
  if (wasCut) {
    for (const auto &[server, text] : endedServers)
      if (text.empty())
        return "server " + std::to_string(server) +
               " takes a failed job for a finished one";
    return {};
  }
  for (uint32_t server = 0; server < scenario.servers; ++server)
    for (uint32_t trainer = 0; trainer < scenario.trainers; ++trainer)
      for (uint32_t worker = 0; worker <= scenario.workers; ++worker)
        if (lastTaken.find({server, trainer, worker}) == lastTaken.end() ||
            lastTaken.at({server, trainer, worker}) !=
                scenario.programOf(worker).size())
          return "a request of trainer " + std::to_string(trainer) +
                 " is lost at server " + std::to_string(server);
  return {};
}

} // namespace

std::string pdlrt::checkHistory(const Scenario &scenario,
                                const History &history) {
  return Checker(scenario, history).check();
}
