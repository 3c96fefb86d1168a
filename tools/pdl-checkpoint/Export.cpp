//===- Export.cpp - Commands for exports ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Export.h"

#include "Common.h"
#ifdef PDL_HAS_ROCKSDB
#include "SstFiles.h"
#endif
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Files/Store.h"
#include "pdlrt/Serving/KeyValueExport.h"
#include "pdlrt/Serving/ServedExport.h"

#include <fmt/format.h>

using namespace pdlrt;

static constexpr const char *mappedFormat = "mapped";
static constexpr const char *formatOfRocksDb = "sst";

/// Returns the formats for key-value stores.
static std::vector<const KeyValueFormat *> keyValueFormats() {
  return {&tsvFormat(), &recordFormat(),
#ifdef PDL_HAS_ROCKSDB
          &sstFormat()
#endif
  };
}

std::vector<std::string> exportFormats() {
  std::vector<std::string> names = {mappedFormat};
  for (const KeyValueFormat *format : keyValueFormats())
    names.emplace_back(format->name());
  if (names.back() != formatOfRocksDb)
    names.emplace_back(formatOfRocksDb);
  return names;
}

Expected<bool> isAnyExport(const std::string &path) {
  Expected<bool> isMapped = isExport(path);
  return isMapped && !*isMapped ? isKeyValueExport(path) : isMapped;
}

//===----------------------------------------------------------------------===//
// export
//===----------------------------------------------------------------------===//

int exportTo(const std::string &path, const ExportFlags &flags,
             const std::string &output) {
  const KeyValueFormat *format = nullptr;
  for (const KeyValueFormat *known : keyValueFormats())
    if (known->name() == flags.format)
      format = known;
  if (!format && flags.format == formatOfRocksDb)
    return fail(ExitCode::Usage,
                "--format sst: this pdl-checkpoint was built without "
                "RocksDB; install librocksdb-dev and build it again, or "
                "write --format records");
  if (!format && (flags.fileSize || flags.memory))
    return fail(ExitCode::Usage,
                fmt::format("{}: is for formats of key-value stores alone; "
                            "leave it out, or choose one with --format",
                            flags.fileSize ? "--file-size" : "--memory"));
  if (format && flags.format == formatOfRocksDb && isInObjectStore(output))
    return fail(ExitCode::Usage,
                "--format sst: RocksDB writes its files only to folders of "
                "this host; name one and copy it, or write --format records");
  Expected<Checkpoint> checkpoint = openNamed(path);
  if (!checkpoint)
    return fail(checkpoint.status());
  Status status;
  if (format) {
    constexpr int bitsOfMebibyte = 20;
    KeyValueOptions options;
    options.slot = flags.slot;
    options.bytesInFile = flags.fileSize.value_or(1024) << bitsOfMebibyte;
    if (flags.memory)
      options.memory = size_t(*flags.memory) << bitsOfMebibyte;
    status = exportKeyValues(*checkpoint, *format, options, output);
  } else {
    status = exportCheckpoint(*checkpoint, flags.slot, output);
  }
  return status.ok() ? 0 : fail(status);
}

//===----------------------------------------------------------------------===//
// inspect
//===----------------------------------------------------------------------===//

static void printHead(const std::string &path, const std::string &model,
                      int64_t steps) {
  print(fmt::format("export               {}", path));
  print(fmt::format("model                {}", model));
  print(fmt::format("steps                {}", steps));
}

static void printFoot(size_t files, uint64_t bytes) {
  print(fmt::format("all {} files have the right checksum, {}", files,
                    sizeText(bytes)));
}

static int inspectMapped(const std::string &path) {
  const Expected<CheckpointManifest> manifest = verifyExport(path);
  if (!manifest)
    return fail(manifest.status());
  printHead(path, manifest->model, manifest->progress.steps);
  uint64_t bytes = 0;
  for (const CheckpointPart &part : manifest->parts) {
    bytes += part.digest.bytes;
    if (part.kind == PartKind::Table)
      print(fmt::format("table @{}: {}, {}", part.symbol, part.file,
                        sizeText(part.digest.bytes)));
  }
  for (const CheckpointSymbol &symbol : manifest->symbols)
    if (!symbol.slots.empty())
      print(fmt::format("@{}: slot {} in the place of its value", symbol.name,
                        symbol.slots.front()));
  printFoot(manifest->parts.size() + 1, bytes);
  return 0;
}

static int inspectKeyValues(const std::string &path) {
  const Expected<KeyValueManifest> manifest =
      verifyKeyValues(path, keyValueFormats());
  if (!manifest)
    return fail(manifest.status());
  printHead(path, manifest->model, manifest->steps);
  print(fmt::format("format               {}", manifest->format));
  uint64_t bytes = manifest->parameters ? manifest->parameters->bytes : 0;
  size_t files = manifest->parameters ? 2 : 1;
  for (const KeyValueTable &table : manifest->tables) {
    uint64_t ofTable = 0;
    for (const KeyValueFile &file : table.files)
      ofTable += file.digest.bytes;
    bytes += ofTable;
    files += table.files.size();
    print(fmt::format("table @{}: {} of {} keys, {} elements {} each, {} in {} "
                      "{}",
                      table.name, table.part, table.rows(),
                      table.elements.width, tensorTypeName(table.elements.type),
                      sizeText(ofTable), table.files.size(),
                      table.files.size() == 1 ? "file" : "files"));
  }
  printFoot(files, bytes);
  return 0;
}

int inspectExport(const std::string &path) {
  const Expected<bool> isMapped = isExport(path);
  if (!isMapped)
    return fail(isMapped.status());
  return *isMapped ? inspectMapped(path) : inspectKeyValues(path);
}

//===----------------------------------------------------------------------===//
// diff
//===----------------------------------------------------------------------===//

int diffExport(const std::string &first, const std::string &second,
               size_t limit) {
  const Expected<bool> isFirst = isAnyExport(first);
  const Expected<bool> isOther = isAnyExport(second);
  for (const Expected<bool> *each : {&isFirst, &isOther})
    if (!*each)
      return failDiff(each->status());
  const bool isSecond = *isOther;
  if (isSecond && *isFirst)
    return fail(ExitCode::Usage,
                first + " and " + second +
                    ": both are exports; compare each with its checkpoint");
  const std::string &path = isSecond ? second : first;
  Expected<Checkpoint> checkpoint = openNamed(isSecond ? first : second);
  if (!checkpoint)
    return failDiff(checkpoint.status());
  const Expected<bool> isMapped = isExport(path);
  if (!isMapped)
    return failDiff(isMapped.status());
  const Expected<StateDifferences> found =
      *isMapped ? compareExport(path, *checkpoint, limit)
                : compareKeyValues(path, keyValueFormats(), *checkpoint, limit);
  if (!found)
    return failDiff(found.status());
  printDifferences(*found, path, checkpoint->path());
  if (found->count)
    return 1;
  print(fmt::format("equal: {} tables and all parameters, bit for bit",
                    found->tables.size()));
  return 0;
}
