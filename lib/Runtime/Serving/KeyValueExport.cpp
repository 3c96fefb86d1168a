//===- KeyValueExport.cpp - Exports for key-value stores ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/KeyValueExport.h"

#include "Checkpoint/SymbolTensors.h"
#include "Files/TemporaryFile.h"
#include "Serving/ExportedParts.h"
#include "Serving/KeyValueRows.h"
#include "pdlrt/Core/Finite.h"
#include "pdlrt/Kernels/Storage.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Rows of a checkpoint
//===----------------------------------------------------------------------===//

Expected<WideRows> WideRows::open(const Checkpoint &checkpoint,
                                  const CheckpointSymbol &symbol, size_t part,
                                  KeyOrder order, size_t memory) {
  Expected<SortedRows> rows =
      SortedRows::open(checkpoint, symbol, part, order, memory);
  if (!rows)
    return std::move(rows).status();
  return WideRows(symbol.name, checkpoint.path(), *std::move(rows));
}

WideRows::WideRows(std::string table, std::string checkpoint, SortedRows sorted)
    : table(std::move(table)), checkpoint(std::move(checkpoint)),
      rows(std::move(sorted)), storage(storageOf(rows.elements().type)) {
  wideElements = rows.elements();
  if (storage != PDL_STORE_ELEMENT)
    wideElements.type = TensorType::F32;
  // The vector is aligned, as widening requires.
  row.resize(wideElements.bytes());
}

Expected<bool> WideRows::next() {
  Expected<bool> more = rows.next();
  if (!more || !*more)
    return more;
  if (storage == PDL_STORE_ELEMENT)
    std::copy_n(rows.values(), row.size(), row.data());
  else
    widenStored(storage, wideElements.width, rows.values(),
                reinterpret_cast<float *>(row.data()));
  if (!allFinite(wideElements.type == TensorType::F64 ? PDL_F64 : PDL_F32,
                 wideElements.width, row.data()))
    return Status::dataLoss(fmt::format(
        "{}: @{} has a number that is not finite at key {}; use another "
        "checkpoint",
        checkpoint, table, rows.key()));
  return true;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// Writes a table as consecutive files.
class TableFiles {
public:
  TableFiles(const KeyValueFormat &format, const KeyValueOptions &options,
             const std::string &folder, size_t number, KeyValueTable &table)
      : format(format), options(options), folder(folder), number(number),
        table(table) {}

  Status add(int64_t key, const std::byte *values);
  Status finish();

private:
  Status begin(int64_t key);

  const KeyValueFormat &format;
  const KeyValueOptions &options;
  const std::string &folder;
  const size_t number;
  KeyValueTable &table;
  std::unique_ptr<KeyValueWriter> writer;
};

} // namespace

Status TableFiles::begin(int64_t key) {
  KeyValueFile file;
  // Symbol names may contain characters that are invalid in file names.
  file.file = fmt::format("table-{}-{:05}.{}", number, table.files.size(),
                          format.name());
  file.firstKey = key;
  Expected<std::unique_ptr<KeyValueWriter>> created =
      format.create(folder + "/" + file.file, table.elements);
  if (!created)
    return std::move(created).status();
  writer = *std::move(created);
  table.files.push_back(std::move(file));
  return {};
}

Status TableFiles::add(int64_t key, const std::byte *values) {
  if (!writer)
    PDLRT_RETURN_IF_ERROR(begin(key));
  PDLRT_RETURN_IF_ERROR(writer->add(key, values));
  KeyValueFile &file = table.files.back();
  file.lastKey = key;
  ++file.rows;
  return writer->bytes() >= options.bytesInFile ? finish() : Status();
}

Status TableFiles::finish() {
  if (!writer)
    return {};
  const Expected<FileDigest> digest = writer->finish();
  writer.reset();
  if (!digest)
    return digest.status();
  table.files.back().digest = *digest;
  return {};
}

Status pdlrt::exportKeyValues(const Checkpoint &checkpoint,
                              const KeyValueFormat &format,
                              const KeyValueOptions &options,
                              const std::string &path) {
  PDLRT_RETURN_IF_ERROR(checkSlot(checkpoint, options.slot));
  NewFolder folder(path);
  PDLRT_RETURN_IF_ERROR(folder.create());
  KeyValueManifest manifest;
  manifest.format = format.name();
  manifest.model = checkpoint.manifest().model;
  manifest.steps = checkpoint.manifest().progress.steps;
  manifest.slot = options.slot;
  for (const CheckpointSymbol &symbol : checkpoint.manifest().symbols) {
    if (!symbol.isTable)
      continue;
    const size_t part = slotPartOf(symbol, options.slot);
    Expected<WideRows> rows = WideRows::open(checkpoint, symbol, part,
                                             format.order(), options.memory);
    if (!rows)
      return std::move(rows).status();
    KeyValueTable &table = manifest.tables.emplace_back();
    table.name = symbol.name;
    table.part = part ? "slot." + options.slot : "values";
    table.elements = rows->elements();
    const CheckpointManifest &saved = checkpoint.manifest();
    if (const ModelPart *keys = keysOf(saved.modelParts, symbol.name);
        keys && saved.layoutVersion >= currentLayout)
      table.keys = keys->value;
    TableFiles files(format, options, folder.path, manifest.tables.size() - 1,
                     table);
    for (;;) {
      const Expected<bool> more = rows->next();
      if (!more)
        return more.status();
      if (!*more)
        break;
      PDLRT_RETURN_IF_ERROR(files.add(rows->key(), rows->values()));
    }
    PDLRT_RETURN_IF_ERROR(files.finish());
  }
  const Expected<std::optional<FileDigest>> parameters =
      writeParameters(checkpoint, options.slot, folder.path);
  if (!parameters)
    return parameters.status();
  manifest.parameters = *parameters;
  const std::string text = encodeKeyValues(manifest);
  TemporaryFile file(folder.path + "/" + keyValueManifestName);
  PDLRT_RETURN_IF_ERROR(file.create());
  PDLRT_RETURN_IF_ERROR(file.write(text.data(), text.size()));
  PDLRT_RETURN_IF_ERROR(file.commit());
  return folder.commit();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Expected<KeyValueManifest> readKeyValues(const std::string &path) {
  const std::string name = path + "/" + keyValueManifestName;
  const Expected<FileBytes> file =
      FileBytes::open(name, "export the checkpoint again");
  if (!file)
    return file.status();
  std::string text(file->size(), '\0');
  PDLRT_RETURN_IF_ERROR(file->readAt(0, text.size(), text.data()));
  return decodeKeyValues(text, name);
}

Expected<OpenKeyValues>
OpenKeyValues::open(const std::string &path,
                    std::span<const KeyValueFormat *const> formats) {
  Expected<KeyValueManifest> manifest = readKeyValues(path);
  if (!manifest)
    return std::move(manifest).status();
  const auto format = std::ranges::find(
      formats, manifest->format,
      [](const KeyValueFormat *known) { return std::string(known->name()); });
  if (format == formats.end())
    return Status::failedPrecondition(
        path + ": its tables are of format '" + manifest->format +
        "', which this program was built without; use one "
        "that was built with it");
  return OpenKeyValues{path, **format, *std::move(manifest)};
}

Expected<bool> TableReader::next() {
  const std::vector<KeyValueFile> &files = table.files;
  while (reader || index < files.size()) {
    if (!reader) {
      Expected<std::unique_ptr<KeyValueReader>> opened = source.format.open(
          source.path + "/" + files[index].file, table.elements);
      if (!opened)
        return std::move(opened).status();
      reader = *std::move(opened);
      rowsOfFile = 0;
    }
    const KeyValueFile &file = files[index];
    const Expected<bool> more = reader->next();
    if (!more)
      return more;
    if (*more)
      return check(file) ? Expected<bool>(true) : misplaced(file);
    if (rowsOfFile != file.rows || last != file.lastKey)
      return Status::dataLoss(fmt::format(
          "{}/{}: has {} rows up to key {}, but its manifest says {} up to "
          "key {}; export the checkpoint again",
          source.path, file.file, rowsOfFile, last.value_or(0), file.rows,
          file.lastKey));
    reader.reset();
    ++index;
  }
  return false;
}

/// Returns true if the key of the current row is in order.
bool TableReader::check(const KeyValueFile &file) {
  const int64_t key = reader->key();
  const bool isInPlace =
      (!last || comesBefore(source.format.order(), *last, key)) &&
      (rowsOfFile > 0 || key == file.firstKey);
  last = key;
  ++rowsOfFile;
  return isInPlace;
}

Status TableReader::misplaced(const KeyValueFile &file) const {
  return Status::dataLoss(
      fmt::format("{}/{}: key {} is not in its place; export the checkpoint "
                  "again",
                  source.path, file.file, reader->key()));
}

Expected<KeyValueManifest>
pdlrt::verifyKeyValues(const std::string &path,
                       std::span<const KeyValueFormat *const> formats) {
  Expected<OpenKeyValues> source = OpenKeyValues::open(path, formats);
  if (!source)
    return std::move(source).status();
  for (const KeyValueTable &table : source->manifest.tables) {
    for (const KeyValueFile &file : table.files)
      PDLRT_RETURN_IF_ERROR(checkFile(path + "/" + file.file, file.digest));
    TableReader reader(*source, table);
    for (;;) {
      const Expected<bool> more = reader.next();
      if (!more)
        return more.status();
      if (!*more)
        break;
    }
  }
  const std::optional<FileDigest> &parameters = source->manifest.parameters;
  if (parameters)
    PDLRT_RETURN_IF_ERROR(checkFile(path + "/" + parametersName, *parameters));
  return std::move(source->manifest);
}
