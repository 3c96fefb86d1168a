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
/// not match; its message says so. `descriptor` may be null, which means that
/// the program does not support this ABI version; then returns an error.
Status checkDescriptor(const pdl_descriptor *descriptor);

/// Gets the descriptor for this ABI version from `query` (normally
/// `pdl_program_query`) and checks it.
Expected<const pdl_descriptor *>
loadDescriptor(const pdl_descriptor *(*query)(uint32_t version));

/// Returns the program with this name, null if there is none.
const pdl_program *findProgram(const pdl_descriptor &descriptor,
                               std::string_view name);

/// Returns the text that a program prints for --version, several lines: among
/// others model, compiler, target, mode and the fingerprints; for a server also
/// its role.
std::string describeProgram(const pdl_descriptor &descriptor);

/// Returns the number of elements of a symbol's value; for a table, of the
/// value of one row.
int64_t elementCount(const pdl_symbol &symbol);

/// Returns the number of elements of a symbol's gradient. For a table, returns
/// the number of elements of one row's gradient, which includes the counts of
/// the row.
inline int64_t gradientElements(const pdl_symbol &symbol) {
  return symbol.kind == PDL_SYMBOL_TABLE ? symbol.gradient_width
                                         : elementCount(symbol);
}

/// Returns true if the group has the clause `merge(sum)` (pdl_merge). Returns
/// false for -1, which means no group.
inline bool mergesBySum(const pdl_descriptor &descriptor, int32_t group) {
  return group >= 0 && descriptor.groups[group].merge == PDL_MERGE_SUM;
}

/// Returns the size in bytes of one element. Value, slots and gradient of a
/// symbol have elements of the same type.
inline size_t elementSize(const pdl_symbol &symbol) {
  return elementSize(symbol.element_type);
}

/// Returns true if a slot has one element per row. Other slots have as many
/// elements per row as the value.
inline bool isRowSlot(const pdl_symbol &symbol, int32_t slot) {
  return slot >= symbol.slot_count - symbol.row_slot_count;
}

/// Returns the number of elements that a row has in part `part`. Part 0 is the
/// value, and part n is slot n - 1.
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

/// Returns the storage format of part `part` of a table's rows. Only the value
/// (part 0) can have another format than its elements.
inline int32_t partStorage(const pdl_symbol &symbol, int32_t part) {
  return part == 0 ? symbol.storage : int32_t(PDL_STORE_ELEMENT);
}

/// Returns the size in bytes of part `part` in a table's row.
inline size_t partBytes(const pdl_symbol &symbol, int32_t part) {
  return size_t(partWidth(symbol, part)) *
         storedSize(partStorage(symbol, part), symbol.element_type);
}

/// Returns the size in bytes of the value in a table's row. The slots follow
/// the value, so this is also the offset of the first slot.
inline size_t valueBytes(const pdl_symbol &symbol) {
  return storedValueBytes(symbol.storage, symbol.element_type,
                          symbol.row_width);
}

/// Returns the size in bytes of a row that a server sends to a program. A
/// training program gets the value in its storage format. A frozen program gets
/// the part that it reads, which may be a slot, as elements.
inline size_t sentRowBytes(const pdl_symbol &symbol, bool frozen) {
  return frozen ? size_t(symbol.row_width) * elementSize(symbol)
                : valueBytes(symbol);
}

/// Returns the offset in bytes of part `part` in a table's row.
inline size_t partBegin(const pdl_symbol &symbol, int32_t part) {
  size_t begin = part > 0 ? valueBytes(symbol) : 0;
  for (int32_t before = 1; before < part; ++before)
    begin += partBytes(symbol, before);
  return begin;
}

/// Returns the element types of a program for messages: "f32", "f64", or "f32
/// and f64". They are the types of its symbols, or of its outputs if it has no
/// symbols. So trainer and server of a model have the same text.
std::string elementTypeText(const pdl_descriptor &descriptor);

} // namespace pdlrt

#endif // PDLRT_ABI_DESCRIPTOR_H
