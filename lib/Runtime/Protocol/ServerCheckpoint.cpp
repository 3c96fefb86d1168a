//===- ServerCheckpoint.cpp - Saving of the state on servers --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerCheckpoint.h"

#include "Checkpoint/ProbeName.h"
#include "Files/TemporaryFile.h"
#include "pdlabi/metrics.h"
#include "pdlrt/Core/RandomNumber.h"
#include "pdlrt/Files/Store.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <thread>
#include <utility>

using namespace pdlrt;
using nlohmann::json;
namespace fs = std::filesystem;

/// First character of the payload of a save request, before the path. A request
/// of kind Stopping has no such character; its path is absolute and so begins
/// with '/'.
static constexpr char probeMark = '?', beginMark = '&', pollMark = '=';
/// Characters after the path that select rows. A path never contains
/// `rowsMark`.
static constexpr char rowsMark = '\0', baseMark = 'b', changedMark = 'd',
                      planMark = 'p';
/// Response of a server whose save has not ended.
static constexpr const char *savingText = ".";
/// Maximum number of metrics of a plan; programs have a few.
static constexpr size_t maxPlannedMetrics = 4096;
/// Interval at which trainer 0 polls servers during a save.
static constexpr std::chrono::milliseconds savePollInterval{20};

Message pdlrt::encodeSaveRequest(const SaveRequest &request) {
  std::string text = request.path;
  if (request.rows != SavedRows::All) {
    text += rowsMark;
    text += request.rows == SavedRows::Changed ? changedMark : baseMark;
    text += request.since;
  } else if (!request.plan.empty()) {
    text += rowsMark;
    text += planMark + request.plan;
  }
  switch (request.kind) {
  case SaveKind::Probe:
    return Message::ofString(probeMark + text);
  case SaveKind::Begin:
    return Message::ofString(beginMark + text);
  case SaveKind::Poll:
    return Message::ofString(pollMark + text);
  case SaveKind::Stopping:
    break;
  }
  return Message::ofString(text);
}

SaveRequest pdlrt::decodeSaveRequest(const Message &payload) {
  std::string text = payload.toString();
  const char mark = text.empty() ? '/' : text.front();
  const SaveKind kind = mark == probeMark   ? SaveKind::Probe
                        : mark == beginMark ? SaveKind::Begin
                        : mark == pollMark  ? SaveKind::Poll
                                            : SaveKind::Stopping;
  SaveRequest request = {kind, kind == SaveKind::Stopping ? std::move(text)
                                                          : text.substr(1)};
  const size_t at = request.path.find(rowsMark);
  if (at == std::string::npos)
    return request;
  const std::string rows = request.path.substr(at + 1);
  request.path.resize(at);
  if (rows.starts_with(changedMark)) {
    request.rows = SavedRows::Changed;
    request.since = rows.substr(1);
  } else if (rows.starts_with(baseMark)) {
    request.rows = SavedRows::Base;
  } else if (rows.starts_with(planMark)) {
    request.plan = rows.substr(1);
  }
  return request;
}

SavePlan SavePlan::of(const pdl_descriptor &trainer,
                      CheckpointManifest manifest) {
  SavePlan plan = {std::move(manifest), {}};
  for (int32_t m = 0; m < trainer.metric_count; ++m)
    plan.metrics.push_back({trainer.metrics[m].name, trainer.metrics[m].kind,
                            trainer.metrics[m].parameter});
  return plan;
}

std::string SavePlan::encode() const {
  json list = json::array();
  for (const Metric &metric : metrics)
    list.push_back({metric.name, metric.kind, metric.parameter});
  const json object = {{"manifest", encodeManifest(manifest)},
                       {"metrics", list}};
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

static Status damagedPlan() {
  return Status::dataLoss("what trainer 0 says of its checkpoints is damaged");
}

Expected<SavePlan> SavePlan::decode(const std::string &text) {
  try {
    const json object = json::parse(text);
    Expected<CheckpointManifest> manifest =
        decodeManifest(object.at("manifest").get<std::string>());
    if (!manifest)
      return manifest.status();
    SavePlan plan = {std::move(*manifest), {}};
    const json &metrics = object.at("metrics");
    bool isValid = metrics.is_array() && metrics.size() <= maxPlannedMetrics;
    for (const json &each : isValid ? metrics : json::array()) {
      const auto kind = each.at(1).get<int64_t>();
      const auto parameter = each.at(2).get<double>();
      isValid = isValid && each.at(1).is_number_integer() &&
                std::in_range<int32_t>(kind) &&
                pdlabi::isMetric(int32_t(kind), parameter);
      if (isValid)
        plan.metrics.push_back(
            {each.at(0).get<std::string>(), int32_t(kind), parameter});
    }
    if (!isValid)
      return damagedPlan();
    return plan;
  } catch (const json::exception &) {
    return damagedPlan();
  }
}

Message pdlrt::savingResponse() { return Message::ofString(savingText); }

Message pdlrt::encodeSaved(const Expected<CheckpointManifest> &written) {
  return Message::ofString(written ? "+" + encodeManifest(*written)
                                   : "-" + written.status().message());
}

Expected<CheckpointManifest> pdlrt::decodeSaved(const Message &response) {
  const std::string text = response.toString();
  if (text.size() > 1 && text.front() == '-')
    return Status::ioError(text.substr(1));
  if (text.empty() || text.front() != '+')
    return Status::dataLoss("a server's response to a save is damaged");
  return decodeManifest(text.substr(1));
}

Status pdlrt::joinSaved(const std::vector<Message> &responses,
                        StepCounts counts, CheckpointWriter &writer,
                        CheckpointManifest &manifest) {
  for (size_t s = 0; s < responses.size(); ++s) {
    Expected<CheckpointManifest> written = decodeSaved(responses[s]);
    if (!written)
      return written.status();
    if (s == 0) {
      manifest.model = written->model;
      manifest.layoutFingerprint = written->layoutFingerprint;
      manifest.trainingFingerprint = written->trainingFingerprint;
      manifest.modelParts = written->modelParts;
      manifest.compilerVersion = written->compilerVersion;
      manifest.targetCpu = written->targetCpu;
      manifest.numerics = written->numerics;
      manifest.seed = written->seed;
      manifest.groupSteps = written->groupSteps;
      manifest.symbols = written->symbols;
    } else if (counts == StepCounts::Largest) {
      for (auto &[group, most] : manifest.groupSteps)
        for (const auto &[other, steps] : written->groupSteps)
          if (group == other)
            most = std::max(most, steps);
    } else if (written->groupSteps != manifest.groupSteps) {
      return Status::internal("servers 0 and " + std::to_string(s) +
                              " have applied other numbers of steps");
    }
    for (CheckpointPart &part : written->parts) {
      part.owner = int64_t(s);
      writer.addWritten(std::move(part));
    }
  }
  return {};
}

Expected<SaveProbe> SaveProbe::create(const std::string &folder) {
  // The name is unique, so the file needs no content.
  const std::string path = fmt::format("{}/{}{:016x}", absolutePlace(folder),
                                       probePrefix, drawNumber());
  TemporaryFile file(path);
  PDLRT_RETURN_IF_ERROR(file.create());
  PDLRT_RETURN_IF_ERROR(file.commit());
  return SaveProbe(path);
}

static Status removeProbe(const std::string &path) {
  auto store = storeOf(path);
  return store ? (*store)->remove(path) : store.status();
}

SaveProbe::SaveProbe(SaveProbe &&other) noexcept
    : path(std::exchange(other.path, std::string())) {}

SaveProbe::~SaveProbe() {
  std::error_code ignored;
  if (!path.empty() && isInObjectStore(path))
    (void)removeProbe(path);
  else if (!path.empty())
    fs::remove(path, ignored);
}

Message SaveProbe::request(const std::string &plan) const {
  return encodeSaveRequest(
      {SaveKind::Probe, path, SavedRows::All, /*since=*/{}, plan});
}

/// Returns true if this process sees the probe.
static bool seesProbe(const std::string &probe) {
  std::error_code error;
  if (!isInObjectStore(probe))
    return fs::is_regular_file(probe, error);
  const Expected<bool> found = isStored(probe);
  return found && *found;
}

Message pdlrt::respondToProbe(const std::string &probe,
                              const std::string &who) {
  const std::string folder = fs::path(probe).parent_path();
  if (!seesProbe(probe))
    return Message::ofString(
        "-" + who + " does not see the folder " + folder +
        " of trainer 0, into which checkpoints are written; give a "
        "--checkpoint that all processes of the job share");
  // The destructor of `file` removes the file.
  TemporaryFile file(probe + "." + who);
  Status status = file.create();
  if (status.ok())
    status = file.write(&probeMark, sizeof(probeMark));
  return Message::ofString(status.ok()
                               ? "+"
                               : "-" + who + " cannot write checkpoints to " +
                                     folder + ": " + status.message());
}

Status pdlrt::checkFolderOnServers(ServerGroup &servers,
                                   const std::string &folder,
                                   const std::string &plan) {
  Expected<SaveProbe> probe = SaveProbe::create(folder);
  if (!probe)
    return probe.status();
  Expected<std::vector<Message>> responses = servers.sendAll(
      MessageKind::Save,
      std::vector<Message>(servers.size(), probe->request(plan)));
  if (!responses)
    return responses.status();
  for (const Message &response : *responses)
    if (const std::string text = response.toString(); text != "+")
      return text.size() > 1 && text.front() == '-'
                 ? Status::failedPrecondition(text.substr(1))
                 : Status::dataLoss("a server's response about the folder of "
                                    "checkpoints is damaged");
  return {};
}

/// Sends a Save request for the writer's folder.
static Expected<std::vector<Message>>
querySave(ServerGroup &servers, SaveKind kind, CheckpointWriter &writer,
          SavedRows rows = SavedRows::All, const std::string &since = {}) {
  const Expected<std::string> folder = saveNameOf(writer);
  if (!folder)
    return folder.status();
  return servers.sendAll(
      MessageKind::Save,
      std::vector<Message>(servers.size(),
                           encodeSaveRequest({kind, *folder, rows, since})));
}

Expected<std::string> pdlrt::saveNameOf(CheckpointWriter &writer) {
  Expected<std::string> folder = writer.folder();
  return folder ? absolutePlace(*folder) : std::move(folder);
}

std::string pdlrt::saveNameOf(const Checkpoint &resumed) {
  const CheckpointLink link = resumed.link();
  return fmt::format("{} {:016x}", link.name, link.digest);
}

static bool isSaving(const Message &response) {
  return response.toString() == savingText;
}

/// Repeats the request Poll until no server writes into the writer's folder any
/// more, because its save has finished, has failed, or was never started.
static Expected<std::vector<Message>> awaitSaved(ServerGroup &servers,
                                                 CheckpointWriter &writer) {
  while (true) {
    Expected<std::vector<Message>> responses =
        querySave(servers, SaveKind::Poll, writer);
    if (!responses || std::ranges::none_of(*responses, isSaving))
      return responses;
    std::this_thread::sleep_for(savePollInterval);
  }
}

Status pdlrt::beginSaveOnServers(ServerGroup &servers, CheckpointWriter &writer,
                                 SavedRows rows, const std::string &since) {
  Expected<std::vector<Message>> responses =
      querySave(servers, SaveKind::Begin, writer, rows, since);
  if (!responses)
    return responses.status();
  for (const Message &response : *responses) {
    if (isSaving(response))
      continue;
    if (Status status = decodeSaved(response).status(); !status.ok()) {
      // Other servers may have started, and the folder will be removed.
      (void)awaitSaved(servers, writer);
      return status;
    }
  }
  return {};
}

Status pdlrt::finishSaveOnServers(ServerGroup &servers, StepCounts counts,
                                  CheckpointWriter &writer,
                                  CheckpointManifest &manifest) {
  Expected<std::vector<Message>> responses = awaitSaved(servers, writer);
  return responses ? joinSaved(*responses, counts, writer, manifest)
                   : responses.status();
}

Status pdlrt::saveOnServers(ServerGroup &servers, StepCounts counts,
                            CheckpointWriter &writer,
                            CheckpointManifest &manifest, SavedRows rows,
                            const std::string &since) {
  Expected<std::vector<Message>> responses =
      querySave(servers, SaveKind::Stopping, writer, rows, since);
  if (!responses)
    return responses.status();
  return joinSaved(*responses, counts, writer, manifest);
}
