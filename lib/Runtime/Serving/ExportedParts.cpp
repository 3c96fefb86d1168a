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
#include "pdlrt/Serving/KeyValueFiles.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <random>
#include <unistd.h>
#include <vector>

using namespace pdlrt;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

NewFolder::NewFolder(const std::string &finalPath)
    // A process on another host may have the same process id.
    : path(fmt::format("{}.tmp.{}-{}", withoutSlashes(finalPath), getpid(),
                       std::random_device()())),
      finalPath(withoutSlashes(finalPath)) {}

NewFolder::~NewFolder() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

Status NewFolder::create() {
  std::error_code error;
  if (fs::exists(fs::symlink_status(finalPath, error)))
    return Status::failedPrecondition(finalPath +
                                      ": is there already; name another "
                                      "folder, or remove it");
  fs::create_directory(path, error);
  return error ? cannotWrite(error) : Status();
}

Status NewFolder::commit() {
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
