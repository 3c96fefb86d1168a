//===- Bodies.cpp - What ops with bodies share ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bodies.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

std::string pdlc::nn::findBodyHindrance(Operation &op) {
  if (isa<CallOp>(op))
    return "";
  // What is drawn or mixed belongs to the samples of a whole batch.
  if (isa<DrawingOpInterface>(op))
    return "draws for each sample";
  if (op.hasTrait<MixesSamples>())
    return "mixes the samples of a batch";
  auto rows = dyn_cast<RowsOpInterface>(op);
  if (rows && rows.leadsToOtherRows())
    return "leads from rows to others";
  if (!op.hasTrait<InProgram>() || op.hasTrait<PreparesStep>() ||
      op.hasTrait<AppliesStep>() ||
      (!isPure(&op) && !op.hasTrait<ReadsModel>()))
    return "does more than compute";
  return "";
}

LogicalResult
pdlc::nn::verifyBodyComputes(Region &body, StringRef what,
                             function_ref<std::string(Operation &)> hinders) {
  Operation *owner = body.getParentOp();
  for (Operation &op : body.front().without_terminator()) {
    std::string hindrance = findBodyHindrance(op);
    if (hindrance.empty())
      hindrance = hinders(op);
    if (hindrance.empty())
      continue;
    InFlightDiagnostic diagnostic =
        op.emitOpError() << hindrance << ", which the body of a " << what
                         << " does not; put it before or behind the " << what
                         << " (C4)";
    diagnostic.attachNote(owner->getLoc()) << "the " << what << " is here";
    return diagnostic;
  }
  return success();
}
