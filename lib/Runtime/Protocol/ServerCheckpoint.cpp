//===- ServerCheckpoint.cpp - State on servers to a checkpoint ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerCheckpoint.h"

#include "Checkpoint/ProbeName.h"
#include "Files/TemporaryFile.h"
#include "pdlrt/Core/RandomNumber.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <thread>
#include <utility>

using namespace pdlrt;
namespace fs = std::filesystem;

/// Before the path; that of a stopping save, which is absolute, has none.
static constexpr char probeMark = '?', beginMark = '&', askMark = '=';
/// Behind the path, where rows are to be told apart: nothing of a path.
static constexpr char rowsMark = '\0', baseMark = 'b', changedMark = 'd';
/// The answer that a save has not ended.
static constexpr const char *savingText = ".";
/// Trainer 0 asks again after so long.
static constexpr std::chrono::milliseconds askInterval{20};

Message pdlrt::encodeSaveRequest(const SaveRequest &request) {
  std::string text = request.path;
  if (request.rows != SavedRows::All) {
    text += rowsMark;
    text += request.rows == SavedRows::Changed ? changedMark : baseMark;
    text += request.since;
  }
  switch (request.kind) {
  case SaveKind::Probe:
    return Message::ofString(probeMark + text);
  case SaveKind::Begin:
    return Message::ofString(beginMark + text);
  case SaveKind::Ask:
    return Message::ofString(askMark + text);
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
                        : mark == askMark   ? SaveKind::Ask
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
  }
  return request;
}

Message pdlrt::answerSaving() { return Message::ofString(savingText); }

Message pdlrt::encodeSaved(const Expected<CheckpointManifest> &written) {
  return Message::ofString(written ? "+" + encodeManifest(*written)
                                   : "-" + written.status().message());
}

Expected<CheckpointManifest> pdlrt::decodeSaved(const Message &answer) {
  const std::string text = answer.toString();
  if (text.size() > 1 && text.front() == '-')
    return Status::invalid(text.substr(1));
  if (text.empty() || text.front() != '+')
    return Status::invalid("a server's answer to a save is damaged");
  return decodeManifest(text.substr(1));
}

Status pdlrt::joinSaved(const std::vector<Message> &answers, StepCounts counts,
                        CheckpointWriter &writer,
                        CheckpointManifest &manifest) {
  for (size_t s = 0; s < answers.size(); ++s) {
    Expected<CheckpointManifest> written = decodeSaved(answers[s]);
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

static std::string absolutePath(const std::string &path) {
  std::error_code error;
  return fs::absolute(path, error).string();
}

Expected<SaveProbe> SaveProbe::create(const std::string &folder) {
  // Nobody else has a file of that name, so no content is needed.
  const std::string path = fmt::format("{}/{}{:016x}", absolutePath(folder),
                                       probePrefix, drawNumber());
  TemporaryFile file(path);
  PDLRT_RETURN_IF_ERROR(file.create());
  PDLRT_RETURN_IF_ERROR(file.commit());
  return SaveProbe(path);
}

SaveProbe::SaveProbe(SaveProbe &&other) noexcept
    : path(std::exchange(other.path, std::string())) {}

SaveProbe::~SaveProbe() {
  std::error_code ignored;
  if (!path.empty())
    fs::remove(path, ignored);
}

Message SaveProbe::request() const {
  return encodeSaveRequest({SaveKind::Probe, path});
}

Message pdlrt::answerProbe(const std::string &probe, const std::string &who) {
  const std::string folder = fs::path(probe).parent_path();
  std::error_code error;
  if (!fs::is_regular_file(probe, error))
    return Message::ofString(
        "-" + who + " does not see the folder " + folder +
        " of trainer 0, into which checkpoints are written; give a "
        "--checkpoint that all processes of the job share");
  // Gone again with the object.
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
                                   const std::string &folder) {
  Expected<SaveProbe> probe = SaveProbe::create(folder);
  if (!probe)
    return probe.status();
  Expected<std::vector<Message>> answers =
      servers.sendAll(MessageKind::Save,
                      std::vector<Message>(servers.size(), probe->request()));
  if (!answers)
    return answers.status();
  for (const Message &answer : *answers)
    if (const std::string text = answer.toString(); text != "+")
      return Status::invalid(
          text.size() > 1 && text.front() == '-'
              ? text.substr(1)
              : "a server's answer about the folder of checkpoints is damaged");
  return {};
}

/// Sends a request about the writer's folder.
static Expected<std::vector<Message>>
askServers(ServerGroup &servers, SaveKind kind, CheckpointWriter &writer,
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
  return folder ? absolutePath(*folder) : std::move(folder);
}

std::string pdlrt::saveNameOf(const Checkpoint &resumed) {
  const CheckpointLink link = resumed.link();
  return fmt::format("{} {:016x}", link.name, link.digest);
}

static bool isSaving(const Message &answer) {
  return answer.toString() == savingText;
}

/// Asks until no server writes into the writer's folder any more: all have, or
/// could not, or have not begun to.
static Expected<std::vector<Message>> awaitSaved(ServerGroup &servers,
                                                 CheckpointWriter &writer) {
  while (true) {
    Expected<std::vector<Message>> answers =
        askServers(servers, SaveKind::Ask, writer);
    if (!answers || std::ranges::none_of(*answers, isSaving))
      return answers;
    std::this_thread::sleep_for(askInterval);
  }
}

Status pdlrt::beginSaveOnServers(ServerGroup &servers, CheckpointWriter &writer,
                                 SavedRows rows, const std::string &since) {
  Expected<std::vector<Message>> answers =
      askServers(servers, SaveKind::Begin, writer, rows, since);
  if (!answers)
    return answers.status();
  for (const Message &answer : *answers) {
    if (isSaving(answer))
      continue;
    if (Status status = decodeSaved(answer).status(); !status.ok()) {
      // Others may have begun, and the folder goes.
      (void)awaitSaved(servers, writer);
      return status;
    }
  }
  return {};
}

Status pdlrt::finishSaveOnServers(ServerGroup &servers, StepCounts counts,
                                  CheckpointWriter &writer,
                                  CheckpointManifest &manifest) {
  Expected<std::vector<Message>> answers = awaitSaved(servers, writer);
  return answers ? joinSaved(*answers, counts, writer, manifest)
                 : answers.status();
}

Status pdlrt::saveOnServers(ServerGroup &servers, StepCounts counts,
                            CheckpointWriter &writer,
                            CheckpointManifest &manifest, SavedRows rows,
                            const std::string &since) {
  Expected<std::vector<Message>> answers =
      askServers(servers, SaveKind::Stopping, writer, rows, since);
  if (!answers)
    return answers.status();
  return joinSaved(*answers, counts, writer, manifest);
}
