//===- ServerGroup.cpp - Sessions to all servers of a job -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerGroup.h"

#include "Protocol/LongWait.h"
#include "Protocol/WaitReport.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Protocol/Heartbeat.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace pdlrt;

static constexpr std::chrono::milliseconds wavePollInterval{100};

/// One request to each server, and the responses that have arrived. Callbacks
/// of the requests share ownership, so that the object lives even if the caller
/// stops waiting.
class ServerGroup::Wave : public std::enable_shared_from_this<Wave> {
public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Wave(size_t count) : count(count), results(count) {}

  RequestDone doneOf(size_t server) {
    return [self = shared_from_this(), server](Expected<Message> result) {
      {
        const MutexLock lock(self->mutex);
        ++self->ended;
        self->last = std::chrono::steady_clock::now();
        self->hasError |= !result.ok();
        self->results[server] = std::move(result);
      }
      self->changed.notify_all();
    };
  }
  /// Counts a server to which no request is sent.
  void skip(size_t server) { doneOf(server)(Message()); }

  /// Waits for a change until `until`. Returns true if all requests have ended.
  bool waitUntil(Time until) {
    MutexLock lock(mutex);
    return changed.wait_until(
        lock, until, [this]() PDLRT_REQUIRES(mutex) { return ended == count; });
  }
  bool anyError() const {
    const MutexLock lock(mutex);
    return hasError;
  }
  bool hasEnded(size_t server) const {
    const MutexLock lock(mutex);
    return results[server].has_value();
  }
  bool hasSucceeded(size_t server) const {
    const MutexLock lock(mutex);
    const auto &result = results[server];
    return result.has_value() && result->ok();
  }
  /// Returns the time at which the last request ended so far.
  Time lastEnd() const {
    const MutexLock lock(mutex);
    return last;
  }
  /// Returns all responses, or the first error in server order. Call when all
  /// requests have ended, or after an error.
  Expected<std::vector<Message>> take() {
    const MutexLock lock(mutex);
    std::vector<Message> responses;
    for (std::optional<Expected<Message>> &result : results)
      if (result && !result->ok())
        return result->status();
    for (std::optional<Expected<Message>> &result : results)
      if (result)
        responses.push_back(*std::move(*result));
    return responses;
  }

private:
  const size_t count;
  mutable Mutex mutex;
  ConditionVariable changed;
  size_t ended PDLRT_GUARDED_BY(mutex) = 0;
  bool hasError PDLRT_GUARDED_BY(mutex) = false;
  Time last PDLRT_GUARDED_BY(mutex);
  std::vector<std::optional<Expected<Message>>> results PDLRT_GUARDED_BY(mutex);
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
  std::vector<std::pair<std::string, std::string>> waits;
  for (size_t server = 0; server < sessions.size(); ++server) {
    if (hasEnded(server))
      continue;
    const std::string reason = sessions[server]->waitingFor();
    waits.emplace_back(sessions[server]->name(), !reason.empty() ? reason
                                                 : !joined[server]
                                                     ? "not reached yet"
                                                     : "no answer yet");
  }
  return describeWaits(waits);
}

bool ServerGroup::waitsForSilent(const HasEnded &hasEnded) const {
  for (size_t server = 0; server < sessions.size(); ++server)
    if (joined[server] && !hasEnded(server) &&
        sessions[server]->silence() > options.stopPatience)
      return true;
  return false;
}

/// Returns the failure of a server for which `hasEnded` is true: it has
/// responded, but has failed since then. The caller still waits for other
/// servers.
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
    return Status::cancelled("another worker of this trainer has failed; " +
                             waitingLine(hasEnded));
  if (options.shouldStop && options.shouldStop())
    return Status::cancelled("stopped while it waited; " +
                             waitingLine(hasEnded));
  if (options.events.wasStopRequested && options.events.wasStopRequested() &&
      waitsForSilent(hasEnded))
    return Status::cancelled("stopped while a server was silent; " +
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
  LongWait longWait;
  const HasEnded hasEnded = [&wave](size_t server) {
    return wave.hasEnded(server);
  };
  std::optional<Wave::Time> giveUp;
  for (;;) {
    Wave::Time until = SteadyClock::now() + wavePollInterval;
    if (giveUp)
      until = std::min(until, *giveUp);
    if (wave.waitUntil(until))
      return wave.take();
    const Wave::Time now = SteadyClock::now();
    // A server that has responded may fail while the caller waits for the
    // others.
    const Status elsewhere = failureElsewhere(hasEnded);
    if (!giveUp && (wave.anyError() || !elsewhere.ok()))
      giveUp = now + options.errorPatience;
    if (giveUp && now >= *giveUp)
      return wave.anyError() ? wave.take() : elsewhere;
    PDLRT_RETURN_IF_ERROR(stopReason(hasEnded));
    reportIfDue(hasEnded, nextReport);
    longWait.note([&] { return waitingLine(hasEnded); });
  }
}

/// Greets all servers. A greeting does not change their state. Returns an error
/// if a server has failed, or if a previous incarnation of this sender has left
/// all servers, so that its work is done.
Status ServerGroup::greetAll(const std::vector<Message> &handshakes) {
  const auto isDone = [](const auto &session) {
    return session->previousIncarnationIsDone();
  };
  // The servers respond at different times. If the previous incarnation has
  // left only some of them, it may have left the others since they responded,
  // or it may have died in between. So the request to those others is repeated.
  for (const bool again : {false, true}) {
    const auto wave = std::make_shared<Wave>(sessions.size());
    for (size_t server = 0; server < sessions.size(); ++server)
      if (again && isDone(sessions[server]))
        wave->skip(server);
      else
        sessions[server]->greet(handshakes[server], wave->doneOf(server));
    const auto responses = waitFor(*wave);
    for (size_t server = 0; server < sessions.size(); ++server)
      if (wave->hasSucceeded(server))
        greeted[server] = handshakes[server];
    if (!responses)
      return responses.status();
    // A server may have admitted this process first, and another process with
    // its rank later.
    for (const auto &session : sessions)
      PDLRT_RETURN_IF_ERROR(session->failure());
    if (std::all_of(sessions.begin(), sessions.end(), isDone))
      return Status::failedPrecondition(
          "an earlier start of this trainer has left all "
          "servers, and its part is done");
    if (std::none_of(sessions.begin(), sessions.end(), isDone))
      break;
  }
  return {};
}

/// Joins the servers [first, end). The responses of the other servers are
/// empty.
Expected<std::vector<Message>>
ServerGroup::join(size_t first, size_t end,
                  const std::vector<Message> &handshakes) {
  const auto wave = std::make_shared<Wave>(sessions.size());
  for (size_t server = 0; server < sessions.size(); ++server)
    if (server >= first && server < end)
      sessions[server]->join(handshakes[server], wave->doneOf(server));
    else
      wave->skip(server);
  auto responses = waitFor(*wave);
  for (size_t server = first; server < end; ++server)
    joined[server] = wave->hasSucceeded(server);
  return responses;
}

Expected<std::vector<Message>>
ServerGroup::joinAll(const std::vector<Message> &handshakes) {
  const size_t count = sessions.size();
  size_t others = 0;
  Message firstResponse;
  if (sender.incarnation == 0) {
    PDLRT_RETURN_IF_ERROR(greetAll(handshakes));
    // Several processes with this rank may start at the same time. The first
    // server admits one of them, and the other servers follow its decision.
    sender.incarnation = sessions[0]->proposedIncarnation();
    for (size_t server = 0; server < count; ++server)
      sessions[server]->becomeStart(sender.incarnation,
                                    server == 0 ? sender.start.claim
                                                : StartSign::Claim::Decided);
    auto first = join(0, 1, handshakes);
    if (!first)
      return first;
    firstResponse = std::move(first->front());
    others = 1;
  }
  auto responses = join(others, count, handshakes);
  if (!responses)
    return responses;
  if (others > 0)
    responses->front() = std::move(firstResponse);
  using EarlierStart = ServerGroupOptions::EarlierStart;
  for (const auto &session : sessions)
    firstUnsent = std::max(firstUnsent, session->nextSequence());
  if (options.earlierStart == EarlierStart::Refuse ||
      options.earlierStart == EarlierStart::GoOn)
    PDLRT_RETURN_IF_ERROR(goOn());
  return responses;
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

/// If there was a previous incarnation of this sender, continues at its last
/// request with a recovery record, or at the first request. Returns an error if
/// it may not continue (`ServerGroupOptions::earlierStart`), or if it has no
/// record and servers do not store all responses any more.
Status ServerGroup::goOn() {
  if (firstUnsent == 1)
    return {};
  const Earlier found = earlier();
  // Without a recovery record, a restart can only begin from the first request.
  // This is possible as long as servers store the responses.
  constexpr uint64_t lastWithoutNote = 2;
  if (options.earlierStart != ServerGroupOptions::EarlierStart::GoOn ||
      (found.noted == 0 && found.firstMissing > lastWithoutNote + 1))
    return Status::failedPrecondition(
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
  auto responses = waitFor(*wave);
  respondedAt = wave->lastEnd();
  return responses;
}

Expected<std::vector<Message>>
ServerGroup::sendAll(MessageKind kind, std::vector<Message> payloads) {
  beginAll(kind, std::move(payloads));
  return awaitAll();
}

/// Joins those servers that still wait for this process. It then leaves them,
/// so that they stop waiting.
void ServerGroup::joinToLeave(Wave::Time until) {
  const auto wave = std::make_shared<Wave>(sessions.size());
  for (size_t server = 0; server < sessions.size(); ++server) {
    const std::optional<Message> &handshake = greeted[server];
    if (joined[server] || !handshake) {
      wave->skip(server);
      continue;
    }
    // If no incarnation was assigned, use 1. Each later process has a larger
    // number, because the first server assigns increasing numbers.
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

void ServerGroup::leaveAll(const std::string &message, pdl_status code,
                           std::chrono::milliseconds limit) {
  if (placeIsTaken())
    return;
  const auto until = std::chrono::steady_clock::now() + limit;
  if (!message.empty())
    joinToLeave(until);
  if (hasLostServer())
    noteLostServer();
  const auto wave = std::make_shared<Wave>(sessions.size());
  for (size_t server = 0; server < sessions.size(); ++server)
    if (joined[server]) {
      sessions[server]->leaveNote(message.empty() ? Message()
                                                  : encodeFailureCode(code));
      sessions[server]->send(MessageKind::Leave,
                             Message::ofString(cutToFit(message)),
                             wave->doneOf(server));
    } else {
      wave->skip(server);
    }
  if (wave->waitUntil(until) || !message.empty() || !options.report)
    return;
  for (size_t server = 0; server < sessions.size(); ++server)
    if (!wave->hasEnded(server))
      options.report(sessions[server]->name() +
                     " did not respond to this trainer's leave");
}
