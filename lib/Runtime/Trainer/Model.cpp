//===- Model.cpp - The state of a program ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Trainer/Model.h"

#include "pdlrt/Core/Descriptor.h"
#include "pdlrt/Table/InitialValues.h"

#include <cstring>

using namespace pdlrt;

Model::Model(const pdl_descriptor &descriptor, uint64_t seed,
             StateLocation location)
    : programDescriptor(descriptor), initialSeed(seed),
      states(descriptor.symbol_count), values(descriptor.symbol_count),
      ownedTables(descriptor.symbol_count),
      tablePointers(descriptor.symbol_count),
      stepCounts(descriptor.group_count) {
  const int32_t type = descriptor.element_type;
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = descriptor.symbols[s];
    const bool here = location == StateLocation::Here;
    if (symbol.kind == PDL_SYMBOL_TABLE) {
      if (!here)
        continue;
      TableOptions options;
      options.name = symbol.name;
      options.id = symbol.id;
      options.elementType = type;
      options.width = symbol.row_width;
      options.initializer = symbol.initializer;
      options.slotInitialValues.assign(symbol.slot_initial_values,
                                       symbol.slot_initial_values +
                                           symbol.slot_count);
      options.seed = seed;
      ownedTables[s] = createHashTable(std::move(options));
      tablePointers[s] = ownedTables[s].get();
      continue;
    }
    const int64_t elements = elementCount(symbol);
    const size_t bytes = elements * elementSize(type);
    states[s].resize(1 + (here ? symbol.slot_count : 0));
    auto *value = static_cast<char *>(states[s][0].reserve(bytes));
    values[s] = value;
    if (!here) {
      std::memset(value, 0, bytes);
      continue;
    }
    for (int64_t row = 0; row < symbol.row_count; ++row)
      fillInitialValues(type, symbol.initializer, seed, symbol.id, row,
                        symbol.row_width,
                        value + row * symbol.row_width * elementSize(type));
    for (int32_t i = 0; i < symbol.slot_count; ++i)
      fillConstant(type, symbol.slot_initial_values[i], elements,
                   states[s][1 + i].reserve(bytes));
  }
}
