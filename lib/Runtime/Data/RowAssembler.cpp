//===- RowAssembler.cpp - Makes records of named values -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RowAssembler.h"

#include "Data/CellSplitter.h"
#include "Data/ColumnMap.h"
#include "Data/FieldTexts.h"
#include "Data/RowDefect.h"
#include "pdlrt/Core/Log.h"

#include <charconv>

using namespace pdlrt;

Expected<RowAssembler> RowAssembler::create(const RecordReaderOptions &options,
                                            const NamesOfField &namesOf) {
  auto columns = NamedColumns::create(options, namesOf);
  PDLRT_RETURN_IF_ERROR(columns.status());
  RowAssembler assembler(*std::move(columns));
  assembler.program = &options.program;
  assembler.copiesTexts = options.data.copyTexts;
  assembler.fields = fieldsOf(options.descriptor, options.program);
  assembler.lists.resize(assembler.named.names().size());
  for (size_t i = 0; i < assembler.fields.size(); ++i) {
    const pdl_field &field = *assembler.fields[i];
    auto parser = CellParser::create(field);
    PDLRT_RETURN_IF_ERROR(parser.status());
    assembler.parsers.push_back(*std::move(parser));
    if (field.kind != PDL_FIELD_RAGGED)
      continue;
    const NamedColumns::FieldColumns &own = assembler.named.fields()[i];
    if (own.whole >= 0 && field.width > 1)
      assembler.lists[size_t(own.whole)].isNested = true;
    if (own.whole >= 0 && field.separator)
      assembler.lists[size_t(own.whole)].bags = &field;
    for (const int32_t column : own.slots)
      if (field.separator)
        assembler.lists[size_t(column)].bags = &field;
  }
  return assembler;
}

RowAssembler RowAssembler::discovering(const std::vector<std::string> &known) {
  RowAssembler assembler{NamedColumns()};
  assembler.isDiscovering = true;
  for (const std::string &name : known)
    assembler.named.add(name);
  assembler.lists.resize(known.size());
  return assembler;
}

void RowAssembler::clear() {
  for (List &list : lists) {
    list.values.clear();
    list.ends.clear();
    list.isGiven = false;
    list.isAlone = false;
  }
  position = 0;
  keptCount = 0;
}

void RowAssembler::clear(std::span<const int32_t> columns) {
  for (const int32_t column : columns) {
    List &list = lists[size_t(column)];
    list.values.clear();
    list.ends.clear();
    list.isGiven = false;
    list.isAlone = false;
  }
  keptCount = 0;
}

int32_t RowAssembler::columnOf(std::string_view name) {
  // Longer rows are searched by name.
  constexpr size_t maxOrder = 4096;
  if (position < order.size() && order[position].name == name)
    return order[position++].column;
  int32_t column = named.find(name);
  if (column < 0 && isDiscovering) {
    column = named.add(std::string(name));
    lists.emplace_back();
  }
  if (position < maxOrder) {
    if (position == order.size())
      order.emplace_back();
    order[position].name = name;
    order[position].column = column;
    ++position;
  }
  return column;
}

void RowAssembler::addCell(int32_t column, std::string_view text) {
  const pdl_field *field = lists[size_t(column)].bags;
  if (!field) {
    add(column, RowValue::ofText(text));
    return;
  }
  divided.clear();
  splitFieldText(*field, text, divided);
  // As in delimited text, a separator at the end only ends the last value.
  if (field->missing_element_kind == PDL_MISSING_ERROR && divided.size() > 1 &&
      divided.back().empty())
    divided.pop_back();
  for (const std::string_view each : divided)
    add(column, RowValue::ofText(each));
}

std::string &RowAssembler::keep() {
  if (keptCount == kept.size())
    kept.emplace_back();
  std::string &text = kept[keptCount++];
  text.clear();
  return text;
}

/// Fills `slots` with the values of a field.
Status RowAssembler::findSlots(size_t index) {
  const pdl_field &field = *fields[index];
  const NamedColumns::FieldColumns &own = named.fields()[index];
  const auto width = size_t(field.width);
  slots.assign(width, {});
  const bool hasWhole = own.whole >= 0 && isGiven(own.whole);
  for (size_t slot = 0; slot < own.slots.size(); ++slot) {
    const List &list = lists[size_t(own.slots[slot])];
    if (!list.isGiven)
      continue;
    if (hasWhole)
      return Status::invalidArgument(
          "the row has both `" + named.names()[size_t(own.whole)] + "` and `" +
          named.names()[size_t(own.slots[slot])] + "`; give one of them");
    slots[slot] = list.values;
  }
  if (!hasWhole)
    return {};
  const List &list = lists[size_t(own.whole)];
  if (list.isNested) {
    // One missing value stands for all bags.
    if (list.ends.empty() &&
        std::ranges::all_of(list.values, [](const RowValue &value) {
          return value.kind == RowValue::Kind::Missing;
        }))
      return {};
    if (list.ends.size() != width)
      return Status::invalidArgument("has " + std::to_string(list.ends.size()) +
                                     " bags, but the field has " +
                                     std::to_string(width) +
                                     " slots; give a list for each");
    size_t begin = 0;
    for (size_t slot = 0; slot < width; ++slot) {
      slots[slot] =
          std::span(list.values).subspan(begin, list.ends[slot] - begin);
      begin = list.ends[slot];
    }
    return {};
  }
  if (field.kind == PDL_FIELD_RAGGED || width == 1) {
    slots.front() = list.values;
    return {};
  }
  const bool isMissing = list.values.empty() ||
                         (list.values.size() == 1 &&
                          list.values.front().kind == RowValue::Kind::Missing);
  if (isMissing)
    return {};
  if (list.values.size() != width)
    return Status::invalidArgument(
        "has " + std::to_string(list.values.size()) +
        " values, but the field has " + std::to_string(width) +
        "; give all of them, or null for a missing one");
  for (size_t slot = 0; slot < width; ++slot)
    slots[slot] = std::span(list.values).subspan(slot, 1);
  return {};
}

Status RowAssembler::appendSlots(size_t index, RecordColumns::Column &column) {
  PDLRT_RETURN_IF_ERROR(findSlots(index));
  static const RowValue zero = RowValue::ofInteger(0);
  if (named.fields()[index].absentIsZero)
    for (std::span<const RowValue> &slot : slots)
      if (slot.empty())
        slot = {&zero, 1};
  size_t failed = 0;
  Status status = parsers[index].append(slots, column, failed);
  if (!status.ok() && fields[index]->width > 1)
    return Status::invalidArgument("slot " + std::to_string(failed) + ": " +
                                   status.message());
  return status;
}

Status RowAssembler::appendField(size_t index, RecordColumns::Column &column) {
  const Status status = appendSlots(index, column);
  if (status.ok())
    return {};
  const NamedColumns::FieldColumns &own = named.fields()[index];
  const bool isAbsent =
      std::ranges::all_of(slots, &std::span<const RowValue>::empty) &&
      (own.whole < 0 || !isGiven(own.whole));
  return Status::invalidArgument(
      fieldText(*fields[index]) + ": " +
      (isAbsent ? "the row has no `" +
                      named.names()[size_t(
                          own.whole >= 0 ? own.whole : own.slots.front())] +
                      "`: "
                : "") +
      status.message());
}

Status RowAssembler::append(RecordColumns &into) {
  ++rows;
  for (List &list : lists)
    list.wasGiven |= list.isGiven;
  for (size_t i = 0; i < fields.size(); ++i)
    PDLRT_RETURN_IF_ERROR(appendField(i, into.column(i)));
  if (program->joined_count == 0 && program->id_range_count == 0)
    return {};
  if (const auto found =
          findRowDefect(*program, into, [this](size_t field, int64_t slot) {
            return parsers[field].leftOutOf(size_t(slot));
          }))
    return Status::invalidArgument(found->text);
  return {};
}

/// Returns the text of a value, as delimited text would have it.
std::string_view RowAssembler::cellTextOf(const RowValue &value) {
  char digits[32];
  std::to_chars_result end = {};
  switch (value.kind) {
  case RowValue::Kind::Missing:
    return {};
  case RowValue::Kind::Text:
  case RowValue::Kind::Truth:
    return value.text;
  case RowValue::Kind::Integer:
    end = std::to_chars(digits, digits + sizeof(digits), value.integer);
    break;
  case RowValue::Kind::Number:
    end = std::to_chars(digits, digits + sizeof(digits), value.number);
    break;
  }
  return keep().assign(digits, end.ptr);
}

std::string_view RowAssembler::copied(bool isGood) {
  texts.clear();
  if (copiesTexts && isGood) {
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!hasTexts(*fields[i]))
        continue;
      // A row that was converted has suitable values.
      (void)findSlots(i);
      for (const std::span<const RowValue> slot : slots) {
        // An id that is not in a bag has a text even if it is missing.
        const bool isAlone = fields[i]->kind != PDL_FIELD_RAGGED;
        beginFieldTexts(isAlone ? 1 : slot.size(), texts);
        for (const RowValue &value : slot)
          appendFieldText(cellTextOf(value), texts);
        if (isAlone && slot.empty())
          appendFieldText({}, texts);
      }
    }
    return texts;
  }
  const std::vector<int32_t> &columns = named.copied();
  const auto cellOf = [&](int32_t column) {
    const std::vector<RowValue> &values = lists[size_t(column)].values;
    return values.empty() ? std::string_view() : cellTextOf(values.front());
  };
  if (columns.size() < 2)
    return columns.empty() ? std::string_view() : cellOf(columns.front());
  for (const int32_t column : columns)
    appendFieldText(cellOf(column), texts);
  return texts;
}

void RowAssembler::warn(const std::string &path) const {
  for (size_t i = 0; i < fields.size() && rows > 0; ++i) {
    const NamedColumns::FieldColumns &own = named.fields()[i];
    bool wasGiven = own.whole >= 0 && lists[size_t(own.whole)].wasGiven;
    for (const int32_t column : own.slots)
      wasGiven |= lists[size_t(column)].wasGiven;
    if (!wasGiven && !own.absentIsZero)
      logWarningOnce(path + ": no row has a value of " + fieldText(*fields[i]) +
                     ", so that all of its values are missing; check its name "
                     "in the data and in the record");
  }
  for (size_t i = 0; i < parsers.size(); ++i)
    if (parsers[i].decimalIds() > 0)
      logWarningOnce(path + ": " + fieldText(*fields[i]) + ": " +
                     std::to_string(parsers[i].decimalIds()) +
                     " ids end in `.0`, such as `" +
                     parsers[i].firstDecimalId() +
                     "`, which is another id than the same without it; write "
                     "them as whole numbers");
}
