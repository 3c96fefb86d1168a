//===- SymbolTensors.h - Symbols as tensors of files ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names and types of a symbol's values and slots in files of a model.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_SYMBOLTENSORS_H
#define LIB_RUNTIME_CHECKPOINT_SYMBOLTENSORS_H

#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/symbols.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Checkpoint/Manifest.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Safetensors.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

inline TensorType tensorTypeOf(const pdl_symbol &symbol) {
  return symbol.element_type == PDL_F32 ? TensorType::F32 : TensorType::F64;
}

/// Returns the type of a table's values (part 0) or slot `part` - 1 in a
/// checkpoint. Values have the type in which the table stores them.
inline TensorType rowTensorType(const pdl_symbol &symbol, int32_t part) {
  switch (partStorage(symbol, part)) {
  case PDL_STORE_BF16:
    return TensorType::BF16;
  case PDL_STORE_F16:
    return TensorType::F16;
  default:
    return tensorTypeOf(symbol);
  }
}

/// Returns the storage format of a 16-bit tensor type, whose elements are
/// widened to F32. Returns PDL_STORE_ELEMENT for other types.
inline int32_t storageOf(TensorType type) {
  return type == TensorType::BF16  ? PDL_STORE_BF16
         : type == TensorType::F16 ? PDL_STORE_F16
                                   : PDL_STORE_ELEMENT;
}

inline std::vector<int64_t> shapeOf(const pdl_symbol &symbol) {
  return {symbol.shape, symbol.shape + symbol.rank};
}

/// Returns the shape of a parameter's value (part 0) or of its slot `part` - 1.
inline std::vector<int64_t> partShape(const pdl_symbol &symbol, int32_t part) {
  if (part > 0 && isRowSlot(symbol, part - 1))
    return {symbol.row_count, 1};
  return shapeOf(symbol);
}

/// Returns "slot.<slot>": the name of a slot's tensor in a file with one
/// symbol.
inline std::string slotName(const pdl_symbol &symbol, int32_t slot) {
  return std::string("slot.") + symbol.slot_names[slot];
}

/// Returns the name of a tensor in a file with one table: "values" (part 0), or
/// the name of slot `part` - 1.
inline std::string rowPartName(const pdl_symbol &symbol, int32_t part) {
  return part ? slotName(symbol, part - 1) : "values";
}

/// Returns "<symbol>.slot.<slot>", the name in a file of several symbols.
inline std::string fullSlotName(const pdl_symbol &symbol, int32_t slot) {
  return std::string(symbol.name) + "." + slotName(symbol, slot);
}

/// Returns the name of a tensor in a file with several symbols: that of a
/// parameter's value (part 0) or of its slot `part` - 1.
inline std::string fullPartName(const pdl_symbol &symbol, int32_t part) {
  return part ? fullSlotName(symbol, part - 1) : std::string(symbol.name);
}

/// Returns the part of a checkpoint from which frozen programs read a symbol: a
/// slot or, if the checkpoint lacks that slot, the value (part 0). The slot of
/// a new training also starts with the value.
inline int32_t savedFrozenPart(const pdl_symbol &symbol,
                               const CheckpointManifest &manifest) {
  if (symbol.frozen_part == 0)
    return 0;
  const char *slot = symbol.slot_names[symbol.frozen_part - 1];
  const bool hasIt =
      std::ranges::any_of(manifest.symbols, [&](const CheckpointSymbol &saved) {
        return saved.name == symbol.name &&
               std::ranges::count(saved.slots, slot) > 0;
      });
  return hasIt ? symbol.frozen_part : 0;
}

/// Returns the tensor of a dump with this name, or null if there is none.
/// Returns an error unless it has this shape, and the symbol's type or F32 for
/// a symbol of type F64.
inline Expected<const TensorView *>
dumpedTensor(const SafetensorsFile &file, const pdl_symbol &symbol,
             const std::string &name, const std::vector<int64_t> &shape) {
  const TensorView *tensor = file.find(name);
  if (!tensor)
    return tensor;
  const TensorType wanted = tensorTypeOf(symbol);
  const bool fits =
      tensor->type == wanted ||
      (tensor->type == TensorType::F32 && wanted == TensorType::F64);
  if (fits && tensor->shape == shape)
    return tensor;
  return Status::failedPrecondition(
      file.path() + ": tensor '" + name + "' is " + tensor->typeAndShape() +
      ", but the model needs " + tensorTypeName(wanted) + " " +
      shapeText(shape) + "; write it with that type and shape");
}

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_SYMBOLTENSORS_H
