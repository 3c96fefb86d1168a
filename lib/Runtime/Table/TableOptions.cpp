//===- TableOptions.cpp - What a table stores -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/TableOptions.h"

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Kernels/Storage.h"

#include <algorithm>

using namespace pdlrt;

size_t TableOptions::elementBytes() const {
  return size_t(width) * elementSize(elementType);
}

size_t TableOptions::valueBytes() const {
  return storedValueBytes(storage, elementType, width);
}

size_t TableOptions::rowElements() const {
  return size_t(width) * (1 + slotInitialValues.size() - rowSlotCount) +
         rowSlotCount;
}

size_t TableOptions::rowBytes() const {
  return valueBytes() +
         (rowElements() - size_t(width)) * elementSize(elementType);
}

size_t TableOptions::frozenOffset() const {
  return frozenPart == 0 ? 0 : valueBytes() + (frozenPart - 1) * elementBytes();
}

RowLayout TableOptions::layout() const {
  return {std::max<size_t>(1, rowBytes()),
          std::max(sizeof(RowHeader), elementSize(elementType))};
}

pdl_device_table TableOptions::describe() const {
  pdl_device_table table = {};
  table.places = layout().places();
  table.seed = seed;
  table.id = id;
  table.initializer = initializer;
  table.storage = storage;
  table.width = width;
  table.value_bytes = int64_t(valueBytes());
  table.slot_count = int64_t(slotInitialValues.size());
  table.row_slot_count = int64_t(rowSlotCount);
  table.frozen_part = int64_t(frozenPart);
  return table;
}
