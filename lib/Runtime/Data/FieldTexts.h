//===- FieldTexts.h - The texts of a record's ids, let through --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `DataOptions::copyTexts` the cells of all fields of ids that a program
// reads travel with a record, as delimited text has them: for each field, for
// each slot, how many bytes there are (u32) and the bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_FIELDTEXTS_H
#define LIB_RUNTIME_DATA_FIELDTEXTS_H

#include "pdlabi/abi.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Whether texts of the field are among those that travel.
inline bool hasTexts(const pdl_field &field) {
  return field.element_type == PDL_I64;
}

/// Appends the cell of one slot.
void appendFieldText(std::string_view cell, std::string &texts);
/// Takes the cell of the next slot off `texts`, which has one.
std::string_view takeFieldText(std::string_view &texts);

/// Takes the next of `count` cells off what was let through of a row: of
/// several the way above, of one as it is. Nothing at all stands for empty
/// cells.
std::string_view takeCopiedCell(std::string_view &copied, size_t count);

/// The ids that the cell of one slot lists, trimmed; one where the field has no
/// separator or no bags, none of an empty cell of bags. Missing ones are among
/// them.
void splitFieldText(const pdl_field &field, std::string_view cell,
                    std::vector<std::string_view> &ids);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_FIELDTEXTS_H
