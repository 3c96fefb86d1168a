//===- Projector.cpp - The command projector ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Projector.h"

#include "Common.h"
#include "PathFlags.h"
#include "Tables.h"
#include "pdlabi/hash.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace pdlrt;

/// Maximum number of rows that are written. They are in memory at once.
static constexpr uint64_t maxRows = uint64_t(1) << 20;

//===----------------------------------------------------------------------===//
// Selection of rows
//===----------------------------------------------------------------------===//

namespace {

/// Raw ids, in the order of the file, by key.
struct Ids {
  struct Id {
    size_t number;
    std::string text;
  };
  std::unordered_map<int64_t, Id> byKey;
};

/// A row to write.
struct Point {
  ScannedRow row;
  /// Rows with higher ranks come first.
  double rank;
  std::string label;

  bool comesBefore(const Point &other) const {
    return rank != other.rank ? rank > other.rank : row.key < other.row.key;
  }
};

/// Number by which rows are chosen. Nullopt for a sample that depends only on
/// keys.
using Measure = std::function<double(const ScannedRow &row)>;

} // namespace

/// Returns the measure with the name `by`.
static Expected<Measure> measureOf(const TableScan &scan,
                                   const std::string &by) {
  if (by.empty())
    return Measure([](const ScannedRow &row) {
      // The upper 53 bits of a mixed key are exact as a double.
      return -double(pdlabi::mixKey(uint64_t(row.key)) >> 11);
    });
  std::vector<std::string> known = {"norm"};
  if (by == "norm")
    return Measure(normOf);
  if (!scan.scoreWeights().empty()) {
    known.emplace_back("score");
    if (by == "score")
      return Measure([](const ScannedRow &row) { return *row.score; });
  }
  for (size_t slot : countSlots(scan)) {
    known.push_back(scan.symbol().slots[slot]);
    if (by == known.back())
      return Measure(
          [slot](const ScannedRow &row) { return row.slots[slot].front(); });
  }
  return Status::invalidArgument(
      fmt::format("--by: table @{} has no '{}'; use one of {}",
                  scan.symbol().name, by, fmt::join(known, ", ")));
}

/// Reads a file of raw ids, one in each line. Skips empty lines.
static Expected<Ids> readIds(const std::string &path, const KeyTexts &texts) {
  constexpr uint64_t maxBytes = uint64_t(64) << 20;
  const Expected<std::string> content = readStoredFile(path, maxBytes);
  PDLRT_RETURN_IF_ERROR(content.status());
  Ids ids;
  size_t number = 0;
  for (std::string_view left = *content; !left.empty();) {
    std::string line(left.substr(0, left.find('\n')));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    if (line.ends_with('\r'))
      line.pop_back();
    if (line.empty())
      continue;
    const Expected<int64_t> key = texts.keyOf(line);
    if (!key)
      return Status(key.status()).withContext("--ids: " + path);
    // Tabs separate the columns of the metadata.
    std::ranges::replace(line, '\t', ' ');
    ids.byKey.try_emplace(*key, Ids::Id{number++, std::move(line)});
    if (ids.byKey.size() > maxRows)
      return Status::invalidArgument(fmt::format(
          "--ids: {}: has more than {} ids; give fewer", path, maxRows));
  }
  return ids;
}

/// Returns the rows of the given ids, or at most `count` rows with the highest
/// measure.
static Expected<std::vector<Point>> choosePoints(const TableScan &scan,
                                                 const Measure &measure,
                                                 const Ids *ids,
                                                 uint64_t count) {
  std::vector<Point> points;
  const auto isBefore = [](const Point &a, const Point &b) {
    return a.comesBefore(b);
  };
  PDLRT_RETURN_IF_ERROR(scan.forEach([&](const ScannedRow &row) -> Status {
    if (row.isWaiting)
      return {};
    if (ids) {
      if (const auto found = ids->byKey.find(row.key);
          found != ids->byKey.end())
        points.push_back(
            {row, -double(found->second.number), found->second.text});
      return {};
    }
    Point point = {row, measure(row), {}};
    // NaN has no place in an order.
    if (!(point.rank == point.rank))
      point.rank = -std::numeric_limits<double>::infinity();
    // The last point in the order is at the front of the heap.
    if (points.size() == count) {
      if (!point.comesBefore(points.front()))
        return {};
      std::ranges::pop_heap(points, isBefore);
      points.pop_back();
    }
    points.push_back(std::move(point));
    std::ranges::push_heap(points, isBefore);
    return {};
  }));
  std::ranges::sort(points, isBefore);
  return points;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static std::string tensorsOf(const std::vector<Point> &points,
                             TensorType type) {
  std::string text;
  for (const Point &point : points) {
    const char *separator = "";
    for (double value : point.row.values) {
      text += separator + elementText(value, type);
      separator = "\t";
    }
    text += '\n';
  }
  return text;
}

/// Returns the metadata, with a line of headings.
static std::string metadataOf(const TableScan &scan,
                              const std::vector<Point> &points) {
  const CheckpointSymbol &symbol = scan.symbol();
  const std::vector<size_t> slots = countSlots(scan);
  std::string text = "id\tkey\tnorm";
  for (size_t slot : slots)
    text += "\t" + symbol.slots[slot];
  if (!scan.scoreWeights().empty())
    text += "\tscore";
  if (scan.hasPeriods())
    text += "\tage";
  text += '\n';
  for (const Point &point : points) {
    const ScannedRow &row = point.row;
    text +=
        fmt::format("{}\t{}\t{:.6g}",
                    point.label.empty() ? std::to_string(row.key) : point.label,
                    row.key, normOf(row));
    for (size_t slot : slots)
      text += "\t" +
              elementText(row.slots[slot].front(), symbol.partType(slot + 1));
    if (row.score)
      text += fmt::format("\t{:.6g}", *row.score);
    if (row.age)
      text += fmt::format("\t{}", *row.age);
    text += '\n';
  }
  return text;
}

static Status writeFile(const std::string &path, const std::string &text) {
  const auto store = storeOf(path);
  PDLRT_RETURN_IF_ERROR(store.status());
  const auto file = (*store)->create(path, text.size());
  PDLRT_RETURN_IF_ERROR(file.status());
  PDLRT_RETURN_IF_ERROR((*file)->write(text.data(), text.size()));
  return (*file)->commit();
}

/// Writes the three files. The configuration, which names the others, is
/// written last.
static Status writeFiles(const TableScan &scan,
                         const std::vector<Point> &points,
                         const std::string &output) {
  PDLRT_RETURN_IF_ERROR(makeFolderOf(output + "/tensors.tsv"));
  PDLRT_RETURN_IF_ERROR(writeFile(
      output + "/tensors.tsv", tensorsOf(points, scan.symbol().partType(0))));
  PDLRT_RETURN_IF_ERROR(
      writeFile(output + "/metadata.tsv", metadataOf(scan, points)));
  return writeFile(output + "/projector_config.pbtxt",
                   fmt::format("embeddings {{\n"
                               "  tensor_name: \"{}\"\n"
                               "  tensor_path: \"tensors.tsv\"\n"
                               "  metadata_path: \"metadata.tsv\"\n"
                               "}}\n",
                               scan.symbol().name));
}

/// Writes all files. A local folder gets its name when it is complete. After an
/// error, nothing is left.
static Status writeAll(const TableScan &scan, const std::vector<Point> &points,
                       const std::string &output) {
  const bool isStored = isInObjectStore(output);
  // A signal removes a local folder of this name (StopSignals.h).
  const std::string unfinished =
      isStored ? output : fmt::format("{}.tmp.{}", output, getpid());
  Status status = writeFiles(scan, points, unfinished);
  std::error_code error, ignored;
  if (status.ok() && !isStored) {
    std::filesystem::rename(unfinished, output, error);
    if (error)
      status =
          Status::ioError(output + ": cannot be written: " + error.message() +
                          "; name another folder");
  }
  if (!status.ok() && isStored)
    (void)removeStoredFolder(output);
  else if (!status.ok())
    std::filesystem::remove_all(unfinished, ignored);
  return status;
}

int writeProjector(const ProjectorFlags &flags, const std::string &output) {
  if (const Status status = checkNewFolder(output); !status.ok())
    return failUsage(status);
  const Expected<Checkpoint> checkpoint = openNamed(flags.checkpoint);
  if (!checkpoint)
    return fail(checkpoint.status());
  const Expected<const CheckpointSymbol *> table =
      tableNamed(*checkpoint, flags.table);
  if (!table)
    return failUsage(table.status());
  std::optional<Ids> ids;
  if (!flags.ids.empty()) {
    const Expected<KeyTexts> texts =
        KeyTexts::of(checkpoint->manifest(), (*table)->name, flags.keys);
    if (!texts)
      return failUsage(texts.status());
    Expected<Ids> read = readIds(flags.ids, *texts);
    if (!read)
      return failUsage(read.status());
    print("ids of " + flags.ids + ": " + texts->note());
    ids = *std::move(read);
  }
  const Expected<TableScan> scan = TableScan::open(*checkpoint, **table);
  if (!scan)
    return fail(scan.status());
  const Expected<Measure> measure = measureOf(*scan, flags.by);
  if (!measure)
    return failUsage(measure.status());
  const Expected<std::vector<Point>> points =
      choosePoints(*scan, *measure, ids ? &*ids : nullptr, flags.rows);
  if (!points)
    return fail(points.status());
  if (points->empty())
    return fail(Status::failedPrecondition(
        fmt::format("{}: table @{} has no rows{}", checkpoint->path(),
                    (*table)->name, ids ? " of these ids" : "")));
  if (const Status status = writeAll(*scan, *points, output); !status.ok())
    return fail(status);
  print(fmt::format("table @{}: wrote {} rows of {} numbers to {}{}",
                    (*table)->name, points->size(),
                    points->front().row.values.size(), output,
                    ids ? fmt::format("; {} ids have no row",
                                      ids->byKey.size() - points->size())
                        : ""));
  return 0;
}

CommandTable projectorTable(ProjectorFlags &flags, std::string &output) {
  std::vector<Flag> table = {
      pathFlag("checkpoint", flags.checkpoint, "The checkpoint"),
      outputFlag(output, "The folder to write, a new one"),
      tableFlag(flags.table,
                "The table (default: the only table of the checkpoint)"),
      {.names = "--ids",
       .placeholder = "FILE",
       .value = FlagValue::text(flags.ids),
       .help = "A file of raw ids, one in each line. Write their rows, with "
               "the ids as labels",
       .excludes = {"--rows", "--by"}},
      {.names = "--rows",
       .placeholder = "N",
       .value = FlagValue::number(flags.rows, 1, maxRows),
       .help = "Maximum number of rows to write. The projector in a browser "
               "can show some 10,000"},
      {.names = "--by",
       .placeholder = "NAME",
       .value = FlagValue::text(flags.by),
       .help = "Write the rows with the highest NAME: norm, score, or a slot "
               "such as show (default: a sample that depends only on keys)"}};
  for (Flag &flag : keyFlags(flags.keys))
    table.push_back(needing("--ids", std::move(flag)));
  return {"projector",
          "Write rows of a table as a folder for TensorBoard's Embedding "
          "Projector: tensors.tsv, metadata.tsv and projector_config.pbtxt",
          {{mainOptions, std::move(table)}}};
}
