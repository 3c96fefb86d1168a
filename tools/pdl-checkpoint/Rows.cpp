//===- Rows.cpp - The commands row and neighbors --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rows.h"

#include "Common.h"
#include "PathFlags.h"
#include "Tables.h"
#include "pdlrt/Core/ProgramMain.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// The row of a key
//===----------------------------------------------------------------------===//

namespace {

/// An opened checkpoint with the table and the key that flags name.
struct NamedRow {
  /// At a fixed address, because `scan` refers to it.
  std::unique_ptr<Checkpoint> checkpoint;
  TableScan scan;
  int64_t key;
  std::string note;
  ScannedRow row;
};

} // namespace

/// Finds the row that the flags name. On failure, prints an error message and
/// sets `status` to the exit status.
static std::optional<NamedRow> findNamed(const RowFlags &flags, int &status) {
  Expected<Checkpoint> found = openNamed(flags.checkpoint);
  if (!found) {
    status = fail(found.status());
    return std::nullopt;
  }
  auto opened = std::make_unique<Checkpoint>(*std::move(found));
  const Expected<const CheckpointSymbol *> symbol =
      tableNamed(*opened, flags.table);
  if (!symbol) {
    status = failUsage(symbol.status());
    return std::nullopt;
  }
  const std::string table = (*symbol)->name;
  const Expected<KeyTexts> texts =
      KeyTexts::of(opened->manifest(), table, flags.keys);
  const Expected<int64_t> key =
      texts ? texts->keyOf(flags.key) : Expected<int64_t>(texts.status());
  if (!key) {
    status = failUsage(key.status());
    return std::nullopt;
  }
  Expected<TableScan> scan = TableScan::open(*opened, **symbol);
  if (!scan) {
    status = fail(scan.status());
    return std::nullopt;
  }
  Expected<std::optional<ScannedRow>> row = scan->find(*key);
  if (!row) {
    status = fail(row.status());
    return std::nullopt;
  }
  if (!*row) {
    status = fail(Status::notFound(
        fmt::format("{}: table @{} has no row of key {} ({})", opened->path(),
                    table, *key, texts->note())));
    return std::nullopt;
  }
  return NamedRow{std::move(opened), *std::move(scan), *key, texts->note(),
                  *std::move(*row)};
}

static nlohmann::ordered_json jsonOf(const NamedRow &named) {
  const ScannedRow &row = named.row;
  const CheckpointSymbol &symbol = named.scan.symbol();
  nlohmann::ordered_json object = {{"checkpoint", named.checkpoint->path()},
                                   {"table", symbol.name},
                                   {"key", row.key},
                                   {"key_from", named.note},
                                   {"waiting", row.isWaiting}};
  if (row.isWaiting) {
    object["count"] = row.count;
    object["counts"] =
        named.scan.waitsByScore() ? "score/16384" : "occurrences";
  } else {
    object["file"] = row.file;
    object["shape"] = symbol.shape;
    object["norm"] = normOf(row);
    object["values"] = row.values;
    auto &slots = object["slots"] = nlohmann::ordered_json::object();
    for (size_t s = 0; s < symbol.slots.size(); ++s)
      slots[symbol.slots[s]] = row.slots[s];
  }
  if (row.age)
    object["age"] = *row.age;
  if (row.score)
    object["score"] = *row.score;
  return object;
}

/// Returns elements as text, separated by blanks.
static std::string elementsText(const std::vector<double> &elements,
                                TensorType type) {
  std::string text;
  for (double element : elements)
    text += (text.empty() ? "" : " ") + elementText(element, type);
  return text;
}

/// Prints a name and a text in two columns.
static void printFact(const std::string &name, const std::string &text) {
  print(fmt::format("{:<16} {}", name, text));
}

int showRow(const RowFlags &flags) {
  int status = 0;
  const std::optional<NamedRow> named = findNamed(flags, status);
  if (!named)
    return status;
  if (flags.isJson) {
    print(jsonOf(*named).dump(2));
    return 0;
  }
  const ScannedRow &row = named->row;
  const CheckpointSymbol &symbol = named->scan.symbol();
  printFact("table", "@" + symbol.name);
  printFact("key", fmt::format("{}, {}", row.key, named->note));
  if (row.isWaiting) {
    printFact("waits for a row",
              named->scan.waitsByScore()
                  ? fmt::format("with {} of 16384 units of score", row.count)
                  : fmt::format("after {} occurrences", row.count));
  } else {
    printFact("file", row.file);
    printFact("norm", fmt::format("{:.6g}", normOf(row)));
    printFact("values", elementsText(row.values, symbol.partType(0)));
    for (size_t s = 0; s < symbol.slots.size(); ++s)
      printFact("slot " + symbol.slots[s],
                elementsText(row.slots[s], symbol.partType(s + 1)));
  }
  if (row.age)
    printFact("age", fmt::format("{} periods", *row.age));
  if (row.score)
    printFact("score", fmt::format("{:.6g}", *row.score));
  return 0;
}

//===----------------------------------------------------------------------===//
// The nearest rows
//===----------------------------------------------------------------------===//

namespace {

struct Neighbor {
  int64_t key;
  double cosine, dot, norm;
  /// Similarity by which rows are ordered.
  double by;

  bool comesBefore(const Neighbor &other) const {
    return by != other.by ? by > other.by : key < other.key;
  }
};

/// Keeps the `top` best of all neighbors that were added.
class BestNeighbors {
public:
  explicit BestNeighbors(size_t top) : top(top) {}

  void add(const Neighbor &each) {
    // The worst one that is kept is at the front of the heap.
    if (heap.size() == top) {
      if (!each.comesBefore(heap.front()))
        return;
      std::ranges::pop_heap(heap, isBefore);
      heap.pop_back();
    }
    heap.push_back(each);
    std::ranges::push_heap(heap, isBefore);
  }
  std::vector<Neighbor> sorted() && {
    std::ranges::sort(heap, isBefore);
    return std::move(heap);
  }

private:
  static bool isBefore(const Neighbor &a, const Neighbor &b) {
    return a.comesBefore(b);
  }

  size_t top;
  std::vector<Neighbor> heap;
};

} // namespace

/// Returns the similarity of two rows. The cosine of a row of zeros is 0.
static Neighbor compare(const ScannedRow &row,
                        const std::vector<double> &values, double norm,
                        bool isByDot) {
  Neighbor found = {row.key, 0, 0, normOf(row), 0};
  for (size_t i = 0; i < values.size(); ++i)
    found.dot += values[i] * row.values[i];
  if (const double norms = norm * found.norm; norms > 0)
    found.cosine = found.dot / norms;
  found.by = isByDot ? found.dot : found.cosine;
  return found;
}

int showNeighbors(const RowFlags &flags) {
  int status = 0;
  const std::optional<NamedRow> named = findNamed(flags, status);
  if (!named)
    return status;
  const bool isByDot = flags.by == "dot";
  const double norm = normOf(named->row);
  if (named->row.isWaiting || !std::isfinite(norm) || (norm == 0 && !isByDot))
    return fail(Status::failedPrecondition(fmt::format(
        "{}: key {} of table @{} {}", named->checkpoint->path(), named->key,
        named->scan.symbol().name,
        named->row.isWaiting   ? "still waits for a row"
        : !std::isfinite(norm) ? "has a row that is not finite"
                               : "has a row of zeros, which has no direction; "
                                 "give --by dot")));
  BestNeighbors best(flags.top);
  int64_t notFinite = 0;
  const Status scanned =
      named->scan.forEach([&](const ScannedRow &row) -> Status {
        if (row.isWaiting || row.key == named->key)
          return {};
        const Neighbor each = compare(row, named->row.values, norm, isByDot);
        if (std::isfinite(each.norm) && std::isfinite(each.by))
          best.add(each);
        else
          ++notFinite;
        return {};
      });
  if (!scanned.ok())
    return fail(scanned);
  const std::vector<Neighbor> neighbors = std::move(best).sorted();
  if (flags.isJson) {
    nlohmann::ordered_json object = {
        {"checkpoint", named->checkpoint->path()},
        {"table", named->scan.symbol().name},
        {"key", named->key},
        {"key_from", named->note},
        {"norm", norm},
        {"by", flags.by},
        {"rows_not_finite", notFinite},
        {"neighbors", nlohmann::ordered_json::array()}};
    for (const Neighbor &each : neighbors)
      object["neighbors"].push_back({{"key", each.key},
                                     {"cosine", each.cosine},
                                     {"dot", each.dot},
                                     {"norm", each.norm}});
    print(object.dump(2));
    return 0;
  }
  printFact("table", "@" + named->scan.symbol().name);
  printFact("key", fmt::format("{}, {}", named->key, named->note));
  printFact("norm", fmt::format("{:.6g}", norm));
  if (notFinite > 0)
    printFact("left out",
              fmt::format("{} rows that are not finite", notFinite));
  print(fmt::format("{:>20} {:>9} {:>12} {:>12}", "neighbor", "cosine", "dot",
                    "norm"));
  for (const Neighbor &each : neighbors)
    print(fmt::format("{:>20} {:>9.6f} {:>12.6g} {:>12.6g}", each.key,
                      each.cosine, each.dot, each.norm));
  return 0;
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// Returns the flags that name a row.
static std::vector<Flag> rowFlags(RowFlags &flags) {
  std::vector<Flag> table = {
      pathFlag("checkpoint", flags.checkpoint, "The checkpoint"),
      {.names = "key",
       .placeholder = "ID",
       .value = FlagValue::anyText(flags.key),
       .help =
           "The raw id, as it is in data files. It is hashed as the fields "
           "of the model are, if the checkpoint says how; otherwise it is "
           "a ready key. If it begins with '-', write '--' before it, after "
           "all flags",
       .isRequired = true},
      tableFlag(flags.table,
                "The table (default: the only table of the checkpoint)")};
  for (Flag &flag : keyFlags(flags.keys))
    table.push_back(std::move(flag));
  table.push_back(jsonFlag(flags.isJson));
  return table;
}

CommandTable rowTable(RowFlags &flags) {
  return {"row",
          "Show the row of a key: its values, optimizer slots, counts, age and "
          "score, and the file that contains it; or that the key waits for "
          "admission",
          {{mainOptions, rowFlags(flags)}}};
}

CommandTable neighborsTable(RowFlags &flags) {
  std::vector<Flag> table = rowFlags(flags);
  table.push_back({.names = "--top",
                   .placeholder = "N",
                   .value = FlagValue::number(flags.top, 1, uint64_t(1) << 20),
                   .help = "Maximum number of rows to show"});
  table.push_back({.names = "--by",
                   .placeholder = "NAME",
                   .value = FlagValue::oneOf(flags.by, {"cosine", "dot"}),
                   .help = "Similarity by which rows are ordered"});
  return {"neighbors",
          "Show the rows of a table that are most similar to the row of a key, "
          "with the cosine and the dot product of both. Reads the whole table "
          "in bounded memory",
          {{mainOptions, std::move(table)}}};
}
