//===- CacheKey.cpp - Identifies the content of a cache -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CacheKey.h"
#include "pdlrt/Files/Store.h"

#include "Data/CacheFile.h"

#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <type_traits>
#include <xxhash.h>

using namespace pdlrt;

namespace {

/// A sequence of values. Different sequences have different texts.
class Description {
public:
  template <typename T> void add(T value) {
    static_assert(std::is_arithmetic_v<T>);
    text.append(reinterpret_cast<const char *>(&value),
                sizeof(value)); // NOLINT
  }
  void add(std::string_view value) {
    add(value.size());
    text += value;
  }
  void add(const char *value) {
    add(value != nullptr);
    if (value)
      add(std::string_view(value));
  }
  void add(const pdl_field &field);
  void add(const pdl_id_range &range);

  XXH128_hash_t hash() const { return XXH3_128bits(text.data(), text.size()); }

private:
  std::string text;
};

void Description::add(const pdl_id_range &range) {
  add(range.field);
  add(range.first_column);
  add(range.column_count);
  add(range.first);
  add(range.end);
  add(range.allowed != nullptr);
  const uint64_t count = uint64_t(range.end) - uint64_t(range.first);
  for (uint64_t word = 0; range.allowed && word < (count + 31) / 32; ++word)
    add(range.allowed[word]);
}

void Description::add(const pdl_field &field) {
  add(field.name);
  add(field.kind);
  add(field.element_type);
  add(field.width);
  add(field.hash_kind);
  add(field.salt_kind);
  add(field.salt);
  add(field.missing_kind);
  add(field.missing_value);
  add(field.missing_token);
  add(field.missing_element_kind);
  add(field.missing_element_value);
  add(field.missing_element_token);
  add(field.missing_texts != nullptr);
  for (int64_t i = 0; field.missing_texts && i < field.missing_text_count; ++i)
    add(field.missing_texts[i]);
  add(field.column_count);
  add(field.column_positions != nullptr);
  for (int64_t i = 0; field.column_positions && i < field.column_count; ++i)
    add(field.column_positions[i]);
  add(field.column_names != nullptr);
  for (int64_t i = 0; field.column_names && i < field.column_count; ++i)
    add(field.column_names[i]);
  add(field.separator);
  add(field.value_count);
  for (int64_t i = 0; i < field.value_count; ++i) {
    add(field.value_texts[i]);
    add(field.value_numbers[i]);
  }
}

} // namespace

std::optional<CacheKey> CacheKey::of(const std::string &path,
                                     const RecordReaderOptions &options) {
  struct stat found = {};
  std::string version;
  if (isInObjectStore(path)) {
    const auto info = pinnedInfo(path);
    if (!info || info->bytes == 0)
      return std::nullopt;
    version = info->version;
    found.st_size = off_t(info->bytes);
  } else if (!canBeReadAgain(path) || stat(path.c_str(), &found) != 0 ||
             !S_ISREG(found.st_mode) || found.st_size == 0)
    return std::nullopt;
  Description all;
  all.add(cacheVersion);
  // Messages about bad rows contain the name as it was given.
  all.add(std::string_view(path));
  std::error_code error;
  // The version of an object takes the place of a file's time.
  all.add(std::string_view(
      version.empty() ? std::filesystem::canonical(path, error).generic_string()
                      : version));
  const DataOptions &data = options.data;
  all.add(data.delimiter);
  all.add(data.quote.has_value());
  all.add(data.quote.value_or('\0'));
  all.add(data.header);
  all.add(data.columns.size());
  for (const std::string &column : data.columns)
    all.add(std::string_view(column));
  all.add(data.copyColumns.size());
  for (const std::string &column : data.copyColumns)
    all.add(std::string_view(column));
  all.add(std::string_view(data.idField));
  // Conditional, so that keys without copied texts are the same as in earlier
  // versions. 2 is the version of their layout.
  if (data.copyTexts)
    all.add(2);
  if (!data.format.empty())
    all.add(std::string_view(data.format));
  if (!data.pipe.empty())
    all.add(std::string_view("pipe " + data.pipe));
  // The position of a field depends on the whole record.
  const pdl_descriptor &record = options.descriptor;
  all.add(record.field_count);
  for (int32_t i = 0; i < record.field_count; ++i)
    all.add(record.fields[i]);
  all.add(options.program.field_count);
  for (int32_t i = 0; i < options.program.field_count; ++i)
    all.add(options.program.fields[i]);
  all.add(options.program.joined_count);
  for (int32_t i = 0; i < 2 * options.program.joined_count; ++i)
    all.add(options.program.joined[i]);
  all.add(options.program.id_range_count);
  for (int32_t i = 0; i < options.program.id_range_count; ++i)
    all.add(options.program.id_ranges[i]);
  const XXH128_hash_t hash = all.hash();
  CacheKey key;
  key.schema[0] = hash.low64;
  key.schema[1] = hash.high64;
  key.bytes = uint64_t(found.st_size);
  key.seconds = found.st_mtim.tv_sec;
  key.nanoseconds = found.st_mtim.tv_nsec;
  return key;
}

std::string CacheKey::fileIn(const std::string &folder,
                             const std::string &path) const {
  // File systems limit the length of names.
  constexpr size_t longestName = 100;
  const std::string name =
      std::filesystem::path(path).filename().string().substr(0, longestName);
  return fmt::format("{}/{}-{:016x}{:016x}.pdlcache", folder, name, schema[1],
                     schema[0]);
}
