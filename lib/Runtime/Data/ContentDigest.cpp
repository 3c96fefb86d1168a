//===- ContentDigest.cpp - Compares copies of data files ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ContentDigest.h"

#include "Data/KafkaAddress.h"
#include "Data/RecordReader.h"
#include "pdlrt/Files/FileBytes.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <xxhash.h>

using namespace pdlrt;

static constexpr uint64_t blockBytes = uint64_t(64) << 10;
static constexpr uint64_t maxFileBytes = uint64_t(8) << 20,
                          minFileBytes = uint64_t(256) << 10,
                          maxBytes = uint64_t(256) << 20;

/// Adds blocks of a file to the digest: at most `budget` bytes, or the whole
/// file.
static Status addBlocks(const FileBytes &file, uint64_t budget,
                        XXH3_state_t &state) {
  const uint64_t size = file.size();
  const uint64_t blocks = (size + blockBytes - 1) / blockBytes;
  const uint64_t count = std::min(blocks, budget / blockBytes);
  std::vector<char> bytes(blockBytes);
  for (uint64_t i = 0; i < count; ++i) {
    // The first block, the last one, and blocks at equal distances between
    // them.
    const uint64_t block = count == 1 ? 0 : i * (blocks - 1) / (count - 1);
    const uint64_t begin = block * blockBytes;
    const uint64_t length = std::min(blockBytes, size - begin);
    PDLRT_RETURN_IF_ERROR(file.readAt(begin, length, bytes.data()));
    XXH3_64bits_update(&state, bytes.data(), length);
  }
  return {};
}

static uint64_t sizeOf(const std::string &path) {
  if (isInObjectStore(path)) {
    const auto info = pinnedInfo(path);
    return info ? info->bytes : 0;
  }
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

CopiedFiles::CopiedFiles(const std::vector<std::string> &all) {
  for (const std::string &path : all)
    if (canBeReadAgain(path) && !isKafkaAddress(path))
      files.push_back({path, sizeOf(path)});
}

std::string CopiedFiles::names() const {
  std::string text;
  for (const File &each : files)
    text += (text.empty() ? "" : ", ") +
            std::filesystem::path(each.path).filename().string();
  return text;
}

std::optional<int64_t> CopiedFiles::digest() const {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  const uint64_t budget =
      std::clamp(maxBytes / std::max<uint64_t>(files.size(), 1), minFileBytes,
                 maxFileBytes);
  for (const File &each : files) {
    // A store knows the version of an object without reading it.
    if (isInObjectStore(each.path)) {
      const auto info = pinnedInfo(each.path);
      if (!info)
        return std::nullopt;
      XXH3_64bits_update(&state, &info->bytes, sizeof(info->bytes));
      XXH3_64bits_update(&state, info->version.data(), info->version.size());
      continue;
    }
    const Expected<FileBytes> file = FileBytes::open(each.path, "");
    if (!file || file->size() != each.size)
      return std::nullopt;
    XXH3_64bits_update(&state, &each.size, sizeof(each.size));
    if (!addBlocks(*file, budget, state).ok())
      return std::nullopt;
  }
  return int64_t(XXH3_64bits_digest(&state) >> 16);
}
