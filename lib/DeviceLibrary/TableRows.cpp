//===- TableRows.cpp - Rows of tables on a device -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "Tables.h"
#include "Turns.h"

#include "pdlabi/device.h"
#include "pdlabi/philox.h"

using namespace pdldevice;

namespace {

constexpr int64_t elementsOfPart = pdlabi::elementsOfTablePart;

/// Returns the random block of an element of a key's initial value.
inline pdlabi::PhiloxBlock blockOf(const pdl_device_table &table, int64_t key,
                                   int64_t element) {
  const auto word = static_cast<uint64_t>(key);
  return pdlabi::philox(
      {{static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32),
        static_cast<uint32_t>(element / elementsOfPart),
        static_cast<uint32_t>(table.id)}},
      table.seed);
}

inline float asStored(int64_t storage, float value) {
  return storage == PDL_STORE_ELEMENT
             ? value
             : widen(storage, storedBits(storage, value));
}

/// Writes a part of a row's initial value, beginning at element `begin`. If
/// `isSlot`, writes it to a slot that starts with the same value. Slots are not
/// stored in 16 bits, so the rounded value is then widened.
template <typename T>
void writeValue(const pdl_device_table &table, int64_t key, int64_t begin,
                bool isSlot, char *to) {
  const int64_t storage = table.storage, width = table.width;
  const int64_t count = smaller(elementsOfPart, width - begin);
  const bool isStored = storage != PDL_STORE_ELEMENT && !isSlot;
  const pdlabi::PhiloxBlock block = blockOf(table, key, begin);
#pragma clang loop unroll(full)
  for (int i = 0; i < elementsOfPart; ++i) {
    if (i >= count)
      continue;
    const float value =
        pdlabi::initialValueOfBlock(table.initializer, block, i);
    if (isStored)
      reinterpret_cast<uint16_t *>(to)[begin + i] = storedBits(storage, value);
    else
      reinterpret_cast<T *>(to)[begin + i] = asStored(storage, value);
  }
  // With an odd number of values, the last word is padded with zeros.
  if (isStored && width % 2 != 0 && begin + count == width)
    reinterpret_cast<uint16_t *>(to)[width] = 0;
}

template <typename T> void fill(T *to, int64_t begin, int64_t end, T value) {
  for (int64_t i = begin; i < end; ++i)
    to[i] = value;
}

/// Writes part `part` of the initial value and slots.
template <typename T>
void writeInitial(const pdl_device_table &table, int64_t key, int64_t part,
                  char *row) {
  const int64_t width = table.width;
  const int64_t rowSlots = table.row_slot_count;
  const int64_t slots = table.slot_count - rowSlots;
  const int64_t each = partsOf(width, elementsOfPart);
  char *slotMemory = row + table.value_bytes;
  if (part >= each * (1 + slots)) {
    const int64_t begin = (part - each * (1 + slots)) * elementsOfPart;
    auto *to = reinterpret_cast<T *>(slotMemory) + slots * width;
    const int64_t end = smaller(begin + elementsOfPart, rowSlots);
    for (int64_t i = begin; i < end; ++i)
      to[i] = static_cast<T>(table.slot_values[slots + i]);
    return;
  }
  const Division at = divide(part, each);
  const int64_t begin = at.remainder * elementsOfPart;
  const int64_t slot = at.quotient - 1;
  if (slot < 0)
    return writeValue<T>(table, key, begin, /*isSlot=*/false, row);
  auto *to = reinterpret_cast<T *>(slotMemory) + slot * width;
  if (at.quotient == table.frozen_part)
    return writeValue<T>(table, key, begin, /*isSlot=*/true,
                         reinterpret_cast<char *>(to));
  fill(to, begin, smaller(begin + elementsOfPart, width),
       static_cast<T>(table.slot_values[slot]));
}

template <typename T>
void insert(const pdl_device_table &table, int64_t parts, int64_t count,
            const int64_t *keys, void *const *rows, const uint32_t *numbers,
            int64_t time, int64_t open, int64_t first, int64_t stride) {
  forTurns(parts * count, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, parts);
    const int64_t i = at.quotient;
    const uint32_t number = numbers[i];
    if (number == 0)
      return;
    if (at.remainder == 0) {
      insertKey(table, keys[i], number);
      *table.places.headerOf(rows[i]) =
          pdlabi::HeaderBits::ofNew(static_cast<uint32_t>(time));
    }
    if (!open)
      writeInitial<T>(table, keys[i], at.remainder,
                      static_cast<char *>(rows[i]));
  });
}

/// Returns an element of the initial value.
inline float initialElement(const pdl_device_table &table, int64_t key,
                            int64_t element) {
  const pdlabi::PhiloxBlock block = blockOf(table, key, element);
  const int64_t pair = element & 2;
  return asStored(
      table.storage,
      pdlabi::initialValueOfWords(
          table.initializer, wordOf(block, element % elementsOfPart),
          wordOf(block, pair), wordOf(block, pair + 1), (element & 1) != 0));
}

template <typename T>
void gather(const pdl_device_table &table, int64_t width, int64_t count,
            const int64_t *__restrict keys, void *const *__restrict rows,
            int64_t offset, int64_t storage, int64_t unknown, T *__restrict out,
            int64_t first, int64_t stride) {
  forTurns(count * width, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, width);
    const char *row = static_cast<const char *>(rows[at.quotient]);
    T value = 0;
    if (!row) {
      if (unknown == PDL_UNKNOWN_INITIAL)
        value = initialElement(table, keys[at.quotient], at.remainder);
    } else if (storage == PDL_STORE_ELEMENT) {
      value = reinterpret_cast<const T *>(row + offset)[at.remainder];
    } else {
      value =
          widen(storage,
                reinterpret_cast<const uint16_t *>(row + offset)[at.remainder]);
    }
    out[turn] = value;
  });
}

template <typename T>
void spread(const pdl_device_table &table, int64_t firstRow, int64_t count,
            int64_t width, const uint32_t *__restrict marks,
            const T *__restrict gradients, void **__restrict rows,
            T *__restrict out, int64_t first, int64_t stride) {
  forTurns(count * width, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, width);
    const int64_t number = firstRow + at.quotient;
    const auto mark = static_cast<int64_t>(marks[number]);
    out[turn] = mark > 0 ? gradients[(mark - 1) * width + at.remainder] : T(0);
    if (at.remainder == 0)
      rows[at.quotient] = rowAt(table, static_cast<uint32_t>(number));
  });
}

} // namespace

int64_t pdldevice_table_insert_turns(const pdl_device_table *, int64_t parts,
                                     int64_t count, const int64_t *,
                                     void *const *, const uint32_t *, int64_t,
                                     int64_t) {
  return parts * count;
}

void pdldevice_table_insert_f32(const pdl_device_table *table, int64_t parts,
                                int64_t count, const int64_t *keys,
                                void *const *rows, const uint32_t *numbers,
                                int64_t time, int64_t open, int64_t first,
                                int64_t stride) {
  insert<float>(*table, parts, count, keys, rows, numbers, time, open, first,
                stride);
}

void pdldevice_table_insert_f64(const pdl_device_table *table, int64_t parts,
                                int64_t count, const int64_t *keys,
                                void *const *rows, const uint32_t *numbers,
                                int64_t time, int64_t open, int64_t first,
                                int64_t stride) {
  insert<double>(*table, parts, count, keys, rows, numbers, time, open, first,
                 stride);
}

int64_t pdldevice_table_gather_turns(const pdl_device_table *, int64_t width,
                                     int64_t count, const int64_t *,
                                     void *const *, int64_t, int64_t, int64_t,
                                     void *) {
  return count * width;
}

void pdldevice_table_gather_f32(const pdl_device_table *table, int64_t width,
                                int64_t count, const int64_t *keys,
                                void *const *rows, int64_t offset,
                                int64_t storage, int64_t unknown, float *out,
                                int64_t first, int64_t stride) {
  gather(*table, width, count, keys, rows, offset, storage, unknown, out, first,
         stride);
}

void pdldevice_table_gather_f64(const pdl_device_table *table, int64_t width,
                                int64_t count, const int64_t *keys,
                                void *const *rows, int64_t offset,
                                int64_t storage, int64_t unknown, double *out,
                                int64_t first, int64_t stride) {
  gather(*table, width, count, keys, rows, offset, storage, unknown, out, first,
         stride);
}

//===----------------------------------------------------------------------===//
// Whole rows
//===----------------------------------------------------------------------===//

int64_t pdldevice_table_read_turns(int64_t words, int64_t count, void *const *,
                                   uint32_t *) {
  return words * count;
}

void pdldevice_table_read(int64_t words, int64_t count, void *const *rows,
                          uint32_t *out, int64_t first, int64_t stride) {
  forTurns(words * count, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, words);
    out[turn] = static_cast<const uint32_t *>(rows[at.quotient])[at.remainder];
  });
}

int64_t pdldevice_table_write_turns(int64_t words, int64_t count, void *const *,
                                    const uint32_t *) {
  return words * count;
}

void pdldevice_table_write(int64_t words, int64_t count, void *const *rows,
                           const uint32_t *values, int64_t first,
                           int64_t stride) {
  forTurns(words * count, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, words);
    static_cast<uint32_t *>(rows[at.quotient])[at.remainder] = values[turn];
  });
}

int64_t pdldevice_table_note_turns(const pdl_device_table *, int64_t count,
                                   void *const *, int64_t, int64_t) {
  return count;
}

void pdldevice_table_note(const pdl_device_table *table, int64_t count,
                          void *const *rows, int64_t event, int64_t time,
                          int64_t first, int64_t stride) {
  using Bits = pdlabi::HeaderBits;
  forTurns(count, first, stride, [&](int64_t i) {
    uint32_t *header = table->places.headerOf(
        rows ? rows[i] : rowAt(*table, static_cast<uint32_t>(i)));
    const uint32_t before = *header;
    *header = event == pdlabi::TableUpdated
                  ? Bits::afterUpdate(before, static_cast<uint32_t>(time))
              : event == pdlabi::TableWritten ? before | Bits::dirty
                                              : before & ~Bits::dirty;
  });
}

//===----------------------------------------------------------------------===//
// Rules of all rows
//===----------------------------------------------------------------------===//

int64_t pdldevice_table_spread_turns(const pdl_device_table *, int64_t,
                                     int64_t count, int64_t width,
                                     const uint32_t *, const void *, void **,
                                     void *) {
  return count * width;
}

void pdldevice_table_spread_f32(const pdl_device_table *table, int64_t firstRow,
                                int64_t count, int64_t width,
                                const uint32_t *marks, const float *gradients,
                                void **rows, float *out, int64_t first,
                                int64_t stride) {
  spread(*table, firstRow, count, width, marks, gradients, rows, out, first,
         stride);
}

void pdldevice_table_spread_f64(const pdl_device_table *table, int64_t firstRow,
                                int64_t count, int64_t width,
                                const uint32_t *marks, const double *gradients,
                                void **rows, double *out, int64_t first,
                                int64_t stride) {
  spread(*table, firstRow, count, width, marks, gradients, rows, out, first,
         stride);
}
