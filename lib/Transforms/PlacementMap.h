//===- PlacementMap.h - Units of a module, and their owners -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_PLACEMENTMAP_H
#define LIB_TRANSFORMS_PLACEMENTMAP_H

#include "pdlc/Dialect/PS/IR/PS.h"

#include <optional>

namespace pdlc {

/// The map from units to owners that processes compute from the module's
/// program, in the same order of units. Owners are the job's servers, then,
/// where the mode says so, its trainers.
struct PlacementMap {
  struct Symbol {
    /// The ps.blocks or ps.shards.
    mlir::Operation *units;
    mlir::FlatSymbolRefAttr name;
    /// By unit.
    llvm::SmallVector<int32_t> owners;
    llvm::SmallVector<uint64_t> costs;
  };
  llvm::SmallVector<Symbol> symbols;
  /// Servers of the job; 0 in a mode without.
  int32_t servers = 0;
  /// By owner: summed costs.
  llvm::SmallVector<uint64_t> loads;
  /// What processes compare.
  uint64_t digest = 0;

  int32_t ownerCount() const { return static_cast<int32_t>(loads.size()); }

  /// Fills an empty map. `servers`: none for one where the mode has servers.
  /// Fails, with a diagnostic at the module, for an unknown policy, for a
  /// number of servers or trainers that the mode cannot have, or where nothing
  /// was cut into units.
  static mlir::LogicalResult compute(mlir::ModuleOp module,
                                     std::optional<int32_t> servers,
                                     int32_t trainers, llvm::StringRef policy,
                                     PlacementMap &map);
};

} // namespace pdlc

#endif // LIB_TRANSFORMS_PLACEMENTMAP_H
