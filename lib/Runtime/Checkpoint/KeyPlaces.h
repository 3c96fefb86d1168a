//===- KeyPlaces.h - The order of keys in a part ----------------*- C++ -*-===//
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

/// Whether keys come as a part of a table has them: of its shards alone, by
/// (shard, key), each once.
class KeyPlaces {
public:
  /// Of part `index` of the checkpoint, which outlives it.
  KeyPlaces(const Checkpoint &checkpoint, size_t index)
      : checkpoint(&checkpoint), index(index) {}

  /// An error, which names the key, where it may not come next.
  Status take(int64_t key);
  /// That of the last key.
  int shard() const { return lastShard; }

private:
  const Checkpoint *checkpoint;
  size_t index;
  int lastShard = -1;
  int64_t lastKey = 0;
};

/// The keys of a part of a table.
struct PartKeys {
  /// By row.
  std::vector<int64_t> keys;
  /// Those that are no more; none where the part has no changes.
  std::vector<int64_t> erased;
};

/// Reads those of part `index`. An error where one is not in its place, or has
/// a row and is no more. Throws std::bad_alloc.
Expected<PartKeys> keysOf(const Checkpoint &checkpoint, size_t index);

/// The tensor of a part's keys; an error where it has none.
Expected<const TensorView *> keyTensorOf(const Checkpoint &checkpoint,
                                         size_t index);
/// That of its keys that are no more; null where it has none.
Expected<const TensorView *> erasedTensorOf(const Checkpoint &checkpoint,
                                            size_t index);
/// The error of a key that a part has both with a row and as one that is no
/// more.
Status isAlsoErased(const Checkpoint &checkpoint, size_t index, int64_t key);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_KEYPLACES_H
