//===- DumpLayout.cpp - Key layout in the metadata of dumps ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This code has a file of its own, so that serving libraries need no other code
// about dumps.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/WholeNumber.h"

#include <fmt/format.h>

using namespace pdlrt;

static constexpr const char *versionName = "layout_version";
static constexpr const char *keysPrefix = "keys.";

std::map<std::string, std::string>
pdlrt::layoutMetadata(const std::vector<ModelPart> &parts) {
  std::map<std::string, std::string> metadata;
  metadata[versionName] = std::to_string(currentLayout);
  for (const ModelPart &part : parts) {
    const std::string table = part.name.substr(part.name.find('@') + 1);
    if (const ModelPart *keys = keysOf(parts, table); keys == &part)
      metadata[keysPrefix + table] = part.value;
  }
  return metadata;
}

Status pdlrt::checkDumpedKeys(const pdl_descriptor &descriptor,
                              const SafetensorsFile &file,
                              const std::string &table, OldLayout &old) {
  const std::vector<ModelPart> parts = partsOf(descriptor);
  const ModelPart *keys = keysOf(parts, table);
  if (!keys)
    return {};
  const auto &metadata = file.metadata();
  const auto version = metadata.find(versionName);
  if (version == metadata.end()) {
    // Files of other programs have no model name.
    if (!metadata.contains("model"))
      return {};
    std::vector<ModelPart> program = {*keys}, none;
    const std::string unchecked =
        removeUnchecked(program, none, CheckpointUse::Values);
    if (!old.accepted)
      return refuseOldLayout(file.path(), unchecked);
    old.unchecked += (old.unchecked.empty() ? "" : "; ") + unchecked;
    return {};
  }
  if (Expected<uint64_t> known =
          parseWholeNumber(version->second, 2, uint64_t(currentLayout));
      !known)
    return std::move(known).status().withContext(
        fmt::format("{}: the metadata '{}'", file.path(), versionName));
  const auto dumped = metadata.find(keysPrefix + table);
  if (dumped == metadata.end())
    return {};
  const std::string differences =
      keyDifferences(*keys, dumped->second, "the file");
  if (differences.empty())
    return {};
  return Status::failedPrecondition(fmt::format(
      "{}: does not fit this program (model {}): {}; use the program that "
      "wrote it, another file, or, for a new training, a dump without these "
      "rows (`pdl-checkpoint dump --without {}`)",
      file.path(), descriptor.model_name, differences, table));
}
