//===- ColumnBinding.cpp - Finds the columns of fields in a file ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnBinding.h"

#include "Data/CellParser.h"
#include "Data/ColumnMap.h"
#include "Data/PartitionFolders.h"
#include "pdlrt/Core/Log.h"

#include <algorithm>
#include <string_view>

using namespace pdlrt;

namespace {

class Binder {
public:
  Binder(const PdlColumnSchema &schema, const std::string &path,
         const NamedColumns &columns, const RecordReaderOptions &options)
      : schema(schema), path(path), columns(columns), options(options),
        folders(partitionValuesOf(path)) {}

  Expected<ColumnBinding> bind();

private:
  Status findSource(size_t name);
  Status bindField(size_t index, const pdl_field &field);
  Status bindCopied();
  void select(int32_t name);
  Status checkType(int32_t name, const pdl_field &field, bool isWhole) const;
  Status refuseLack(const std::string &name, const std::string &user) const;

  const PdlColumnSchema &schema;
  const std::string &path;
  const NamedColumns &columns;
  const RecordReaderOptions &options;
  const std::map<std::string, std::optional<std::string>> folders;
  ColumnBinding result;
  std::vector<int32_t> fileColumns; ///< By name; -1: not in the file.
};

Status Binder::findSource(size_t name) {
  const std::string &wanted = columns.names()[name];
  ColumnBinding::Source source;
  int32_t found = -1;
  for (int32_t i = 0; i < schema.childCount; ++i) {
    if (wanted != schema.children[i]->name)
      continue;
    if (found >= 0)
      return Status::invalidArgument("has two columns " + quoteText(wanted) +
                                     "; rename one of them");
    found = i;
  }
  fileColumns.push_back(found);
  if (const auto value = folders.find(wanted);
      found < 0 && value != folders.end()) {
    source.constant = value->second;
    source.isKnown = true;
  }
  source.isKnown |= found >= 0;
  result.sources.push_back(std::move(source));
  return {};
}

/// Selects the column of a name, if the file has one.
void Binder::select(int32_t name) {
  const int32_t column = fileColumns[size_t(name)];
  if (column < 0 ||
      std::ranges::find(result.selected, column) != result.selected.end())
    return;
  result.selected.push_back(column);
}

Status Binder::checkType(int32_t name, const pdl_field &field,
                         bool isWhole) const {
  const int32_t column = fileColumns[size_t(name)];
  if (column < 0)
    return isWhole && field.width > 1
               ? Status::invalidArgument(
                     "the folder's name has one value of " +
                     quoteText(columns.names()[size_t(name)]) + ", but " +
                     fieldText(field) + " has " + std::to_string(field.width) +
                     "; write the column to the file")
               : Status();
  const std::string context =
      "column " + quoteText(columns.names()[size_t(name)]);
  const auto type = parseColumnType(*schema.children[column]);
  if (!type)
    return Status::invalidArgument(context + " " + type.status().message());
  const Status suits = checkColumnType(*type, field, isWhole);
  return suits.ok() ? Status()
                    : Status::invalidArgument(context + " " + suits.message());
}

/// Returns the error that a column does not exist.
Status Binder::refuseLack(const std::string &name,
                          const std::string &user) const {
  std::string known;
  constexpr int64_t most = 12;
  for (int64_t i = 0; i < std::min(schema.childCount, most); ++i)
    known += (i ? ", " : "") + quoteText(schema.children[i]->name);
  return Status::invalidArgument("has no column " + quoteText(name) +
                                 ", which " + user + "; its columns are " +
                                 (known.empty() ? "none" : known) +
                                 (schema.childCount > most ? ", ..." : ""));
}

Status Binder::bindField(size_t index, const pdl_field &field) {
  const NamedColumns::FieldColumns &own = columns.fields()[index];
  ColumnBinding::Field bound;
  const auto isKnown = [&](int32_t name) {
    return name >= 0 && result.sources[size_t(name)].isKnown;
  };
  const auto slot = std::ranges::find_if(own.slots, isKnown);
  bound.isWhole = isKnown(own.whole);
  if (bound.isWhole && slot != own.slots.end())
    return Status::invalidArgument(
        "has both columns " + quoteText(columns.names()[size_t(own.whole)]) +
        " and " + quoteText(columns.names()[size_t(*slot)]) +
        "; rename one of them");
  if (!bound.isWhole && slot == own.slots.end()) {
    const int32_t name = own.whole >= 0 ? own.whole : own.slots.front();
    const Status lack =
        refuseLack(columns.names()[size_t(name)], fieldText(field) + " reads");
    if (field.missing_kind == PDL_MISSING_ERROR)
      return lack;
    logWarningOnce(path + ": " + lack.message() + "; all values of " +
                   fieldText(field) + " are missing");
  }
  bound.names = bound.isWhole || own.slots.empty()
                    ? std::vector<int32_t>{own.whole}
                    : own.slots;
  for (const int32_t name : bound.names) {
    PDLRT_RETURN_IF_ERROR(checkType(name, field, bound.isWhole));
    select(name);
  }
  result.fields.push_back(std::move(bound));
  return {};
}

/// Finds the columns that predictions copy.
Status Binder::bindCopied() {
  for (const int32_t name : columns.copied()) {
    const std::string &text = columns.names()[size_t(name)];
    if (!result.sources[size_t(name)].isKnown)
      return refuseLack(text, "predictions copy");
    const int32_t column = fileColumns[size_t(name)];
    if (column < 0)
      continue;
    const auto type = parseColumnType(*schema.children[column]);
    const Status status =
        !type ? type.status()
        : type->lists.empty()
            ? Status()
            : Status::invalidArgument("is " + columnTypeText(*type) +
                                      ", but predictions copy single values");
    if (!status.ok())
      return Status::invalidArgument("column " + quoteText(text) + " " +
                                     status.message());
    select(name);
  }
  return {};
}

Expected<ColumnBinding> Binder::bind() {
  for (size_t name = 0; name < columns.names().size(); ++name)
    PDLRT_RETURN_IF_ERROR(findSource(name));
  const std::vector<const pdl_field *> fields =
      fieldsOf(options.descriptor, options.program);
  for (size_t i = 0; i < fields.size(); ++i)
    PDLRT_RETURN_IF_ERROR(bindField(i, *fields[i]));
  const std::vector<int32_t> read = result.selected;
  PDLRT_RETURN_IF_ERROR(bindCopied());
  if (result.selected.empty()) {
    if (schema.childCount == 0)
      return Status::invalidArgument("has no columns");
    // Reading a column tells the number of rows.
    result.selected.push_back(0);
    return std::move(result);
  }
  std::ranges::sort(result.selected);
  for (const int32_t column : result.selected) {
    result.types.push_back(*parseColumnType(*schema.children[column]));
    result.isRead.push_back(std::ranges::find(read, column) != read.end());
  }
  for (size_t name = 0; name < fileColumns.size(); ++name) {
    const auto place = std::ranges::find(result.selected, fileColumns[name]);
    if (place != result.selected.end())
      result.sources[name].column = int32_t(place - result.selected.begin());
  }
  for (ColumnBinding::Field &field : result.fields)
    for (const int32_t name : field.names)
      field.columns.push_back(result.sources[size_t(name)].column);
  return std::move(result);
}

} // namespace

Expected<ColumnBinding>
ColumnBinding::create(const PdlColumnSchema &schema, const std::string &path,
                      const NamedColumns &columns,
                      const RecordReaderOptions &options) {
  return Binder(schema, path, columns, options).bind();
}
