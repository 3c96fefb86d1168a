//===- RowPool.cpp - Rows by number ---------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/RowPool.h"

#include <algorithm>
#include <bit>

using namespace pdlrt;

RowMemory::RowMemory(const RowLayout &layout)
    : layout(layout), regionShift(std::bit_width(layout.rowsOfRegion() - 1)) {}

char *RowMemory::takeRegion() {
  const MutexLock lock(mutex);
  if (unused.empty())
    return blocks.take(layout.regionBytes());
  char *region = unused.back();
  unused.pop_back();
  return region;
}

void RowMemory::giveRegions(std::span<char *const> regions) {
  const MutexLock lock(mutex);
  unused.insert(unused.end(), regions.begin(), regions.end());
}

size_t RowMemory::memoryBytes() const {
  const MutexLock lock(mutex);
  return blocks.heldBytes();
}

uint64_t RowPool::reserve(RowMemory &memory) {
  if (!free.empty())
    return free.back();
  if ((fresh & ((uint64_t(1) << memory.regionShift) - 1)) ==
      memory.layout.rowsOfRegion())
    fresh = ((fresh >> memory.regionShift) + 1) << memory.regionShift;
  const size_t region = fresh >> memory.regionShift;
  if (region < regionCount)
    return fresh;
  if (regionCount == listSize) {
    const size_t size = std::max<size_t>(4, 2 * listSize);
    lists.reserve(lists.size() + 1);
    auto longer = std::make_unique<char *[]>(size);
    std::copy_n(regions.load(std::memory_order_relaxed), regionCount,
                longer.get());
    regions.store(longer.get(), std::memory_order_release);
    lists.push_back(std::move(longer));
    listSize = size;
  }
  lists.back()[region] = memory.takeRegion();
  ++regionCount;
  return fresh;
}

void RowPool::take() {
  ++inUse;
  if (free.empty())
    ++fresh;
  else
    free.pop_back();
}

void RowPool::reserveErased(size_t count) {
  const auto makeRoom = [](std::vector<uint32_t> &list, size_t size) {
    if (list.capacity() < size)
      list.reserve(std::max(2 * list.capacity(), size));
  };
  // Reserved in all three lists, so that `quiesce` cannot fail.
  const size_t all = leaving.size() + erased.size() + count;
  makeRoom(free, free.size() + all);
  makeRoom(leaving, all);
  makeRoom(erased, all);
}

bool RowPool::quiesce() {
  free.insert(free.end(), leaving.begin(), leaving.end());
  inUse -= leaving.size();
  leaving.clear();
  leaving.swap(erased);
  return !leaving.empty();
}

void RowPool::giveBack(RowMemory &memory) {
  if (inUse > 0 || regionCount == 0)
    return;
  memory.giveRegions({lists.back().get(), regionCount});
  // Assigning {} would keep the memory.
  for (std::vector<uint32_t> *list : {&free, &leaving, &erased})
    std::vector<uint32_t>().swap(*list);
  fresh = 0;
  regionCount = 0;
}

size_t RowPool::memoryBytes() const {
  // All lists together are less than twice the last one.
  return 2 * listSize * sizeof(char *) +
         (free.capacity() + leaving.capacity() + erased.capacity()) *
             sizeof(uint32_t);
}
