//===- FieldTexts.h - Copied texts of a record's ids ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `DataOptions::copyTexts`, records carry the texts of all id fields that
// a program reads, as the file has them. Layout: for each field, for each slot,
// the number of texts (u32), and for each text the number of bytes (u32) and
// the bytes. Cells that --copy-column copies have only the latter.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_FIELDTEXTS_H
#define LIB_RUNTIME_DATA_FIELDTEXTS_H

#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/record.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Returns true if the texts of the field are copied.
inline bool hasTexts(const pdl_field &field) {
  return field.element_type == PDL_I64;
}

/// Begins a slot of `count` texts.
void beginFieldTexts(size_t count, std::string &texts);
/// Appends a text.
void appendFieldText(std::string_view text, std::string &texts);
/// Removes the next slot from `texts`, which must not be empty, and appends its
/// texts to `ids`.
void takeFieldTexts(std::string_view &texts,
                    std::vector<std::string_view> &ids);

/// Removes the next of `count` cells from the copied text of a row and returns
/// it. Several cells have the layout above; a single cell is the whole text. An
/// empty text stands for empty cells.
std::string_view takeCopiedCell(std::string_view &copied, size_t count);

/// Splits the cell of one slot into trimmed ids, including missing ones. A
/// field without bags or separator has one id; an empty cell of a bag has none.
void splitFieldText(const pdl_field &field, std::string_view cell,
                    std::vector<std::string_view> &ids);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_FIELDTEXTS_H
