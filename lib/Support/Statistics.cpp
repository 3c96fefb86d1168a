//===- Statistics.cpp - What passes count -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Support/Statistics.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

void pdlc::reportStatistic(const Pass &pass, Operation *root,
                           Pass::Statistic &statistic, StringRef name,
                           uint64_t count) {
  statistic += count;
  remark::analysis(root->getLoc(), remark::RemarkOpts::name(pass.getArgument())
                                       .category(kStatisticsCategory))
      << remark::metric(name, count);
}
