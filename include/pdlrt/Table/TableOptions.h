//===- TableOptions.h - Options and row format of a table -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_TABLEOPTIONS_H
#define PDLRT_TABLE_TABLEOPTIONS_H

#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/symbols.h"
#include "pdlabi/table.h"
#include "pdlrt/Table/RowLayout.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Feature admission and eviction of a table (`pdl_symbol::admission`,
/// `pdl_symbol::shrink_every`).
struct TableLife {
  int32_t admission = PDL_ADMIT_ALL;
  /// Number of occurrences, or of units of a score (pdlabi/admission.h).
  int64_t admissionCount = 0;
  double admissionProbability = 0;
  /// Number of updates in a period; 0: no row is evicted, and rows have no slot
  /// for the period.
  int64_t shrinkEvery = 0;
  int64_t shrinkUnseen = 0;
  /// Indexed by row slot (`pdl_symbol::score_weights`); empty: there are no
  /// scores.
  std::vector<double> scoreWeights = {};
  double shrinkDecay = 1;
  double shrinkLeast = 0;

  /// The table has admission or eviction clauses, but is never updated, so it
  /// gets no rows.
  bool isNeverUpdated = false;
  /// Rows may be evicted to limit memory.
  bool isBounded = false;

  bool hasPeriods() const { return shrinkEvery > 0; }
  /// Returns true if counts are recorded for keys that await admission.
  bool notesWaiting() const {
    return admission == PDL_ADMIT_COUNT || admission == PDL_ADMIT_SCORE;
  }
  /// Returns true if scores of keys that await admission decay like those of
  /// rows.
  bool waitingDecays() const {
    return admission == PDL_ADMIT_SCORE && shrinkDecay != 1;
  }
  /// Returns true if only updates insert rows; otherwise pulls do.
  bool makesRowsInUpdates() const {
    return admission != PDL_ADMIT_ALL || hasPeriods() || isNeverUpdated ||
           isBounded;
  }
};

/// Options of a table.
struct TableOptions {
  /// Returns the options of the descriptor's table.
  static TableOptions of(const pdl_symbol &symbol, uint64_t seed);

  std::string name;
  /// Symbol id, part of the key of the initial values.
  uint64_t id = 0;
  /// PDL_F32 or PDL_F64.
  int32_t elementType = PDL_F32;
  /// `pdl_storage` of values; 16 bits only for PDL_F32.
  int32_t storage = PDL_STORE_ELEMENT;
  /// Number of elements of a row's value, and of each of its slots except row
  /// slots.
  int64_t width = 1;
  pdl_initializer initializer = {};
  /// One initial value for each optimizer slot.
  std::vector<double> slotInitialValues;
  /// The number of row slots: the last slots, with one element each.
  size_t rowSlotCount = 0;
  /// `pdl_symbol::frozen_part`: the part that frozen programs read. It starts
  /// as the value.
  size_t frozenPart = 0;
  uint64_t seed = 0;
  TableLife life;

  /// Returns the bytes of a value's elements.
  size_t elementBytes() const;
  /// Returns the bytes of a stored value, which is the offset of its slots; and
  /// bytes of a value with its slots. Both are multiples of 4.
  size_t valueBytes() const;
  size_t rowBytes() const;
  /// Returns the number of elements of a value and its slots.
  size_t rowElements() const;
  /// Returns the offset in a row, in bytes, of the part that frozen programs
  /// read, and its format: either the value (offset 0, stored as values are),
  /// or a slot (stored as elements).
  size_t frozenOffset() const;
  int32_t frozenStorage() const {
    return frozenPart == 0 ? storage : int32_t(PDL_STORE_ELEMENT);
  }
  size_t frozenBytes() const {
    return frozenStorage() == PDL_STORE_ELEMENT ? elementBytes() : valueBytes();
  }
  /// Write the initial value of a key, `width` elements: in the storage format,
  /// of `valueBytes` bytes; as elements, after rounding to the storage format;
  /// and in the format that frozen programs read.
  void initialValue(int64_t key, void *value) const;
  void initialElements(int64_t key, void *elements) const;
  void initialFrozen(int64_t key, void *value) const;
  /// Returns the period of a row's last update; -1 if its slot is invalid.
  int64_t periodOf(const void *row) const;
  void setPeriod(void *row, int64_t period) const;
  /// Decays the slots of the row at the end of a period, for a table with
  /// scores. Returns its new score.
  double decay(void *row) const;
  /// Returns the layout of rows in regions.
  RowLayout layout() const;
  /// Returns the description for kernels, without index, regions, and memory
  /// for the initial values of slots.
  pdl_device_table describe() const;
};

/// Size of a table.
struct TableSize {
  int64_t rows = 0;
  /// Bytes of keys and rows together.
  size_t bytes = 0;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_TABLEOPTIONS_H
