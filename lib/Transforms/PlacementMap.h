//===- PlacementMap.h - Units of a module, and their servers ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_PLACEMENTMAP_H
#define LIB_TRANSFORMS_PLACEMENTMAP_H

#include "pdlc/Dialect/PS/IR/PS.h"

namespace pdlc {

/// The map from units to servers that processes compute from the module's
/// program, in the same order of units.
struct PlacementMap {
  struct Symbol {
    /// The ps.blocks or ps.shards.
    mlir::Operation *units;
    mlir::FlatSymbolRefAttr name;
    /// By unit.
    llvm::SmallVector<int32_t> servers;
    llvm::SmallVector<uint64_t> costs;
  };
  llvm::SmallVector<Symbol> symbols;
  /// By server: summed costs.
  llvm::SmallVector<uint64_t> loads;
  /// What processes compare.
  uint64_t digest = 0;

  /// Fills an empty map. Fails, with a diagnostic at the module, for an unknown
  /// policy, for no server, or where nothing was cut into units.
  static mlir::LogicalResult compute(mlir::ModuleOp module, int32_t servers,
                                     llvm::StringRef policy, PlacementMap &map);
};

} // namespace pdlc

#endif // LIB_TRANSFORMS_PLACEMENTMAP_H
