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

/// Returns the type of a part of a table's rows in a checkpoint, where values
/// have their storage type.
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

/// Returns the storage from which a tensor of that type is widened to F32, or
/// PDL_STORE_ELEMENT if it is not widened.
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

/// Returns "slot.<slot>", the name in a file of one symbol.
inline std::string slotName(const pdl_symbol &symbol, int32_t slot) {
  return std::string("slot.") + symbol.slot_names[slot];
}

/// Returns the name of a part of rows in a file of one table: "values", or the
/// slot `part` - 1.
inline std::string rowPartName(const pdl_symbol &symbol, int32_t part) {
  return part ? slotName(symbol, part - 1) : "values";
}

/// Returns "<symbol>.slot.<slot>", the name in a file of several symbols.
inline std::string fullSlotName(const pdl_symbol &symbol, int32_t slot) {
  return std::string(symbol.name) + "." + slotName(symbol, slot);
}

/// Returns the name of a parameter's value (part 0) or slot `part` - 1 in a
/// file of several symbols.
inline std::string fullPartName(const pdl_symbol &symbol, int32_t part) {
  return part ? fullSlotName(symbol, part - 1) : std::string(symbol.name);
}

/// Returns the part of a symbol in a checkpoint that frozen programs read. If
/// the checkpoint lacks it, returns the value's part, with which it starts.
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

/// Returns a tensor of a dump after a check of its shape and type, which must
/// be the symbol's or one that widens to it. Null if there is none of that
/// name.
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
