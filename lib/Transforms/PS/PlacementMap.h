//===- PlacementMap.h - Placement of units on owners ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_PS_PLACEMENTMAP_H
#define LIB_TRANSFORMS_PS_PLACEMENTMAP_H

#include "pdlc/Dialect/PS/IR/PS.h"

#include <optional>

namespace pdlc {

/// Owner of each unit of state. A unit is a block of `ps.blocks` or a shard of
/// `ps.shards`; units have their order in the module. Each process of a job
/// computes the same map when it starts. Owners are the servers of the job,
/// followed by its trainers if the mode makes trainers own state.
struct PlacementMap {
  struct Symbol {
    /// The ps.blocks or ps.shards op.
    mlir::Operation *units;
    mlir::FlatSymbolRefAttr name;
    /// Owners and costs by unit.
    llvm::SmallVector<int32_t> owners;
    llvm::SmallVector<uint64_t> costs;
  };
  llvm::SmallVector<Symbol> symbols;
  /// Number of servers of the job; 0 in a mode without servers.
  int32_t servers = 0;
  /// Sum of costs by owner.
  llvm::SmallVector<uint64_t> loads;
  /// Digest that processes compare with each other.
  uint64_t digest = 0;

  int32_t ownerCount() const { return static_cast<int32_t>(loads.size()); }

  /// Fills `map`, which must be empty. If `servers` has no value, the job has
  /// one server, or none in a mode without servers. Reports an error at the
  /// module if the policy is unknown, if the mode does not allow this number of
  /// servers or trainers, or if the module has no units.
  static mlir::LogicalResult compute(mlir::ModuleOp module,
                                     std::optional<int32_t> servers,
                                     int32_t trainers, llvm::StringRef policy,
                                     PlacementMap &map);
};

} // namespace pdlc

#endif // LIB_TRANSFORMS_PS_PLACEMENTMAP_H
