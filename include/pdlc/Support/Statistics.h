//===- Statistics.h - Statistics of passes ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM counts the statistics that a pass declares in its .td file only if it
// was built with them; Debian's LLVM was not. Therefore a pass counts in a
// variable of its own. After it has succeeded, it reports the count here as a
// remark, which every build can print.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_SUPPORT_STATISTICS_H
#define PDLC_SUPPORT_STATISTICS_H

#include "mlir/Pass/Pass.h"

namespace pdlc {

/// Category of the remarks, for `pdl-opt --remarks-filter=statistics`.
inline constexpr llvm::StringLiteral kStatisticsCategory = "statistics";

/// Adds `count` to `statistic`, a statistic of `pass` whose name in the .td
/// file is `name`. Also reports name and count as a remark at `root`, the
/// operation on which the pass ran.
void reportStatistic(const mlir::Pass &pass, mlir::Operation *root,
                     mlir::Pass::Statistic &statistic, llvm::StringRef name,
                     uint64_t count);

} // namespace pdlc

#endif // PDLC_SUPPORT_STATISTICS_H
