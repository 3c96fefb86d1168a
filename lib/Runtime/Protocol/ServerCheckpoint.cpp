//===- ServerCheckpoint.cpp - State on servers to a checkpoint ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerCheckpoint.h"

#include <filesystem>
#include <string>
#include <utility>

using namespace pdlrt;

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

Status pdlrt::joinSaved(const std::vector<Message> &answers,
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
    } else if (written->groupSteps != manifest.groupSteps) {
      return Status::internal("servers 0 and " + std::to_string(s) +
                              " have applied other numbers of steps");
    }
    for (CheckpointPart &part : written->parts)
      writer.addWritten(std::move(part));
  }
  return {};
}

Status pdlrt::saveOnServers(ServerGroup &servers, CheckpointWriter &writer,
                            CheckpointManifest &manifest) {
  Expected<std::string> folder = writer.folder();
  if (!folder)
    return folder.status();
  std::error_code error;
  const std::string path = std::filesystem::absolute(*folder, error).string();
  Expected<std::vector<Message>> answers = servers.sendAll(
      MessageKind::Save,
      std::vector<Message>(servers.size(), Message::ofString(path)));
  if (!answers)
    return answers.status();
  return joinSaved(*answers, writer, manifest);
}
