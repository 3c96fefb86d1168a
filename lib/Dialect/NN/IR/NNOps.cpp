//===- NNOps.cpp - What TableGen defines of nn's ops --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"
#include "Clauses.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc::nn;

#include "pdlc/Interfaces/DifferentiableOpInterface.cpp.inc"
#include "pdlc/Interfaces/ElementwiseOpInterface.cpp.inc"
#include "pdlc/Interfaces/ModelAttrInterfaces.cpp.inc"
#include "pdlc/Interfaces/ProgramOpInterfaces.cpp.inc"

static LogicalResult verifyShape(std::optional<Location> location,
                                 StringRef operation, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  for (int64_t i = 1; i < tensor.getRank(); ++i)
    if (tensor.isDynamicDim(i))
      return emitOptionalError(
          location, "'", operation, "' op dimension ", i, " of ", type,
          " is dynamic, but only the first dimension may be");
  FailureOr<int64_t> count = countElements(tensor.getShape());
  if (failed(count))
    return emitOptionalError(location, "'", operation, "' op tensor ", type,
                             " has more than ", kMaxElements, " elements");
  if (*count == 0)
    return emitOptionalError(location, "'", operation, "' op tensor ", type,
                             " is empty");
  return success();
}

/// The element type of a tensor of floats; else null. Bags that stand beside
/// rows only say which rows are together.
static FloatType floatsOf(Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  return tensor ? dyn_cast<FloatType>(tensor.getElementType()) : FloatType();
}

StringRef pdlc::nn::castRemedy(Type found, Type expected) {
  const bool differInFloats = floatsOf(found) && floatsOf(expected) &&
                              found != expected &&
                              cast<RankedTensorType>(found).getShape() ==
                                  cast<RankedTensorType>(expected).getShape();
  return differInFloats ? "; nn.cast leads from f32 to f64 and back" : "";
}

static LogicalResult verifyOneFloatType(std::optional<Location> location,
                                        OperationName name, TypeRange types) {
  if (name.hasTrait<MayMixFloats>())
    return success();
  FloatType first;
  for (Type type : types) {
    FloatType element = floatsOf(type);
    if (first && element && element != first)
      return emitOptionalError(location, "'", name.getStringRef(),
                               "' op mixes ", first, " and ", element,
                               "; nn.cast makes one of the other");
    if (!first)
      first = element;
  }
  return success();
}

LogicalResult pdlc::nn::verifyBatchFirst(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (failed(verifyOneFloatType(op->getLoc(), op->getName(),
                                op->getOperandTypes())))
    return failure();
  for (Type type : op->getOperandTypes())
    if (failed(verifyShape(op->getLoc(), name, type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(verifyShape(op->getLoc(), name, type)))
      return failure();
  return success();
}

LogicalResult pdlc::nn::verifyOperandTypes(std::optional<Location> location,
                                           StringRef operation,
                                           ValueRange operands,
                                           bool mayBeBags) {
  for (auto [index, type] : llvm::enumerate(operands.getTypes())) {
    if (!isa<RankedTensorType>(type) && !(mayBeBags && isa<RaggedType>(type)))
      return emitOptionalError(location, "'", operation, "' op operand #",
                               index, " must be a tensor, but got ", type);
    if (failed(verifyShape(location, operation, type)))
      return failure();
  }
  if (operands.empty())
    return success();
  return verifyOneFloatType(
      location, OperationName(operation, operands.front().getContext()),
      operands.getTypes());
}

FailureOr<int64_t> pdlc::nn::countElements(ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size))
      continue;
    if (size > kMaxElements / count)
      return failure();
    count *= size;
  }
  return count;
}

LogicalResult pdlc::nn::verifyInferredTypes(Operation *op) {
  SmallVector<Type> inferred;
  if (failed(cast<InferTypeOpInterface>(op).inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
          op->getRegions(), inferred)))
    return failure();
  if (TypeRange(inferred) != op->getResultTypes())
    return op->emitOpError()
           << "gives " << inferred << ", not " << op->getResultTypes();
  return success();
}

#define GET_OP_CLASSES
#include "pdlc/Dialect/NN/IR/NNOps.cpp.inc"
