//===- TableStorage.cpp - Rows with 16-bit values on a device -------------===//
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

constexpr int64_t elementsOfBlock = pdlabi::elementsOfRoundingBlock;

/// Returns the random numbers of a block of a row, as in pdlabi::roundRows.
inline pdlabi::PhiloxBlock drawBlock(const pdl_device_table &table, int64_t key,
                                     int64_t block, int64_t update) {
  const auto word = static_cast<uint64_t>(key);
  const auto number = static_cast<uint64_t>(update);
  return pdlabi::philox(
      {{static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32),
        static_cast<uint32_t>(block) +
            (static_cast<uint32_t>(number >> 32) << 17),
        static_cast<uint32_t>(number)}},
      table.seed ^ table.id);
}

/// Rounds a part of a row's value to its storage format. Returns true if all
/// rounded numbers are finite.
template <typename T>
bool roundBlock(const pdl_device_table &table, int64_t width, int64_t key,
                int64_t index, int64_t update, const float *wide, void *row) {
  const int64_t begin = index * elementsOfBlock;
  const int64_t count = smaller(elementsOfBlock, width - begin);
  const pdlabi::PhiloxBlock block = drawBlock(table, key, index, update);
  auto *to = static_cast<T *>(row);
  bool finite = true;
#pragma clang loop unroll(full)
  for (int i = 0; i < elementsOfBlock; ++i) {
    if (i >= count)
      continue;
    const uint32_t random = wordOf(block, i / 2) >> (i % 2 * 16) & 0xffff;
    const T stored = T::atRandom(wide[begin + i], random);
    to[begin + i] = stored;
    finite &= (stored.bits & 0x7fff) < T::infinity;
  }
  return finite;
}

} // namespace

int64_t pdldevice_table_widen_turns(const pdl_device_table *, int64_t elements,
                                    int64_t count, void *const *, float *,
                                    void **) {
  return elements * count;
}

void pdldevice_table_widen(const pdl_device_table *table, int64_t elements,
                           int64_t count, void *const *rows, float *wide,
                           void **places, int64_t first, int64_t stride) {
  const int64_t width = table->width, storage = table->storage;
  forTurns(elements * count, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, elements);
    const int64_t e = at.remainder;
    const char *row = static_cast<const char *>(rows[at.quotient]);
    wide[turn] =
        e < width ? widen(storage, reinterpret_cast<const uint16_t *>(row)[e])
                  : reinterpret_cast<const float *>(
                        row + table->value_bytes)[e - width];
    if (e == 0)
      places[at.quotient] = wide + turn;
  });
}

int64_t pdldevice_table_round_turns(const pdl_device_table *, int64_t width,
                                    int64_t elements, int64_t count, int64_t,
                                    const int64_t *, const float *,
                                    void *const *, int32_t *) {
  return pdlabi::partsOfWideRow(width, elements) * count;
}

void pdldevice_table_round(const pdl_device_table *table, int64_t width,
                           int64_t elements, int64_t count, int64_t update,
                           const int64_t *keys, const float *wide,
                           void *const *rows, int32_t *found, int64_t first,
                           int64_t stride) {
  const int64_t parts = pdlabi::partsOfWideRow(width, elements);
  const int64_t blocks = partsOf(width, elementsOfBlock);
  bool finite = true;
  forTurns(parts * count, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, parts);
    const int64_t i = at.quotient, part = at.remainder;
    const float *from = wide + i * elements;
    char *row = static_cast<char *>(rows[i]);
    if (part < blocks) {
      finite &= table->storage == PDL_STORE_BF16
                    ? roundBlock<pdlabi::BFloat16>(*table, width, keys[i], part,
                                                   update, from, row)
                    : roundBlock<pdlabi::Float16>(*table, width, keys[i], part,
                                                  update, from, row);
      return;
    }
    auto *slots = reinterpret_cast<float *>(row + table->value_bytes);
    const int64_t begin = (part - blocks) * elementsOfBlock;
    const int64_t end = smaller(begin + elementsOfBlock, elements - width);
    for (int64_t e = begin; e < end; ++e)
      slots[e] = from[width + e];
  });
  if (!finite)
    *found = 1;
}
