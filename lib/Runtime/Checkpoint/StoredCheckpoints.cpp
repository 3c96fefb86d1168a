//===- StoredCheckpoints.cpp - Checkpoints in object stores ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/StoredCheckpoints.h"

#include "Checkpoint/CheckpointNames.h"
#include "Checkpoint/ProbeName.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <random>
#include <unistd.h>

using namespace pdlrt;
namespace fs = std::filesystem;

static constexpr std::string_view partsPrefix = "parts.";
/// Files without a manifest are left overs after this time. A save takes less.
static constexpr int64_t leftoverSeconds = int64_t(24) * 3600;

std::string pdlrt::storedPartsFolder(const std::string &checkpoint) {
  return fmt::format("{}/{}{}-{}", checkpoint, partsPrefix, ::getpid(),
                     std::random_device()());
}

bool pdlrt::isStoredPartsName(const std::string &name) {
  return name.starts_with(partsPrefix) && name.size() > partsPrefix.size();
}

Expected<std::vector<int64_t>>
pdlrt::listStoredCheckpoints(const std::string &folder) {
  auto store = storeOf(folder);
  PDLRT_RETURN_IF_ERROR(store.status());
  auto folders = (*store)->listFolders(folder);
  PDLRT_RETURN_IF_ERROR(folders.status());
  std::vector<int64_t> all;
  for (const std::string &path : *folders) {
    const int64_t steps = stepsOf(fs::path(path).filename());
    // Other spellings of a number are ignored, such as step-7.
    if (steps < 0 ||
        fs::path(pathOf(folder, steps)).filename() != fs::path(path).filename())
      continue;
    const Expected<bool> isWhole = isCheckpointThere(path);
    PDLRT_RETURN_IF_ERROR(isWhole.status());
    if (*isWhole)
      all.push_back(steps);
  }
  std::sort(all.rbegin(), all.rend());
  return all;
}

Expected<std::string> pdlrt::storedVersionOf(const std::string &checkpoint) {
  auto store = storeOf(checkpoint);
  PDLRT_RETURN_IF_ERROR(store.status());
  auto found = (*store)->find(checkpoint + "/" + manifestName);
  PDLRT_RETURN_IF_ERROR(found.status());
  const std::optional<StoredFileInfo> &manifest = *found;
  return manifest ? manifest->version : std::string();
}

Status pdlrt::removeOtherParts(const std::string &checkpoint,
                               const std::string &partsFolder) {
  auto store = storeOf(checkpoint);
  PDLRT_RETURN_IF_ERROR(store.status());
  auto folders = (*store)->listFolders(checkpoint);
  PDLRT_RETURN_IF_ERROR(folders.status());
  for (const std::string &folder : *folders)
    if (const std::string name = fs::path(folder).filename();
        isStoredPartsName(name) && name != partsFolder)
      PDLRT_RETURN_IF_ERROR(removeStoredFolder(folder));
  return {};
}

Status pdlrt::removeStoredCheckpoint(const std::string &checkpoint) {
  auto store = storeOf(checkpoint);
  PDLRT_RETURN_IF_ERROR(store.status());
  PDLRT_RETURN_IF_ERROR((*store)->remove(checkpoint + "/" + manifestName));
  return removeStoredFolder(checkpoint);
}

/// Writes and removes a file, so that missing permissions are noticed before
/// the training begins.
static Status checkWritable(Store &store, const std::string &folder) {
  const std::string probe = fmt::format("{}/{}{}-{}", folder, probePrefix,
                                        ::getpid(), std::random_device()());
  PDLRT_RETURN_IF_ERROR(store.publish(probe, "", {}));
  return store.remove(probe);
}

/// The files of one checkpoint, by the folder that they are in.
using FilesByFolder =
    std::map<std::string, std::vector<const StoredFileInfo *>>;

/// Removes the old files of a checkpoint that its manifest does not name.
static Status removeUnnamedFiles(Store &store, const std::string &checkpoint,
                                 const FilesByFolder &files, int64_t before) {
  const Expected<bool> isWhole = isCheckpointThere(checkpoint);
  PDLRT_RETURN_IF_ERROR(isWhole.status());
  std::string kept;
  if (*isWhole) {
    const auto manifest = readManifest(checkpoint + "/" + manifestName);
    // A damaged checkpoint stays for its owner to look at.
    if (!manifest)
      return {};
    kept = manifest->partsFolder;
  }
  for (const auto &[folder, infos] : files)
    for (const StoredFileInfo *info : infos)
      if (folder != kept && info->modified < before)
        PDLRT_RETURN_IF_ERROR(store.remove(info->path));
  return {};
}

Status pdlrt::prepareStoredFolder(const std::string &folder) {
  auto store = storeOf(folder);
  PDLRT_RETURN_IF_ERROR(store.status());
  PDLRT_RETURN_IF_ERROR(checkWritable(**store, folder));
  auto all = (*store)->list(folder, true);
  PDLRT_RETURN_IF_ERROR(all.status());
  const int64_t before = int64_t(std::time(nullptr)) - leftoverSeconds;
  std::map<std::string, FilesByFolder> checkpoints;
  for (const StoredFileInfo &info : *all) {
    const fs::path path = info.path;
    const fs::path parts = path.parent_path();
    if (path.filename().string().starts_with(probePrefix) &&
        info.modified < before)
      PDLRT_RETURN_IF_ERROR((*store)->remove(info.path));
    else if (isStoredPartsName(parts.filename().string()) &&
             stepsOf(parts.parent_path().filename()) >= 0)
      checkpoints[parts.parent_path()][parts.filename()].push_back(&info);
  }
  for (const auto &[checkpoint, files] : checkpoints)
    PDLRT_RETURN_IF_ERROR(
        removeUnnamedFiles(**store, checkpoint, files, before));
  return {};
}
