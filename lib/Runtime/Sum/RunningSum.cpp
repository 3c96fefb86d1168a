//===- RunningSum.cpp - Incremental sums in a fixed order -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Sum/RunningSum.h"

#include "Sum/ElementCursor.h"
#include "pdlabi/hash.h"
#include "pdlrt/Core/Finite.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

using namespace pdlrt;

/// Number of elements and of keys per task.
static constexpr int64_t elementsInTask = 16384;
static constexpr int64_t keysInTask = 1024;
/// While a key's gradient is added, the sum of the key that follows `rowsAhead`
/// keys later is prefetched.
static constexpr int64_t rowsAhead = 8;

/// A number at any address, as in messages.
template <typename T> struct __attribute__((packed)) LooseNumber {
  T value;
};

template <typename T>
static void addElements(int64_t count, const void *first, const void *second,
                        void *out) {
  auto *right = static_cast<const LooseNumber<T> *>(second);
  // Two loops, because a loop in which `out` may be `first` is not vectorized.
  if (out == first) {
    auto *target = static_cast<T *>(out);
    for (int64_t i = 0; i < count; ++i)
      target[i] += right[i].value;
    return;
  }
  auto *left = static_cast<const LooseNumber<T> *>(first);
  auto *__restrict target = static_cast<T *>(out);
  for (int64_t i = 0; i < count; ++i)
    target[i] = left[i].value + right[i].value;
}

/// Computes out[i] = first[i] + second[i]. `out` must be `first`, or overlap
/// neither input. `out` must be aligned; `first` and `second` need not be.
static void addInto(int32_t type, int64_t count, const void *first,
                    const void *second, void *out) {
  if (type == PDL_F32)
    addElements<float>(count, first, second, out);
  else
    addElements<double>(count, first, second, out);
}

void RunningSum::makeRoom(size_t blockCount) {
  while (memory.size() < blockCount)
    memory.push_back(std::make_unique<BlockSum>());
}

void RunningSum::begin(std::span<const GradientBlock> newBlocks) {
  blocks = newBlocks;
  isWatched = true;
  parts = 0;
  sum.present = false;
  sum.steps = 1;
  sum.objectives.assign(1, ObjectiveSums());
  sum.blocks.assign(blocks.size(), BlockGradient());
  makeRoom(blocks.size());
  for (const std::unique_ptr<BlockSum> &own : memory) {
    own->keys.clear();
    own->rows.clear();
    own->gradients.clear();
    own->owned.clear();
    own->entered = 0;
    own->finite = true;
  }
}

Status RunningSum::add(const PartialSum &part, Scheduler &scheduler) {
  if (!part.present)
    return {};
  // The first one is copied, because 0 + -0 would not be -0.
  if (parts == 0) {
    sum.objectives = part.objectives;
    sum.steps = part.steps;
  } else {
    for (size_t o = 0; o < sum.objectives.size(); ++o) {
      sum.objectives[o].loss += part.objectives[o].loss;
      sum.objectives[o].weight += part.objectives[o].weight;
    }
  }
  sum.present = true;
  for (size_t b = 0; b < blocks.size(); ++b) {
    // `seen` has the values on which a gradient was computed. For a sum of
    // several parts there is no such single set of values.
    sum.blocks[b].seen = parts == 0 ? part.blocks[b].seen : nullptr;
    sum.blocks[b].seenRows = parts == 0 ? part.blocks[b].seenRows : nullptr;
    if (blocks[b].isTable)
      PDLRT_RETURN_IF_ERROR(
          addRows(blocks[b], *memory[b], part.blocks[b], scheduler));
    else
      addDense(blocks[b], *memory[b], sum.blocks[b], part.blocks[b], scheduler);
  }
  ++parts;
  return {};
}

Status RunningSum::assign(std::span<const GradientBlock> newBlocks,
                          std::span<const PartialSum> all,
                          Scheduler &scheduler) {
  const auto isPresent = [](const PartialSum &part) { return part.present; };
  if (std::ranges::count_if(all, isPresent) == 1) {
    sum = *std::ranges::find_if(all, isPresent);
    forgetEarly();
    return {};
  }
  begin(newBlocks);
  isWatched = false;
  for (const PartialSum &part : all)
    PDLRT_RETURN_IF_ERROR(add(part, scheduler));
  finish(scheduler);
  forgetEarly();
  return {};
}

//===----------------------------------------------------------------------===//
// Dense blocks
//===----------------------------------------------------------------------===//

void RunningSum::addDense(const GradientBlock &block, BlockSum &own,
                          BlockGradient &result, const BlockGradient &part,
                          Scheduler &scheduler) {
  if (own.early) {
    result.dense = own.early;
    return;
  }
  // Gradients that exist only on devices are added there, also those of other
  // processes. Here only their address is passed on.
  if (!part.dense && part.pieces.empty()) {
    result.onDevice = part.onDevice;
    return;
  }
  if (parts == 0 || block.elementCount == 0) {
    result.dense = part.dense;
    result.pieces = part.pieces;
    return;
  }
  const size_t size = elementSize(block.elementType);
  auto *out = static_cast<char *>(own.dense.reserve(block.elementCount * size));
  const int64_t tasks =
      (block.elementCount + elementsInTask - 1) / elementsInTask;
  // A value that is not finite stays so, whatever is added.
  scheduler.parallelFor(tasks, [&](int64_t task) {
    const int64_t begin = task * elementsInTask;
    const int64_t count = std::min(elementsInTask, block.elementCount - begin);
    ElementCursor first(result, size, begin), second(part, size, begin);
    for (int64_t done = 0; done < count;) {
      const ElementRun left = first.run(count - done);
      const ElementRun right = second.run(left.count);
      char *to = out + (begin + done) * size;
      // `out` may be the current sum itself.
      addInto(block.elementType, right.count, left.data, right.data, to);
      first.advance(right.count);
      second.advance(right.count);
      done += right.count;
    }
    if (isWatched && !allFinite(block.elementType, count, out + begin * size))
      own.finite = false;
  });
  result.dense = out;
  result.pieces = {};
}

void RunningSum::beginEarly(std::span<const GradientBlock> newBlocks) {
  makeRoom(newBlocks.size());
  forgetEarly();
}

void RunningSum::forgetEarly() {
  for (const std::unique_ptr<BlockSum> &own : memory)
    own->early = nullptr;
}

const void *RunningSum::sumEarly(const GradientBlock &block, size_t index,
                                 std::span<const void *const> parts) {
  BlockSum &own = *memory[index];
  if (parts.size() == 1 || block.elementCount == 0)
    return own.early = parts.front();
  const size_t size = elementSize(block.elementType);
  auto *out = static_cast<char *>(own.dense.reserve(block.elementCount * size));
  const double bytes = double(block.elementCount * size) * double(parts.size());
  parallelRanges(block.elementCount, bytes, [&](int64_t begin, int64_t end) {
    const size_t at = size_t(begin) * size;
    const void *sumSoFar = static_cast<const char *>(parts[0]) + at;
    for (const void *part : parts.subspan(1)) {
      addInto(block.elementType, end - begin, sumSoFar,
              static_cast<const char *>(part) + at, out + at);
      sumSoFar = out + at;
    }
  });
  return own.early = out;
}

const PartialSum &RunningSum::finish(Scheduler &scheduler) {
  for (size_t b = 0; b < blocks.size() && sum.present; ++b) {
    const GradientBlock &block = blocks[b];
    BlockSum &own = *memory[b];
    BlockGradient &result = sum.blocks[b];
    if (block.isTable) {
      result.keyCount = int64_t(own.keys.size());
      result.keys = own.keys.data();
      result.rows = own.rows.data();
      result.gradients = own.gradients.data();
      continue;
    }
    if (parts > 1 || block.elementCount == 0 ||
        (!result.dense && result.pieces.empty()))
      continue;
    // A single part is still in its message, and was not checked.
    const size_t size = elementSize(block.elementType);
    const auto *from = static_cast<const char *>(result.dense);
    const bool aligned =
        from && reinterpret_cast<uintptr_t>(from) % PDL_BUFFER_ALIGNMENT == 0;
    char *out =
        aligned
            ? nullptr
            : static_cast<char *>(own.dense.reserve(block.elementCount * size));
    const int64_t tasks =
        (block.elementCount + elementsInTask - 1) / elementsInTask;
    scheduler.parallelFor(tasks, [&](int64_t task) {
      const int64_t begin = task * elementsInTask;
      const int64_t count =
          std::min(elementsInTask, block.elementCount - begin);
      if (out) {
        ElementCursor cursor(result, size, begin);
        for (int64_t done = 0; done < count;) {
          const ElementRun run = cursor.run(count - done);
          std::memcpy(out + (begin + done) * size, run.data, run.count * size);
          cursor.advance(run.count);
          done += run.count;
        }
      }
      if (!allFinite(block.elementType, count,
                     (out ? out : from) + begin * size))
        own.finite = false;
    });
    if (out) {
      result.dense = out;
      result.pieces = {};
    }
  }
  return sum;
}

int32_t RunningSum::firstNonFinite() const {
  for (size_t b = 0; b < blocks.size(); ++b)
    if (!memory[b]->finite)
      return int32_t(b);
  return -1;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Returns the entry of a key. If the key is new, its value is -1 and must be
/// set.
int32_t *RunningSum::placeOf(BlockSum &own, int64_t key) {
  const uint64_t mask = own.table.size() - 1;
  uint64_t position = pdlabi::mixKey(key) & mask;
  while (own.table[position].epoch == own.epoch &&
         own.table[position].key != key)
    position = (position + 1) & mask;
  Entry &entry = own.table[position];
  if (entry.epoch != own.epoch)
    entry = {key, own.epoch, -1};
  return &entry.place;
}

/// Grows the table so that `keys` keys fill at most half of it, and enters keys
/// that it lacks.
void RunningSum::growTable(BlockSum &own, size_t keys) {
  const bool isNew = own.entered == 0;
  const size_t wanted = std::bit_ceil(std::max<size_t>(64, 2 * keys));
  if (wanted > own.table.size() ||
      (isNew && own.epoch == std::numeric_limits<uint32_t>::max())) {
    own.table.assign(std::max(wanted, own.table.size()), Entry());
    own.epoch = 0;
    own.entered = 0;
  }
  if (own.entered == 0)
    ++own.epoch;
  for (; own.entered < own.keys.size(); ++own.entered)
    *placeOf(own, own.keys[own.entered]) = int32_t(own.entered);
}

int32_t RunningSum::findPlaces(BlockSum &own, const BlockGradient &part) {
  const auto count = size_t(part.keyCount);
  growTable(own, own.keys.size() + count);
  own.places.resize(count);
  own.slots.assign(count, -1);
  int32_t slots = 0;
  constexpr size_t ahead = 16;
  const uint64_t mask = own.table.size() - 1;
  for (size_t i = 0; i < count; ++i) {
    if (i + ahead < count)
      __builtin_prefetch(
          &own.table[pdlabi::mixKey(part.keys[i + ahead]) & mask], 1);
    int32_t &place = *placeOf(own, part.keys[i]);
    if (place < 0) {
      place = int32_t(own.keys.size());
      own.keys.push_back(part.keys[i]);
      own.rows.push_back(part.rows[i]);
      own.gradients.push_back(part.gradients[i]);
      own.owned.push_back(false);
      own.places[i] = -1;
      continue;
    }
    own.places[i] = place;
    if (!own.owned[place])
      own.slots[i] = slots++;
  }
  own.entered = own.keys.size();
  return slots;
}

Status RunningSum::addRows(const GradientBlock &block, BlockSum &own,
                           const BlockGradient &part, Scheduler &scheduler) {
  if (own.keys.size() + uint64_t(part.keyCount) >
      uint64_t(std::numeric_limits<int32_t>::max()))
    return Status::invalidArgument(
        "the replicas of a step have 2^31 keys or more of "
        "one table together; use a smaller --batch-size");
  const size_t total = own.keys.size() + size_t(part.keyCount);
  own.keys.reserve(total);
  own.rows.reserve(total);
  own.gradients.reserve(total);
  own.owned.reserve(total);
  const size_t rowSize = block.elementCount * elementSize(block.elementType);
  char *values = nullptr;
  if (parts == 0) {
    // Usually there are no other parts, so no keys need to be found.
    own.keys.assign(part.keys, part.keys + part.keyCount);
    own.rows.assign(part.rows, part.rows + part.keyCount);
    own.gradients.assign(part.gradients, part.gradients + part.keyCount);
    own.owned.assign(part.keyCount, false);
    own.places.assign(part.keyCount, -1);
  } else {
    const int32_t slots = findPlaces(own, part);
    own.values.resize(std::max(own.values.size(), parts + 1));
    values = static_cast<char *>(own.values[parts].reserve(slots * rowSize));
  }
  // The keys of a part are distinct, so only one task writes each row.
  scheduler.parallelFor(
      (part.keyCount + keysInTask - 1) / keysInTask, [&](int64_t task) {
        bool finite = true;
        const int64_t end = std::min(part.keyCount, (task + 1) * keysInTask);
        for (int64_t i = task * keysInTask; i < end; ++i) {
          // Rows of keys are not adjacent: prefetch the current sum.
          if (i + rowsAhead < end)
            if (const int32_t place = own.places[i + rowsAhead]; place >= 0)
              __builtin_prefetch(own.gradients[place]);
          const void *added = part.gradients[i];
          if (const int32_t place = own.places[i]; place >= 0) {
            const void *before = own.gradients[place];
            char *out = own.owned[place]
                            ? static_cast<char *>(const_cast<void *>(before))
                            : values + own.slots[i] * rowSize;
            addInto(block.elementType, block.elementCount, before, added, out);
            own.gradients[place] = added = out;
            own.owned[place] = true;
          }
          if (isWatched)
            finite &= allFinite(block.elementType, block.elementCount, added);
        }
        if (!finite)
          own.finite = false;
      });
  return {};
}
