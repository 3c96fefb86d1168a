//===- FrozenRows.h - Rows of frozen programs -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A frozen program, which only reads, needs one part of each row
// (`pdl_symbol::frozen_part`), and an initial value for keys without a row. All
// tables implement this interface. Tables for serving have no other functions
// to read rows.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_FROZENROWS_H
#define PDLRT_TABLE_FROZENROWS_H

#include <cstddef>
#include <cstdint>

namespace pdlrt {

class RowImages;
struct TableScratch;

/// Read access to rows by key. Thread-safe while rows do not change. Each
/// thread must use its own scratch memory.
class FrozenRows {
public:
  virtual ~FrozenRows();

  /// Sets rows[i] to the address of the part of the row of keys[i] that frozen
  /// programs read, or to null if the key has no row. Returns the number of
  /// nulls. If a row is not in memory, copies it to `images`. Throws
  /// std::bad_alloc.
  virtual int64_t findFrozen(int64_t count, const int64_t *keys, void **rows,
                             TableScratch &scratch,
                             RowImages &images) const = 0;
  /// Return the storage format (`pdl_storage`) of the part that frozen programs
  /// read, and its size in bytes.
  virtual int32_t frozenStorage() const = 0;
  virtual size_t frozenBytes() const = 0;
  /// Writes the part that frozen programs read of a key's initial row, in the
  /// format of `frozenStorage`.
  virtual void initialFrozen(int64_t key, void *value) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_FROZENROWS_H
