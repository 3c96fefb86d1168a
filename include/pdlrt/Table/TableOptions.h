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
  /// Number that a key must reach to be admitted: of occurrences, or of units
  /// of a score (pdlabi/admission.h).
  int64_t admissionCount = 0;
  double admissionProbability = 0;
  /// Number of updates in a period. 0: there are no periods and no evictions at
  /// their end, and rows have no slot for the period.
  int64_t shrinkEvery = 0;
  int64_t shrinkUnseen = 0;
  /// Weights of row slots in the score of a row (`pdl_symbol::score_weights`);
  /// empty: rows have no scores.
  std::vector<double> scoreWeights = {};
  double shrinkDecay = 1;
  double shrinkLeast = 0;

  /// True if the table has clauses for admission or eviction, but is never
  /// updated. Then no rows are inserted.
  bool isNeverUpdated = false;
  /// True if rows may be evicted to limit memory.
  bool isBounded = false;

  bool hasPeriods() const { return shrinkEvery > 0; }
  /// Returns true if the table keeps records of waiting keys (WaitingKey.h).
  bool notesWaiting() const {
    return admission == PDL_ADMIT_COUNT || admission == PDL_ADMIT_SCORE;
  }
  /// Returns true if the scores of waiting keys decay like those of rows.
  bool waitingDecays() const {
    return admission == PDL_ADMIT_SCORE && shrinkDecay != 1;
  }
  /// Returns true if only updates insert rows. If false, pulls insert them.
  bool makesRowsInUpdates() const {
    return admission != PDL_ADMIT_ALL || hasPeriods() || isNeverUpdated ||
           isBounded;
  }
};

/// Options of a table.
struct TableOptions {
  /// Returns the options of a table of a descriptor.
  static TableOptions of(const pdl_symbol &symbol, uint64_t seed);

  std::string name;
  /// Id of the symbol, on which initial values depend.
  uint64_t id = 0;
  /// PDL_F32 or PDL_F64.
  int32_t elementType = PDL_F32;
  /// Storage format (`pdl_storage`) of values. Formats with 16 bits are only
  /// allowed for PDL_F32.
  int32_t storage = PDL_STORE_ELEMENT;
  /// Number of elements of a row's value, and of each slot that is not a row
  /// slot.
  int64_t width = 1;
  pdl_initializer initializer = {};
  /// Initial value of each slot.
  std::vector<double> slotInitialValues;
  /// Number of row slots: of slots with one element per row. They are the last
  /// slots.
  size_t rowSlotCount = 0;
  /// `pdl_symbol::frozen_part`: the part that frozen programs read. If it is a
  /// slot, its initial value is that of the value.
  size_t frozenPart = 0;
  uint64_t seed = 0;
  TableLife life;

  /// Returns the size in bytes of a value as elements.
  size_t elementBytes() const;
  /// `valueBytes` returns the size in bytes of a stored value, which is the
  /// offset of the slots. `rowBytes` returns the size of a row: value and
  /// slots. Both are multiples of 4.
  size_t valueBytes() const;
  size_t rowBytes() const;
  /// Returns the number of elements of a row: of value and slots.
  size_t rowElements() const;
  /// The part that frozen programs read is either the value (offset 0, in the
  /// storage format) or a slot (stored as elements). The functions return its
  /// offset in a row in bytes, its storage format, and its size.
  size_t frozenOffset() const;
  int32_t frozenStorage() const {
    return frozenPart == 0 ? storage : int32_t(PDL_STORE_ELEMENT);
  }
  size_t frozenBytes() const {
    return frozenStorage() == PDL_STORE_ELEMENT ? elementBytes() : valueBytes();
  }
  /// Write the initial value of a key. `initialValue` writes it in the storage
  /// format (`valueBytes` bytes). `initialElements` writes it as `width`
  /// elements, each rounded to a number that the storage format can represent.
  /// `initialFrozen` writes it in the format that frozen programs read.
  void initialValue(int64_t key, void *value) const;
  void initialElements(int64_t key, void *elements) const;
  void initialFrozen(int64_t key, void *value) const;
  /// Returns the number of the period of a row's last update, or -1 if the
  /// number in its slot is invalid.
  int64_t periodOf(const void *row) const;
  void setPeriod(void *row, int64_t period) const;
  /// Multiplies the slots of a row's score by the decay factor, at the end of a
  /// period. Returns the new score. Call only for a table with scores.
  double decay(void *row) const;
  /// Returns the layout of this table's rows in regions.
  RowLayout layout() const;
  /// Returns the description of the table for kernels on devices. The members
  /// for the index, the regions, and the initial values of slots are not set.
  pdl_device_table describe() const;
};

/// Size of a table.
struct TableSize {
  int64_t rows = 0;
  /// Size of keys and rows together, in bytes.
  size_t bytes = 0;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_TABLEOPTIONS_H
