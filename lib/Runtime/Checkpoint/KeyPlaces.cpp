//===- KeyPlaces.cpp - Order of keys in a part ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/KeyPlaces.h"

#include "pdlrt/Table/EmbeddingTable.h"

#include <fmt/format.h>
#include <tuple>

using namespace pdlrt;

Status KeyPlaces::take(int64_t key) {
  const CheckpointPart &part = checkpoint->manifest().parts[index];
  const int shard = EmbeddingTable::shardOf(key);
  const bool isInPlace = shard == lastShard
                             ? key > lastKey
                             : shard > lastShard && part.holdsShard(shard);
  if (!isInPlace)
    return checkpoint->damaged(
        fmt::format("{}: key {} is not in its place", part.file, key));
  lastShard = shard;
  lastKey = key;
  return {};
}

Expected<const TensorView *> pdlrt::keyTensorOf(const Checkpoint &checkpoint,
                                                size_t index) {
  const TensorView *keys = checkpoint.file(index).find("keys");
  if (!keys || keys->type != TensorType::I64 || keys->shape.size() != 1)
    return checkpoint.damaged(checkpoint.manifest().parts[index].file +
                              " has no keys");
  return keys;
}

Expected<const TensorView *> pdlrt::erasedTensorOf(const Checkpoint &checkpoint,
                                                   size_t index) {
  const CheckpointPart &part = checkpoint.manifest().parts[index];
  const TensorView *erased =
      part.isChanges ? checkpoint.file(index).find("erased") : nullptr;
  if (erased && (erased->type != TensorType::I64 || erased->shape.size() != 1))
    return checkpoint.damaged(part.file + " has no proper 'erased'");
  return erased;
}

Status pdlrt::isAlsoErased(const Checkpoint &checkpoint, size_t index,
                           int64_t key) {
  return checkpoint.damaged(fmt::format("{}: key {} has a row, and is erased",
                                        checkpoint.manifest().parts[index].file,
                                        key));
}

static Expected<std::vector<int64_t>>
readKeys(const Checkpoint &checkpoint, size_t index, const TensorView &tensor) {
  std::vector<int64_t> keys(size_t(tensor.elementCount));
  PDLRT_RETURN_IF_ERROR(tensor.copyTo(keys.data()));
  KeyPlaces places(checkpoint, index);
  for (int64_t key : keys)
    PDLRT_RETURN_IF_ERROR(places.take(key));
  return keys;
}

Expected<PartKeys> pdlrt::keysOf(const Checkpoint &checkpoint, size_t index) {
  const Expected<const TensorView *> tensor = keyTensorOf(checkpoint, index);
  if (!tensor)
    return tensor.status();
  const Expected<const TensorView *> gone = erasedTensorOf(checkpoint, index);
  if (!gone)
    return gone.status();
  Expected<std::vector<int64_t>> keys = readKeys(checkpoint, index, **tensor);
  if (!keys)
    return std::move(keys).status();
  PartKeys found = {*std::move(keys), {}};
  if (!*gone)
    return found;
  Expected<std::vector<int64_t>> erased = readKeys(checkpoint, index, **gone);
  if (!erased)
    return std::move(erased).status();
  found.erased = *std::move(erased);
  const auto place = [](int64_t key) {
    return std::tuple(EmbeddingTable::shardOf(key), key);
  };
  auto row = found.keys.begin();
  for (int64_t key : found.erased) {
    while (row != found.keys.end() && place(*row) < place(key))
      ++row;
    if (row != found.keys.end() && *row == key)
      return isAlsoErased(checkpoint, index, key);
  }
  return found;
}
