//===- PeerRequests.cpp - Answers requests of other servers ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/PeerRequests.h"

#include "pdlrt/Protocol/ServerCheckpoint.h"
#include "pdlrt/Transport/FailureCode.h"

#include <algorithm>
#include <fmt/format.h>
#include <new>
#include <set>
#include <string_view>

using namespace pdlrt;
using nlohmann::json;

SnapshotPoint pdlrt::snapshotPointOf(const Mode &mode,
                                     const StateServer &server,
                                     const std::vector<SenderMark> &marks) {
  // In modes with rounds, the numbers of requests do not identify the state:
  // requests that do not change it, such as those for sums, may have reached
  // only some servers.
  if (mode.stepsAreRounds)
    return {{{0, 0}, server.stepsInState()}};
  SnapshotPoint snapshotPoint;
  for (const SenderMark &mark : marks)
    snapshotPoint[{mark.trainer, mark.worker}] = mark.received;
  return snapshotPoint;
}

json pdlrt::toJson(const SnapshotPoint &snapshotPoint) {
  json list = json::array();
  for (const auto &[sender, request] : snapshotPoint)
    list.push_back({sender.first, sender.second, request});
  return list;
}

std::optional<SnapshotPoint> pdlrt::snapshotPointFrom(const json &object) {
  const auto found = object.find("moment");
  if (found == object.end() || !found->is_array())
    return std::nullopt;
  SnapshotPoint snapshotPoint;
  for (const json &each : *found) {
    const auto isSmall = [](const json &number) {
      return std::in_range<uint32_t>(number.get<uint64_t>());
    };
    if (!each.is_array() || each.size() != 3 ||
        !std::ranges::all_of(
            each,
            [](const json &number) { return number.is_number_unsigned(); }) ||
        !isSmall(each[0]) || !isSmall(each[1]))
      return std::nullopt;
    snapshotPoint[{each[0].get<uint32_t>(), each[1].get<uint32_t>()}] =
        each[2].get<uint64_t>();
  }
  return snapshotPoint;
}

std::string pdlrt::textOf(const json &object, const char *name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : std::string();
}

Message pdlrt::messageOf(const json &object) {
  return Message::ofString(
      object.dump(-1, ' ', false, json::error_handler_t::replace));
}

Status pdlrt::checkRuns(ServerCore &core) {
  const JobStatus status = core.status();
  if (status.state == JobState::Running)
    return {};
  return status.state == JobState::Failed
             ? status.failure().withContext("the job has failed")
             : Status::failedPrecondition("the job is finished");
}

int64_t pdlrt::numberOf(const json &object, const char *name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer()
             ? found->get<int64_t>()
             : -1;
}

uint64_t pdlrt::runOf(const json &object) {
  const auto found = object.find("run");
  return found != object.end() && found->is_number_unsigned()
             ? found->get<uint64_t>()
             : 0;
}

static Expected<json> respondToResume(PeerRequests &shared, int64_t from,
                                      const json &object) {
  const auto steps = object.find("steps");
  Expected<int64_t> found =
      Status(failureCodeOf(numberOf(object, "code")), textOf(object, "fault"));
  if (steps != object.end() && steps->is_number_integer())
    found = steps->get<int64_t>();
  const auto response = shared.agreement.report(from, found);
  if (!response)
    return response.status();
  const std::optional<int64_t> &agreed = *response;
  return json{{"steps", agreed ? json(*agreed) : json()}};
}

/// Starts to write this server's part of a save between two requests. Responds
/// with null until the part is written. A later call with the same folder
/// responds with the result. It is an error if the state was not at
/// `snapshotPoint` any more.
static json respondToSave(StateHost &host,
                          const std::shared_ptr<PeerRequests> &shared,
                          const std::string &folder,
                          const SnapshotPoint &snapshotPoint) {
  std::shared_ptr<OwnPart> part;
  {
    const MutexLock lock(shared->mutex);
    const auto found = shared->parts.find(folder);
    if (found != shared->parts.end()) {
      const OwnPart &own = *found->second;
      if (!own.isDone)
        return {{"written", nullptr}};
      return {{"written", own.failure.ok()
                              ? own.written
                              : encodeSaved(own.failure).toString()}};
    }
    std::erase_if(shared->parts,
                  [](const auto &each) { return each.second->isDone; });
    part = std::make_shared<OwnPart>();
    shared->parts[folder] = part;
  }
  const auto write = [&host, shared, part, folder, snapshotPoint](
                         const std::vector<SenderMark> &marks) -> Status {
    if (snapshotPointOf(shared->mode, host.application(), marks) !=
        snapshotPoint)
      return Status::invalidArgument(host.name() +
                                     " has gone on since the save began");
    std::string written =
        host.application().saves().savePart(folder).toString();
    const MutexLock lock(shared->mutex);
    part->written = std::move(written);
    return {};
  };
  const auto note = [shared, part](Status status) {
    const MutexLock lock(shared->mutex);
    part->failure = std::move(status);
    part->isDone = true;
  };
  try {
    host.core().betweenRequests(write, note);
  } catch (const std::bad_alloc &) {
    const MutexLock lock(shared->mutex);
    shared->parts.erase(folder);
    throw;
  }
  return {{"written", nullptr}};
}

/// Returns an error unless server `from` of this job may send a request of kind
/// `what` to this server.
static Status checkRequest(const PeerRequests &shared, const std::string &what,
                           int64_t from, const json &object) {
  PDLRT_RETURN_IF_ERROR(shared.identity.check(object));
  using Names = std::set<std::string_view>;
  static const Names toFirst = {"meet", "resume", "checkpoint", "stop"},
                     toOthers = {"moment", "save", "end"},
                     ofSaves = {"stop", "moment", "save", "end"};
  const bool isKnown =
      shared.coordinates()
          ? from >= 1 && from < shared.servers && toFirst.contains(what)
          : from == 0 && toOthers.contains(what);
  if (!isKnown)
    return Status::failedPrecondition(fmt::format(
        "server {} takes no such request from server {}", shared.rank, from));
  if (!shared.maySave && ofSaves.contains(what))
    return Status::failedPrecondition(fmt::format(
        "servers of this job do not save without trainers: server {} has "
        "another --on-failure",
        from));
  return {};
}

/// Handles a request that was checked. Returns quickly.
static Expected<json>
respondChecked(StateHost &host, const std::shared_ptr<PeerRequests> &shared,
               const std::string &what, int64_t from, const json &object) {
  if (what == "moment") {
    PDLRT_RETURN_IF_ERROR(checkRuns(host.core()));
    if (!host.isLoaded())
      return json{{"moment", toJson({})}};
    return json{
        {"moment", toJson(snapshotPointOf(shared->mode, host.application(),
                                          host.core().marks()))}};
  }
  if (what == "resume")
    return respondToResume(*shared, from, object);
  if (what == "stop")
    host.core().requestStop();
  if (what == "end")
    host.core().fail(Status(failureCodeOf(numberOf(object, "code")),
                            textOf(object, "message")));
  if (what == "checkpoint")
    ++shared->checkpointRequests;
  if (what != "save")
    return json::object();
  const std::string folder = textOf(object, "folder");
  const std::optional<SnapshotPoint> snapshotPoint = snapshotPointFrom(object);
  if (folder.empty() || !snapshotPoint)
    return Status::dataLoss("the request of a server is damaged");
  return respondToSave(host, shared, folder, *snapshotPoint);
}

Expected<Message>
pdlrt::respondToPeer(StateHost &host,
                     const std::shared_ptr<PeerRequests> &shared,
                     const Message &payload) {
  const json object = json::parse(payload.toString(), nullptr, false);
  if (!object.is_object())
    return Status::dataLoss("the request of a server is damaged");
  const std::string what = textOf(object, "do");
  const int64_t from = numberOf(object, "from");
  PDLRT_RETURN_IF_ERROR(checkRequest(*shared, what, from, object));
  const uint64_t run = shared->run;
  Expected<json> response = json::object();
  // Without a number, the sender is told to repeat the request.
  if (what != "meet" && run != 0) {
    if (runOf(object) != run)
      return Status::unavailable(
          "server 0 was started anew after the other servers: its state is "
          "another one, so start all processes again with --resume");
    response = respondChecked(host, shared, what, from, object);
  }
  if (!response)
    return response.status();
  (*response)["run"] = run;
  shared->identity.addTo(*response);
  return messageOf(*response);
}
