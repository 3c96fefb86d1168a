//===- LocalCommunicator.cpp - Group sums of a step
//------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Comm/Communicator.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;

/// Elements and keys that one task sums: enough to be worth a task.
static constexpr int64_t elementsInTask = 16384;
static constexpr int64_t keysInTask = 1024;

template <typename T>
static void addElements(int64_t count, const void *from, void *to) {
  auto *source = static_cast<const T *>(from);
  auto *target = static_cast<T *>(to);
  for (int64_t i = 0; i < count; ++i)
    target[i] += source[i];
}

static void addTo(int32_t type, int64_t count, const void *from, void *to) {
  if (type == PDL_F32)
    addElements<float>(count, from, to);
  else
    addElements<double>(count, from, to);
}

void ContributionSum::sumDense(const GradientBlock &block, int64_t blockIndex,
                               std::span<const Contribution *const> parts,
                               Scheduler &scheduler) {
  const size_t size = elementSize(block.elementType);
  auto *out = static_cast<char *>(
      memory[blockIndex].values.reserve(block.elementCount * size));
  const int64_t tasks =
      (block.elementCount + elementsInTask - 1) / elementsInTask;
  scheduler.parallelFor(tasks, [&](int64_t task) {
    const int64_t first = task * elementsInTask;
    const int64_t count = std::min(elementsInTask, block.elementCount - first);
    const size_t offset = first * size;
    for (size_t p = 0; p < parts.size(); ++p) {
      const char *from =
          static_cast<const char *>(parts[p]->blocks[blockIndex].dense) +
          offset;
      if (p == 0)
        std::memcpy(out + offset, from, count * size);
      else
        addTo(block.elementType, count, from, out + offset);
    }
  });
  sum.blocks[blockIndex].dense = out;
}

Status ContributionSum::sumRows(const GradientBlock &block, int64_t blockIndex,
                                std::span<const Contribution *const> parts,
                                Scheduler &scheduler) {
  BlockMemory &own = memory[blockIndex];
  keyLists.clear();
  keyCounts.clear();
  for (const Contribution *part : parts) {
    keyLists.push_back(part->blocks[blockIndex].keys);
    keyCounts.push_back(part->blocks[blockIndex].keyCount);
  }
  // Each part's keys are distinct, so the occurrences of a key, ascending, are
  // the parts that hold it, in order.
  PDLRT_RETURN_IF_ERROR(own.index.assign(int32_t(parts.size()), keyLists.data(),
                                         keyCounts.data()));
  const int64_t keyCount = own.index.keyCount();
  const int64_t total = own.index.occurrenceCount();
  auto *partGradients = own.partGradients.reserveFor<const void *>(total);
  auto *partRows = own.partRows.reserveFor<void *>(total);
  int64_t offset = 0;
  for (const Contribution *part : parts) {
    const BlockGradient &from = part->blocks[blockIndex];
    std::copy_n(from.gradients, from.keyCount, partGradients + offset);
    std::copy_n(from.rows, from.keyCount, partRows + offset);
    offset += from.keyCount;
  }

  const size_t rowSize = block.elementCount * elementSize(block.elementType);
  auto *values = static_cast<char *>(own.values.reserve(keyCount * rowSize));
  auto *rows = own.rows.reserveFor<void *>(keyCount);
  auto *gradients = own.gradients.reserveFor<const void *>(keyCount);
  const int32_t *splits = own.index.splits();
  const int32_t *occurrences = own.index.occurrences();
  scheduler.parallelFor(
      (keyCount + keysInTask - 1) / keysInTask, [&](int64_t task) {
        const int64_t last = std::min(keyCount, (task + 1) * keysInTask);
        for (int64_t key = task * keysInTask; key < last; ++key) {
          const int32_t first = splits[key], end = splits[key + 1];
          rows[key] = partRows[occurrences[first]];
          if (end - first == 1) {
            gradients[key] = partGradients[occurrences[first]];
            continue;
          }
          char *out = values + key * rowSize;
          std::memcpy(out, partGradients[occurrences[first]], rowSize);
          for (int32_t o = first + 1; o < end; ++o)
            addTo(block.elementType, block.elementCount,
                  partGradients[occurrences[o]], out);
          gradients[key] = out;
        }
      });
  sum.blocks[blockIndex] = {nullptr, keyCount, own.index.keys(), rows,
                            gradients};
  return {};
}

Status ContributionSum::assign(std::span<const GradientBlock> blocks,
                               std::span<const Contribution> parts,
                               Scheduler &scheduler) {
  present.clear();
  for (const Contribution &part : parts)
    if (part.present)
      present.push_back(&part);
  sum.present = !present.empty();
  sum.lossSum = sum.weightSum = 0;
  sum.blocks.assign(blocks.size(), BlockGradient());
  if (present.empty())
    return {};
  sum.lossSum = present[0]->lossSum;
  sum.weightSum = present[0]->weightSum;
  if (present.size() == 1) {
    std::copy(present[0]->blocks.begin(), present[0]->blocks.end(),
              sum.blocks.begin());
    return {};
  }
  for (size_t p = 1; p < present.size(); ++p) {
    sum.lossSum += present[p]->lossSum;
    sum.weightSum += present[p]->weightSum;
  }
  memory.resize(std::max(memory.size(), blocks.size()));
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].isTable)
      PDLRT_RETURN_IF_ERROR(sumRows(blocks[b], b, present, scheduler));
    else
      sumDense(blocks[b], b, present, scheduler);
  }
  return {};
}

Communicator::~Communicator() = default;

namespace {

class LocalCommunicator final : public Communicator {
public:
  LocalCommunicator(int groups, Scheduler &scheduler)
      : groups(groups), scheduler(scheduler) {}

  int groupCount() const override { return groups; }
  int localGroupCount() const override { return groups; }

  Expected<const Contribution *>
  exchange(std::span<const GradientBlock> blocks,
           std::span<const Contribution> contributions) override {
    PDLRT_RETURN_IF_ERROR(sum.assign(blocks, contributions, scheduler));
    return &sum.result();
  }

private:
  int groups;
  Scheduler &scheduler;
  ContributionSum sum;
};

} // namespace

std::unique_ptr<Communicator>
pdlrt::createLocalCommunicator(int groupCount, Scheduler &scheduler) {
  return std::make_unique<LocalCommunicator>(groupCount, scheduler);
}
