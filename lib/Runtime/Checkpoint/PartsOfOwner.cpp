//===- PartsOfOwner.cpp - The files that an owner of state restores -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelCheckpoint.h"

#include <algorithm>
#include <string_view>
#include <vector>
#include <xxhash.h>

using namespace pdlrt;

namespace {

/// Finds the owners that need a file of a checkpoint.
class OwnersOfPart {
public:
  OwnersOfPart(const pdl_descriptor &descriptor, const Placement &placement)
      : descriptor(descriptor), placement(placement) {}

  /// Returns the owners, ascending.
  std::vector<int32_t> find(const CheckpointPart &part) const;

private:
  bool needsRows(const CheckpointPart &part, int32_t symbol,
                 int32_t owner) const;
  bool needsParameters(const CheckpointPart &part, int32_t owner) const;

  const pdl_descriptor &descriptor;
  const Placement &placement;
};

} // namespace

static bool isTable(const pdl_symbol &symbol) {
  return symbol.kind == PDL_SYMBOL_TABLE;
}

/// Returns true if the owner has a shard of the part.
bool OwnersOfPart::needsRows(const CheckpointPart &part, int32_t symbol,
                             int32_t owner) const {
  const std::vector<int64_t> &shards = placement.unitsOf(symbol, owner);
  return std::ranges::any_of(part.shards, [&](const CheckpointRange &range) {
    const auto first = std::ranges::lower_bound(shards, range.first);
    return first != shards.end() && *first < range.second;
  });
}

/// Returns true if the owner has a row of a parameter that is in the part.
bool OwnersOfPart::needsParameters(const CheckpointPart &part,
                                   int32_t owner) const {
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    if (isTable(descriptor.symbols[s]))
      continue;
    const std::vector<RowBlock> &blocks = placement.rowsOf(s, owner);
    if (part.rows.empty() && !blocks.empty())
      return true;
    for (const auto &[name, ranges] : part.rows)
      for (const auto &[first, end] : ranges)
        if (name == descriptor.symbols[s].name &&
            std::ranges::any_of(
                blocks, [&, first = first, end = end](const RowBlock &block) {
                  return block.firstRow < end &&
                         first < block.firstRow + block.rowCount;
                }))
          return true;
  }
  return false;
}

std::vector<int32_t> OwnersOfPart::find(const CheckpointPart &part) const {
  std::vector<int32_t> owners;
  for (int32_t owner = 0; owner < placement.serverCount(); ++owner) {
    bool needs = part.kind == PartKind::Dense && needsParameters(part, owner);
    for (int32_t s = 0;
         part.kind == PartKind::Table && !needs && s < descriptor.symbol_count;
         ++s)
      needs = isTable(descriptor.symbols[s]) &&
              part.symbol == descriptor.symbols[s].name &&
              needsRows(part, s, owner);
    if (needs)
      owners.push_back(owner);
  }
  // The first owner verifies the sums of the running epoch, and files that no
  // owner needs.
  if (owners.empty())
    owners.push_back(0);
  return owners;
}

PartSelection pdlrt::partsOfOwner(const pdl_descriptor &descriptor,
                                  const Placement &placement, int32_t owner,
                                  bool isStored) {
  return PartSelection([owners = OwnersOfPart(descriptor, placement), owner,
                        isStored](const CheckpointPart &part) {
    const std::vector<int32_t> all = owners.find(part);
    if (!std::ranges::binary_search(all, owner))
      return PartUse::None;
    // Spreads the files of several owners evenly.
    const uint64_t number = XXH3_64bits(part.file.data(), part.file.size());
    return !isStored || all[number % all.size()] == owner ? PartUse::Verify
                                                          : PartUse::Read;
  });
}
