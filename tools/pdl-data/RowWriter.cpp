//===- RowWriter.cpp - Writes rows in a data format -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowWriter.h"

#include "Input.h"

#include <fmt/format.h>

using namespace pdlrt;

WrittenField WrittenField::of(const pdl_field &field) {
  WrittenField written{.name = field.name,
                       .width = field.width,
                       .isBag = field.kind == PDL_FIELD_RAGGED,
                       .isNumber = field.element_type != PDL_I64,
                       .isF64 = field.element_type == PDL_F64,
                       .isInteger = field.element_type == PDL_I64 &&
                                    field.hash_kind == PDL_HASH_NONE,
                       .separator = char(field.separator),
                       .keepsMissing =
                           field.missing_element_kind != PDL_MISSING_ERROR};
  for (int64_t i = 0; i < field.column_count; ++i)
    if (field.column_names)
      written.columnNames.emplace_back(field.column_names[i]);
    else
      written.columnPositions.push_back(field.column_positions[i]);
  return written;
}

std::string WrittenField::slotName(int64_t slot) const {
  if (!columnNames.empty())
    return columnNames[size_t(slot)];
  return width == 1 ? name : fmt::format("{}.{}", name, slot);
}

Status cannotWrite(const WrittenField &field, const std::string &why) {
  return Status::invalidArgument("field `" + field.name + "`: " + why);
}

bool isMissing(const RowValue &value) {
  return value.kind == RowValue::Kind::Missing ||
         (value.kind == RowValue::Kind::Text && value.text.empty());
}

Status appendToken(const WrittenField &field, const RowValue &value,
                   std::string &line) {
  std::string storage;
  const std::string_view text = writtenTextOf(value, storage);
  if (text.find_first_of(" \t\r\n") != std::string_view::npos)
    return cannotWrite(field, fmt::format("`{}` has a blank, and blanks "
                                          "separate the values of this format",
                                          text));
  line += text;
  return {};
}

Status checkDropped(const WrittenField &field, const WrittenSlot &slot) {
  if (field.keepsMissing)
    for (const RowValue &value : slot.values)
      if (isMissing(value))
        return cannotWrite(field,
                           "a bag has a missing value, whose position matters "
                           "(missing_element), but the format has no text for "
                           "it");
  return {};
}
