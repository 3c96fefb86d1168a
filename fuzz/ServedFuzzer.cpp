//===- ServedFuzzer.cpp - Fuzzes exports, dumps and checkpoints -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checksums would reject all mutated files, so that the code after the
// checksums would not be tested. Therefore this fuzzer corrects all checksums
// before it opens a file.
//
//===----------------------------------------------------------------------===//

#include "Files/CheckedText.h"
#include "Files/TemporaryFile.h"
#include "Fuzzer.h"
#include "Support/HandWrittenProgram.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Checkpoint/SortedRows.h"
#include "pdlrt/Serving/KeyValueExport.h"
#include "pdlrt/Serving/ServedExport.h"
#include "pdlrt/Serving/ServedState.h"
#include "pdlrt/State/Model.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

using namespace pdlrt;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Kind of the input, given by its first byte.
enum class Kind { Mapped, Export, KeyValues, Dump, Checkpoint };
constexpr int kindCount = 5;

/// A file of a folder.
struct File {
  std::string name, content;
};

constexpr const char *tableName = "table-0.rows";
constexpr const char *denseName = "dense.safetensors";
constexpr std::array<int64_t, 4> keys = {-7, 0, 10, 11};

} // namespace

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

static std::string read(const fs::path &path) {
  std::stringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

/// Joins three files into one input: the sizes of two of them, 2 bytes each,
/// then all contents.
static std::string join(Kind kind, const std::string &first,
                        const std::string &second, const std::string &third) {
  std::string bytes(1, char(kind));
  for (size_t size : {first.size(), second.size()})
    bytes += {char(size & 255), char(size >> 8)};
  return bytes + first + second + third;
}

static std::array<std::string, 3> split(std::string_view bytes) {
  std::array<std::string, 3> parts;
  std::array<size_t, 2> sizes = {};
  for (size_t &size : sizes) {
    if (bytes.size() < 2)
      return parts;
    size = uint8_t(bytes[0]) | size_t(uint8_t(bytes[1])) << 8;
    bytes.remove_prefix(2);
  }
  for (size_t p = 0; p < 2; ++p) {
    parts[p] = bytes.substr(0, sizes[p]);
    bytes.remove_prefix(parts[p].size());
  }
  parts[2] = bytes;
  return parts;
}

/// Returns the fuzzed model: its parameters, and the rows of one table.
static const Model &model() {
  static const std::unique_ptr<Model> made = [] {
    auto model = std::make_unique<Model>(*handWrittenProgram({}), 3);
    std::array<void *, keys.size()> rows = {};
    TableScratch scratch;
    int64_t inserted = 0;
    (void)model->table(SymbolTable)
        ->findOrInsert(int64_t(keys.size()), keys.data(), rows.data(), scratch,
                       inserted);
    return model;
  }();
  return *made;
}

/// Returns a checkpoint of the model.
static const Checkpoint &checkpoint() {
  static const Expected<Checkpoint> opened = [] {
    const std::string path = asFolder({}) + ".checkpoint";
    removeAtEnd(path);
    CheckpointWriter writer(path);
    CheckpointManifest manifest;
    (void)saveModel(model(), writer, manifest);
    (void)writer.commit(std::move(manifest));
    return Checkpoint::open(path);
  }();
  return *opened;
}

/// Returns the checksum that a manifest stores for a file.
static FileDigest digestOf(const File &file) {
  if (file.name != tableName || file.content.size() < 128)
    return {file.content.size(),
            hashBytes(file.content.data(), file.content.size())};
  FileDigest digest;
  digest.bytes = file.content.size();
  std::memcpy(&digest.hash, file.content.data() + 120, sizeof(digest.hash));
  return digest;
}

/// Corrects the checksum of a table's head.
static void mendHead(std::string &table) {
  constexpr size_t before = 120;
  if (table.size() < before + sizeof(uint64_t))
    return;
  const uint64_t hash = hashBytes(table.data(), before);
  std::memcpy(table.data() + before, &hash, sizeof(hash));
}

/// Corrects the checksums of files in a manifest's entries.
static void mendSums(json &entry, const std::vector<File> &files) {
  if (entry.is_object() && entry.contains("file"))
    for (const File &file : files)
      if (entry["file"] == file.name) {
        const FileDigest digest = digestOf(file);
        entry["bytes"] = digest.bytes;
        entry["xxh3"] = hexText(digest.hash);
      }
  if (entry.is_structured())
    for (json &each : entry)
      mendSums(each, files);
}

/// Returns the text of a manifest whose only member is `body`.
static std::string manifestOf(int64_t version, const char *member,
                              const std::string &body,
                              const std::vector<File> &files) {
  std::string text = body;
  json content = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!content.is_discarded()) {
    mendSums(content, files);
    if (content.is_object() && content.contains("parameters"))
      for (const File &file : files)
        if (file.name == denseName)
          content["parameters"] = {{"bytes", digestOf(file).bytes},
                                   {"xxh3", hexText(digestOf(file).hash)}};
    text = content.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return joinChecked(version,
                     "\"" + std::string(member) + "\": " + text + "}\n");
}

/// Returns the member of a manifest; the inverse of `manifestOf`.
static std::string bodyOf(const fs::path &path, const char *member) {
  return json::parse(read(path)).at(member).dump();
}

static std::string writeFolder(const std::vector<File> &files) {
  std::map<std::string, std::string> contents;
  for (const File &file : files)
    contents[file.name] = file.content;
  return asFolder(contents);
}

//===----------------------------------------------------------------------===//
// Seeds
//===----------------------------------------------------------------------===//

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  const std::string folder = asFolder({}) + ".seeds";
  removeAtEnd(folder);
  fs::create_directories(folder);
  const auto path = [&](const char *name) { return folder + "/" + name; };
  (void)exportCheckpoint(checkpoint(), "", path("mapped"));
  const std::string table = read(path("mapped") + "/" + tableName);
  const std::string dense = read(path("mapped") + "/" + denseName);
  seeds.push_back(char(Kind::Mapped) + table);
  seeds.push_back(
      join(Kind::Export,
           bodyOf(path("mapped") + "/" + exportManifestName, "checkpoint"),
           table, dense));
  for (const KeyValueFormat *format : {&tsvFormat(), &recordFormat()}) {
    const std::string out = path("rows") + std::string(format->name());
    (void)exportKeyValues(checkpoint(), *format, {}, out);
    seeds.push_back(join(
        Kind::KeyValues, bodyOf(out + "/" + keyValueManifestName, "key_values"),
        read(out + "/table-0-00000." + std::string(format->name())), dense));
  }
  (void)dumpModel(model(), path("dump"), /*withSlots=*/false);
  seeds.push_back(char(Kind::Dump) + read(path("dump")));
  for (const CheckpointPart &part : checkpoint().manifest().parts)
    if (part.kind == PartKind::Table)
      seeds.push_back(char(Kind::Checkpoint) +
                      read(checkpoint().path() + "/" + part.file));
  return seeds;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static void fuzzMapped(std::string content) {
  mendHead(content);
  const File file = {tableName, content};
  const std::string path = asFile(content);
  uint64_t rowBytes = 0;
  if (content.size() >= 128)
    std::memcpy(&rowBytes, content.data() + 32, sizeof(rowBytes));
  (void)FrozenTable::verify(path, digestOf(file));
  Expected<FrozenTable> table =
      FrozenTable::map(path, rowBytes, digestOf(file));
  if (!table || rowBytes == 0)
    return;
  // Lookups must find only rows of the file, wherever buckets point.
  std::vector<int64_t> all(keys.begin(), keys.end());
  table->forEach([&](int64_t key, const char *row) {
    all.push_back(key);
    if (table->placeOf(row) >= uint64_t(table->size()))
      __builtin_trap();
  });
  std::vector<void *> rows(all.size());
  (void)table->find(int64_t(all.size()), all.data(), rows.data());
  for (void *row : rows)
    if (row && table->placeOf(row) >= uint64_t(table->size()))
      __builtin_trap();
}

/// Runs lookups. A loaded state must contain everything that a program reads.
static void useState(const std::string &path) {
  const Expected<std::shared_ptr<const ServedState>> state =
      ServedState::load(*handWrittenProgram({}), path);
  if (!state)
    return;
  std::array<void *, keys.size()> rows = {};
  TableScratch scratch;
  RowImages images;
  const FrozenRows &table = *(*state)->tables()[SymbolTable];
  (void)table.findFrozen(int64_t(keys.size()), keys.data(), rows.data(),
                         scratch, images);
  for (const void *row : rows) {
    std::vector<char> copy(table.frozenBytes());
    if (row)
      std::memcpy(copy.data(), row, copy.size());
  }
  std::array<float, handWrittenDense> weights = {};
  std::memcpy(weights.data(), (*state)->parameters()[SymbolWeights],
              sizeof(weights));
}

static void fuzzExport(std::string_view bytes) {
  const auto [body, rows, dense] = split(bytes);
  std::vector<File> files = {{tableName, rows}, {denseName, dense}};
  mendHead(files[0].content);
  files.push_back({exportManifestName,
                   manifestOf(checkpointVersion, "checkpoint", body, files)});
  const std::string path = writeFolder(files);
  (void)verifyExport(path);
  (void)compareExport(path, checkpoint(), 3, 1 << 16);
  useState(path);
}

static void fuzzKeyValues(std::string_view bytes) {
  const auto [body, rows, dense] = split(bytes);
  std::vector<File> files = {{"table-0-00000.tsv", rows},
                             {"table-0-00000.records", rows},
                             {denseName, dense}};
  files.push_back(
      {keyValueManifestName, manifestOf(1, "key_values", body, files)});
  const std::string path = writeFolder(files);
  const KeyValueFormat *const formats[] = {&tsvFormat(), &recordFormat()};
  const bool isWhole = verifyKeyValues(path, formats).ok();
  const Expected<StateDifferences> found =
      compareKeyValues(path, formats, checkpoint(), 3, 1 << 16);
  // An export that was verified must also be readable for comparison.
  if (isWhole && !found &&
      found.status().message().find("table-0-") != std::string::npos)
    __builtin_trap();
}

static void fuzzCheckpoint(const std::string &part) {
  CheckpointManifest manifest = checkpoint().manifest();
  std::vector<File> files;
  for (CheckpointPart &each : manifest.parts) {
    files.push_back(
        {each.file, each.kind == PartKind::Table
                        ? part
                        : read(checkpoint().path() + "/" + each.file)});
    each.digest = digestOf(files.back());
  }
  const std::string path = writeFolder(files);
  (void)writeManifest(manifest, path + "/" + manifestName);
  useState(path);
  const Expected<Checkpoint> opened = Checkpoint::open(path);
  if (!opened)
    return;
  for (const KeyOrder order : {KeyOrder::Signed, KeyOrder::Unsigned}) {
    Expected<SortedRows> rows =
        SortedRows::open(*opened, manifest.symbols[SymbolTable], 0, order, 64);
    if (!rows)
      return;
    std::optional<int64_t> last;
    while (true) {
      const Expected<bool> more = rows->next();
      if (!more || !*more)
        break;
      if (last && (order == KeyOrder::Signed
                       ? *last >= rows->key()
                       : uint64_t(*last) >= uint64_t(rows->key())))
        __builtin_trap();
      last = rows->key();
    }
  }
}

void fuzzOne(const std::string &bytes) {
  if (bytes.empty())
    return;
  const std::string rest = bytes.substr(1);
  switch (Kind(uint8_t(bytes[0]) % kindCount)) {
  case Kind::Mapped:
    return fuzzMapped(rest);
  case Kind::Export:
    return fuzzExport(rest);
  case Kind::KeyValues:
    return fuzzKeyValues(rest);
  case Kind::Dump:
    return useState(asFile(rest, ".safetensors"));
  case Kind::Checkpoint:
    return fuzzCheckpoint(rest);
  }
}
