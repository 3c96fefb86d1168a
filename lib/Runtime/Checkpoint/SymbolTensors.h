//===- SymbolTensors.h - Symbols as tensors of files ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How files of a model call and type a symbol's values and slots.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_SYMBOLTENSORS_H
#define LIB_RUNTIME_CHECKPOINT_SYMBOLTENSORS_H

#include "pdlabi/abi.h"
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

/// Of a part of a table's rows in a checkpoint, where values are as they are
/// stored.
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

/// How a tensor of that type is widened to F32; PDL_STORE_ELEMENT: not at all.
inline int32_t storageOf(TensorType type) {
  return type == TensorType::BF16  ? PDL_STORE_BF16
         : type == TensorType::F16 ? PDL_STORE_F16
                                   : PDL_STORE_ELEMENT;
}

inline std::vector<int64_t> shapeOf(const pdl_symbol &symbol) {
  return {symbol.shape, symbol.shape + symbol.rank};
}

/// Of a parameter's value (part 0), or of its slot `part` - 1.
inline std::vector<int64_t> partShape(const pdl_symbol &symbol, int32_t part) {
  if (part > 0 && isRowSlot(symbol, part - 1))
    return {symbol.row_count, 1};
  return shapeOf(symbol);
}

/// "slot.<slot>": beside other tensors of the same symbol.
inline std::string slotName(const pdl_symbol &symbol, int32_t slot) {
  return std::string("slot.") + symbol.slot_names[slot];
}

/// The tensor of a part of rows in a file of one table: "values", or the slot
/// `part` - 1.
inline std::string rowPartName(const pdl_symbol &symbol, int32_t part) {
  return part ? slotName(symbol, part - 1) : "values";
}

/// "<symbol>.slot.<slot>": among tensors of other symbols.
inline std::string fullSlotName(const pdl_symbol &symbol, int32_t slot) {
  return std::string(symbol.name) + "." + slotName(symbol, slot);
}

/// A parameter's value (part 0) or slot `part` - 1, among tensors of others.
inline std::string fullPartName(const pdl_symbol &symbol, int32_t part) {
  return part ? fullSlotName(symbol, part - 1) : std::string(symbol.name);
}

/// Which part of a symbol in a checkpoint is what frozen programs read: that
/// begins as the value, and is the value where a checkpoint does not have it.
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

/// A tensor of a dump, of that shape, and of the symbol's type or one that
/// widens to it; null if there is none of that name.
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
  return Status::invalid(file.path() + ": tensor '" + name + "' is " +
                         tensor->typeAndShape() + ", but the model needs " +
                         tensorTypeName(wanted) + " " + shapeText(shape) +
                         "; write it with that type and shape");
}

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_SYMBOLTENSORS_H
