//===- PartitionFolders.cpp - Values in the names of folders --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/PartitionFolders.h"

#include <charconv>
#include <filesystem>
#include <string_view>

using namespace pdlrt;

/// Decodes `%` and two hexadecimal digits as one byte.
static std::string decodePercents(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char *digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded += char(byte);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

std::map<std::string, std::optional<std::string>>
pdlrt::partitionValuesOf(const std::string &path) {
  // The name with which Hive and Spark write null.
  static constexpr std::string_view null = "__HIVE_DEFAULT_PARTITION__";
  std::map<std::string, std::optional<std::string>> values;
  for (const auto &part : std::filesystem::path(path).parent_path()) {
    const std::string name = part.string();
    const size_t cut = name.find('=');
    if (cut == 0 || cut == std::string::npos)
      continue;
    const std::string value =
        decodePercents(std::string_view(name).substr(cut + 1));
    values[decodePercents(std::string_view(name).substr(0, cut))] =
        value == null ? std::nullopt : std::optional(value);
  }
  return values;
}
