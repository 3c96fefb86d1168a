//===- ServedExport.cpp - Exports for memory mapping ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/ServedExport.h"

#include "Serving/ExportedParts.h"
#include "Serving/FileRows.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/Store.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <filesystem>
#include <fmt/format.h>
#include <system_error>

using namespace pdlrt;
namespace fs = std::filesystem;

Expected<bool> pdlrt::isExport(const std::string &folder) {
  const std::string manifest =
      withoutSlashes(folder) + "/" + exportManifestName;
  if (isInObjectStore(folder))
    return isStored(manifest);
  std::error_code ignored;
  return fs::exists(manifest, ignored);
}

Status pdlrt::exportCheckpoint(const Checkpoint &checkpoint,
                               const std::string &slot,
                               const std::string &path) {
  CheckpointManifest manifest = checkpoint.manifest();
  PDLRT_RETURN_IF_ERROR(checkSlot(checkpoint, slot));
  manifest.parts.clear();
  manifest.after.reset();
  NewFolder folder(path);
  PDLRT_RETURN_IF_ERROR(folder.create());
  for (CheckpointSymbol &symbol : manifest.symbols) {
    const size_t part = slotPartOf(symbol, slot);
    if (symbol.isTable) {
      const TableOptions options = optionsOfPart(symbol, part);
      Expected<FrozenTable> table =
          freezeTable(options, checkpoint, symbol.name,
                      part ? "slot." + slot : "values", symbol.partType(part));
      if (!table)
        return std::move(table).status();
      CheckpointPart written;
      // Symbol names may contain characters that are invalid in file names.
      written.file = fmt::format("table-{}.rows", manifest.parts.size());
      written.kind = PartKind::Table;
      written.symbol = symbol.name;
      written.shards = {{0, EmbeddingTable::shardCount}};
      PDLRT_RETURN_IF_ERROR(
          table->write(folder.path + "/" + written.file, written.digest));
      manifest.parts.push_back(std::move(written));
    }
    symbol.slots.clear();
    symbol.rowSlots = 0;
    if (part)
      symbol.slots.push_back(slot);
  }
  const Expected<std::optional<FileDigest>> parameters =
      writeParameters(checkpoint, slot, folder.path);
  if (!parameters)
    return parameters.status();
  if (*parameters) {
    CheckpointPart written;
    written.file = parametersName;
    written.digest = **parameters;
    manifest.parts.push_back(std::move(written));
  }
  PDLRT_RETURN_IF_ERROR(
      writeNewManifest(manifest, folder.path + "/" + exportManifestName));
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
    PDLRT_RETURN_IF_ERROR(checkFile(file, part.digest));
  }
  return manifest;
}
