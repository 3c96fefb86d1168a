//===- ColumnMap.cpp - Maps columns of a file to fields -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnMap.h"

#include "Data/CellParser.h"
#include "Data/CellSplitter.h"
#include "pdlrt/Core/Suggestion.h"
#include "pdlrt/Core/WholeNumber.h"

#include <algorithm>
#include <cctype>

using namespace pdlrt;

std::optional<int64_t> pdlrt::columnNumberOf(const std::string &text) {
  const auto number = parseWholeNumber(text, 1, uint64_t(1) << 31);
  return number ? std::optional(int64_t(*number) - 1) : std::nullopt;
}

std::string pdlrt::fieldText(const pdl_field &field) {
  return std::string("field `") + field.name + "`";
}

/// Returns the header name of a slot of a field without declared `columns`.
static std::string slotName(const pdl_field &field, int64_t slot) {
  return field.width == 1 ? std::string(field.name)
                          : field.name + ("." + std::to_string(slot));
}

std::optional<size_t> pdlrt::idFieldOf(const RecordReaderOptions &options) {
  const std::string &wanted = options.data.idField;
  for (int32_t i = 0; !wanted.empty() && i < options.descriptor.field_count;
       ++i)
    if (wanted == options.descriptor.fields[i].name)
      return size_t(i);
  return std::nullopt;
}

static bool takesColumnsInOrder(const pdl_field &field) {
  return field.column_count == 0;
}

ColumnMap::ColumnMap(const RecordReaderOptions &options)
    : options(&options), isRead(size_t(options.descriptor.field_count)),
      byField(size_t(options.descriptor.field_count)) {
  for (int32_t i = 0; i < options.program.field_count; ++i)
    isRead[size_t(options.program.fields[i])] = true;
  if (const std::optional<size_t> id = idFieldOf(options))
    isRead[*id] = true;
}

Expected<ColumnMap> ColumnMap::create(const RecordReaderOptions &options,
                                      const Header *header) {
  ColumnMap map(options);
  if (options.data.columns.empty())
    PDLRT_RETURN_IF_ERROR(map.mapByModel(header));
  else
    map.mapByFlag();
  for (int32_t i = 0; i < options.program.field_count; ++i)
    map.columns.push_back(map.byField[size_t(options.program.fields[i])]);
  PDLRT_RETURN_IF_ERROR(map.findCopied(header));
  if (header)
    if (std::string wrong = map.checkCells(int64_t(header->size()));
        !wrong.empty())
      return Status::invalidArgument(
          map.lacking.empty() ? wrong : map.lacking + "; " + wrong);
  return map;
}

/// Returns the first name of a field, in the order of the record, that the
/// header lacks and that `wants` accepts. Returns an empty text if there is
/// none.
template <typename Wants>
static std::string firstLacking(const pdl_descriptor &descriptor,
                                const std::vector<std::string> &header,
                                const pdl_field *&lacking, Wants wants) {
  for (int32_t i = 0; i < descriptor.field_count; ++i)
    for (int64_t slot = 0;
         wants(size_t(i)) && slot < descriptor.fields[i].width; ++slot) {
      std::string name = slotName(descriptor.fields[i], slot);
      if (std::ranges::find(header, name) != header.end())
        continue;
      lacking = &descriptor.fields[i];
      return name;
    }
  return {};
}

/// Returns a message about the column that a field needs and the header lacks.
/// Suggests the column that may be meant.
static std::string lackingText(const pdl_field &field, const std::string &name,
                               const std::vector<std::string> &header,
                               const pdl_descriptor &descriptor) {
  const auto isSame = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  std::string text = "the header has no column " + quoteText(name) +
                     ", which " + fieldText(field) + " reads";
  for (const std::string &other : header)
    if (std::ranges::equal(name, other, isSame))
      return text + ", but " + quoteText(other) + ", in other letters";
  // Names of other fields are not candidates.
  std::vector<std::string> others;
  for (const std::string &other : header) {
    bool isField = false;
    for (int32_t i = 0; i < descriptor.field_count; ++i)
      for (int64_t slot = 0; slot < descriptor.fields[i].width; ++slot)
        isField |= other == slotName(descriptor.fields[i], slot);
    if (!isField)
      others.push_back(other);
  }
  if (const std::string *nearest = nearestName(name, others))
    return text + ", but " + quoteText(*nearest);
  constexpr size_t named = 8;
  if (others.empty())
    return text;
  text += ", but ";
  for (size_t i = 0; i < others.size() && i < named; ++i)
    text += (i ? ", " : "") + quoteText(others[i]);
  return text + (others.size() > named ? ", ..." : "");
}

/// Uses the columns that `--columns` lists.
void ColumnMap::mapByFlag() {
  byPosition = true;
  int64_t next = 0;
  for (const std::string &entry : options->data.columns) {
    if (entry == "_") {
      ++next;
      continue;
    }
    size_t index = 0;
    while (entry != field(index).name)
      ++index;
    for (int64_t slot = 0; slot < field(index).width; ++slot)
      byField[index].push_back(next++);
  }
  cellCount = next;
  counted = "--columns has " + std::to_string(next);
}

/// Finds columns by their names in the header.
static Status findByName(const pdl_field &field,
                         const std::vector<std::string> &names,
                         const std::vector<std::string> &header,
                         const pdl_descriptor &descriptor,
                         std::vector<int64_t> &columns) {
  for (const std::string &name : names) {
    auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end())
      return Status::invalidArgument(
          lackingText(field, name, header, descriptor) +
          "; name it there, or say with --columns "
          "which column is which field");
    if (std::find(found + 1, header.end(), name) != header.end())
      return Status::invalidArgument("the header names two columns " +
                                     quoteText(name) + ", which " +
                                     fieldText(field) + " reads");
    columns.push_back(found - header.begin());
  }
  return {};
}

/// Returns an error if the header contains the field's name at another column
/// than the record declares. Such a contradiction has no safe interpretation.
static Status checkNotElsewhere(const pdl_field &field,
                                const std::vector<int64_t> &columns,
                                const std::vector<std::string> &header,
                                const std::string &lacking) {
  for (int64_t slot = 0; slot < field.width; ++slot) {
    const std::string name = slotName(field, slot);
    const auto found = std::find(header.begin(), header.end(), name);
    if (found != header.end() && found - header.begin() != columns[slot])
      return Status::invalidArgument(
          (lacking.empty() ? "" : lacking + "; ") + "the header names column " +
          std::to_string(found - header.begin() + 1) + " " + quoteText(name) +
          ", which by the order of the record is column " +
          std::to_string(columns[slot] + 1) +
          "; name all fields there, or say with --columns which column is "
          "which field");
  }
  return {};
}

/// Uses the columns that the model declares, or all columns of the record in
/// order. A header that contains the names of all fields that are read
/// determines their columns.
Status ColumnMap::mapByModel(const Header *header) {
  bool isNamed = header != nullptr, isWholeRecord = true;
  int64_t recordColumns = 0;
  for (size_t i = 0; i < byField.size(); ++i) {
    recordColumns += field(i).width;
    isWholeRecord &= takesColumnsInOrder(field(i));
    for (int64_t slot = 0;
         isNamed && isRead[i] && takesColumnsInOrder(field(i)) &&
         slot < field(i).width;
         ++slot)
      isNamed = std::count(header->begin(), header->end(),
                           slotName(field(i), slot)) > 0;
  }
  if (isWholeRecord && !isNamed) {
    cellCount = recordColumns;
    counted = "the record has " + std::to_string(recordColumns);
  }
  // A header that lacks names of fields that are read was meant in another way,
  // or is useless.
  const pdl_field *without = nullptr;
  const std::string name =
      !header || isNamed
          ? std::string()
          : firstLacking(options->descriptor, *header, without, [&](size_t i) {
              return isRead[i] && takesColumnsInOrder(field(i));
            });
  if (without) {
    lacking = lackingText(*without, name, *header, options->descriptor);
    unnamed = lacking +
              ": columns are taken in the order of the record, whatever their "
              "names are; name all fields there, or say with --columns which "
              "column is which field";
  }
  int64_t following = 0;
  const pdl_field *unknownBefore = nullptr;
  for (size_t i = 0; i < byField.size(); ++i) {
    const pdl_field &current = field(i);
    std::vector<int64_t> &own = byField[i];
    byPosition |= isRead[i] && !current.column_names &&
                  (current.column_positions || !isNamed);
    if (current.column_count && current.column_positions) {
      own.assign(current.column_positions,
                 current.column_positions + current.width);
    } else if (current.column_count || isNamed) {
      std::vector<std::string> names;
      for (int64_t slot = 0; slot < current.width; ++slot)
        names.push_back(current.column_count
                            ? std::string(trim(current.column_names[slot]))
                            : slotName(current, slot));
      Status status =
          header ? findByName(current, names, *header, options->descriptor, own)
                 : Status::invalidArgument(
                       fieldText(current) +
                       " finds its columns by name, but the file "
                       "is read without a header; pass --header");
      if (!status.ok() && isRead[i])
        return status;
      if (!status.ok()) {
        // The field is not read; only the positions of later fields are
        // unknown.
        own.clear();
        unknownBefore = &current;
        continue;
      }
    } else {
      if (unknownBefore && isRead[i])
        return Status::invalidArgument(
            fieldText(current) + " follows the columns of " +
            fieldText(*unknownBefore) +
            ", which the file does not have; give " + fieldText(current) +
            " columns of its own");
      if (unknownBefore)
        continue;
      for (int64_t slot = 0; slot < current.width; ++slot)
        own.push_back(following + slot);
      if (header)
        PDLRT_RETURN_IF_ERROR(
            checkNotElsewhere(current, own, *header, lacking));
    }
    unknownBefore = nullptr;
    following = own.empty() ? following : own.back() + 1;
  }
  return {};
}

Status ColumnMap::findCopied(const Header *header) {
  if (const std::optional<size_t> id = idFieldOf(*options))
    copiedColumns = {byField[*id].front()};
  for (const std::string &wanted : options->data.copyColumns) {
    std::optional<int64_t> column = columnNumberOf(wanted);
    if (header) {
      const auto found = std::find(header->begin(), header->end(), wanted);
      if (found != header->end())
        column = found - header->begin();
    }
    if (!column)
      return Status::invalidArgument(
          "--copy-column " + quoteText(wanted) +
          " is no name in the header, and no number of a "
          "column, counted from 1");
    copiedColumns.push_back(*column);
  }
  return {};
}

std::string ColumnMap::checkCells(int64_t cells) const {
  const std::string has = "the row has " + std::to_string(cells) + " cells, ";
  if (cellCount && cells != *cellCount)
    return has + "but " + counted +
           " columns; give whole records, name the columns in the first line "
           "(--header), or say with --columns what they are; check the "
           "delimiter (--delimiter) too";
  for (size_t i = 0; i < columns.size(); ++i)
    for (int64_t column : columns[i])
      if (column < 0 || column >= cells)
        return has + "but " +
               fieldText(field(size_t(options->program.fields[i]))) +
               " reads cell " + std::to_string(column + 1) +
               "; check the delimiter (--delimiter) and the record's columns";
  for (const int64_t column : copiedColumns)
    if (column >= cells)
      return has + "but " +
             (options->data.idField.empty() ? "--copy-column"
                                            : "--id " + options->data.idField) +
             " wants cell " + std::to_string(column + 1);
  return {};
}
