//===- TableScan.cpp - Reads all rows of a saved table --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/TableScan.h"

#include "Checkpoint/ShardRows.h"
#include "Checkpoint/TableLife.h"
#include "pdlabi/rounding.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename Stored>
static void decodeScanned(const std::byte *from, size_t count, double *to) {
  for (size_t i = 0; i < count; ++i) {
    Stored element;
    std::memcpy(&element, from + i * sizeof(Stored), sizeof(Stored));
    to[i] = double(element);
  }
}

/// Converts elements of a table, which have a float type.
static void decodeElements(TensorType type, const std::byte *from, size_t count,
                           double *to) {
  switch (type) {
  case TensorType::F64:
    return decodeScanned<double>(from, count, to);
  case TensorType::BF16:
    for (size_t i = 0; i < count; ++i) {
      pdlabi::BFloat16 element;
      std::memcpy(&element.bits, from + i * sizeof(element.bits),
                  sizeof(element.bits));
      to[i] = double(float(element));
    }
    return;
  case TensorType::F16:
    for (size_t i = 0; i < count; ++i) {
      pdlabi::Float16 element;
      std::memcpy(&element.bits, from + i * sizeof(element.bits),
                  sizeof(element.bits));
      to[i] = double(float(element));
    }
    return;
  default:
    return decodeScanned<float>(from, count, to);
  }
}

namespace {

/// A column of a table: its values, or one slot.
struct ScanColumn {
  std::string tensor;
  TensorType type;
  int64_t width;
};

/// Elements of consecutive rows of one file.
struct ScanPiece {
  int64_t begin = 0, end = 0;
  std::vector<double> elements = {};
};

} // namespace

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

class TableScan::Reader {
public:
  Reader(const Checkpoint &checkpoint, const CheckpointSymbol &symbol,
         ShardRows rows)
      : checkpoint(&checkpoint), symbol(&symbol), rows(std::move(rows)) {}

  Status readFacts();
  Status forEach(const std::function<Status(const ScannedRow &)> &visit,
                 size_t memory) const;
  Expected<std::optional<ScannedRow>> find(int64_t key) const;

  const Checkpoint *checkpoint;
  const CheckpointSymbol *symbol;
  ShardRows rows;
  /// Number of updates in a period, 0 if there are no periods.
  int64_t every = 0;
  int64_t period = 0;
  std::vector<std::pair<std::string, double>> weights;
  bool waitsByScore = false;

private:
  ScanColumn columnOf(size_t part) const;
  Status readPiece(const ScanColumn &column, const LinkedRows::File &file,
                   int64_t first, int64_t count, ScanPiece &piece) const;
  Status addFacts(ScannedRow &row) const;
  ScannedRow waitingRow(const WaitingKey &waiting) const;

  /// Positions of `weights` among the slots.
  std::vector<std::pair<size_t, double>> scored;
};

Status TableScan::Reader::readFacts() {
  const CheckpointManifest &manifest = checkpoint->manifest();
  const Expected<int64_t> updates = updatesOfPeriod(*checkpoint, symbol->name);
  PDLRT_RETURN_IF_ERROR(updates.status());
  every = *updates;
  if (every > 0) {
    if (symbol->rowSlots == 0)
      return checkpoint->damaged("table @" + symbol->name +
                                 " has periods, and no slot for them");
    const Expected<int64_t> running =
        runningPeriod(*checkpoint, symbol->name, every);
    PDLRT_RETURN_IF_ERROR(running.status());
    period = *running;
  }
  weights = scoreWeightsOf(manifest, symbol->name);
  for (const auto &[name, weight] : weights) {
    const auto found = std::ranges::find(symbol->slots, name);
    if (found == symbol->slots.end() ||
        !symbol->isRowSlot(size_t(found - symbol->slots.begin()))) {
      // Without all slots there is no score.
      weights.clear();
      scored.clear();
      break;
    }
    scored.emplace_back(size_t(found - symbol->slots.begin()), weight);
  }
  const std::string *admission =
      trainingPartOf(manifest, "admission of @" + symbol->name);
  waitsByScore = admission && admission->starts_with("by score ");
  return {};
}

/// Returns the values if `part` is 0, otherwise slot `part` - 1.
ScanColumn TableScan::Reader::columnOf(size_t part) const {
  ScanColumn column = {part ? "slot." + symbol->slots[part - 1] : "values",
                       symbol->partType(part), 1};
  if (part == 0 || !symbol->isRowSlot(part - 1))
    for (int64_t size : symbol->shape)
      column.width *= size;
  return column;
}

Status TableScan::Reader::readPiece(const ScanColumn &column,
                                    const LinkedRows::File &file, int64_t first,
                                    int64_t count, ScanPiece &piece) const {
  const Expected<const TensorView *> tensor = file.of->tensorOf(
      *file.content, column.tensor, column.type, {file.rows, column.width});
  PDLRT_RETURN_IF_ERROR(tensor.status());
  const int64_t elements = count * column.width;
  std::vector<std::byte> bytes(size_t(elements) *
                               tensorElementSize(column.type));
  PDLRT_RETURN_IF_ERROR(
      (*tensor)->read(first * column.width, elements, bytes.data()));
  piece.begin = first;
  piece.end = first + count;
  piece.elements.resize(size_t(elements));
  decodeElements(column.type, bytes.data(), size_t(elements),
                 piece.elements.data());
  return {};
}

/// Sets the age and the score of a row whose row slots were read.
Status TableScan::Reader::addFacts(ScannedRow &row) const {
  if (every > 0) {
    // All whole numbers up to this one are exact as doubles.
    constexpr double maxPeriod = 0x1p53;
    const double last = row.slots.back().front();
    if (!(last >= 0 && last <= maxPeriod))
      return checkpoint->damaged(fmt::format(
          "@{}: key {} had its last update in a period that is none",
          symbol->name, row.key));
    row.age = period - int64_t(last);
  }
  if (scored.empty())
    return {};
  double score = 0;
  for (const auto &[slot, weight] : scored)
    score += weight * row.slots[slot].front();
  row.score = score;
  return {};
}

ScannedRow TableScan::Reader::waitingRow(const WaitingKey &waiting) const {
  ScannedRow row;
  row.key = waiting.key;
  row.isWaiting = true;
  row.count = waiting.bits.count();
  if (every > 0)
    row.age = waiting.bits.age(period);
  return row;
}

Status TableScan::Reader::forEach(
    const std::function<Status(const ScannedRow &)> &visit,
    size_t memory) const {
  // ScanColumn numbers: 0 for the values, otherwise the slot's number plus 1.
  std::vector<size_t> parts = {0};
  for (size_t s = 0; s < symbol->slots.size(); ++s)
    if (symbol->isRowSlot(s))
      parts.push_back(s + 1);
  std::vector<ScanColumn> columns;
  int64_t width = 0;
  for (size_t part : parts) {
    columns.push_back(columnOf(part));
    width += columns.back().width;
  }
  const size_t bytesAtOnce = std::max<size_t>(1, rows.files().size()) *
                             size_t(std::max<int64_t>(1, width)) *
                             sizeof(double);
  const auto rowsAtOnce = int64_t(std::max<size_t>(1, memory / bytesAtOnce));
  // Indexed by file and column.
  std::vector<std::vector<ScanPiece>> pieces(
      rows.files().size(), std::vector<ScanPiece>(columns.size()));
  ScannedRow row;
  row.slots.resize(symbol->slots.size());
  for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
    const Expected<ShardRows::Shard> found = rows.read(shard);
    PDLRT_RETURN_IF_ERROR(found.status());
    for (const LinkedRows::Row &each : found->rows) {
      const LinkedRows::File &file = rows.files()[each.file];
      for (size_t c = 0; c < columns.size(); ++c) {
        ScanPiece &piece = pieces[each.file][c];
        if (each.index < piece.begin || each.index >= piece.end)
          PDLRT_RETURN_IF_ERROR(
              readPiece(columns[c], file, each.index,
                        std::min(rowsAtOnce, file.rows - each.index), piece));
        const auto at = piece.elements.begin() +
                        (each.index - piece.begin) * columns[c].width;
        std::vector<double> &to = c == 0 ? row.values : row.slots[parts[c] - 1];
        to.assign(at, at + columns[c].width);
      }
      row.key = each.key;
      row.file = file.content->path();
      PDLRT_RETURN_IF_ERROR(addFacts(row));
      PDLRT_RETURN_IF_ERROR(visit(row));
    }
    for (const WaitingKey &waiting : found->waiting)
      PDLRT_RETURN_IF_ERROR(visit(waitingRow(waiting)));
  }
  return {};
}

Expected<std::optional<ScannedRow>> TableScan::Reader::find(int64_t key) const {
  const Expected<ShardRows::Shard> shard =
      rows.read(EmbeddingTable::shardOf(key));
  PDLRT_RETURN_IF_ERROR(shard.status());
  const auto found =
      std::ranges::lower_bound(shard->rows, key, {}, &LinkedRows::Row::key);
  if (found != shard->rows.end() && found->key == key) {
    const LinkedRows::File &file = rows.files()[found->file];
    ScannedRow row;
    row.key = key;
    row.file = file.content->path();
    for (size_t part = 0; part <= symbol->slots.size(); ++part) {
      ScanPiece piece;
      PDLRT_RETURN_IF_ERROR(
          readPiece(columnOf(part), file, found->index, 1, piece));
      if (part == 0)
        row.values = std::move(piece.elements);
      else
        row.slots.push_back(std::move(piece.elements));
    }
    PDLRT_RETURN_IF_ERROR(addFacts(row));
    return std::optional(std::move(row));
  }
  for (const WaitingKey &waiting : shard->waiting)
    if (waiting.key == key)
      return std::optional(waitingRow(waiting));
  return std::optional<ScannedRow>();
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

TableScan::TableScan(std::unique_ptr<Reader> reader)
    : reader(std::move(reader)) {}
TableScan::TableScan(TableScan &&) noexcept = default;
TableScan &TableScan::operator=(TableScan &&) noexcept = default;
TableScan::~TableScan() = default;

Expected<TableScan> TableScan::open(const Checkpoint &checkpoint,
                                    const CheckpointSymbol &symbol) {
  Expected<ShardRows> rows = ShardRows::open(checkpoint, symbol.name);
  PDLRT_RETURN_IF_ERROR(rows.status());
  auto reader = std::make_unique<Reader>(checkpoint, symbol, *std::move(rows));
  PDLRT_RETURN_IF_ERROR(reader->readFacts());
  return TableScan(std::move(reader));
}

const CheckpointSymbol &TableScan::symbol() const { return *reader->symbol; }
bool TableScan::hasPeriods() const { return reader->every > 0; }
const std::vector<std::pair<std::string, double>> &
TableScan::scoreWeights() const {
  return reader->weights;
}
bool TableScan::waitsByScore() const { return reader->waitsByScore; }

Status
TableScan::forEach(const std::function<Status(const ScannedRow &row)> &visit,
                   size_t memory) const {
  return reader->forEach(visit, memory);
}
Expected<std::optional<ScannedRow>> TableScan::find(int64_t key) const {
  return reader->find(key);
}
