//===- Checkpoint.cpp - Reading and writing one checkpoint ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/Checkpoint.h"

#include "Checkpoint/CheckpointNames.h"
#include "Checkpoint/FallibleTasks.h"
#include "Checkpoint/StoredCheckpoints.h"
#include "Files/FileFailure.h"
#include "Files/TemporaryFile.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <random>
#include <unistd.h>
#include <utility>

using namespace pdlrt;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Status Checkpoint::damaged(const std::string &what) const {
  return Status::dataLoss(folder + ": " + what +
                          "; the checkpoint is damaged, so use another one");
}

/// Returns the path of a checkpoint's folder. If `folder` ends with a symbolic
/// link, `.`, `..` or a slash, resolves it, so that the path ends with the
/// checkpoint's name.
static fs::path placeOf(const std::string &folder) {
  const fs::path path = folder;
  std::error_code error;
  if (path.has_filename() && path.filename() != "." &&
      path.filename() != ".." && !fs::is_symlink(path, error))
    return path;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

CheckpointLink Checkpoint::link() const {
  return {placeOf(folder).filename(), digest};
}

Expected<Checkpoint> Checkpoint::openAlone(const std::string &path,
                                           const PartSelection &parts,
                                           Scheduler *scheduler) {
  return openFiles(path, parts, scheduler, /*tablesAlone=*/false);
}

Expected<Checkpoint> Checkpoint::open(const std::string &path,
                                      const PartSelection &parts,
                                      Scheduler *scheduler) {
  Expected<Checkpoint> checkpoint = openAlone(path, parts, scheduler);
  if (checkpoint)
    PDLRT_RETURN_IF_ERROR(checkpoint->openEarlier(parts, scheduler));
  return checkpoint;
}

/// Opens all predecessors of a delta.
Status Checkpoint::openEarlier(const PartSelection &parts,
                               Scheduler *scheduler) {
  const fs::path own = placeOf(folder);
  const std::string parent = own.parent_path();
  std::optional<CheckpointLink> next = content.after;
  // The loop ends because a cycle of digests cannot be constructed.
  std::string follower = own.filename();
  while (next) {
    const std::string path = (parent.empty() ? "." : parent) + "/" + next->name;
    // On a disk, a folder without a manifest is damage, which `open` names.
    std::error_code error;
    const Expected<bool> isThere = isInObjectStore(path)
                                       ? isCheckpointThere(path)
                                       : fs::exists(path, error);
    PDLRT_RETURN_IF_ERROR(isThere.status());
    if (!*isThere)
      return Status::notFound(fmt::format(
          "{}: is a delta, and {}, which {} follows, is not next to "
          "it; bring it back, or use another checkpoint",
          folder, next->name, follower));
    Expected<Checkpoint> link =
        openFiles(path, parts, scheduler, /*tablesAlone=*/true);
    if (!link)
      return Status(link.status())
          .withContext(
              fmt::format("{}: is a delta that needs {}", folder, next->name));
    if (link->digest != next->digest)
      return Status::failedPrecondition(fmt::format(
          "{}: is a delta, but {} is not the one that {} follows: its manifest "
          "has the checksum {:016x} instead of {:016x}; bring that back, or "
          "use another checkpoint",
          folder, next->name, follower, link->digest, next->digest));
    follower = next->name;
    next = link->content.after;
    before.push_back(std::move(*link));
  }
  std::ranges::reverse(before);
  return {};
}

PartUse PartSelection::useOf(const CheckpointPart &part,
                             const std::string &path) const {
  if (choose)
    return choose(part);
  if (check == CheckpointCheck::Everything || part.kind == PartKind::Trainer ||
      (check == CheckpointCheck::Parameters && part.kind == PartKind::Dense))
    return PartUse::Verify;
  // Each file that is opened costs requests.
  return check == CheckpointCheck::Progress && isInObjectStore(path)
             ? PartUse::None
             : PartUse::Read;
}

Expected<Checkpoint> Checkpoint::openFiles(const std::string &path,
                                           const PartSelection &parts,
                                           Scheduler *scheduler,
                                           bool tablesAlone) {
  // All parts are open at the same time.
  raiseFileLimit();
  uint64_t digest = 0;
  Expected<CheckpointManifest> manifest =
      readManifest(path + "/" + manifestName, &digest);
  if (!manifest)
    return isAtFileLimit() ? Status::outOfMemory(manifest.status().message())
                           : manifest.status();
  std::erase_if(manifest->parts, [&](const CheckpointPart &part) {
    return (tablesAlone && part.kind != PartKind::Table) ||
           parts.useOf(part, path) == PartUse::None;
  });
  Checkpoint checkpoint(path, std::move(*manifest));
  checkpoint.digest = digest;
  const std::string &inside = checkpoint.content.partsFolder;
  const std::string files = inside.empty() ? path : path + "/" + inside;
  for (const CheckpointPart &part : checkpoint.content.parts) {
    Expected<SafetensorsFile> file =
        SafetensorsFile::open(files + "/" + part.file);
    if (!file && file.status().code() == PDL_UNAVAILABLE)
      return file.status();
    if (!file)
      return isAtFileLimit() ? Status::outOfMemory(file.status().message())
                             : checkpoint.damaged(file.status().message());
    if (file->size() != part.digest.bytes)
      return checkpoint.damaged(
          fmt::format("file {} has {} bytes instead of {}", part.file,
                      file->size(), part.digest.bytes));
    checkpoint.files.push_back(std::move(*file));
  }
  // Open files stay readable even if a job removes the folder.
  std::vector<size_t> toCheck;
  for (size_t p = 0; p < checkpoint.files.size(); ++p)
    if (parts.useOf(checkpoint.content.parts[p], path) == PartUse::Verify)
      toCheck.push_back(p);
  PDLRT_RETURN_IF_ERROR(
      runFallible(scheduler, int64_t(toCheck.size()), [&](int64_t i) {
        return checkpoint.checkDigest(toCheck[i]);
      }));
  return checkpoint;
}

Status Checkpoint::checkDigest(size_t index) const {
  const CheckpointPart &part = content.parts[index];
  const Expected<FileDigest> digest = files[index].digest();
  if (!digest && digest.status().code() == PDL_UNAVAILABLE)
    return digest.status();
  if (!digest)
    return damaged(digest.status().message());
  if (digest->hash == part.digest.hash)
    return {};
  return damaged(fmt::format("file {} has the checksum {:016x} instead of "
                             "{:016x}",
                             part.file, digest->hash, part.digest.hash));
}

Expected<const SafetensorsFile *> Checkpoint::only(PartKind kind) const {
  const SafetensorsFile *found = nullptr;
  int64_t count = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    if (content.parts[i].kind != kind)
      continue;
    found = &files[i];
    ++count;
  }
  if (count != 1)
    return damaged(fmt::format(
        "it has {} files of {}, but one is needed", count,
        kind == PartKind::Dense ? "parameters" : "the running epoch"));
  return found;
}

Expected<const TensorView *>
Checkpoint::tensorOf(const SafetensorsFile &file, const std::string &name,
                     TensorType type, const std::vector<int64_t> &shape) const {
  const TensorView *tensor = file.find(name);
  if (!tensor || tensor->type != type || tensor->shape != shape)
    return damaged(
        fmt::format("{} has {} instead of '{}' of {} [{}]", file.path(),
                    tensor ? tensor->typeAndShape() : "nothing", name,
                    tensorTypeName(type), fmt::join(shape, ", ")));
  return tensor;
}

Status Checkpoint::copyRows(const CheckpointSymbol &symbol,
                            const std::string &tensor, CheckpointRange rows,
                            void *out) const {
  const int64_t rowCount = rowCountOf(symbol.shape);
  int64_t elements = 1;
  for (int64_t dimension : symbol.shape)
    elements *= dimension;
  const int64_t width = elements / rowCount;
  const size_t rowBytes = size_t(width) * tensorElementSize(symbol.elementType);
  for (size_t p = 0; p < files.size(); ++p) {
    const CheckpointPart &part = content.parts[p];
    if (part.kind != PartKind::Dense)
      continue;
    std::vector<CheckpointRange> held;
    if (part.rows.empty())
      held = {{0, rowCount}};
    for (const auto &[name, ranges] : part.rows)
      if (name == symbol.name)
        held.insert(held.end(), ranges.begin(), ranges.end());
    if (held.empty())
      continue;
    int64_t heldRows = 0;
    for (const auto &[first, end] : held)
      heldRows += end - first;
    std::vector<int64_t> shape = symbol.shape;
    if (shape.size() > 1)
      shape.front() = heldRows;
    const TensorView *found = files[p].find(tensor);
    if (!found || found->type != symbol.elementType || found->shape != shape)
      return damaged(fmt::format(
          "{} has {} instead of '{}' of {} [{}]", files[p].path(),
          found ? found->typeAndShape() : "nothing", tensor,
          tensorTypeName(symbol.elementType), fmt::join(shape, ", ")));
    // `before` counts the rows in the file before the current range; [begin,
    // stop) are the requested rows of that range.
    int64_t before = 0;
    for (const auto &[first, end] : held) {
      const int64_t begin = std::max(first, rows.first);
      const int64_t stop = std::min(end, rows.second);
      if (begin < stop)
        PDLRT_RETURN_IF_ERROR(found->read(
            (before + begin - first) * width, (stop - begin) * width,
            static_cast<std::byte *>(out) +
                size_t(begin - rows.first) * rowBytes));
      before += end - first;
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

CheckpointWriter::CheckpointWriter(std::string path) : path(std::move(path)) {}

CheckpointWriter::CheckpointWriter(CheckpointWriter &&other) noexcept
    : path(std::move(other.path)),
      temporary(std::exchange(other.temporary, std::string())),
      ownsFolder(other.ownsFolder), parts(std::move(other.parts)) {}

CheckpointWriter CheckpointWriter::into(const std::string &folder) {
  CheckpointWriter writer(folder);
  writer.temporary = folder;
  writer.ownsFolder = false;
  return writer;
}

CheckpointWriter::~CheckpointWriter() {
  std::error_code ignored;
  if (temporary.empty() || !ownsFolder)
    return;
  // What stays is removed later by age.
  if (isInObjectStore(temporary))
    (void)removeStoredFolder(temporary);
  else
    fs::remove_all(temporary, ignored);
}

static Status cannotWrite(const std::string &path,
                          const std::error_code &error) {
  return fileFailure(path, "cannot be written", error.value());
}

Expected<std::string> CheckpointWriter::folder() {
  std::error_code error;
  if (temporary.empty() && isInObjectStore(path)) {
    temporary = storedPartsFolder(path);
  } else if (temporary.empty()) {
    // A previous incarnation on another host may have had the same process id.
    temporary =
        fmt::format("{}.tmp.{}-{}", path, getpid(), std::random_device()());
    fs::create_directory(temporary, error);
    if (error)
      return cannotWrite(temporary, error);
  }
  return temporary;
}

Status CheckpointWriter::addPart(CheckpointPart part,
                                 const SafetensorsWriter &tensors) {
  if (Expected<std::string> made = folder(); !made)
    return made.status();
  PDLRT_RETURN_IF_ERROR(
      tensors.write(temporary + "/" + part.file, &part.digest));
  parts.push_back(std::move(part));
  return {};
}

/// Publishes a checkpoint of an object store: its files become visible with the
/// manifest.
Status CheckpointWriter::commitStored(CheckpointManifest manifest,
                                      uint64_t *digest) {
  manifest.parts = parts;
  manifest.partsFolder = fs::path(temporary).filename();
  PDLRT_RETURN_IF_ERROR(
      writeManifest(manifest, path + "/" + manifestName, digest));
  temporary.clear();
  return removeOtherParts(path, manifest.partsFolder);
}

Status CheckpointWriter::commitNew(CheckpointManifest manifest) {
  manifest.parts = parts;
  manifest.partsFolder.clear();
  if (isInObjectStore(path)) {
    manifest.partsFolder = fs::path(temporary).filename();
    PDLRT_RETURN_IF_ERROR(
        writeNewManifest(manifest, path + "/" + manifestName));
    temporary.clear();
    return {};
  }
  PDLRT_RETURN_IF_ERROR(
      writeManifest(manifest, temporary + "/" + manifestName, nullptr));
  return renameToNew(temporary, path);
}

Status CheckpointWriter::commit(CheckpointManifest manifest, uint64_t *digest) {
  if (isInObjectStore(path))
    return commitStored(std::move(manifest), digest);
  manifest.parts = parts;
  manifest.partsFolder.clear();
  PDLRT_RETURN_IF_ERROR(
      writeManifest(manifest, temporary + "/" + manifestName, digest));
  // `rename` cannot replace a folder that is not empty.
  const std::string old = path + ".old." + std::to_string(getpid());
  std::error_code error;
  const bool replaces = fs::exists(path, error);
  if (replaces)
    fs::rename(path, old, error);
  if (!error)
    fs::rename(temporary, path, error);
  if (error)
    return cannotWrite(path, error);
  temporary.clear();
  const std::string parent = fs::path(path).parent_path();
  // The replaced folder and older ones stay until the new one is on the disk.
  PDLRT_RETURN_IF_ERROR(flushFolder(parent.empty() ? "." : parent));
  if (replaces)
    fs::remove_all(old, error);
  return error ? cannotWrite(old, error) : Status();
}
