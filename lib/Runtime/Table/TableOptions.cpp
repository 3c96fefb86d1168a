//===- TableOptions.cpp - Options and row format of a table ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/TableOptions.h"

#include "pdlabi/admission.h"
#include "pdlabi/philox.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Kernels/Storage.h"
#include "pdlrt/Table/InitialValues.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;

TableOptions TableOptions::of(const pdl_symbol &symbol, uint64_t seed) {
  TableOptions options;
  options.name = symbol.name;
  options.id = symbol.id;
  options.elementType = symbol.element_type;
  options.storage = symbol.storage;
  options.width = symbol.row_width;
  options.initializer = symbol.initializer;
  options.slotInitialValues.assign(symbol.slot_initial_values,
                                   symbol.slot_initial_values +
                                       symbol.slot_count);
  options.rowSlotCount = symbol.row_slot_count;
  options.frozenPart = symbol.frozen_part;
  options.seed = seed;
  const bool isUpdated =
      symbol.group >= 0 && (symbol.row_kernel || symbol.late_row_kernel);
  options.life.isNeverUpdated =
      !isUpdated &&
      (symbol.admission != PDL_ADMIT_ALL || symbol.shrink_every > 0);
  if (isUpdated)
    options.life = {symbol.admission, symbol.admission_count,
                    symbol.admission_probability, symbol.shrink_every,
                    symbol.shrink_unseen};
  if (options.life.admission == PDL_ADMIT_SCORE)
    options.life.admissionCount = pdlabi::admissionUnits;
  if (options.life.hasPeriods() && symbol.score_weights) {
    options.life.scoreWeights.assign(
        symbol.score_weights, symbol.score_weights + symbol.row_slot_count);
    options.life.shrinkDecay = symbol.shrink_decay;
    options.life.shrinkLeast = symbol.shrink_least;
  }
  return options;
}

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

/// Returns the period stored before `end`, as for `TableOptions::periodOf`.
template <typename T> static int64_t periodBefore(const char *end) {
  // All whole numbers up to this one are exact as doubles.
  constexpr double most = 0x1p53;
  T period;
  std::memcpy(&period, end - sizeof(period), sizeof(period));
  return period >= 0 && double(period) <= most ? int64_t(period) : -1;
}

int64_t TableOptions::periodOf(const void *row) const {
  // The last row slot contains the period.
  const char *end = static_cast<const char *>(row) + rowBytes();
  return elementType == PDL_F64 ? periodBefore<double>(end)
                                : periodBefore<float>(end);
}

void TableOptions::setPeriod(void *row, int64_t period) const {
  char *end = static_cast<char *>(row) + rowBytes();
  if (elementType == PDL_F64) {
    const auto value = double(period);
    std::memcpy(end - sizeof(value), &value, sizeof(value));
    return;
  }
  const auto value = float(period);
  std::memcpy(end - sizeof(value), &value, sizeof(value));
}

template <typename T>
static double decaySlots(const TableLife &life, char *slots) {
  const T factor = T(life.shrinkDecay);
  double score = 0;
  for (size_t s = 0; s < life.scoreWeights.size(); ++s) {
    if (life.scoreWeights[s] == 0)
      continue;
    T slot;
    std::memcpy(&slot, slots + s * sizeof(T), sizeof(T));
    slot *= factor;
    std::memcpy(slots + s * sizeof(T), &slot, sizeof(T));
    score += life.scoreWeights[s] * double(slot);
  }
  return score;
}

double TableOptions::decay(void *row) const {
  char *slots = static_cast<char *>(row) + rowBytes() -
                rowSlotCount * elementSize(elementType);
  return elementType == PDL_F64 ? decaySlots<double>(life, slots)
                                : decaySlots<float>(life, slots);
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

template <typename Stored>
static void fillStored(const TableOptions &options, int64_t key, void *value) {
  auto *out = static_cast<Stored *>(value);
  pdlabi::fillInitialValues(options.initializer, options.seed, options.id,
                            static_cast<uint64_t>(key), options.width, out);
  // With an odd number of values, the last word is padded with zeros.
  if (options.width % 2 != 0)
    out[options.width] = Stored();
}

void TableOptions::initialValue(int64_t key, void *value) const {
  switch (storage) {
  case PDL_STORE_BF16:
    return fillStored<pdlabi::BFloat16>(*this, key, value);
  case PDL_STORE_F16:
    return fillStored<pdlabi::Float16>(*this, key, value);
  default:
    return fillInitialValues(elementType, initializer, seed, id, key, width,
                             value);
  }
}

void TableOptions::initialElements(int64_t key, void *elements) const {
  if (storage == PDL_STORE_ELEMENT)
    return initialValue(key, elements);
  auto *out = static_cast<float *>(elements);
  fillInitialValues(elementType, initializer, seed, id, key, width, out);
  for (int64_t i = 0; i < width; ++i) {
    uint16_t stored;
    storeNearest(storage, 1, out + i, &stored);
    widenStored(storage, 1, &stored, out + i);
  }
}

void TableOptions::initialFrozen(int64_t key, void *value) const {
  if (frozenStorage() == PDL_STORE_ELEMENT)
    initialElements(key, value);
  else
    initialValue(key, value);
}
