//===- KeyPlaces.h - Order of keys in a part --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_KEYPLACES_H
#define LIB_RUNTIME_CHECKPOINT_KEYPLACES_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pdlrt {

/// Verifies the keys of a part of a table: all belong to the part's shards, are
/// ordered by (shard, key), and are distinct.
class KeyPlaces {
public:
  /// `index`: index of the part. The checkpoint must outlive this object.
  KeyPlaces(const Checkpoint &checkpoint, size_t index)
      : checkpoint(&checkpoint), index(index) {}

  /// Verifies the next key of the part. Returns an error that names the key if
  /// it is in the wrong shard or out of order.
  Status take(int64_t key);
  /// Returns the shard of the last key.
  int shard() const { return lastShard; }

private:
  const Checkpoint *checkpoint;
  size_t index;
  int lastShard = -1;
  int64_t lastKey = 0;
};

/// Keys of a part of a table.
struct PartKeys {
  /// Keys in row order.
  std::vector<int64_t> keys;
  /// Erased keys; empty if the part contains complete shards.
  std::vector<int64_t> erased;
};

/// Reads the keys of part `index`. Returns an error if a key is out of order,
/// or if it is erased and also has a row. Throws std::bad_alloc.
Expected<PartKeys> keysOf(const Checkpoint &checkpoint, size_t index);

/// Returns the tensor of a part's keys, or an error if it is missing.
Expected<const TensorView *> keyTensorOf(const Checkpoint &checkpoint,
                                         size_t index);
/// Returns the tensor of a part's erased keys, or null if it has none.
Expected<const TensorView *> erasedTensorOf(const Checkpoint &checkpoint,
                                            size_t index);
/// Returns the error for a key that a part erases although it has a row of the
/// key.
Status isAlsoErased(const Checkpoint &checkpoint, size_t index, int64_t key);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_KEYPLACES_H
