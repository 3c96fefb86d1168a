//===- FrozenRows.h - Rows of frozen programs -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A read-only program needs one part of each row (`frozen_part` of pdl_symbol),
// and the initial value of a key without a row. Training tables implement this
// interface; serving tables have nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_FROZENROWS_H
#define PDLRT_TABLE_FROZENROWS_H

#include <cstddef>
#include <cstdint>

namespace pdlrt {

class RowImages;
struct TableScratch;

/// Read access to rows by key. Thread-safe while rows do not change; each
/// thread uses its own scratch memory.
class FrozenRows {
public:
  virtual ~FrozenRows();

  /// Sets rows[i] to the part of the row of keys[i] that frozen programs read,
  /// or null if there is none. Returns the number of nulls. Rows that are not
  /// in memory are copied to `images`. Throws std::bad_alloc.
  virtual int64_t findFrozen(int64_t count, const int64_t *keys, void **rows,
                             TableScratch &scratch,
                             RowImages &images) const = 0;
  /// Return the `pdl_storage` of this part, and its size in bytes.
  virtual int32_t frozenStorage() const = 0;
  virtual size_t frozenBytes() const = 0;
  /// Writes this part for a key with its initial value, in the same format.
  virtual void initialFrozen(int64_t key, void *value) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_FROZENROWS_H
