//===- Descriptor.h - Checks and reads descriptors --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_DESCRIPTOR_H
#define PDLRT_ABI_DESCRIPTOR_H

#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Kernels/Storage.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pdlrt {

/// Checks everything in a descriptor that the runtime relies on: the ABI
/// version, the size of each struct, that indices are in range, that sizes are
/// positive and functions exist. An error means that compiler and runtime do
/// not match, and says so. `descriptor` may be null: the program does not
/// support this ABI version.
Status checkDescriptor(const pdl_descriptor *descriptor);

/// Gets the descriptor for this ABI version from `query` (normally
/// `pdl_program_query`) and checks it.
Expected<const pdl_descriptor *>
loadDescriptor(const pdl_descriptor *(*query)(uint32_t version));

/// Returns the program with this name, null if there is none.
const pdl_program *findProgram(const pdl_descriptor &descriptor,
                               std::string_view name);

/// Returns the lines of a program's --version: model, compiler, target, mode,
/// and the three fingerprints; for a server also its role.
std::string describeProgram(const pdl_descriptor &descriptor);

/// Returns the number of elements of a symbol (of one row, for a table).
int64_t elementCount(const pdl_symbol &symbol);

/// Returns the number of elements of a symbol's gradient (of one row's, with
/// its counts, for a table).
inline int64_t gradientElements(const pdl_symbol &symbol) {
  return symbol.kind == PDL_SYMBOL_TABLE ? symbol.gradient_width
                                         : elementCount(symbol);
}

/// Returns true if the contributions of a group's trainers are summed without
/// division: merge(sum). False for -1, which is no group.
inline bool mergesBySum(const pdl_descriptor &descriptor, int32_t group) {
  return group >= 0 && descriptor.groups[group].merge == PDL_MERGE_SUM;
}

/// Returns the bytes of one element of a symbol, its slots and its gradient.
inline size_t elementSize(const pdl_symbol &symbol) {
  return elementSize(symbol.element_type);
}

/// Returns true if a slot has one element for each row instead of the row's
/// width.
inline bool isRowSlot(const pdl_symbol &symbol, int32_t slot) {
  return slot >= symbol.slot_count - symbol.row_slot_count;
}

/// Returns the number of elements of a row in its value (part 0) or in slot
/// `part` - 1.
inline int64_t partWidth(const pdl_symbol &symbol, int32_t part) {
  return part > 0 && isRowSlot(symbol, part - 1) ? 1 : symbol.row_width;
}

/// Returns the number of elements of a row: its value and slots.
inline int64_t rowElements(const pdl_symbol &symbol) {
  int64_t elements = 0;
  for (int32_t part = 0; part <= symbol.slot_count; ++part)
    elements += partWidth(symbol, part);
  return elements;
}

/// Returns the storage format of this part of a table's rows.
inline int32_t partStorage(const pdl_symbol &symbol, int32_t part) {
  return part == 0 ? symbol.storage : int32_t(PDL_STORE_ELEMENT);
}

/// Returns the bytes of a part in a table's row.
inline size_t partBytes(const pdl_symbol &symbol, int32_t part) {
  return size_t(partWidth(symbol, part)) *
         storedSize(partStorage(symbol, part), symbol.element_type);
}

/// Returns the bytes of the value in a table's row, which is the offset of its
/// slots.
inline size_t valueBytes(const pdl_symbol &symbol) {
  return storedValueBytes(symbol.storage, symbol.element_type,
                          symbol.row_width);
}

/// Returns the bytes of a row that a server sends to a program: the value in
/// its storage format, or for a frozen program the part that it reads, as
/// elements.
inline size_t sentRowBytes(const pdl_symbol &symbol, bool frozen) {
  return frozen ? size_t(symbol.row_width) * elementSize(symbol)
                : valueBytes(symbol);
}

/// Returns the offset of part `part` in a table's row, in bytes.
inline size_t partBegin(const pdl_symbol &symbol, int32_t part) {
  size_t begin = part > 0 ? valueBytes(symbol) : 0;
  for (int32_t before = 1; before < part; ++before)
    begin += partBytes(symbol, before);
  return begin;
}

/// Returns the element types of a program for messages: "f32", "f64", or "f32
/// and f64". They are the types of its symbols, or of its outputs if it has no
/// symbols; so both roles of a translation have the same text.
std::string elementTypeText(const pdl_descriptor &descriptor);

} // namespace pdlrt

#endif // PDLRT_ABI_DESCRIPTOR_H
