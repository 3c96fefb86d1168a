//===- MultiSlotFormat.cpp - Paddle's data feed ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A line has a number of values and the values, for each slot in order.
//
//===----------------------------------------------------------------------===//

#include "Data/BlankTokens.h"
#include "Data/ColumnMap.h"
#include "Data/FileFormat.h"
#include "Data/RowReader.h"
#include "pdlrt/Core/WholeNumber.h"

#include <algorithm>

using namespace pdlrt;

/// Maximum number of values of a slot.
static constexpr uint64_t maxSlotValues = uint64_t(1) << 24;

namespace {

/// The slots of a line, and the fields that they belong to.
struct SlotOrder {
  /// Indexed by field of the record.
  std::vector<FieldNames> fields;
  /// Number of slots of each line; none: any number from `minSlots`.
  std::optional<size_t> slots;
  /// One more than the last slot that a field has.
  size_t minSlots = 0;
};

class MultiSlotParser final : public RowParser {
public:
  /// Creates a parser that takes all slots, for files without a record.
  MultiSlotParser() = default;
  MultiSlotParser(const RowAssembler &row, const SlotOrder &order)
      : slots(order.slots), minSlots(order.minSlots) {
    for (size_t slot = 0; slot < minSlots; ++slot)
      columns.push_back(row.columns().find(std::to_string(slot)));
  }
  Status parse(std::string_view line, RowAssembler &row,
               size_t &column) override;

private:
  std::vector<int32_t> columns; ///< By slot.
  std::optional<size_t> slots;
  size_t minSlots = 0;
};

} // namespace

Status MultiSlotParser::parse(std::string_view line, RowAssembler &row,
                              size_t &column) {
  BlankTokens tokens(line);
  std::string_view token;
  size_t slot = 0;
  for (; tokens.next(token); ++slot) {
    column = tokens.columnOf(token);
    if (slots && slot == *slots)
      return Status::invalidArgument(
          "the line has more than the " + std::to_string(*slots) +
          " slots of the record; name them in --columns, "
          "with _ for a slot that is no field");
    const auto count = parseWholeNumber(std::string(token), 0, maxSlotValues);
    if (!count)
      return Status::invalidArgument(
          quoteText(token) + " should be the number of values of slot " +
          std::to_string(slot) +
          ", counted from 0; a line has a number and as "
          "many values for each slot");
    if (slot == columns.size() && row.discovers())
      columns.push_back(row.columnOf(std::to_string(slot)));
    const int32_t into = slot < columns.size() ? columns[slot] : -1;
    if (into >= 0)
      row.begin(into);
    for (uint64_t i = 0; i < *count; ++i) {
      if (!tokens.next(token)) {
        column = line.size() + 1;
        return Status::invalidArgument(
            "slot " + std::to_string(slot) + " has " + std::to_string(i) +
            " of its " + std::to_string(*count) + " values; is the line cut?");
      }
      if (into >= 0)
        row.add(into, RowValue::ofText(token));
    }
  }
  column = line.size() + 1;
  if (slot < minSlots)
    return Status::invalidArgument(
        "the line has " + std::to_string(slot) + " slots, but the record has " +
        std::to_string(minSlots) + "; name the slots of the file in --columns");
  column = 0;
  return {};
}

/// Returns true if one slot has the numbers of all columns of a field.
static bool isOneSlot(const pdl_field &field) {
  return field.kind == PDL_FIELD_DENSE;
}

/// Gives a field the next slots. `next`: in, its first slot; out, the one after
/// it.
static FieldNames takeSlots(const pdl_field &field, size_t &next) {
  FieldNames names;
  if (isOneSlot(field) || field.width == 1) {
    names.whole = std::to_string(next++);
    return names;
  }
  for (int64_t slot = 0; slot < field.width; ++slot)
    names.slots.push_back(std::to_string(next++));
  return names;
}

/// Gives slots to the fields in the order of --columns.
static SlotOrder slotsByFlag(const RecordReaderOptions &options) {
  SlotOrder order;
  order.fields.resize(size_t(options.descriptor.field_count));
  size_t next = 0;
  for (const std::string &entry : options.data.columns) {
    if (entry == "_") {
      ++next;
      continue;
    }
    for (size_t i = 0; i < order.fields.size(); ++i)
      if (entry == options.descriptor.fields[i].name)
        order.fields[i] = takeSlots(options.descriptor.fields[i], next);
  }
  order.slots = order.minSlots = next;
  return order;
}

/// Gives slots to the fields as the model declares, or in the order of the
/// record.
static Expected<SlotOrder> slotsByModel(const RecordReaderOptions &options) {
  SlotOrder order;
  size_t next = 0;
  bool isWhole = true;
  for (int32_t i = 0; i < options.descriptor.field_count; ++i) {
    const pdl_field &field = options.descriptor.fields[i];
    if (!field.column_count) {
      order.fields.push_back(takeSlots(field, next));
    } else if (field.column_names) {
      return Status::invalidArgument(
          fieldText(field) + " has the names of its columns, but slots of a "
                             "MultiSlot line have only numbers; give positions "
                             "in columns(...)");
    } else {
      isWhole = false;
      FieldNames names;
      for (int64_t slot = 0; slot < field.width; ++slot) {
        names.slots.push_back(std::to_string(field.column_positions[slot]));
        next = size_t(field.column_positions[slot]) + 1;
      }
      order.fields.push_back(std::move(names));
    }
    order.minSlots = std::max(order.minSlots, next);
  }
  if (isWhole)
    order.slots = order.minSlots;
  return order;
}

namespace {

class MultiSlotFormat final : public FileFormat {
public:
  std::string_view name() const override { return "MultiSlot"; }
  std::string_view flag() const override { return "multislot"; }

  std::span<const std::string_view> suffixes() const override {
    static constexpr std::string_view all[] = {".multislot"};
    return all;
  }

  const FormatTraits &traits() const override {
    static constexpr FormatTraits all = {
        .hasIdTexts = true, .mayBePacked = true, .isCached = true};
    return all;
  }

  Status checkFlags(const std::string &path,
                    const DataOptions &data) const override {
    if (!data.copyColumns.empty())
      return Status::invalidArgument(path +
                                     ": slots of a MultiSlot line have no "
                                     "names for --copy-column; make the slot a "
                                     "field of the record, and give --id");
    return refuseCellFlags(path, data, "a MultiSlot line has no cells",
                           /*mayListColumns=*/true);
  }

  Expected<std::unique_ptr<RecordReader>>
  open(const std::string &path, int32_t fileIndex,
       const RecordReaderOptions &options) const override {
    Expected<SlotOrder> order = options.data.columns.empty()
                                    ? slotsByModel(options)
                                    : slotsByFlag(options);
    if (!order)
      return std::move(order).status().withContext(path);
    auto row = RowAssembler::create(options,
                                    [&](size_t field) -> Expected<FieldNames> {
                                      return order->fields[field];
                                    });
    PDLRT_RETURN_IF_ERROR(row.status());
    auto parser = std::make_unique<MultiSlotParser>(*row, *order);
    return openLineReader(path, fileIndex, options, std::move(parser),
                          *std::move(row));
  }

  Expected<std::unique_ptr<RawRows>>
  openRaw(const std::string &path,
          const RecordReaderOptions &options) const override {
    return openRawLines(path, options, std::make_unique<MultiSlotParser>(),
                        RowAssembler::discovering());
  }
};

} // namespace

namespace pdlrt {

const FileFormat &multiSlotFormat() {
  static const MultiSlotFormat format;
  return format;
}

} // namespace pdlrt
