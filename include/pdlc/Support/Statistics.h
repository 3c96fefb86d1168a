//===- Statistics.h - What passes count -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The statistics that a pass declares in its .td file count only where LLVM was
// built with them, which Debian's is not. So a pass counts in a number of its
// own and reports it here, when it has succeeded: as a remark, which every
// build can print.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_SUPPORT_STATISTICS_H
#define PDLC_SUPPORT_STATISTICS_H

#include "mlir/Pass/Pass.h"

namespace pdlc {

/// The category of the remarks: `pdl-opt --remarks-filter=statistics`.
inline constexpr llvm::StringLiteral kStatisticsCategory = "statistics";

/// Adds `count` to `statistic`, declared by `pass` under `name`, and reports
/// both as a remark at `root`, the operation that the pass ran on.
void reportStatistic(const mlir::Pass &pass, mlir::Operation *root,
                     mlir::Pass::Statistic &statistic, llvm::StringRef name,
                     uint64_t count);

} // namespace pdlc

#endif // PDLC_SUPPORT_STATISTICS_H
