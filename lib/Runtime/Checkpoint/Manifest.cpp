//===- Manifest.cpp - Contents of a checkpoint ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/Manifest.h"

#include "Checkpoint/ManifestFields.h"
#include "Files/CheckedText.h"
#include "Files/TemporaryFile.h"
#include "pdlabi/hash.h"
#include "pdlrt/Files/FileBytes.h"
#include "pdlrt/Files/Store.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <system_error>
#include <utility>

using namespace pdlrt;
using nlohmann::json;

bool CheckpointPart::holdsShard(int64_t shard) const {
  for (const auto &[first, end] : shards)
    if (shard >= first && shard < end)
      return true;
  return false;
}

int64_t pdlrt::rowCountOf(const std::vector<int64_t> &shape) {
  return shape.size() > 1 ? shape.front() : 1;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static json toJson(const CheckpointManifest &manifest) {
  ManifestWriter writer;
  manifest::manifestFields(writer, manifest);
  return writer.json();
}

/// Writes a manifest into an object store. Replaces that of an earlier save of
/// the same step.
static Status publishManifest(const std::string &path,
                              const std::string &text) {
  auto store = storeOf(path);
  PDLRT_RETURN_IF_ERROR(store.status());
  auto found = (*store)->find(path);
  PDLRT_RETURN_IF_ERROR(found.status());
  PublishCondition condition;
  if (const std::optional<StoredFileInfo> &before = *found)
    condition.replaced = before->version;
  return (*store)->publish(path, text, condition);
}

/// Returns the text of a manifest with its checksum.
static Expected<std::string> textOf(const CheckpointManifest &manifest,
                                    const std::string &path) {
  std::string body;
  try {
    body = "\"checkpoint\": " + toJson(manifest).dump(2) + "}\n";
  } catch (const json::exception &) {
    return Status::invalidArgument(path +
                                   ": cannot be written: a name in it is not "
                                   "UTF-8 text");
  }
  return joinChecked(manifest.after ? deltaVersion : checkpointVersion, body);
}

Status pdlrt::writeManifest(const CheckpointManifest &manifest,
                            const std::string &path, uint64_t *digest) {
  const Expected<std::string> text = textOf(manifest, path);
  PDLRT_RETURN_IF_ERROR(text.status());
  if (digest)
    *digest = hashBytes(text->data(), text->size());
  if (isInObjectStore(path))
    return publishManifest(path, *text);
  TemporaryFile file(path);
  PDLRT_RETURN_IF_ERROR(file.create());
  PDLRT_RETURN_IF_ERROR(file.write(text->data(), text->size()));
  return file.commit();
}

Status pdlrt::writeNewManifest(const CheckpointManifest &manifest,
                               const std::string &path) {
  const Expected<std::string> text = textOf(manifest, path);
  PDLRT_RETURN_IF_ERROR(text.status());
  auto store = storeOf(path);
  PDLRT_RETURN_IF_ERROR(store.status());
  return (*store)->publish(path, *text, {});
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status damaged(const std::string &path, const std::string &what) {
  return Status::dataLoss(path + ": " + what +
                          "; the checkpoint is damaged or incomplete, so use "
                          "another one");
}

/// Throws json::exception, ManifestError.
static CheckpointManifest fromJson(const json &root) {
  CheckpointManifest manifest;
  ManifestReader reader(root);
  manifest::manifestFields(reader, manifest);
  return manifest;
}

std::string pdlrt::encodeManifest(const CheckpointManifest &manifest) {
  return toJson(manifest).dump(-1, ' ', false, json::error_handler_t::replace);
}

Expected<CheckpointManifest> pdlrt::decodeManifest(const std::string &text) {
  try {
    return fromJson(json::parse(text));
  } catch (const std::exception &exception) {
    return Status::dataLoss(
        std::string("a server's list of parts cannot be read (") +
        exception.what() + "); are all programs of this job of one version?");
  }
}

/// Returns true if the ranges cover [0, count) exactly once.
static bool coverOnce(std::vector<CheckpointRange> ranges, int64_t count) {
  std::sort(ranges.begin(), ranges.end());
  int64_t next = 0;
  for (const auto &[first, end] : ranges) {
    if (first != next || end <= first)
      return false;
    next = end;
  }
  return next == count;
}

/// Returns an error if a file is outside of the checkpoint's folder, or if a
/// shard of a table or a row of a parameter is missing or is in several parts.
static Status checkParts(const CheckpointManifest &manifest,
                         const std::string &path) {
  std::map<std::string, std::vector<CheckpointRange>> shards, rows;
  std::map<std::string, int64_t> rowCounts;
  for (const CheckpointSymbol &symbol : manifest.symbols) {
    if (symbol.isTable)
      shards[symbol.name];
    else
      rowCounts[symbol.name] = rowCountOf(symbol.shape);
  }
  auto append = [](std::vector<CheckpointRange> &to,
                   const std::vector<CheckpointRange> &from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  if (manifest.after &&
      (manifest.after->name.empty() || manifest.after->name.front() == '.' ||
       manifest.after->name.find('/') != std::string::npos))
    return damaged(path, "it follows '" + manifest.after->name +
                             "', which is no name of a checkpoint");
  if (manifest.partsFolder.starts_with('.') ||
      manifest.partsFolder.find('/') != std::string::npos)
    return damaged(path, "its files are in '" + manifest.partsFolder +
                             "', which is no folder in it");
  std::set<std::string> files;
  for (const CheckpointPart &part : manifest.parts) {
    if (part.isChanges && !manifest.after)
      return damaged(path, "it has changes, but follows no checkpoint");
    if (part.file.empty() || part.file.front() == '.' ||
        part.file.find('/') != std::string::npos ||
        !files.insert(part.file).second)
      return damaged(path, "it names a file '" + part.file +
                               "' twice or outside of its folder");
    if (part.kind == PartKind::Dense && part.rows.empty())
      for (const auto &[name, count] : rowCounts)
        rows[name].emplace_back(0, count);
    for (const auto &[name, ranges] : part.rows) {
      if (!rowCounts.count(name))
        return damaged(path,
                       "it has rows of @" + name + ", but no such parameter");
      append(rows[name], ranges);
    }
    if (part.kind != PartKind::Table)
      continue;
    auto found = shards.find(part.symbol);
    if (found == shards.end())
      return damaged(path,
                     "it has rows of @" + part.symbol + ", but no such table");
    append(found->second, part.shards);
  }
  for (const auto &[table, ranges] : shards)
    if (!coverOnce(ranges, pdlabi::logicalShardCount))
      return damaged(path, "shards of table @" + table +
                               " are missing or there twice");
  for (const auto &[name, count] : rowCounts)
    if (!coverOnce(rows[name], count))
      return damaged(path, "rows of parameter @" + name +
                               " are missing or there twice");
  return {};
}

Expected<CheckpointManifest> pdlrt::readManifest(const std::string &path,
                                                 uint64_t *digest) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) &&
      !std::filesystem::is_regular_file(path, ignored))
    return damaged(path, "is no regular file");
  const Expected<FileBytes> file = FileBytes::open(path, "");
  // A store that does not respond does not make a checkpoint damaged.
  if (!file && isInObjectStore(path) && file.status().code() != PDL_NOT_FOUND)
    return file.status();
  if (!file)
    return damaged(path, "cannot be read");
  std::string text(file->size(), '\0');
  PDLRT_RETURN_IF_ERROR(file->readAt(0, text.size(), text.data()));
  const std::optional<CheckedText> checked = splitChecked(text);
  if (!checked)
    return damaged(path, "is not the manifest of a checkpoint");
  const int64_t version = checked->version;
  if (version != checkpointVersion && version != deltaVersion)
    return Status::failedPrecondition(fmt::format(
        "{}: has format version {}, but this program reads version {} and "
        "deltas of version {}; write its values with `pdl-checkpoint dump` of "
        "the PDL that belongs to that version and begin with --init-from, or "
        "use another checkpoint",
        path, version, checkpointVersion, deltaVersion));
  if (checked->content == CheckedText::Content::Unknown)
    return damaged(path, "is not the manifest of a checkpoint");
  if (checked->content == CheckedText::Content::Damaged)
    return damaged(path, "its checksum does not fit its content");
  try {
    CheckpointManifest manifest = fromJson(json::parse(text).at("checkpoint"));
    if (manifest.after.has_value() != (version == deltaVersion))
      return damaged(path, "its version is not that of its content");
    PDLRT_RETURN_IF_ERROR(checkParts(manifest, path));
    if (digest)
      *digest = hashBytes(text.data(), text.size());
    return manifest;
  } catch (const std::exception &exception) {
    return damaged(path,
                   std::string("its content is not that of a manifest (") +
                       exception.what() + ")");
  }
}
