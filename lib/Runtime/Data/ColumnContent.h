//===- ColumnContent.h - Digests of values of columns -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNCONTENT_H
#define LIB_RUNTIME_DATA_COLUMNCONTENT_H

#include "Data/ColumnValues.h"

#include <cstdint>

namespace pdlrt {

/// Adds the values of one column to the digests of rows. A digest of a value in
/// a dictionary depends on its index, which one file always has. Not
/// thread-safe.
class ColumnContent {
public:
  /// Prepares for a batch with another dictionary.
  void setDictionary(const ColumnValues &values);
  /// Adds the values of `count` rows of the batch, from row `begin`.
  void add(const ColumnValues &values, int64_t begin, int64_t count,
           uint64_t *digests) const;

private:
  uint64_t contentOf(const ColumnValues &values, int64_t i) const;
  uint64_t contentOfList(const ColumnValues &values, int level, int64_t i,
                         uint64_t before) const;
  template <typename ContentAt>
  static void addEach(int64_t begin, int64_t count, uint64_t *digests,
                      ContentAt contentAt);

  uint64_t dictionary = 0; ///< Digest of all entries.
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNCONTENT_H
