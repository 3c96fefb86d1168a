//===- SortedRows.cpp - Iterates over the rows of a table by key ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/SortedRows.h"

#include "Checkpoint/KeyPlaces.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <utility>

using namespace pdlrt;

namespace {

/// Keys of one file that belong to one shard and have the same sign, in
/// ascending order. They are read in pieces.
struct Run {
  const Checkpoint *of;
  size_t part;
  /// Index of the checkpoint in its chain. Entries of later checkpoints replace
  /// those of earlier ones.
  size_t link;
  const TensorView *keys;
  /// Null if the keys are erased.
  const TensorView *values;
  /// Range in the file that has not been read yet.
  int64_t begin, end;

  /// Current piece, and the position in it.
  std::vector<int64_t> someKeys = {};
  std::vector<std::byte> someValues = {};
  size_t at = 0;

  int64_t key() const { return someKeys[at]; }
};

/// Runs whose keys have the same sign. Such keys have the same order as signed
/// and as unsigned numbers.
using Runs = std::vector<Run>;

} // namespace

class SortedRows::Merge {
public:
  Status find(const Checkpoint &checkpoint, const CheckpointSymbol &symbol,
              size_t part);
  Status begin(KeyOrder order, size_t memory);
  Expected<bool> next();

  RowElements elements;
  int64_t key = 0;
  /// Values of the current row.
  std::vector<std::byte> values;

private:
  Status addPart(const Checkpoint &link, size_t linkNumber, size_t index,
                 const std::string &tensor);
  Status addKeys(Run run, int64_t count);
  Status beginSide();
  Status read(Run &run);
  Status advance(size_t run);
  bool comesAfter(size_t a, size_t b) const;

  /// Indexed by shard: the oldest checkpoint of the chain whose rows of the
  /// shard count. A later part with all rows of a shard replaces the rows of
  /// all earlier checkpoints.
  std::array<size_t, EmbeddingTable::shardCount> firstLink = {};
  /// Runs of negative keys, and of the other keys.
  Runs sides[2];
  /// Signs (indices of `sides`) that are not merged yet. The last one is merged
  /// next.
  std::vector<int> sidesLeft;
  Runs *side = nullptr;
  size_t memory = 0;
  int64_t rowsAtOnce = 1;
  /// Runs of `side` with a next key, as a min-heap.
  std::vector<size_t> heap;
};

/// Divides the keys of a file into runs, and checks their order.
Status SortedRows::Merge::addKeys(Run run, int64_t count) {
  KeyPlaces places(*run.of, run.part);
  TensorWindow window(*run.keys);
  int lastShard = -1;
  bool wasNegative = false;
  Run *last = nullptr;
  for (int64_t i = 0; i < count; ++i) {
    Expected<const std::byte *> from = window.at(i, 1);
    if (!from)
      return from.status();
    int64_t next = 0;
    std::memcpy(&next, *from, sizeof(next));
    PDLRT_RETURN_IF_ERROR(places.take(next));
    const bool isNegative = next < 0;
    if (places.shard() != lastShard || isNegative != wasNegative) {
      lastShard = places.shard();
      wasNegative = isNegative;
      run.begin = i;
      last = firstLink[size_t(lastShard)] > run.link
                 ? nullptr
                 : &sides[isNegative ? 0 : 1].emplace_back(run);
    }
    if (last)
      last->end = i + 1;
  }
  return {};
}

Status SortedRows::Merge::addPart(const Checkpoint &link, size_t linkNumber,
                                  size_t index, const std::string &tensor) {
  Expected<const TensorView *> keys = keyTensorOf(link, index);
  if (!keys)
    return keys.status();
  const int64_t count = (*keys)->elementCount;
  Expected<const TensorView *> rows = link.tensorOf(
      link.file(index), tensor, elements.type, {count, elements.width});
  if (!rows)
    return rows.status();
  Expected<const TensorView *> erased = erasedTensorOf(link, index);
  if (!erased)
    return erased.status();
  PDLRT_RETURN_IF_ERROR(
      addKeys({&link, index, linkNumber, *keys, *rows, 0, 0}, count));
  if (!*erased)
    return {};
  return addKeys({&link, index, linkNumber, *erased, nullptr, 0, 0},
                 (*erased)->elementCount);
}

Status SortedRows::Merge::find(const Checkpoint &checkpoint,
                               const CheckpointSymbol &symbol, size_t part) {
  elements.type = symbol.partType(part);
  elements.width = 1;
  if (part == 0 || !symbol.isRowSlot(part - 1))
    for (int64_t size : symbol.shape)
      elements.width *= size;
  const std::string tensor =
      part ? "slot." + symbol.slots[part - 1] : std::string("values");
  std::vector<const Checkpoint *> links;
  PDLRT_RETURN_IF_ERROR(
      checkpoint.forEachLink([&](const Checkpoint &link) -> Status {
        links.push_back(&link);
        return {};
      }));
  const auto forEachPart = [&](const auto &visit) -> Status {
    for (size_t l = 0; l < links.size(); ++l) {
      const std::vector<CheckpointPart> &parts = links[l]->manifest().parts;
      for (size_t p = 0; p < parts.size(); ++p)
        if (parts[p].kind == PartKind::Table && parts[p].symbol == symbol.name)
          PDLRT_RETURN_IF_ERROR(visit(l, p, parts[p]));
    }
    return {};
  };
  PDLRT_RETURN_IF_ERROR(
      forEachPart([&](size_t l, size_t, const CheckpointPart &found) -> Status {
        if (!found.isChanges)
          for (const auto &[first, end] : found.shards)
            std::fill(firstLink.begin() + first, firstLink.begin() + end, l);
        return {};
      }));
  return forEachPart([&](size_t l, size_t p, const CheckpointPart &) {
    return addPart(*links[l], l, p, tensor);
  });
}

Status SortedRows::Merge::begin(KeyOrder order, size_t bytes) {
  memory = bytes;
  values.resize(elements.bytes());
  // The last one is merged first.
  sidesLeft = order == KeyOrder::Signed ? std::vector{1, 0} : std::vector{0, 1};
  return beginSide();
}

/// Reads the next piece of a run. The run must have a next piece.
Status SortedRows::Merge::read(Run &run) {
  const int64_t count = std::min(rowsAtOnce, run.end - run.begin);
  run.at = 0;
  run.someKeys.resize(size_t(count));
  PDLRT_RETURN_IF_ERROR(run.keys->read(run.begin, count, run.someKeys.data()));
  if (run.values) {
    run.someValues.resize(size_t(count) * elements.bytes());
    PDLRT_RETURN_IF_ERROR(run.values->read(run.begin * elements.width,
                                           count * elements.width,
                                           run.someValues.data()));
  }
  run.begin += count;
  return {};
}

/// If keys are equal, the newest comes first.
bool SortedRows::Merge::comesAfter(size_t a, size_t b) const {
  const Run &left = (*side)[a], &right = (*side)[b];
  return std::pair(left.key(), right.link) > std::pair(right.key(), left.link);
}

Status SortedRows::Merge::beginSide() {
  while (heap.empty() && !sidesLeft.empty()) {
    if (side)
      *side = {};
    side = &sides[sidesLeft.back()];
    sidesLeft.pop_back();
    if (side->empty())
      continue;
    // Larger reads than this do not increase disk throughput.
    constexpr size_t maxBytes = size_t(1) << 20;
    const size_t rowBytes = sizeof(int64_t) + elements.bytes();
    rowsAtOnce = int64_t(std::max<size_t>(
        1, std::min(maxBytes, memory / side->size()) / rowBytes));
    for (size_t r = 0; r < side->size(); ++r) {
      PDLRT_RETURN_IF_ERROR(read((*side)[r]));
      heap.push_back(r);
    }
    std::ranges::make_heap(
        heap, [&](size_t a, size_t b) { return comesAfter(a, b); });
  }
  return {};
}

/// Moves a run to its next key. The run is not in the heap; it is added again
/// if it has a next key.
Status SortedRows::Merge::advance(size_t number) {
  Run &run = (*side)[number];
  if (++run.at == run.someKeys.size()) {
    if (run.begin == run.end) {
      run = {};
      return {};
    }
    PDLRT_RETURN_IF_ERROR(read(run));
  }
  heap.push_back(number);
  std::ranges::push_heap(heap,
                         [&](size_t a, size_t b) { return comesAfter(a, b); });
  return {};
}

Expected<bool> SortedRows::Merge::next() {
  for (;;) {
    if (heap.empty())
      PDLRT_RETURN_IF_ERROR(beginSide());
    if (heap.empty())
      return false;
    const auto pop = [&] {
      std::ranges::pop_heap(
          heap, [&](size_t a, size_t b) { return comesAfter(a, b); });
      const size_t run = heap.back();
      heap.pop_back();
      return run;
    };
    const size_t newest = pop();
    const Run &run = (*side)[newest];
    key = run.key();
    const bool hasRow = run.values != nullptr;
    const size_t link = run.link;
    if (hasRow)
      std::memcpy(values.data(),
                  run.someValues.data() + run.at * elements.bytes(),
                  elements.bytes());
    const Checkpoint &of = *run.of;
    const size_t part = run.part;
    PDLRT_RETURN_IF_ERROR(advance(newest));
    // Skip older versions of the row.
    while (!heap.empty() && (*side)[heap.front()].key() == key) {
      if ((*side)[heap.front()].link == link)
        return isAlsoErased(of, part, key);
      PDLRT_RETURN_IF_ERROR(advance(pop()));
    }
    if (hasRow)
      return true;
  }
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

SortedRows::SortedRows(std::unique_ptr<Merge> merge)
    : merge(std::move(merge)) {}
SortedRows::SortedRows(SortedRows &&) noexcept = default;
SortedRows &SortedRows::operator=(SortedRows &&) noexcept = default;
SortedRows::~SortedRows() = default;

Expected<SortedRows> SortedRows::open(const Checkpoint &checkpoint,
                                      const CheckpointSymbol &symbol,
                                      size_t part, KeyOrder order,
                                      size_t memory) {
  auto merge = std::make_unique<Merge>();
  PDLRT_RETURN_IF_ERROR(merge->find(checkpoint, symbol, part));
  PDLRT_RETURN_IF_ERROR(merge->begin(order, memory));
  return SortedRows(std::move(merge));
}

const RowElements &SortedRows::elements() const { return merge->elements; }
Expected<bool> SortedRows::next() { return merge->next(); }
int64_t SortedRows::key() const { return merge->key; }
const std::byte *SortedRows::values() const { return merge->values.data(); }
