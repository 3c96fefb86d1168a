//===- Manifest.cpp - What a checkpoint consists of -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/Manifest.h"

#include "Files/CheckedText.h"
#include "Files/TemporaryFile.h"
#include "pdlabi/hash.h"
#include "pdlrt/Files/FileBytes.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <initializer_list>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

using namespace pdlrt;
using nlohmann::json;

static constexpr std::pair<PartKind, const char *> kindNames[] = {
    {PartKind::Dense, "dense"},
    {PartKind::Table, "table"},
    {PartKind::Trainer, "trainer"}};

template <typename Names, typename Kind>
static const char *kindName(const Names &names, Kind kind) {
  for (const auto &[known, name] : names)
    if (known == kind)
      return name;
  return "";
}

static constexpr std::pair<pdl_part_kind, const char *> partKindNames[] = {
    {PDL_PART_STATE, "state"},
    {PDL_PART_OPTIMIZER, "optimizer"},
    {PDL_PART_TRAINING, "training"}};

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
// Out
//===----------------------------------------------------------------------===//

static json toJson(const CheckpointManifest &manifest) {
  json settings = json::array(), groups = json::array();
  for (const auto &[flag, value] : manifest.settings)
    settings.push_back({{"flag", flag}, {"value", value}});
  for (const auto &[name, steps] : manifest.groupSteps)
    groups.push_back({{"name", name}, {"steps", steps}});
  json symbols = json::array(), parts = json::array();
  json modelParts = json::array();
  for (const ModelPart &part : manifest.modelParts)
    modelParts.push_back({{"kind", kindName(partKindNames, part.kind)},
                          {"name", part.name},
                          {"value", part.value}});
  for (const CheckpointSymbol &symbol : manifest.symbols) {
    symbols.push_back({{"name", symbol.name},
                       {"table", symbol.isTable},
                       {"shape", symbol.shape},
                       {"slots", symbol.slots},
                       {"element_type", tensorTypeName(symbol.elementType)}});
    if (symbol.rowSlots)
      symbols.back()["row_slots"] = symbol.rowSlots;
    if (symbol.valueType)
      symbols.back()["value_type"] = tensorTypeName(*symbol.valueType);
  }
  for (const CheckpointPart &part : manifest.parts) {
    json entry = {{"file", part.file},
                  {"holds", kindName(kindNames, part.kind)},
                  {"bytes", part.digest.bytes},
                  {"xxh3", hexText(part.digest.hash)}};
    if (part.kind == PartKind::Table) {
      entry["symbol"] = part.symbol;
      entry["shards"] = part.shards;
    }
    if (part.isChanges)
      entry["changes"] = true;
    if (manifest.after)
      entry["owner"] = part.owner;
    for (const auto &[symbol, ranges] : part.rows)
      entry["rows"].push_back({{"symbol", symbol}, {"ranges", ranges}});
    parts.push_back(std::move(entry));
  }
  const TrainingProgress &progress = manifest.progress;
  json positions = json::array();
  for (const DataPosition &position : progress.positions) {
    const WindowStart &start = position.start;
    positions.push_back({{"window", position.window},
                         {"offset", position.offset},
                         {"batch", position.batch},
                         {"content", position.digest},
                         {"start",
                          {{"file", start.file},
                           {"row", start.row},
                           {"byte", start.byte},
                           {"line", start.line},
                           {"selected", start.selected},
                           {"content", start.digest}}}});
  }
  json counts = {{"steps", progress.steps},
                 {"samples", progress.samples},
                 {"skipped_updates", progress.skippedUpdates},
                 {"bad_rows", progress.badRows},
                 {"epoch", progress.epoch},
                 {"positions", positions},
                 {"epoch_steps", progress.epochSteps},
                 {"epoch_samples", progress.epochSamples},
                 {"epoch_skipped_updates", progress.epochSkippedUpdates}};
  if (progress.lossLines > 0)
    counts["loss_lines"] = progress.lossLines;
  json whole = {{"model", manifest.model},
                {"layout_version", manifest.layoutVersion},
                {"layout_fingerprint", hexText(manifest.layoutFingerprint)},
                {"training_fingerprint", hexText(manifest.trainingFingerprint)},
                {"model_parts", modelParts},
                {"compiler", manifest.compilerVersion},
                {"target_cpu", manifest.targetCpu},
                {"numerics", manifest.numerics},
                {"seed", manifest.seed},
                {"settings", settings},
                {"groups", groups},
                {"symbols", symbols},
                {"parts", parts},
                {"progress", std::move(counts)}};
  if (manifest.after)
    whole["after"] = {{"name", manifest.after->name},
                      {"manifest_xxh3", hexText(manifest.after->digest)}};
  return whole;
}

Status pdlrt::writeManifest(const CheckpointManifest &manifest,
                            const std::string &path, uint64_t *digest) {
  std::string body;
  try {
    body = "\"checkpoint\": " + toJson(manifest).dump(2) + "}\n";
  } catch (const json::exception &) {
    return Status::invalid(path + ": cannot be written: a name in it is not "
                                  "UTF-8 text");
  }
  const std::string text =
      joinChecked(manifest.after ? deltaVersion : checkpointVersion, body);
  if (digest)
    *digest = hashBytes(text.data(), text.size());
  TemporaryFile file(path);
  PDLRT_RETURN_IF_ERROR(file.create());
  PDLRT_RETURN_IF_ERROR(file.write(text.data(), text.size()));
  return file.commit();
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

static Status damaged(const std::string &path, const std::string &what) {
  return Status::invalid(path + ": " + what +
                         "; the checkpoint is damaged or incomplete, so use "
                         "another one");
}

namespace {

/// What is JSON, but no manifest.
struct ContentError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace

/// A whole number that is not negative; throws json::exception, ContentError.
static int64_t countAt(const json &object, const char *name) {
  const json &value = object.at(name);
  // A negative number would be converted silently.
  if (!value.is_number_unsigned() ||
      value.get<uint64_t>() > uint64_t(INT64_MAX))
    throw ContentError(std::string(name) + " is no count");
  return value.get<int64_t>();
}

/// The entry of a name; throws ContentError if there is none.
template <typename Names>
static const auto &findKind(const Names &names, const std::string &name) {
  const auto *found =
      std::find_if(std::begin(names), std::end(names),
                   [&](const auto &known) { return name == known.second; });
  if (found == std::end(names))
    throw ContentError("there is no kind '" + name + "'");
  return *found;
}

/// Throws json::exception, ContentError.
static TensorType typeAt(const json &object, const char *key,
                         std::initializer_list<TensorType> known) {
  const std::string name = object.at(key);
  for (TensorType type : known)
    if (name == tensorTypeName(type))
      return type;
  throw ContentError("elements are of type '" + name + "'");
}

/// The sizes of a parameter or of a row. Their product is a size too. Throws
/// json::exception, ContentError.
static std::vector<int64_t> shapeAt(const json &symbol) {
  auto shape = symbol.at("shape").get<std::vector<int64_t>>();
  // That no product of bytes overflows.
  constexpr int64_t most = int64_t(1) << 56;
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (size < 1 || size > most / elements)
      throw ContentError(
          fmt::format("a symbol has the shape [{}]", fmt::join(shape, ", ")));
    elements *= size;
  }
  return shape;
}

/// Throws json::exception, ContentError.
static CheckpointManifest fromJson(const json &root) {
  CheckpointManifest manifest;
  manifest.model = root.at("model");
  // Checkpoints of layout 1 do not say it.
  manifest.layoutVersion =
      root.contains("layout_version") ? countAt(root, "layout_version") : 1;
  if (manifest.layoutVersion < 1 || manifest.layoutVersion > currentLayout)
    throw ContentError(fmt::format("its layout is {}, this program knows up "
                                   "to {}",
                                   manifest.layoutVersion, currentLayout));
  manifest.layoutFingerprint = parseHex(root.at("layout_fingerprint"));
  manifest.trainingFingerprint = parseHex(root.at("training_fingerprint"));
  for (const json &entry : root.at("model_parts"))
    manifest.modelParts.push_back(
        {findKind(partKindNames, entry.at("kind")).first, entry.at("name"),
         entry.at("value")});
  manifest.compilerVersion = root.at("compiler");
  manifest.targetCpu = root.at("target_cpu");
  manifest.numerics = root.at("numerics");
  manifest.seed = root.at("seed");
  for (const json &entry : root.at("settings"))
    manifest.settings.emplace_back(entry.at("flag"), entry.at("value"));
  for (const json &entry : root.at("groups"))
    manifest.groupSteps.emplace_back(entry.at("name"), countAt(entry, "steps"));
  for (const json &entry : root.at("symbols")) {
    manifest.symbols.push_back(
        {entry.at("name"), entry.at("table"), shapeAt(entry),
         entry.at("slots").get<std::vector<std::string>>(),
         // Checkpoints of earlier versions have one type for all.
         typeAt(entry.contains("element_type") ? entry : root, "element_type",
                {TensorType::F32, TensorType::F64})});
    CheckpointSymbol &symbol = manifest.symbols.back();
    if (symbol.isTable && entry.contains("value_type"))
      symbol.valueType =
          typeAt(entry, "value_type", {TensorType::BF16, TensorType::F16});
    if (symbol.valueType && symbol.elementType != TensorType::F32)
      throw ContentError("@" + symbol.name +
                         " stores values in 16 bits, but computes in f64");
    if (entry.contains("row_slots"))
      symbol.rowSlots = countAt(entry, "row_slots");
    if (symbol.rowSlots > int64_t(symbol.slots.size()))
      throw ContentError("@" + symbol.name + " has more row slots than slots");
  }
  for (const json &entry : root.at("parts")) {
    CheckpointPart part;
    part.file = entry.at("file");
    part.kind = findKind(kindNames, entry.at("holds")).first;
    part.digest.bytes = uint64_t(countAt(entry, "bytes"));
    part.digest.hash = parseHex(entry.at("xxh3"));
    if (part.kind == PartKind::Table) {
      part.symbol = entry.at("symbol");
      part.shards = entry.at("shards").get<std::vector<CheckpointRange>>();
      if (entry.contains("changes"))
        part.isChanges = entry.at("changes");
    }
    if (entry.contains("owner"))
      part.owner = countAt(entry, "owner");
    if (part.kind == PartKind::Dense && entry.contains("rows"))
      for (const json &rows : entry.at("rows"))
        part.rows.emplace_back(
            rows.at("symbol"),
            rows.at("ranges").get<std::vector<CheckpointRange>>());
    manifest.parts.push_back(std::move(part));
  }
  if (root.contains("after")) {
    const json &after = root.at("after");
    manifest.after = {after.at("name"), parseHex(after.at("manifest_xxh3"))};
  }
  const json &counts = root.at("progress");
  TrainingProgress &progress = manifest.progress;
  progress.steps = countAt(counts, "steps");
  progress.samples = countAt(counts, "samples");
  progress.skippedUpdates = countAt(counts, "skipped_updates");
  progress.badRows = countAt(counts, "bad_rows");
  progress.epoch = countAt(counts, "epoch");
  if (counts.contains("loss_lines"))
    progress.lossLines = countAt(counts, "loss_lines");
  for (const json &entry : counts.at("positions")) {
    DataPosition &position = progress.positions.emplace_back();
    position.epoch = progress.epoch;
    position.window = countAt(entry, "window");
    position.offset = countAt(entry, "offset");
    position.batch = countAt(entry, "batch");
    // Those of earlier versions know neither; their `digest` is another one.
    if (entry.contains("content"))
      position.digest = countAt(entry, "content");
    if (!entry.contains("start"))
      continue;
    const json &start = entry.at("start");
    position.start = {countAt(start, "file"),     countAt(start, "row"),
                      countAt(start, "byte"),     countAt(start, "line"),
                      countAt(start, "selected"), countAt(start, "content")};
  }
  progress.epochSteps = countAt(counts, "epoch_steps");
  progress.epochSamples = countAt(counts, "epoch_samples");
  progress.epochSkippedUpdates = countAt(counts, "epoch_skipped_updates");
  return manifest;
}

std::string pdlrt::encodeManifest(const CheckpointManifest &manifest) {
  return toJson(manifest).dump(-1, ' ', false, json::error_handler_t::replace);
}

Expected<CheckpointManifest> pdlrt::decodeManifest(const std::string &text) {
  try {
    return fromJson(json::parse(text));
  } catch (const std::exception &exception) {
    return Status::invalid(
        std::string("a server's list of parts cannot be read (") +
        exception.what() + "); are all programs of this job of one version?");
  }
}

/// Whether ranges cover [0, count) once.
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

/// Files within the folder; each shard of each table, and each row of each
/// parameter, once.
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
  if (!file)
    return damaged(path, "cannot be read");
  std::string text(file->size(), '\0');
  PDLRT_RETURN_IF_ERROR(file->readAt(0, text.size(), text.data()));
  const std::optional<CheckedText> checked = splitChecked(text);
  if (!checked)
    return damaged(path, "is not the manifest of a checkpoint");
  const int64_t version = checked->version;
  if (version != checkpointVersion && version != deltaVersion)
    return Status::invalid(fmt::format(
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
