//===- NNDialect.cpp - Dialect nn ---------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForeignNames.h"
#include "pdlc/Dialect/NN/IR/FormerNames.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/NN/IR/ServedSlot.h"
#include "pdlc/Dialect/NN/IR/Widens.h"
#include "pdlc/Support/Spelling.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "pdlc/Interfaces/InterpretableOpInterface.h"
#include "pdlc/Interfaces/StageOpInterface.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

#include "pdlc/Dialect/NN/IR/NNDialect.cpp.inc"

LogicalResult NNDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  if ((attribute.getName() == kPhaseAttrName ||
       attribute.getName() == kServedSlotAttrName) &&
      !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError()
           << "has attribute '" << attribute.getName().getValue()
           << "' with value " << attribute.getValue()
           << ", which is not a string";
  if (attribute.getName() == kWidensAttrName &&
      !isa<FlatSymbolRefAttr>(attribute.getValue()))
    return op->emitOpError()
           << "has attribute '" << attribute.getName().getValue()
           << "' with value " << attribute.getValue()
           << ", which is not the name of a table";
  if (attribute.getName() == kComputeAttrName) {
    auto name = dyn_cast<StringAttr>(attribute.getValue());
    if (!name || !symbolizeCompute(name.getValue()))
      return op->emitOpError()
             << "has attribute '" << attribute.getName().getValue()
             << "' with value " << attribute.getValue()
             << ", which is not \"bf16\", \"bf16x3\" or \"bf16x6\"";
  }
  return success();
}

/// Promises the interfaces of an op that other libraries implement. If such a
/// library is not registered and MLIR is built with assertions, the first use
/// of the interface aborts with the name of the op. docs/Obligations.md lists
/// the interfaces of each op.
template <typename OpType> static void promiseInterfaces(NNDialect &dialect) {
  if constexpr (OpType::template hasTrait<InProgram>()) {
    PhaseSpan span;
    if constexpr (OpType::template hasTrait<HasPhases>())
      span = OpType::getPhases();
    if (span.first <= span.last)
      dialect.declarePromisedInterface<InterpretableOpInterface, OpType>();
    if (span.contains(Phase::Split) &&
        !OpType::template hasTrait<AppliesStep>())
      dialect.declarePromisedInterface<StageOpInterface, OpType>();
  }
}

template <typename... OpTypes> static void promiseFor(NNDialect &dialect) {
  (promiseInterfaces<OpTypes>(dialect), ...);
}

/// Returns the names of all ops of the dialect in ascending order.
static SmallVector<StringRef> opNames(MLIRContext *context) {
  SmallVector<StringRef> names;
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == NNDialect::getDialectNamespace())
      names.push_back(name.getStringRef());
  llvm::sort(names);
  return names;
}

/// Reports an error for an op that the dialect does not have.
static ParseResult refuseUnknownOp(OpAsmParser &parser, OperationState &state) {
  InFlightDiagnostic diagnostic = parser.emitError(parser.getNameLoc())
                                  << "is unknown";
  if (StringRef now = presentNameOf(state.name.getStringRef()); !now.empty())
    return diagnostic << "; did you mean '" << now << "'?";
  SmallVector<StringRef> names = opNames(parser.getContext());
  if (StringRef here = sayInsteadOf(state.name.stripDialect()); !here.empty())
    diagnostic << "; here it is " << here;
  else
    diagnostic << pdlc::didYouMean(state.name.getStringRef(), names);
  diagnostic.attachNote() << "the ops are " << llvm::join(names, ", ");
  return diagnostic;
}

std::optional<Dialect::ParseOpHook>
NNDialect::getParseOperationHook(StringRef) const {
  return refuseUnknownOp;
}

void NNDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "pdlc/Dialect/NN/IR/NNOps.cpp.inc"
      >();
  promiseFor<
#define GET_OP_LIST
#include "pdlc/Dialect/NN/IR/NNOps.cpp.inc"
      >(*this);
}
