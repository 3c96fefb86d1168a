//===- WaitingTensors.cpp - Waiting keys in files -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/WaitingTensors.h"

#include "Checkpoint/KeyPlaces.h"
#include "Checkpoint/LinkedRows.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <tuple>
#include <utility>

using namespace pdlrt;

void WaitingColumns::addShard(EmbeddingTable &table, int shard,
                              bool onlyChanged, bool areSaved) {
  if (!table.options().life.notesWaiting())
    return;
  std::vector<WaitingKey> ofShard;
  table.collectWaiting(shard, onlyChanged, areSaved, ofShard);
  for (const WaitingKey &each : ofShard)
    add(each);
}

Status WaitingColumns::addTo(SafetensorsWriter &tensors) const {
  if (keys.empty())
    return {};
  const auto count = int64_t(keys.size());
  PDLRT_RETURN_IF_ERROR(
      tensors.add(keysName, TensorType::I64, {count}, keys.data()));
  return tensors.add(notesName, TensorType::I32, {count}, notes.data());
}

void WaitingColumns::copyTo(std::byte *image,
                            const SafetensorsWriter::Layout &layout) const {
  if (keys.empty())
    return;
  std::memcpy(image + layout.offsetOf(keysName), keys.data(),
              keys.size() * sizeof(int64_t));
  std::memcpy(image + layout.offsetOf(notesName), notes.data(),
              notes.size() * sizeof(int32_t));
}

Expected<std::vector<WaitingKey>>
pdlrt::waitingKeysOf(const Checkpoint &checkpoint, size_t index) {
  const CheckpointPart &part = checkpoint.manifest().parts[index];
  const SafetensorsFile &file = checkpoint.file(index);
  std::vector<WaitingKey> waiting;
  const TensorView *keyTensor = file.find(WaitingColumns::keysName);
  const TensorView *noteTensor = file.find(WaitingColumns::notesName);
  if (!keyTensor && !noteTensor)
    return waiting;
  if (!keyTensor || !noteTensor || keyTensor->type != TensorType::I64 ||
      noteTensor->type != TensorType::I32 || keyTensor->shape.size() != 1 ||
      noteTensor->shape != keyTensor->shape)
    return checkpoint.damaged(part.file + " has no proper keys that wait");
  WaitingColumns columns;
  columns.keys.resize(size_t(keyTensor->elementCount));
  columns.notes.resize(columns.keys.size());
  PDLRT_RETURN_IF_ERROR(keyTensor->copyTo(columns.keys.data()));
  PDLRT_RETURN_IF_ERROR(noteTensor->copyTo(columns.notes.data()));
  // The index uses the higher bits for a part of the key.
  constexpr int maxBits = 30;
  std::pair<int, int64_t> last = {-1, 0};
  for (size_t i = 0; i < columns.keys.size(); ++i) {
    const int64_t key = columns.keys[i];
    const std::pair<int, int64_t> place = {EmbeddingTable::shardOf(key), key};
    const WaitingBits bits(uint32_t(columns.notes[i]));
    if (!part.holdsShard(place.first) || place <= last ||
        bits.saved().bits() != bits.bits() || bits.count() == 0 ||
        bits.bits() >> maxBits != 0)
      return checkpoint.damaged(fmt::format(
          "{}: key {}, which waits for a row, is not in its place, or without "
          "a count",
          part.file, key));
    last = place;
    waiting.push_back({key, bits});
  }
  return waiting;
}

namespace {

/// State of a waiting key according to one checkpoint of the chain. If no bit
/// is set, the key does not wait.
struct LinkedKey {
  int shard;
  int64_t key;
  size_t order;
  WaitingBits bits;
};

} // namespace

Expected<std::vector<WaitingKey>>
pdlrt::linkWaiting(const Checkpoint &checkpoint, const std::string &symbol) {
  std::vector<LinkedKey> all;
  size_t order = 0;
  const auto add = [&](int64_t key, WaitingBits bits) {
    all.push_back({EmbeddingTable::shardOf(key), key, order, bits});
  };
  const auto addPart = [&](const Checkpoint &link, size_t index) -> Status {
    const CheckpointPart &part = link.manifest().parts[index];
    ++order;
    // A part with complete shards replaces all earlier entries of these shards.
    if (link.isDelta() && !part.isChanges)
      for (size_t i = 0, end = all.size(); i < end; ++i)
        if (part.holdsShard(all[i].shard))
          add(all[i].key, WaitingBits());
    const Expected<PartKeys> found = keysOf(link, index);
    if (!found)
      return found.status();
    for (int64_t key : found->erased)
      add(key, WaitingBits());
    ++order;
    // A key with a row does not wait. Only keys that waited before matter.
    if (link.isDelta())
      for (int64_t key : found->keys)
        add(key, WaitingBits());
    ++order;
    const Expected<std::vector<WaitingKey>> waiting =
        waitingKeysOf(link, index);
    if (!waiting)
      return waiting.status();
    for (const WaitingKey &each : *waiting)
      add(each.key, each.bits);
    return {};
  };
  PDLRT_RETURN_IF_ERROR(forEachTablePart(checkpoint, symbol, addPart));
  std::ranges::sort(all, [](const LinkedKey &a, const LinkedKey &b) {
    return std::tie(a.shard, a.key, a.order) <
           std::tie(b.shard, b.key, b.order);
  });
  std::vector<WaitingKey> waiting;
  for (size_t i = 0; i < all.size(); ++i)
    if ((i + 1 == all.size() || all[i + 1].key != all[i].key) &&
        all[i].bits.bits() != 0)
      waiting.push_back({all[i].key, all[i].bits});
  return waiting;
}
