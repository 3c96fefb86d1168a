//===- TableOptions.h - What a table stores ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_TABLEOPTIONS_H
#define PDLRT_TABLE_TABLEOPTIONS_H

#include "pdlabi/abi.h"
#include "pdlabi/table.h"
#include "pdlrt/Table/RowLayout.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// When keys of a table get and lose their rows (`pdl_symbol::admission`,
/// `pdl_symbol::shrink_every`).
struct TableLife {
  int32_t admission = PDL_ADMIT_ALL;
  /// Of occurrences, or of units of a score (pdlabi/admission.h).
  int64_t admissionCount = 0;
  double admissionProbability = 0;
  /// Updates in a period; 0: no row goes, and rows have no slot for it.
  int64_t shrinkEvery = 0;
  int64_t shrinkUnseen = 0;
  /// By row slot (`pdl_symbol::score_weights`); empty: there are no scores.
  std::vector<double> scoreWeights = {};
  double shrinkDecay = 1;
  double shrinkLeast = 0;

  /// The table has clauses of a life, but nothing updates it: it gets no rows.
  bool isNeverUpdated = false;
  /// Rows may be evicted, because there are too many.
  bool isBounded = false;

  bool hasPeriods() const { return shrinkEvery > 0; }
  /// Whether it is noted of keys without a row what they have counted.
  bool notesWaiting() const {
    return admission == PDL_ADMIT_COUNT || admission == PDL_ADMIT_SCORE;
  }
  /// Whether what they have scored decays with the scores of rows.
  bool waitingDecays() const {
    return admission == PDL_ADMIT_SCORE && shrinkDecay != 1;
  }
  /// Whether updates alone make rows; else those who pull them do.
  bool makesRowsInUpdates() const {
    return admission != PDL_ADMIT_ALL || hasPeriods() || isNeverUpdated ||
           isBounded;
  }
};

/// What a table stores.
struct TableOptions {
  /// What the descriptor says of a table.
  static TableOptions of(const pdl_symbol &symbol, uint64_t seed);

  std::string name;
  /// Symbol id, part of the key of the initial values.
  uint64_t id = 0;
  /// PDL_F32 or PDL_F64.
  int32_t elementType = PDL_F32;
  /// `pdl_storage` of values, of 16 bits only if they are of F32.
  int32_t storage = PDL_STORE_ELEMENT;
  /// Elements of a row's value, and of each of its slots but the row slots.
  int64_t width = 1;
  pdl_initializer initializer = {};
  /// One initial value for each optimizer slot.
  std::vector<double> slotInitialValues;
  /// The last ones of the slots: they have one element each.
  size_t rowSlotCount = 0;
  /// `pdl_symbol::frozen_part`: what frozen programs read, and begins as the
  /// value.
  size_t frozenPart = 0;
  uint64_t seed = 0;
  TableLife life;

  /// Bytes of a value's elements.
  size_t elementBytes() const;
  /// Bytes of a value as it is stored, to where its slots begin, and of a value
  /// with its slots; multiples of 4.
  size_t valueBytes() const;
  size_t rowBytes() const;
  /// Elements of a value and its slots.
  size_t rowElements() const;
  /// Where in a row that begins which frozen programs read, in bytes, and how
  /// it is stored: 0 and as values are, or in a slot and as elements.
  size_t frozenOffset() const;
  int32_t frozenStorage() const {
    return frozenPart == 0 ? storage : int32_t(PDL_STORE_ELEMENT);
  }
  size_t frozenBytes() const {
    return frozenStorage() == PDL_STORE_ELEMENT ? elementBytes() : valueBytes();
  }
  /// Writes the initial value of a key, `width` elements: as it is stored, in
  /// `valueBytes`; as elements, those that are stored; as frozen programs read
  /// it.
  void initialValue(int64_t key, void *value) const;
  void initialElements(int64_t key, void *elements) const;
  void initialFrozen(int64_t key, void *value) const;
  /// The period of a row's last update; -1: what its slot holds is none.
  int64_t periodOf(const void *row) const;
  void setPeriod(void *row, int64_t period) const;
  /// At the end of a period of a table with scores: slots of the row decay; its
  /// score then.
  double decay(void *row) const;
  /// Of such rows in regions.
  RowLayout layout() const;
  /// For kernels: of a table that has no index, no regions, and no memory for
  /// the initial values of slots.
  pdl_device_table describe() const;
};

/// How much a table has.
struct TableSize {
  int64_t rows = 0;
  /// For keys and rows together.
  size_t bytes = 0;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_TABLEOPTIONS_H
