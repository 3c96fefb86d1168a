//===- ColumnElements.h - Converts elements of columns ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNELEMENTS_H
#define LIB_RUNTIME_DATA_COLUMNELEMENTS_H

#include "Data/ColumnValues.h"
#include "pdlabi/abi/record.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Positions of elements in an array, and of their results.
struct ElementRange {
  int64_t first = 0, step = 1; ///< Of the elements.
  int64_t count = 0;
  int64_t stride = 1; ///< Between results.
};

/// Converts values of one slot of a field, many at once. Results are those of
/// CellParser; where they would need more than a conversion, the functions
/// return false, and the caller uses CellParser. Not thread-safe.
class ElementConverter {
public:
  /// Refers to the field.
  ElementConverter(const pdl_field &field, int64_t slot);

  /// Returns false if all values of the field need CellParser.
  static bool suits(const pdl_field &field);
  /// Converts all entries of the dictionary, if values have one. Call when the
  /// dictionary changes.
  void setDictionary(const ColumnValues &values);

  /// Converts ids into keys. `missing`: set to 1 for a missing id, which then
  /// has no key; null: a missing id becomes the key of `missing(...)`.
  bool convert(const ColumnValues &values, const ElementRange &range,
               int64_t *out, uint8_t *missing);
  /// Converts numbers. `missing`: as above.
  bool convert(const ColumnValues &values, const ElementRange &range,
               float *out, uint8_t *missing);
  bool convert(const ColumnValues &values, const ElementRange &range,
               double *out, uint8_t *missing);

private:
  enum class Result : uint8_t { Good, Missing, Special };

  Result keyOf(std::string_view text, int64_t &key) const;
  Result keyOf(int64_t integer, int64_t &key) const;
  Result keyOf(uint64_t integer, int64_t &key) const;
  Result entryOf(const Elements &dictionary, int64_t index, int64_t &key) const;
  template <typename KeyAt>
  bool convertKeys(const Elements &elements, const ElementRange &range,
                   int64_t *out, uint8_t *missing, KeyAt keyAt) const;
  bool convertIndices(const ColumnValues &values, const ElementRange &range,
                      int64_t *out, uint8_t *missing) const;
  template <typename T>
  bool convertNumbers(const ColumnValues &values, const ElementRange &range,
                      T *out, uint8_t *missing) const;
  template <typename T, typename NumberAt>
  bool convertNumbers(const Elements &elements, const ElementRange &range,
                      T *out, uint8_t *missing, NumberAt numberAt) const;

  const pdl_field *field;
  uint64_t seed;
  /// A missing id that is not in a bag with others has the key of
  /// `missing(...)`.
  bool hasMissingKey = false;
  int64_t missingKey = 0;
  /// Bit i is set if a text for a missing value has i bytes; the last bit
  /// stands for all larger sizes.
  uint64_t missingSizes = 1;
  /// Keys and results by entry of the dictionary. `results` is empty if all
  /// entries are good.
  std::vector<int64_t> keys;
  std::vector<Result> results;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNELEMENTS_H
