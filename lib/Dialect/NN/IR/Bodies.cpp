//===- Bodies.cpp - Common code of ops with bodies ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bodies.h"
#include "pdlc/Support/Phases.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

std::string pdlc::nn::findBodyHindrance(Operation &op) {
  if (isa<CallOp>(op))
    return "";
  // Random numbers and mixed samples belong to the samples of a whole batch.
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

LogicalResult pdlc::nn::inferFromBody(std::optional<Location> location,
                                      StringRef operation, Region &body,
                                      SmallVectorImpl<Type> &types) {
  if (body.empty() || body.front().empty() ||
      !isa<YieldOp>(body.front().back()))
    return emitOptionalError(location, "'", operation,
                             "' op has a body that does not end in nn.yield "
                             "(C3)");
  llvm::append_range(types, body.front().back().getOperandTypes());
  return success();
}

bool pdlc::nn::isInPhaseModel(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto phase =
      module ? module->getAttrOfType<StringAttr>(NNDialect::kPhaseAttrName)
             : StringAttr();
  return !phase || phase.getValue() == stringify(Phase::Model);
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
                         << " does not; put it before or after the " << what
                         << " (C4)";
    diagnostic.attachNote(owner->getLoc()) << "the " << what << " is here";
    return diagnostic;
  }
  return success();
}

LogicalResult
pdlc::nn::verifyCaptures(Region &body, StringRef what,
                         function_ref<const char *(Value)> remedy) {
  Operation *user = nullptr;
  Value taken;
  body.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand && !body.isAncestor(operand.getParentRegion())) {
        user = op;
        taken = operand;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (!user)
    return success();
  InFlightDiagnostic diagnostic = user->emitOpError()
                                  << "uses a value from outside of the " << what
                                  << "'s body; " << remedy(taken) << " ("
                                  << body.getParentOp()->getName() << ", C5)";
  diagnostic.attachNote(taken.getLoc()) << "the value comes from here";
  return diagnostic;
}
