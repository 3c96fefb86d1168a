//===- CheckpointNames.cpp - Names and places of checkpoints --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/CheckpointNames.h"

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/Store.h"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>

using namespace pdlrt;
namespace fs = std::filesystem;

static constexpr std::string_view namePrefix = "step-";

int64_t pdlrt::stepsOf(const std::string &name) {
  if (name.compare(0, namePrefix.size(), namePrefix) != 0)
    return -1;
  int64_t steps = -1;
  const char *end = name.data() + name.size();
  auto [rest, error] =
      std::from_chars(name.data() + namePrefix.size(), end, steps);
  return error == std::errc() && rest == end && steps >= 0 ? steps : -1;
}

std::string pdlrt::pathOf(const std::string &folder, int64_t steps) {
  return fmt::format("{}/{}{:012}",
                     isInObjectStore(folder) ? withoutSlashes(folder) : folder,
                     namePrefix, steps);
}

Expected<bool> pdlrt::isCheckpointThere(const std::string &path) {
  const std::string manifest = path + "/" + manifestName;
  if (isInObjectStore(path))
    return isStored(manifest);
  std::error_code error;
  return fs::exists(manifest, error);
}
