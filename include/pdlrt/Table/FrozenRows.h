//===- FrozenRows.h - What frozen programs read of a table ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that only reads needs one part of each row (`frozen_part` of
// pdl_symbol) and the initial value of a key that has none. Tables that train
// offer it, and tables that only serve consist of it.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_FROZENROWS_H
#define PDLRT_TABLE_FROZENROWS_H

#include <cstddef>
#include <cstdint>

namespace pdlrt {

class RowImages;
struct TableScratch;

/// Rows by key, to be read. Calls may come from many threads, each with a
/// scratch of its own, while nobody changes the rows.
class FrozenRows {
public:
  virtual ~FrozenRows();

  /// rows[i] = what frozen programs read of the row of keys[i], null if there
  /// is none. Returns the number of nulls. Rows that are not in memory are
  /// copied to `images`. Throws std::bad_alloc.
  virtual int64_t findFrozen(int64_t count, const int64_t *keys, void **rows,
                             TableScratch &scratch,
                             RowImages &images) const = 0;
  /// `pdl_storage` of what it points to, and how many bytes that has.
  virtual int32_t frozenStorage() const = 0;
  virtual size_t frozenBytes() const = 0;
  /// Writes what a key reads that has its initial value, in the same form.
  virtual void initialFrozen(int64_t key, void *value) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_FROZENROWS_H
