//===- StoredVersion.cpp - A version of a model in a store ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoredVersion.h"

#include "ServersFile.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/Manifest.h"
#include "pdlrt/Serving/ServedExport.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <system_error>
#include <unistd.h>
#include <utility>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::Status;
using pdlrt::StoredFileInfo;
namespace fs = std::filesystem;

static constexpr std::string_view checkpointsName = "checkpoints";
static constexpr std::string_view exportName = "export";

std::vector<std::string_view> pdlserve::partsOfName(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part.front() == '.')
      return {};
    parts.push_back(part);
    if (slash == std::string_view::npos)
      return parts;
    name.remove_prefix(slash + 1);
  }
}

std::vector<std::string> StoredVersion::checkpoints() const {
  std::vector<std::string> found;
  for (const auto &[name, info] : files) {
    const std::vector<std::string_view> parts = partsOfName(name);
    if (parts.size() == 3 && parts[0] == checkpointsName &&
        parts[1].starts_with("step-") && parts[2] == pdlrt::manifestName)
      found.emplace_back(parts[1]);
  }
  // The numbers in the names have leading zeros.
  std::ranges::sort(found, std::greater());
  return found;
}

std::string StoredVersion::content() const {
  const std::vector<std::string> complete = checkpoints();
  const std::string newest =
      complete.empty() ? ""
                       : fmt::format("{}/{}/{}", checkpointsName,
                                     complete.front(), pdlrt::manifestName);
  std::string text;
  for (const auto &[name, info] : files)
    if (name == newest || !name.starts_with(std::string(checkpointsName) + "/"))
      text += fmt::format("{} {} {}\n", name, info.version, info.bytes);
  return text;
}

namespace {

/// Builds the folder of a version.
class VersionCopier {
public:
  VersionCopier(const StoredVersion &version, std::string folder,
                pdlrt::FileCache &cache, const std::atomic<bool> &cancel)
      : version(version), folder(std::move(folder)), cache(cache),
        cancel(cancel) {}

  Status copyFile(const std::string &name,
                  const std::optional<pdlrt::FileDigest> &digest = {});
  Status copyFilesOfVersion();
  Status copyCheckpoint(std::string name);
  Status copyExport();
  CopiedFiles take() { return std::move(copies); }

private:
  /// Drops the copies made so far from the cache: one of them is wrong.
  void discard() const {
    for (const auto &copy : copies)
      copy->discard();
  }

  const StoredVersion &version;
  const std::string folder;
  pdlrt::FileCache &cache;
  const std::atomic<bool> &cancel;
  CopiedFiles copies;
};

} // namespace

Status VersionCopier::copyFile(const std::string &name,
                               const std::optional<pdlrt::FileDigest> &digest) {
  const std::string address = version.address + "/" + name;
  std::optional<StoredFileInfo> info;
  if (const auto known = version.files.find(name);
      known != version.files.end()) {
    info = known->second;
  } else {
    // A list may not show new files yet.
    auto store = pdlrt::storeOf(address);
    PDLRT_RETURN_IF_ERROR(store.status());
    auto found = (*store)->find(address);
    PDLRT_RETURN_IF_ERROR(found.status());
    if (!*found)
      return Status::notFound(address + ": is not there (yet)");
    info = **found;
  }
  auto copy = cache.fetch(*info, digest, &cancel);
  PDLRT_RETURN_IF_ERROR(copy.status());
  const fs::path target = fs::path(folder) / name;
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (::link((*copy)->path().c_str(), target.c_str()) != 0)
    return Status::ofErrno(
        errno, target.string() + ": cannot be made: " + std::strerror(errno) +
                   "; check the folder of the cache");
  copies.push_back(*std::move(copy));
  return {};
}

Status VersionCopier::copyFilesOfVersion() {
  for (const auto &[name, info] : version.files)
    if (name.find('/') == std::string::npos)
      PDLRT_RETURN_IF_ERROR(copyFile(name));
  return {};
}

Status VersionCopier::copyCheckpoint(std::string name) {
  while (!name.empty()) {
    const std::string place = fmt::format("{}/{}", checkpointsName, name);
    const std::string manifestFile = place + "/" + pdlrt::manifestName;
    PDLRT_RETURN_IF_ERROR(copyFile(manifestFile));
    const auto manifest = pdlrt::readManifest(folder + "/" + manifestFile);
    if (!manifest) {
      copies.back()->discard();
      return Status(manifest.status()).withContext(version.address);
    }
    const std::string parts = manifest->partsFolder.empty()
                                  ? place
                                  : place + "/" + manifest->partsFolder;
    for (const pdlrt::CheckpointPart &part : manifest->parts)
      PDLRT_RETURN_IF_ERROR(copyFile(parts + "/" + part.file, part.digest));
    name = manifest->after ? manifest->after->name : "";
    if (!name.empty() && partsOfName(name).size() != 1)
      return Status::dataLoss(version.address + "/" + place +
                              ": its predecessor has no valid name");
  }
  return {};
}

Status VersionCopier::copyExport() {
  const std::string place = std::string(exportName) + "/";
  PDLRT_RETURN_IF_ERROR(copyFile(place + pdlrt::exportManifestName));
  const auto manifest =
      pdlrt::readManifest(folder + "/" + place + pdlrt::exportManifestName);
  if (!manifest) {
    discard();
    return Status(manifest.status()).withContext(version.address);
  }
  for (const pdlrt::CheckpointPart &part : manifest->parts)
    PDLRT_RETURN_IF_ERROR(copyFile(place + part.file));
  // Tables are mapped without being read, so they are verified once here.
  const auto verified =
      pdlrt::verifyExport(folder + "/" + std::string(exportName));
  if (verified)
    return {};
  discard();
  return Status(verified.status()).withContext(version.address);
}

/// Returns an error unless the version has values of one kind.
static Status checkKinds(const StoredVersion &version, bool &hasCheckpoints,
                         bool &hasExport) {
  std::vector<std::string> found;
  for (const auto &[name, info] : version.files) {
    const std::vector<std::string_view> parts = partsOfName(name);
    hasCheckpoints |= parts.size() > 1 && parts[0] == checkpointsName;
    hasExport |= parts.size() > 1 && parts[0] == exportName;
    if (parts.size() == 1 &&
        (name == serversFileName || name.ends_with(".safetensors")))
      found.push_back(name);
  }
  if (hasCheckpoints)
    found.emplace_back(checkpointsName);
  if (hasExport)
    found.emplace_back(exportName);
  if (found.size() < 2)
    return {};
  return Status::failedPrecondition(
      fmt::format("{} has several of which there may be one: {}; leave one",
                  version.address, fmt::join(found, ", ")));
}

Expected<CopiedFiles> pdlserve::copyVersion(const StoredVersion &version,
                                            const std::string &checkpoint,
                                            const std::string &folder,
                                            pdlrt::FileCache &cache,
                                            const std::atomic<bool> &cancel) {
  bool hasCheckpoints = false, hasExport = false;
  PDLRT_RETURN_IF_ERROR(checkKinds(version, hasCheckpoints, hasExport));
  if (hasCheckpoints && checkpoint.empty())
    return Status::notFound(version.address + "/" +
                            std::string(checkpointsName) +
                            " has no checkpoint yet");
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  VersionCopier copier(version, folder, cache, cancel);
  Status status = copier.copyFilesOfVersion();
  if (status.ok() && hasCheckpoints)
    status = copier.copyCheckpoint(checkpoint);
  if (status.ok() && hasExport)
    status = copier.copyExport();
  if (status.ok())
    return copier.take();
  fs::remove_all(folder, ignored);
  return status;
}
