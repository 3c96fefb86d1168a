//===- ServerSaves.cpp - Checkpoints without trainers ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/ServerSaves.h"

#include "Job/PeerRequests.h"
#include "Job/PeerServer.h"
#include "Job/SaveRequests.h"
#include "Job/SaveSchedule.h"
#include "Job/StallLimit.h"
#include "Job/Standstill.h"
#include "Job/TrainerSaves.h"
#include "Recovery/TrainerRecords.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Checkpoint/RunningEpoch.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <future>
#include <new>
#include <optional>
#include <thread>
#include <utility>

using namespace pdlrt;
using nlohmann::json;

/// Maximum time for which servers may be at different steps because a request
/// is still in flight; and maximum time without a response of another server.
static constexpr ClockTime agreementPatience = std::chrono::seconds(10);
static constexpr ClockTime peerPatience = std::chrono::seconds(10);
/// Servers of a mode without rounds save when no request has arrived for
/// `restTime`. Trainers that still run should have finished their step after
/// `restPatience`; then the save fails.
static constexpr ClockTime restTime = std::chrono::milliseconds(1500);
static constexpr ClockTime restPatience = std::chrono::minutes(1);
/// Maximum time for attempts to save before the job ends; and the pause between
/// two attempts.
static constexpr ClockTime lossPatience = std::chrono::minutes(2);
static constexpr std::chrono::seconds retryPause(1);
/// Maximum time in which no file of a save may grow.
static constexpr ClockTime stallLimit = std::chrono::minutes(10);
/// Deadline of a request that is sent while other work waits.
static constexpr ClockTime briefPatience = std::chrono::seconds(1);
/// Deadline of the first request to server 0, and pause between two attempts.
static constexpr ClockTime meetPatience = std::chrono::milliseconds(200);
static constexpr ClockTime meetPause = std::chrono::seconds(1);
static constexpr std::chrono::milliseconds pollPause(50);
/// Time without progress of any trainer after which servers may save without
/// trainers.
static constexpr std::chrono::seconds standstill(2);

bool pdlrt::serversMaySave(const pdl_descriptor &descriptor,
                           FailurePolicy onFailure) {
  const Mode &mode = modeOf(descriptor);
  return onFailure == FailurePolicy::Wait && mode.restartsContinue &&
         !mode.trainersApply;
}

struct ServerSaves::State {
  const pdl_descriptor &descriptor;
  const HostOptions options;
  StateHost &host;
  Transport &transport;
  /// The other servers, indexed by rank. Null for this server.
  std::vector<std::unique_ptr<PeerServer>> peers;
  std::shared_ptr<PeerRequests> shared;
  const std::string emergencyFolder;
  /// Used only by servers other than server 0: when server 0 responded last,
  /// and how many requests for a checkpoint (SIGUSR2) were forwarded to it.
  std::optional<ClockTime> lastResponse = std::nullopt;
  int passedRequests = 0;
  /// Time of the last attempt to get the random number of server 0.
  std::optional<ClockTime> lastMeet = std::nullopt;
  /// Used by server 0.
  SaveSchedule schedule;
  TrainerSaves trainerSaves = {};
  SaveRequests saveRequests = {};
  /// True if trainers of this mode can be asked to save.
  bool trainersCanSave = false;
  std::optional<SaveSchedule::Time> pendingSince = std::nullopt;
  Standstill still = {modeOf(descriptor).stepsAreRounds,
                      SaveSchedule::Clock::now()};
  std::string lastSaved = {};
  /// Snapshot points that the servers agreed on for the last save. Empty if
  /// they did not agree.
  std::vector<SnapshotPoint> agreed = {};
  /// Checkpoint that the servers have written. It needs no verification.
  std::string committed = {};
  /// True if the job ends with the save.
  bool isEnding = false;

  bool coordinates() const { return options.owner == 0; }
  Expected<json> send(size_t rank, json request, ClockTime patience,
                      bool *wasRefused);
  Expected<json> ask(size_t rank, const json &request, ClockTime patience,
                     bool *wasRefused = nullptr);
  Status meet(ClockTime patience, bool *wasRefused);
  void meetIfNew();
  Expected<json> requestWithRetries(size_t rank, const json &request);
  /// Notices a stop signal that arrives while this thread saves.
  void noticeStop() {
    if (stopSignal() != 0)
      host.core().requestStop();
  }

  /// A save of which this server has written its part.
  struct Begun {
    /// Snapshot points, indexed by server.
    std::vector<SnapshotPoint> snapshotPoints;
    /// Folder of checkpoints; if empty, that of the trainers.
    std::string folderName;
    TrainingPlace place;
    /// Empty if the trainers save no checkpoints.
    std::optional<PlannedSaves> planned;
    std::unique_ptr<ObservedMetrics> metrics;
    std::optional<CheckpointFolder> folder;
    std::unique_ptr<CheckpointWriter> writer;
    std::string into;
    Message written;
    /// True if a checkpoint of these snapshot points exists already.
    bool isSaved = false;
  };

  Expected<std::vector<SnapshotPoint>> requestSnapshotPoints();
  Expected<std::vector<SnapshotPoint>> agree();
  Expected<Begun> begin(std::vector<SnapshotPoint> snapshotPoints,
                        const std::string &folder);
  Status beginBetween(const std::vector<SenderMark> &marks, Begun &begun);
  Expected<std::optional<std::string>> save(const std::string &folder);
  Expected<std::optional<std::string>> saveLast(const std::string &folder);
  bool hasGoneOn();
  Expected<std::string> finish(Begun begun);
  void endAfterLoss(const std::string &loss);
  void follow(const std::string &loss);
  /// Returns the number of requests for a checkpoint so far: those of users,
  /// and `ofTrainers`. Only on server 0.
  int requestsWith(int64_t ofTrainers) const {
    return checkpointRequests() + shared->checkpointRequests + int(ofTrainers);
  }
  int requests() const { return requestsWith(saveRequests.ofTrainers()); }
  void noteRequestsOfTrainers(SaveSchedule::Time now);
  bool trainersAreSaving(SaveSchedule::Time now);
  bool standsStill(SaveSchedule::Time now);
  void dropRequests(SaveSchedule::Time now);
  void saveIfDue();
  void passRequests();
  Expected<int64_t> agreeOnResume(const Expected<int64_t> &found);
};

/// Adds the identity of this job to `request` and sends it to server `rank`.
/// Returns the response. Returns an error if there is no response within
/// `patience`, or if the response is damaged or belongs to another job.
/// `wasRefused` is null or is set as in `PeerServer::ask`; a damaged response,
/// or one of another job, counts as a refusal.
Expected<json> ServerSaves::State::send(size_t rank, json request,
                                        ClockTime patience, bool *wasRefused) {
  request["from"] = options.owner;
  request["run"] = shared->run.load();
  shared->identity.addTo(request);
  const Expected<Message> response =
      peers[rank]->ask(messageOf(request), patience, wasRefused);
  if (!response)
    return response.status();
  json object = json::parse(response->toString(), nullptr, false);
  Status status = object.is_object()
                      ? shared->identity.check(object)
                      : Status::dataLoss("the response of a server is damaged");
  if (status.ok())
    return object;
  if (wasRefused)
    *wasRefused = true;
  return std::move(status).withContext(fmt::format("server {}", rank));
}

/// Gets the random number that server 0 drew when it started, unless this
/// server has it already. A server 0 that is restarted draws another number,
/// and refuses requests with the old one.
Status ServerSaves::State::meet(ClockTime patience, bool *wasRefused) {
  if (coordinates() || shared->run != 0)
    return {};
  const Expected<json> response =
      send(0, {{"do", "meet"}}, patience, wasRefused);
  if (!response)
    return response.status();
  shared->run = runOf(*response);
  return {};
}

/// Tries to get the random number of server 0, at most once in `meetPause`, so
/// that a later restart of server 0 is noticed.
void ServerSaves::State::meetIfNew() {
  const ClockTime now = transport.clock().now();
  if (shared->run != 0 || (lastMeet && now - *lastMeet < meetPause))
    return;
  bool wasRefused = false;
  if (const Status status = meet(meetPatience, &wasRefused); wasRefused)
    logWarningOnce(host.name() + ": " + status.message());
  lastMeet = transport.clock().now();
}

/// Sends `request` to server `rank`. If the random number of server 0 is not
/// known, first gets it (`meet`). Repeats the request, for at most `patience`,
/// until server `rank` also has that number. Sets `*wasRefused` if a request is
/// refused.
Expected<json> ServerSaves::State::ask(size_t rank, const json &request,
                                       ClockTime patience, bool *wasRefused) {
  const ClockTime end = transport.clock().now() + patience;
  PDLRT_RETURN_IF_ERROR(meet(patience, wasRefused));
  while (true) {
    Expected<json> response =
        send(rank, request,
             std::max(end - transport.clock().now(), ClockTime(0)), wasRefused);
    if (!response || runOf(*response) == shared->run)
      return response;
    if (transport.clock().now() >= end)
      return Status::unavailable(
          fmt::format("server {} has not reached server 0 yet", rank));
    std::this_thread::sleep_for(pollPause);
  }
}

/// Calls `ask` until it succeeds or is refused, for at most `peerPatience`.
Expected<json> ServerSaves::State::requestWithRetries(size_t rank,
                                                      const json &request) {
  const ClockTime begin = transport.clock().now();
  while (true) {
    bool wasRefused = false;
    Expected<json> response = ask(rank, request, briefPatience, &wasRefused);
    noticeStop();
    if (response || wasRefused ||
        transport.clock().now() - begin >= peerPatience)
      return response;
    std::this_thread::sleep_for(pollPause);
  }
}

Expected<std::vector<SnapshotPoint>>
ServerSaves::State::requestSnapshotPoints() {
  PDLRT_RETURN_IF_ERROR(checkRuns(host.core()));
  std::vector<SnapshotPoint> snapshotPoints = {
      snapshotPointOf(shared->mode, host.application(), host.core().marks())};
  for (size_t rank = 1; rank < peers.size(); ++rank) {
    const Expected<json> response =
        requestWithRetries(rank, {{"do", "moment"}});
    if (!response)
      return response.status();
    std::optional<SnapshotPoint> theirs = snapshotPointFrom(*response);
    if (!theirs)
      return Status::dataLoss("a server's response about its state is damaged");
    snapshotPoints.push_back(std::move(*theirs));
  }
  return snapshotPoints;
}

/// Waits until the state of all servers has the same number of steps. In modes
/// without rounds, waits until no request has arrived for `restTime`. Returns
/// the snapshot points of all servers. Returns an error if this takes too long
/// (`agreementPatience`, `restPatience`), or if the job is told to stop.
Expected<std::vector<SnapshotPoint>> ServerSaves::State::agree() {
  const bool inRounds = shared->mode.stepsAreRounds;
  const ClockTime begin = transport.clock().now();
  ClockTime restsSince = begin;
  std::vector<SnapshotPoint> before;
  while (true) {
    Expected<std::vector<SnapshotPoint>> snapshotPoints =
        requestSnapshotPoints();
    if (!snapshotPoints)
      return snapshotPoints.status();
    const ClockTime now = transport.clock().now();
    const auto other =
        std::ranges::find_if(*snapshotPoints, [&](const SnapshotPoint &each) {
          return each != snapshotPoints->front();
        });
    const auto different = other - snapshotPoints->begin();
    if (inRounds && other == snapshotPoints->end())
      return snapshotPoints;
    if (before != *snapshotPoints)
      restsSince = now;
    if (!inRounds && now - restsSince >= restTime)
      return snapshotPoints;
    before = std::move(*snapshotPoints);
    if (inRounds && now - begin >= agreementPatience)
      return Status::unavailable(fmt::format(
          "servers 0 and {} are at different steps: the last gradients of a "
          "trainer that is lost have reached one of them alone, so their parts "
          "are not of one moment; start that trainer again, on any host that "
          "has its data, for the job to go on, or all processes with --resume "
          "from the last checkpoint",
          different));
    if (!inRounds && now - begin >= restPatience)
      return Status::deadlineExceeded("trainers that live do not come to rest");
    noticeStop();
    if (!isEnding && stopSignal() != 0)
      return Status::cancelled("the job is told to stop");
    std::this_thread::sleep_for(pollPause);
  }
}

/// Returns true if the checkpoint is complete. Otherwise logs a warning, and
/// the servers save it again.
static bool isWhole(const std::string &path) {
  const Status status =
      Checkpoint::open(path, CheckpointCheck::Everything).status();
  if (!status.ok())
    logWarning(status.message() + "; the servers save it anew");
  return status.ok();
}

static json saveRequest(const std::string &folder,
                        const SnapshotPoint &snapshotPoint) {
  return {
      {"do", "save"}, {"folder", folder}, {"moment", toJson(snapshotPoint)}};
}

/// Determines the progress of the trainers, requests the other servers to write
/// their parts, and writes the part of this server. Writes nothing if the
/// trainers plan no checkpoints (`planned` is empty), or if the checkpoint
/// exists already (`isSaved`). Returns an error if the job has progressed.
Status ServerSaves::State::beginBetween(const std::vector<SenderMark> &marks,
                                        Begun &begun) {
  StateServer &server = host.application();
  if (snapshotPointOf(shared->mode, server, marks) != begun.snapshotPoints[0])
    return Status::invalidArgument("the job has gone on since the save began");
  begun.planned = server.saves().planned();
  if (!begun.planned)
    return {};
  begun.metrics =
      std::make_unique<ObservedMetrics>(begun.planned->plan.metrics);
  if (begun.folderName.empty())
    begun.folderName = begun.planned->folder;
  const Mode &mode = shared->mode;
  const int64_t workers = server.handshake().workers;
  Expected<TrainingPlace> place =
      mode.stepsAreRounds
          ? placeOfTraining(*begun.metrics, options.trainers, workers, marks,
                            server.lastStep())
          : placeOfRestingTraining(*begun.metrics, options.trainers, workers,
                                   mode.workersSend, marks);
  if (!place)
    return place.status();
  begun.place = std::move(*place);
  const TrainingProgress &progress = begun.place.progress;
  const std::string path =
      CheckpointFolder::nameIn(begun.folderName, progress.steps);
  const Expected<CheckpointManifest> saved =
      readManifest(path + "/" + manifestName);
  begun.isSaved = saved && saved->progress.epoch == progress.epoch &&
                  saved->progress.samples == progress.samples &&
                  (path == committed || isWhole(path));
  if (begun.isSaved) {
    begun.into = path;
    return {};
  }
  Expected<CheckpointFolder> folder =
      CheckpointFolder::openFor(begun.folderName, host.jobId());
  if (!folder)
    return folder.status();
  begun.folder.emplace(std::move(*folder));
  begun.writer = std::make_unique<CheckpointWriter>(path);
  Expected<std::string> into = saveNameOf(*begun.writer);
  if (!into)
    return into.status();
  begun.into = std::move(*into);
  // All servers should write before one of them continues with its trainers.
  // `finish` repeats the requests that have not arrived.
  for (size_t rank = 1; rank < peers.size(); ++rank)
    (void)ask(rank, saveRequest(begun.into, begun.snapshotPoints[rank]),
              briefPatience);
  begun.written = server.saves().savePart(begun.into);
  return {};
}

Expected<ServerSaves::State::Begun>
ServerSaves::State::begin(std::vector<SnapshotPoint> snapshotPoints,
                          const std::string &folder) {
  struct Task {
    Begun begun;
    std::promise<Status> status;
  };
  const auto task = std::make_shared<Task>();
  task->begun.snapshotPoints = std::move(snapshotPoints);
  task->begun.folderName = folder;
  std::future<Status> status = task->status.get_future();
  host.core().betweenRequests(
      [this, task](const std::vector<SenderMark> &marks) {
        return beginBetween(marks, task->begun);
      },
      [task](Status ended) { task->status.set_value(std::move(ended)); });
  while (status.wait_for(pollPause) != std::future_status::ready)
    noticeStop();
  PDLRT_RETURN_IF_ERROR(status.get());
  return std::move(task->begun);
}

/// Waits until the other servers have written their parts, adds the trainers'
/// part, and commits the checkpoint. Returns its path.
Expected<std::string> ServerSaves::State::finish(Begun begun) {
  const TraceSpan span("save without trainers");
  std::vector<Message> responses = {begun.written};
  Status failure;
  StallLimit limit(stallLimit, transport.clock().now());
  for (size_t rank = 1; rank < peers.size(); ++rank) {
    // Wait for each server that responds, also after a failure: when this
    // function returns, none of them may still write to the folder.
    while (true) {
      const Expected<json> response = requestWithRetries(
          rank, saveRequest(begun.into, begun.snapshotPoints[rank]));
      if (!response) {
        if (failure.ok())
          failure = response.status();
        break;
      }
      if (const std::string written = textOf(*response, "written");
          !written.empty()) {
        responses.push_back(Message::ofString(written));
        break;
      }
      PDLRT_RETURN_IF_ERROR(checkRuns(host.core()));
      if (limit.isExceeded(bytesIn(begun.into), transport.clock().now()))
        return Status::deadlineExceeded(fmt::format(
            "server {} has written nothing of its part for {} minutes", rank,
            std::chrono::floor<std::chrono::minutes>(stallLimit).count()));
      std::this_thread::sleep_for(pollPause);
    }
  }
  PDLRT_RETURN_IF_ERROR(std::move(failure));
  if (!begun.planned || !begun.folder)
    return Status::internal("a save ends that has not begun");
  CheckpointManifest manifest = std::move(begun.planned->plan.manifest);
  manifest.progress = std::move(begun.place.progress);
  PDLRT_RETURN_IF_ERROR(joinSaved(
      responses,
      shared->mode.stepsAreRounds ? StepCounts::Equal : StepCounts::Largest,
      *begun.writer, manifest));
  const bool isRunning = !manifest.progress.positions.empty();
  const std::string path = begun.folder->nameOf(manifest.progress.steps);
  if (isRunning && begun.place.dividedAt > 0)
    PDLRT_RETURN_IF_ERROR(
        addRest(begun.planned->folder, begun.place, manifest));
  // Check again, because an update may have failed since the parts were
  // written.
  PDLRT_RETURN_IF_ERROR(checkRuns(host.core()));
  PDLRT_RETURN_IF_ERROR(commitTraining(
      begun.metrics->descriptor(), isRunning ? &begun.place.running : nullptr,
      begun.place.replicas, *begun.folder, *begun.writer, std::move(manifest)));
  return path;
}

/// Saves a checkpoint without trainers. Returns its path, or nothing if the
/// trainers of this job save none. `folder`: the folder to save to; if empty,
/// that of the trainers.
Expected<std::optional<std::string>>
ServerSaves::State::save(const std::string &folder) try {
  Expected<std::vector<SnapshotPoint>> snapshotPoints = agree();
  if (!snapshotPoints)
    return snapshotPoints.status();
  agreed = *snapshotPoints;
  Expected<Begun> begun = begin(std::move(*snapshotPoints), folder);
  if (!begun)
    return begun.status();
  if (!begun->planned)
    return std::optional<std::string>();
  if (begun->isSaved)
    return std::optional(begun->into);
  Expected<std::string> path = finish(std::move(*begun));
  if (!path)
    return path.status();
  committed = *path;
  return std::optional(std::move(*path));
} catch (const std::bad_alloc &error) {
  return Status::outOfMemory(host.name() + " is " +
                             describeOutOfMemory(error, "saved the state"));
}

/// Returns true if the job has progressed: requests have arrived since the
/// servers agreed on the state to save or, in modes without rounds, have
/// prevented an agreement.
bool ServerSaves::State::hasGoneOn() {
  if (agreed.empty() && shared->mode.stepsAreRounds)
    return false;
  const Expected<std::vector<SnapshotPoint>> snapshotPoints =
      requestSnapshotPoints();
  return snapshotPoints && (agreed.empty() || *snapshotPoints != agreed);
}

/// Saves before the job ends. If a trainer that is still alive finishes a long
/// step during the save, the save fails and is repeated.
Expected<std::optional<std::string>>
ServerSaves::State::saveLast(const std::string &folder) {
  const ClockTime begin = transport.clock().now();
  while (true) {
    agreed.clear();
    Expected<std::optional<std::string>> saved = save(folder);
    if (saved || transport.clock().now() - begin >= lossPatience ||
        host.core().status().state != JobState::Running || !hasGoneOn())
      return saved;
    logWarning("the servers could not save the state yet, because trainers go "
               "on (" +
               saved.status().message() + "); they try again");
    std::this_thread::sleep_for(retryPause);
  }
}

/// Saves the state on server 0, and ends the job.
void ServerSaves::State::endAfterLoss(const std::string &loss) {
  logInfo(loss + "; servers save what was trained without trainers");
  isEnding = true;
  // The last message of the job says that this checkpoint is complete. So it is
  // verified even if the servers have written it.
  committed.clear();
  Expected<std::optional<std::string>> saved = saveLast(/*folder=*/"");
  if (!saved && !emergencyFolder.empty()) {
    logWarning("the servers could not save the state: " +
               saved.status().message() + "; they try " + emergencyFolder);
    saved = saveLast(emergencyFolder);
  }
  std::string message = loss;
  if (!saved)
    message +=
        "; the servers could not save the state: " + saved.status().message();
  else if (const std::string path = saved->value_or(""); !path.empty())
    message += "; the servers have saved " + path +
               ": start all processes again with --resume";
  for (size_t rank = 1; rank < peers.size(); ++rank)
    (void)ask(
        rank,
        {{"do", "end"}, {"message", message}, {"code", int(PDL_UNAVAILABLE)}},
        briefPatience);
  // `fail` replaces this code by the code of the loss.
  host.core().fail(Status::unavailable(message));
}

/// Tells server 0 that the job cannot continue. Server 0 then ends the job.
void ServerSaves::State::follow(const std::string &loss) {
  if (!lastResponse)
    logInfo(loss + "; servers save what was trained without trainers");
  const ClockTime last = lastResponse.value_or(transport.clock().now());
  lastResponse = last;
  bool wasRefused = false;
  const Expected<json> response =
      ask(0, {{"do", "stop"}}, briefPatience, &wasRefused);
  if (response)
    lastResponse = transport.clock().now();
  else if (wasRefused || transport.clock().now() - last > peerPatience)
    host.core().fail(Status::unavailable(
        loss +
        "; server 0, which saves for all servers, is lost "
        "too (" +
        response.status().message() +
        "): start all processes again with --resume from the "
        "last checkpoint"));
}

/// Returns true if no trainer progresses, because all wait for a trainer that
/// does not come.
bool ServerSaves::State::standsStill(SaveSchedule::Time now) {
  return still.observe(host.core().marks(), now) >= standstill &&
         !host.core().waitingFor(standstill).empty();
}

/// Drops requests for a checkpoint, with a warning, if no process can save:
/// trainers of this mode do not handle requests to save, and servers save only
/// while no trainer progresses.
void ServerSaves::State::dropRequests(SaveSchedule::Time now) {
  if (trainersCanSave || !schedule.hasRequests(requests()) ||
      now - pendingSince.value_or(now) < 2 * standstill)
    return;
  schedule.dropRequests(requests());
  const std::string reason =
      shared->maySave
          ? "trainers go on, and servers of mode " +
                std::string(shared->mode.name) +
                " save only while the job stands still"
          : "servers neither save nor ask trainers to save in a job of "
            "this mode and --on-failure";
  logWarning("a request for a checkpoint is dropped: " + reason);
}

/// Counts requests that trainers send each other through servers, because a
/// trainer may die before they have saved.
void ServerSaves::State::noteRequestsOfTrainers(SaveSchedule::Time now) {
  // If a request came from a trainer, trainers can save.
  trainersCanSave |= saveRequests.noteOfTrainers(
      host.application().saveRequestsOfTrainers(), now);
}

/// Returns true if trainers are saving, and are able to complete the save.
/// Records their requests, and that a save that was published since the last
/// call fulfills those before it.
bool ServerSaves::State::trainersAreSaving(SaveSchedule::Time now) {
  using Progress = TrainerSaves::Progress;
  // Read before the requests of trainers, so that those that led to this save
  // are counted too.
  const BegunSave last = host.application().saves().lastOfTrainers();
  noteRequestsOfTrainers(now);
  const Progress progress =
      trainerSaves.follow(last, requestsWith(last.requests), now, schedule);
  if (progress == Progress::Published)
    saveRequests.notePublished(last.requests);
  // If trainer 0 is in trouble, the save will not end, because trainer 0
  // publishes it.
  return progress == Progress::Running && !host.core().isInTrouble(/*rank=*/0);
}

/// If the time limit or a request wants a checkpoint, requests trainers to
/// save. If no trainer progresses, saves on the servers instead. A failure is
/// logged and tried again later.
void ServerSaves::State::saveIfDue() {
  const SaveSchedule::Time now = SaveSchedule::Clock::now();
  const bool areSaving = trainersAreSaving(now);
  if (!schedule.isDue(now, requests())) {
    saveRequests.clear();
    pendingSince.reset();
    return;
  }
  pendingSince = pendingSince.value_or(now);
  const bool isStanding = standsStill(now);
  if (areSaving)
    return;
  if (saveRequests.isDue(now)) {
    trainersCanSave = host.application().requestSave();
    saveRequests.noteAsked(now);
  }
  if (!shared->maySave || !isStanding) {
    dropRequests(now);
    return;
  }
  // A request that comes during the save wants a later state.
  const int requested = requests();
  const Expected<std::optional<std::string>> saved = save(/*folder=*/"");
  saveRequests.clear();
  schedule.noteSave(SaveSchedule::Clock::now(), requested);
  if (saved) {
    schedule.noteSuccess();
    const std::string path = saved->value_or("");
    if (!path.empty() && path != std::exchange(lastSaved, path))
      logInfo("the servers have saved " + path +
              " without trainers, because the job stands still");
    return;
  }
  schedule.noteFailure(SaveSchedule::Clock::now());
  logWarning("the servers could not save the state without trainers: " +
             saved.status().message() + "; they try again");
}

/// Forwards requests (SIGUSR2) to server 0. If server 0 refuses them, fails the
/// job; if it does not respond, tries again later.
void ServerSaves::State::passRequests() {
  const int count = checkpointRequests();
  if (count == passedRequests)
    return;
  bool wasRefused = false;
  const Expected<json> response =
      ask(0, {{"do", "checkpoint"}}, briefPatience, &wasRefused);
  if (response)
    passedRequests = count;
  else if (wasRefused)
    host.core().fail(response.status());
  else
    logWarningOnce("server 0 was not told yet of a request for a checkpoint: " +
                   response.status().message() + "; trying again");
}

/// Agrees with the other servers on a checkpoint. Called on the thread that
/// loads the state.
Expected<int64_t>
ServerSaves::State::agreeOnResume(const Expected<int64_t> &found) {
  const ClockTime begin = transport.clock().now();
  const std::string limit = options.joinLimit > ClockTime(0)
                                ? ", at most " + inSeconds(options.joinLimit)
                                : "";
  if (!found && !coordinates())
    logWarning(found.status().message() + "; server 0 is told");
  while (true) {
    const std::vector<int64_t> missing = shared->agreement.missing();
    const std::string others =
        !coordinates() ? "server 0 and the others"
        : missing.empty() || missing.front() == 0
            ? "other servers"
            : fmt::format("server{} {}", missing.size() > 1 ? "s" : "",
                          fmt::join(missing, ", "));
    host.core().setProgress(
        fmt::format("waiting for {} to say which checkpoint they have ({}{})",
                    others, inSeconds(transport.clock().now() - begin), limit));
    std::optional<int64_t> agreed;
    if (coordinates()) {
      const auto response = shared->agreement.report(0, found);
      if (!response)
        return found ? response.status() : found.status();
      agreed = *response;
    } else {
      json request = {{"do", "resume"}};
      if (found) {
        request["steps"] = *found;
      } else {
        request["fault"] = found.status().message();
        request["code"] = int(found.status().code());
      }
      bool wasRefused = false;
      const Expected<json> response =
          ask(0, request, briefPatience, &wasRefused);
      // All servers wait for this server, so its error must be sent.
      if (!found && (response || wasRefused))
        return found.status();
      if (wasRefused)
        return response.status();
      if (response && response->contains("steps") &&
          response->at("steps").is_number_integer())
        agreed = numberOf(*response, "steps");
    }
    if (agreed)
      return *agreed;
    const JobStatus status = host.core().status();
    const bool isLate = options.joinLimit > ClockTime(0) &&
                        transport.clock().now() - begin > options.joinLimit;
    if (!found && (isLate || status.state != JobState::Running))
      return found.status();
    if (status.state != JobState::Running)
      return status.state == JobState::Failed
                 ? status.failure()
                 : Status::failedPrecondition(status.message);
    if (isLate)
      return Status::deadlineExceeded(
          "not all servers have said in time which checkpoint they have: are "
          "all of them started, with --resume?");
    std::this_thread::sleep_for(pollPause);
  }
}

ServerSaves::ServerSaves(const pdl_descriptor &descriptor,
                         const HostOptions &options, StateHost &host,
                         Transport &transport, const ServerSaveOptions &saves)
    : state(new State{
          .descriptor = descriptor,
          .options = options,
          .host = host,
          .transport = transport,
          .peers = {},
          .shared = std::make_shared<PeerRequests>(
              descriptor, options, host.jobId(), saves.addresses.size()),
          .emergencyFolder = saves.emergencyFolder,
          .schedule = SaveSchedule(saves.minutes, SaveSchedule::Clock::now(),
                                   checkpointRequests())}) {
  for (size_t rank = 0; rank < saves.addresses.size(); ++rank)
    state->peers.push_back(
        int32_t(rank) == options.owner
            ? nullptr
            : std::make_unique<PeerServer>(transport, saves.addresses[rank],
                                           options.owner));
  host.core().respondToPeers(
      [&host, shared = state->shared](const Message &payload) {
        return respondToPeer(host, shared, payload);
      });
  if (saves.addresses.size() > 1)
    host.agreeOnResume([own = state.get()](const Expected<int64_t> &found) {
      return own->agreeOnResume(found);
    });
}

ServerSaves::~ServerSaves() = default;

void ServerSaves::poll() {
  ServerCore &core = state->host.core();
  if (!state->host.isLoaded() || core.status().state != JobState::Running)
    return;
  if (!state->coordinates())
    state->meetIfNew();
  const std::optional<std::string> loss = core.pendingLoss();
  if (loss && state->coordinates())
    state->endAfterLoss(*loss);
  else if (loss)
    state->follow(*loss);
  else if (state->coordinates())
    state->saveIfDue();
  else
    state->passRequests();
}
