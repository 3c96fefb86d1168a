//===- NamedColumns.cpp - Columns that are found by name ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/NamedColumns.h"

#include "Data/CellSplitter.h"
#include "Data/ColumnMap.h"

using namespace pdlrt;

int32_t NamedColumns::add(const std::string &name) {
  const auto [found, isNew] = byName.emplace(name, int32_t(all.size()));
  if (isNew)
    all.push_back(name);
  return found->second;
}

NamedColumns::FieldColumns NamedColumns::columnsOf(const FieldNames &names) {
  FieldColumns columns;
  if (!names.whole.empty())
    columns.whole = add(names.whole);
  for (const std::string &name : names.slots)
    columns.slots.push_back(add(name));
  columns.absentIsZero = names.absentIsZero;
  return columns;
}

Expected<NamedColumns> NamedColumns::create(const RecordReaderOptions &options,
                                            const NamesOfField &namesOf) {
  NamedColumns columns;
  for (int32_t i = 0; i < options.program.field_count; ++i) {
    auto names = namesOf(size_t(options.program.fields[i]));
    PDLRT_RETURN_IF_ERROR(names.status());
    columns.byField.push_back(columns.columnsOf(*names));
  }
  if (const std::optional<size_t> id = idFieldOf(options)) {
    auto names = namesOf(*id);
    PDLRT_RETURN_IF_ERROR(names.status());
    const FieldColumns found = columns.columnsOf(*names);
    columns.copiedColumns = {found.slots.empty() ? found.whole
                                                 : found.slots.front()};
  }
  for (const std::string &name : options.data.copyColumns)
    columns.copiedColumns.push_back(columns.add(name));
  return columns;
}

int32_t NamedColumns::find(std::string_view name) const {
  const auto found = byName.find(name);
  return found == byName.end() ? -1 : found->second;
}

Expected<FieldNames> pdlrt::namesLikeField(const pdl_field &field,
                                           std::string_view format,
                                           bool hasLists) {
  FieldNames names;
  if (field.column_count && !field.column_names)
    return Status::invalidArgument(
        fieldText(field) + " has the positions of its columns, but values of " +
        std::string(format) + " have names; give their names in columns(...)");
  for (int64_t slot = 0; slot < field.width; ++slot)
    if (field.column_count)
      names.slots.emplace_back(trim(field.column_names[slot]));
    else if (field.width > 1)
      names.slots.push_back(field.name + ("." + std::to_string(slot)));
  const bool isWhole =
      field.kind != PDL_FIELD_RAGGED || field.width == 1 || hasLists;
  if (!field.column_count && isWhole)
    names.whole = field.name;
  return names;
}
