//===- ServerGroup.cpp - Sessions to all servers of a job -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerGroup.h"

#include "pdlrt/Protocol/LifeSign.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

using namespace pdlrt;

static constexpr std::chrono::milliseconds pollInterval{100};

/// One request to each server, and what has come back. Callbacks of a wave that
/// nobody waits for any more keep it alive.
class ServerGroup::Wave : public std::enable_shared_from_this<Wave> {
public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Wave(size_t count) : results(count) {}

  RequestDone doneOf(size_t server) {
    return [self = shared_from_this(), server](Expected<Message> result) {
      {
        const std::lock_guard lock(self->mutex);
        ++self->ended;
        self->last = std::chrono::steady_clock::now();
        self->hasError |= !result.ok();
        self->results[server] = std::move(result);
      }
      self->changed.notify_all();
    };
  }
  /// Counts a server that takes no part.
  void skip(size_t server) { doneOf(server)(Message()); }

  /// Waits for a change up to `until`; whether all have ended.
  bool waitUntil(Time until) {
    std::unique_lock lock(mutex);
    return changed.wait_until(lock, until,
                              [this] { return ended == results.size(); });
  }
  bool anyError() const {
    const std::lock_guard lock(mutex);
    return hasError;
  }
  bool hasEnded(size_t server) const {
    const std::lock_guard lock(mutex);
    return results[server].has_value();
  }
  bool hasSucceeded(size_t server) const {
    const std::lock_guard lock(mutex);
    const auto &result = results[server];
    return result.has_value() && result->ok();
  }
  /// When the last one ended so far.
  Time lastEnd() const {
    const std::lock_guard lock(mutex);
    return last;
  }
  /// The first error by server, or all answers; after the end or an error.
  Expected<std::vector<Message>> take() {
    const std::lock_guard lock(mutex);
    std::vector<Message> answers;
    for (std::optional<Expected<Message>> &result : results)
      if (result && !result->ok())
        return result->status();
    for (std::optional<Expected<Message>> &result : results)
      if (result)
        answers.push_back(*std::move(*result));
    return answers;
  }

private:
  mutable std::mutex mutex;
  std::condition_variable changed;
  size_t ended = 0;
  bool hasError = false;
  Time last;
  std::vector<std::optional<Expected<Message>>> results;
};

Expected<std::unique_ptr<ServerGroup>> ServerGroup::connect(
    Transport &transport, const std::vector<std::string> &addresses,
    const SenderName &sender, const ServerGroupOptions &options) {
  std::unique_ptr<ServerGroup> group(new ServerGroup(sender, options));
  for (size_t server = 0; server < addresses.size(); ++server) {
    auto session = createServerSession(
        transport, addresses[server], sender, options.retry, options.events,
        server < options.names.size() ? options.names[server] : std::string());
    if (!session)
      return std::move(session).status();
    group->sessions.push_back(std::move(*session));
  }
  group->joined.resize(addresses.size(), false);
  group->greeted.resize(addresses.size());
  return group;
}

ServerGroup::~ServerGroup() = default;

std::string ServerGroup::waitingLine(const HasEnded &hasEnded) const {
  std::string line;
  for (size_t server = 0; server < sessions.size(); ++server) {
    if (hasEnded(server))
      continue;
    const std::string reason = sessions[server]->waitingFor();
    line += (line.empty() ? "" : "; ") + sessions[server]->name() +
            (!reason.empty()   ? ": " + reason
             : !joined[server] ? ": not reached yet"
                               : ": no answer yet");
  }
  return line;
}

bool ServerGroup::waitsForSilent(const HasEnded &hasEnded) const {
  for (size_t server = 0; server < sessions.size(); ++server)
    if (joined[server] && !hasEnded(server) &&
        sessions[server]->silence() > options.stopPatience)
      return true;
  return false;
}

/// Of a server that others are still waited for beside.
Status ServerGroup::failureElsewhere(const HasEnded &hasEnded) const {
  for (size_t server = 0; server < sessions.size(); ++server)
    if (hasEnded(server))
      PDLRT_RETURN_IF_ERROR(sessions[server]->failure());
  return {};
}

Status ServerGroup::failure() const {
  return failureElsewhere([](size_t) { return true; });
}

Status ServerGroup::stopReason(const HasEnded &hasEnded) const {
  if (gaveUp.load(std::memory_order_relaxed))
    return Status::invalid("another worker of this trainer has failed; " +
                           waitingLine(hasEnded));
  if (options.shouldStop && options.shouldStop())
    return Status::invalid("stopped while it waited; " + waitingLine(hasEnded));
  if (options.events.wasAskedToStop && options.events.wasAskedToStop() &&
      waitsForSilent(hasEnded))
    return Status::invalid("stopped while a server was silent; " +
                           waitingLine(hasEnded));
  return {};
}

void ServerGroup::reportIfDue(const HasEnded &hasEnded,
                              Wave::Time &nextReport) const {
  const Wave::Time now = std::chrono::steady_clock::now();
  if (now < nextReport)
    return;
  nextReport = now + options.reportInterval;
  if (options.report)
    options.report(waitingLine(hasEnded));
}

Status ServerGroup::lookAround(const HasEnded &hasEnded,
                               Wave::Time &nextReport) const {
  PDLRT_RETURN_IF_ERROR(failureElsewhere(hasEnded));
  PDLRT_RETURN_IF_ERROR(stopReason(hasEnded));
  reportIfDue(hasEnded, nextReport);
  return {};
}

Expected<std::vector<Message>> ServerGroup::waitFor(Wave &wave) {
  using SteadyClock = std::chrono::steady_clock;
  Wave::Time nextReport = firstReport();
  const HasEnded hasEnded = [&wave](size_t server) {
    return wave.hasEnded(server);
  };
  std::optional<Wave::Time> giveUp;
  for (;;) {
    Wave::Time until = SteadyClock::now() + pollInterval;
    if (giveUp)
      until = std::min(until, *giveUp);
    if (wave.waitUntil(until))
      return wave.take();
    const Wave::Time now = SteadyClock::now();
    // A server may fail behind its answer, while others do not give theirs.
    const Status elsewhere = failureElsewhere(hasEnded);
    if (!giveUp && (wave.anyError() || !elsewhere.ok()))
      giveUp = now + options.errorPatience;
    if (giveUp && now >= *giveUp)
      return wave.anyError() ? wave.take() : elsewhere;
    PDLRT_RETURN_IF_ERROR(stopReason(hasEnded));
    reportIfDue(hasEnded, nextReport);
  }
}

/// Changes nothing at the servers.
Status ServerGroup::greetAll(const std::vector<Message> &handshakes) {
  const auto isDone = [](const auto &session) {
    return session->earlierStartIsDone();
  };
  // Answers may be of different times. Where an earlier start has left some
  // servers, it may have left the others since they answered, or may have died
  // before: they are asked once more.
  for (const bool again : {false, true}) {
    const auto wave = std::make_shared<Wave>(sessions.size());
    for (size_t server = 0; server < sessions.size(); ++server)
      if (again && isDone(sessions[server]))
        wave->skip(server);
      else
        sessions[server]->greet(handshakes[server], wave->doneOf(server));
    const auto answers = waitFor(*wave);
    for (size_t server = 0; server < sessions.size(); ++server)
      if (wave->hasSucceeded(server))
        greeted[server] = handshakes[server];
    if (!answers)
      return answers.status();
    // A server may have let this start in at first, and then another one.
    for (const auto &session : sessions)
      PDLRT_RETURN_IF_ERROR(session->failure());
    if (std::all_of(sessions.begin(), sessions.end(), isDone))
      return Status::invalid("an earlier start of this trainer has left all "
                             "servers, and its part is done");
    if (std::none_of(sessions.begin(), sessions.end(), isDone))
      break;
  }
  return {};
}

/// Joins servers `first` to `end` - 1; the answers of others are empty.
Expected<std::vector<Message>>
ServerGroup::join(size_t first, size_t end,
                  const std::vector<Message> &handshakes) {
  const auto wave = std::make_shared<Wave>(sessions.size());
  for (size_t server = 0; server < sessions.size(); ++server)
    if (server >= first && server < end)
      sessions[server]->join(handshakes[server], wave->doneOf(server));
    else
      wave->skip(server);
  auto answers = waitFor(*wave);
  for (size_t server = first; server < end; ++server)
    joined[server] = wave->hasSucceeded(server);
  return answers;
}

Expected<std::vector<Message>>
ServerGroup::joinAll(const std::vector<Message> &handshakes) {
  const size_t count = sessions.size();
  size_t others = 0;
  Message firstAnswer;
  if (sender.incarnation == 0) {
    PDLRT_RETURN_IF_ERROR(greetAll(handshakes));
    // Of starts that come at once, the first server takes one; the others
    // follow it.
    sender.incarnation = sessions[0]->offeredIncarnation();
    for (size_t server = 0; server < count; ++server)
      sessions[server]->becomeStart(sender.incarnation,
                                    server == 0 ? sender.start.claim
                                                : StartSign::Claim::Decided);
    auto first = join(0, 1, handshakes);
    if (!first)
      return first;
    firstAnswer = std::move(first->front());
    others = 1;
  }
  auto answers = join(others, count, handshakes);
  if (!answers)
    return answers;
  if (others > 0)
    answers->front() = std::move(firstAnswer);
  using EarlierStart = ServerGroupOptions::EarlierStart;
  for (const auto &session : sessions)
    firstUnsent = std::max(firstUnsent, session->nextSequence());
  if (options.earlierStart == EarlierStart::Refuse ||
      options.earlierStart == EarlierStart::GoOn)
    PDLRT_RETURN_IF_ERROR(goOn());
  return answers;
}

ServerGroup::Earlier ServerGroup::earlier() const {
  Earlier found;
  found.firstMissing = sessions[0]->nextSequence();
  for (const auto &session : sessions)
    found.firstMissing = std::min(found.firstMissing, session->nextSequence());
  for (NumberedNote &each : sessions[0]->notes())
    if (each.sequence < found.firstMissing) {
      found.noted = each.sequence;
      found.note = std::move(each.note);
    }
  return found;
}

void ServerGroup::goOnWith(uint64_t sequence) {
  for (const auto &session : sessions)
    session->continueFrom(sequence);
  sent = sequence - 1;
}

/// Takes up where an earlier start of this sender ended, if there was one.
Status ServerGroup::goOn() {
  if (firstUnsent == 1)
    return {};
  const Earlier found = earlier();
  // Without a note it can only begin anew, with what servers still answer.
  constexpr uint64_t lastWithoutNote = 2;
  if (options.earlierStart != ServerGroupOptions::EarlierStart::GoOn ||
      (found.noted == 0 && found.firstMissing > lastWithoutNote + 1))
    return Status::invalid(
        sessions[0]->name() + " expects request " +
        std::to_string(sessions[0]->nextSequence()) +
        " of this trainer, which an earlier start of it did not end: end "
        "all trainers and servers, and start them from the last checkpoint");
  goOnWith(std::max<uint64_t>(found.noted, 1));
  noteToGoOnFrom = found.note;
  return {};
}

void ServerGroup::beginAll(MessageKind kind, std::vector<Message> payloads) {
  ++sent;
  open = std::make_shared<Wave>(sessions.size());
  for (size_t server = 0; server < sessions.size(); ++server)
    sessions[server]->send(kind, std::move(payloads[server]),
                           open->doneOf(server));
}

Expected<std::vector<Message>> ServerGroup::awaitAll() {
  const std::shared_ptr<Wave> wave = std::exchange(open, nullptr);
  auto answers = waitFor(*wave);
  answeredAt = wave->lastEnd();
  return answers;
}

Expected<std::vector<Message>>
ServerGroup::sendAll(MessageKind kind, std::vector<Message> payloads) {
  beginAll(kind, std::move(payloads));
  return awaitAll();
}

/// Joins servers that would wait for this start, so that it can tell them that
/// they need not.
void ServerGroup::joinToLeave(Wave::Time until) {
  const auto wave = std::make_shared<Wave>(sessions.size());
  for (size_t server = 0; server < sessions.size(); ++server) {
    const std::optional<Message> &handshake = greeted[server];
    if (joined[server] || !handshake) {
      wave->skip(server);
      continue;
    }
    // Less than that of any start that may yet come, which the first server
    // counts.
    sessions[server]->becomeStart(sender.incarnation != 0 ? sender.incarnation
                                                          : 1,
                                  StartSign::Claim::OnlyIfFirst);
    sessions[server]->join(*handshake, wave->doneOf(server));
  }
  wave->waitUntil(until);
  for (size_t server = 0; server < sessions.size(); ++server)
    joined[server] =
        joined[server] || (greeted[server] && wave->hasSucceeded(server));
}

bool ServerGroup::placeIsTaken() const {
  return std::any_of(sessions.begin(), sessions.end(), [](const auto &session) {
    return session->placeIsTaken();
  });
}

bool ServerGroup::hasLostServer() const {
  return std::any_of(sessions.begin(), sessions.end(), [](const auto &session) {
    return session->serverIsLost();
  });
}

void ServerGroup::noteLostServer() {
  for (const auto &session : sessions)
    session->noteLostServer();
}

void ServerGroup::leaveAll(const std::string &sentence,
                           std::chrono::milliseconds limit) {
  if (placeIsTaken())
    return;
  const auto until = std::chrono::steady_clock::now() + limit;
  if (!sentence.empty())
    joinToLeave(until);
  if (hasLostServer())
    noteLostServer();
  const auto wave = std::make_shared<Wave>(sessions.size());
  for (size_t server = 0; server < sessions.size(); ++server)
    if (joined[server])
      sessions[server]->send(MessageKind::Leave,
                             Message::ofString(cutToFit(sentence)),
                             wave->doneOf(server));
    else
      wave->skip(server);
  if (wave->waitUntil(until) || !sentence.empty() || !options.report)
    return;
  for (size_t server = 0; server < sessions.size(); ++server)
    if (!wave->hasEnded(server))
      options.report(sessions[server]->name() +
                     " did not answer this trainer's leave");
}
