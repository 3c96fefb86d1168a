//===- ExportedParts.cpp - Common code of exports -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serving/ExportedParts.h"

#include "Files/RunningDigest.h"
#include "Files/TemporaryFile.h"
#include "pdlrt/Files/FileBytes.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/Files/Store.h"
#include "pdlrt/Serving/KeyValueExport.h"
#include "pdlrt/Serving/KeyValueFiles.h"
#include "pdlrt/Serving/ServedExport.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <random>
#include <string_view>
#include <unistd.h>
#include <vector>

using namespace pdlrt;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

NewFolder::NewFolder(const std::string &finalPath)
    // A process on another host may have the same process id.
    : path(isInObjectStore(finalPath)
               ? withoutSlashes(finalPath)
               : fmt::format("{}.tmp.{}-{}", withoutSlashes(finalPath),
                             getpid(), std::random_device()())),
      finalPath(withoutSlashes(finalPath)) {}

/// File in a folder of an object store to which a process writes.
static constexpr std::string_view claimName = "/.pdl-export";

NewFolder::~NewFolder() {
  if (isInObjectStore(path)) {
    if (isUnfinished)
      removeFiles();
    return;
  }
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

/// Removes the files of this process in an object store. Removes the claim
/// last, so that the files of another process are never among them.
void NewFolder::removeFiles() const {
  auto store = storeOf(path);
  if (!store)
    return;
  const std::string claim = path + std::string(claimName);
  const auto files = (*store)->list(path, true);
  bool areGone = files.ok();
  for (size_t i = 0; areGone && i < files->size(); ++i)
    if ((*files)[i].path != claim)
      areGone = (*store)->remove((*files)[i].path).ok();
  if (areGone)
    (void)(*store)->remove(claim);
}

/// Returns true if a folder has a complete export.
static Expected<bool> hasExport(const std::string &path) {
  Expected<bool> isExported = isExport(path);
  return isExported && !*isExported ? isKeyValueExport(path) : isExported;
}

/// Returns true if a claimed folder has other files than the claim.
static Expected<bool> hasFiles(Store &store, const std::string &path) {
  const auto files = store.list(path, true);
  PDLRT_RETURN_IF_ERROR(files.status());
  for (const StoredFileInfo &file : *files)
    if (file.path != path + std::string(claimName))
      return true;
  // A list that lags may lack the files of an export that has just ended.
  return hasExport(path);
}

/// Returns the error of a folder that cannot be claimed. `refused`: the error
/// of writing the claim, which has one code for a claim that is there and for
/// wrong credentials.
static Status cannotClaim(Store &store, const std::string &path,
                          Status refused) {
  const std::string claim = path + std::string(claimName);
  const auto found = store.find(claim);
  if (!found || !*found)
    return refused;
  const Expected<bool> isComplete = hasExport(path);
  if (isComplete && *isComplete)
    return Status::failedPrecondition(
        path +
        ": has a complete export already; name another folder. Of this "
        "one, remove only " +
        claim + ", which its export could not remove");
  return Status::failedPrecondition(
      path + ": another process exports to it, or was killed while it did; "
             "name another folder, or remove this one if no process runs");
}

/// Claims a folder in an object store for this process.
Status NewFolder::claim() {
  auto store = storeOf(path);
  PDLRT_RETURN_IF_ERROR(store.status());
  const std::string claim = path + std::string(claimName);
  // The text differs from that of any other process.
  Status claimed = (*store)->publish(claim,
                                     fmt::format("{}-{}-{}\n", getpid(),
                                                 std::random_device()(),
                                                 std::random_device()()),
                                     {});
  if (claimed.code() == PDL_FAILED_PRECONDITION)
    return cannotClaim(**store, path, std::move(claimed));
  PDLRT_RETURN_IF_ERROR(std::move(claimed));
  Expected<bool> isTaken = hasFiles(**store, path);
  isUnfinished = isTaken && !*isTaken;
  if (!isUnfinished)
    (void)(*store)->remove(claim);
  PDLRT_RETURN_IF_ERROR(isTaken.status());
  return *isTaken ? isThere() : Status();
}

Status NewFolder::isThere() const {
  return Status::failedPrecondition(finalPath +
                                    ": is there already; name another "
                                    "folder, or remove it");
}

Status NewFolder::create() {
  if (isInObjectStore(path))
    return claim();
  std::error_code error;
  if (fs::exists(fs::symlink_status(finalPath, error)))
    return isThere();
  fs::create_directory(path, error);
  return error ? cannotWrite(error) : Status();
}

Status NewFolder::commit() {
  if (isInObjectStore(path)) {
    isUnfinished = false;
    // The folder is complete, whether its claim can be removed or not.
    if (auto store = storeOf(path))
      (void)(*store)->remove(path + std::string(claimName));
    return {};
  }
  PDLRT_RETURN_IF_ERROR(flushFolder(path));
  return renameToNew(path, finalPath);
}

Status NewFolder::cannotWrite(std::error_code error) const {
  return Status::ofErrno(error.value(),
                         finalPath + ": cannot be written: " + error.message() +
                             "; name another folder");
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

size_t pdlrt::slotPartOf(const CheckpointSymbol &symbol,
                         const std::string &slot) {
  for (size_t s = 0; s < symbol.slots.size(); ++s)
    if (symbol.slots[s] == slot && !symbol.isRowSlot(s))
      return s + 1;
  return 0;
}

Status pdlrt::checkSlot(const Checkpoint &checkpoint, const std::string &slot) {
  if (slot.empty() || std::ranges::any_of(checkpoint.manifest().symbols,
                                          [&](const CheckpointSymbol &symbol) {
                                            return slotPartOf(symbol, slot) > 0;
                                          }))
    return {};
  return Status::invalidArgument(checkpoint.path() +
                                 ": no symbol has a slot '" + slot +
                                 "' of its value's size; 'pdl-checkpoint "
                                 "inspect' shows those that there are");
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

std::string pdlrt::fullTensorName(const CheckpointSymbol &symbol, size_t part) {
  return part ? symbol.name + ".slot." + symbol.slots[part - 1] : symbol.name;
}

Expected<std::vector<std::byte>>
pdlrt::readParameter(const Checkpoint &checkpoint,
                     const CheckpointSymbol &symbol, size_t part) {
  size_t bytes = tensorElementSize(symbol.partType(part));
  for (int64_t size : symbol.shape)
    bytes *= size_t(size);
  std::vector<std::byte> values(bytes);
  const CheckpointSymbol wanted = {
      symbol.name, false, symbol.shape, {}, symbol.elementType};
  PDLRT_RETURN_IF_ERROR(
      checkpoint.copyRows(wanted, fullTensorName(symbol, part),
                          {0, rowCountOf(symbol.shape)}, values.data()));
  return values;
}

Expected<std::optional<FileDigest>>
pdlrt::writeParameters(const Checkpoint &checkpoint, const std::string &slot,
                       const std::string &folder) {
  SafetensorsWriter dense;
  std::vector<std::vector<std::byte>> all;
  for (const CheckpointSymbol &symbol : checkpoint.manifest().symbols) {
    if (symbol.isTable)
      continue;
    const size_t part = slotPartOf(symbol, slot);
    Expected<std::vector<std::byte>> values =
        readParameter(checkpoint, symbol, part);
    if (!values)
      return std::move(values).status();
    all.push_back(*std::move(values));
    PDLRT_RETURN_IF_ERROR(dense.add(fullTensorName(symbol, part),
                                    symbol.partType(part), symbol.shape,
                                    all.back().data()));
  }
  if (all.empty())
    return std::optional<FileDigest>();
  FileDigest digest;
  PDLRT_RETURN_IF_ERROR(dense.write(folder + "/" + parametersName, &digest));
  return std::optional(digest);
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

Expected<FileDigest> pdlrt::digestOfFile(const std::string &path) {
  constexpr size_t atOnce = size_t(1) << 20;
  const Expected<FileBytes> file =
      FileBytes::open(path, "export the checkpoint again");
  if (!file)
    return file.status();
  RunningDigest found;
  std::vector<std::byte> piece(atOnce);
  for (uint64_t begin = 0; begin < file->size(); begin += atOnce) {
    const auto count = size_t(std::min<uint64_t>(atOnce, file->size() - begin));
    PDLRT_RETURN_IF_ERROR(file->readAt(begin, count, piece.data()));
    found.add(piece.data(), count);
  }
  return found.digest();
}

Status pdlrt::checkFile(const std::string &path, const FileDigest &digest) {
  const Expected<FileDigest> found = digestOfFile(path);
  if (!found)
    return found.status();
  if (*found == digest)
    return {};
  return Status::dataLoss(path +
                          ": is not what its manifest says, damaged or of "
                          "another export; export the checkpoint again");
}
