//===- ServedExport.cpp - A checkpoint, to be mapped ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/ServedExport.h"

#include "Checkpoint/SymbolTensors.h"
#include "Files/TemporaryFile.h"
#include "Serving/FileRows.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

using namespace pdlrt;
namespace fs = std::filesystem;

bool pdlrt::isExport(const std::string &folder) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / exportManifestName, ignored);
}

namespace {

/// A folder that goes with the object unless it got its name.
class NewFolder {
public:
  explicit NewFolder(std::string finalPath)
      : path(finalPath + ".tmp." + std::to_string(getpid())),
        finalPath(std::move(finalPath)) {}
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  NewFolder(const NewFolder &) = delete;
  NewFolder &operator=(const NewFolder &) = delete;

  Status create() {
    std::error_code error;
    if (fs::exists(finalPath, error))
      return Status::invalid(finalPath + ": is there already; name another "
                                         "folder, or remove it");
    return fs::create_directory(path, error) ? Status() : cannotWrite(error);
  }
  Status commit() {
    std::error_code error;
    PDLRT_RETURN_IF_ERROR(flushFolder(path));
    fs::rename(path, finalPath, error);
    if (error)
      return cannotWrite(error);
    const std::string parent = fs::path(finalPath).parent_path();
    return flushFolder(parent.empty() ? "." : parent);
  }

  const std::string path;

private:
  Status cannotWrite(std::error_code error) const {
    return Status::invalid(finalPath + ": cannot be written: " +
                           error.message() + "; name another folder");
  }

  const std::string finalPath;
};

} // namespace

/// The place of the slot among those of the symbol, as a part; 0: it has none
/// of that name.
static int32_t partOf(const CheckpointSymbol &symbol, const std::string &slot) {
  for (size_t s = 0; s < symbol.slots.size(); ++s)
    if (symbol.slots[s] == slot && !symbol.isRowSlot(s))
      return int32_t(s) + 1;
  return 0;
}

/// A table of which only one part is read, as `freezeRows` wants to know it.
static TableOptions optionsOf(const CheckpointSymbol &symbol, int32_t part) {
  TableOptions options;
  options.name = symbol.name;
  options.elementType =
      symbol.elementType == TensorType::F64 ? PDL_F64 : PDL_F32;
  options.width = symbol.shape.empty() ? 1 : symbol.shape[0];
  if (symbol.valueType)
    options.storage = storageOf(*symbol.valueType);
  options.slotInitialValues.resize(size_t(part));
  options.frozenPart = size_t(part);
  return options;
}

Status pdlrt::exportCheckpoint(const Checkpoint &checkpoint,
                               const std::string &slot,
                               const std::string &path) {
  CheckpointManifest manifest = checkpoint.manifest();
  if (!slot.empty() &&
      std::ranges::none_of(manifest.symbols,
                           [&](const CheckpointSymbol &symbol) {
                             return partOf(symbol, slot) > 0;
                           }))
    return Status::invalid(checkpoint.path() + ": no symbol has a slot '" +
                           slot +
                           "' of its value's size; 'pdl-checkpoint "
                           "inspect' shows those that there are");
  manifest.parts.clear();
  manifest.after.reset();
  NewFolder folder(path);
  PDLRT_RETURN_IF_ERROR(folder.create());
  SafetensorsWriter dense;
  std::vector<std::vector<std::byte>> values;
  for (CheckpointSymbol &symbol : manifest.symbols) {
    const int32_t part = partOf(symbol, slot);
    const TensorType type = symbol.partType(size_t(part));
    if (symbol.isTable) {
      const TableOptions options = optionsOf(symbol, part);
      Expected<FrozenTable> table =
          freezeTable(options, checkpoint, symbol.name,
                      part ? "slot." + slot : "values", type);
      if (!table)
        return std::move(table).status();
      CheckpointPart written;
      // A symbol may have any name, a file may not.
      written.file = fmt::format("table-{}.rows", manifest.parts.size());
      written.kind = PartKind::Table;
      written.symbol = symbol.name;
      written.shards = {{0, EmbeddingTable::shardCount}};
      PDLRT_RETURN_IF_ERROR(
          table->write(folder.path + "/" + written.file, written.digest));
      manifest.parts.push_back(std::move(written));
    } else {
      const int64_t rowCount = rowCountOf(symbol.shape);
      size_t bytes = tensorElementSize(type);
      for (int64_t size : symbol.shape)
        bytes *= size_t(size);
      values.emplace_back(bytes);
      const CheckpointSymbol wanted = {
          symbol.name, false, symbol.shape, {}, symbol.elementType};
      const std::string tensor =
          part ? symbol.name + ".slot." + slot : symbol.name;
      PDLRT_RETURN_IF_ERROR(checkpoint.copyRows(wanted, tensor, {0, rowCount},
                                                values.back().data()));
      PDLRT_RETURN_IF_ERROR(
          dense.add(tensor, type, symbol.shape, values.back().data()));
    }
    symbol.slots.clear();
    symbol.rowSlots = 0;
    if (part)
      symbol.slots.push_back(slot);
  }
  if (!values.empty()) {
    CheckpointPart written;
    written.file = "dense.safetensors";
    PDLRT_RETURN_IF_ERROR(
        dense.write(folder.path + "/" + written.file, &written.digest));
    manifest.parts.push_back(std::move(written));
  }
  PDLRT_RETURN_IF_ERROR(
      writeManifest(manifest, folder.path + "/" + exportManifestName));
  return folder.commit();
}

Expected<CheckpointManifest> pdlrt::verifyExport(const std::string &path) {
  Expected<CheckpointManifest> manifest =
      readManifest(path + "/" + exportManifestName);
  if (!manifest)
    return manifest;
  for (const CheckpointPart &part : manifest->parts) {
    const std::string file = path + "/" + part.file;
    if (part.kind == PartKind::Table) {
      PDLRT_RETURN_IF_ERROR(FrozenTable::verify(file, part.digest));
      continue;
    }
    Expected<SafetensorsFile> opened = SafetensorsFile::open(file);
    if (!opened)
      return std::move(opened).status();
    const Expected<FileDigest> digest = opened->digest();
    if (!digest)
      return digest.status();
    if (*digest != part.digest)
      return Status::invalid(file + ": is not what its manifest says; export "
                                    "the checkpoint again");
  }
  return manifest;
}
