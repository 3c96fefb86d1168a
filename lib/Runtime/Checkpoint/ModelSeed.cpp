//===- ModelSeed.cpp - Reads the seed of a dump ---------------------------===//
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
#include "pdlrt/Files/Safetensors.h"

using namespace pdlrt;

Expected<std::optional<uint64_t>>
pdlrt::seedOfModelFile(const std::string &path) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.status();
  auto found = file->metadata().find("seed");
  if (found == file->metadata().end())
    return std::optional<uint64_t>();
  Expected<uint64_t> seed = parseWholeNumber(found->second);
  if (!seed)
    return std::move(seed).status().withContext(path + ": the metadata 'seed'");
  return std::optional<uint64_t>(*seed);
}
