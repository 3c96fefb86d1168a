//===- Interactions.cpp - Feature interactions ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Composer.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Reports a symbol that is not a dense tensor of type `expected`.
static LogicalResult verifyDense(Operation *op, SymbolTableCollection &symbols,
                                 FlatSymbolRefAttr symbol,
                                 RankedTensorType expected) {
  RankedTensorType type = denseSymbolType(op, symbols, symbol);
  if (type == expected)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError() << "names " << symbol;
  if (type)
    diagnostic << " of type " << type;
  else
    diagnostic << ", which is neither nn.param nor nn.state";
  return diagnostic << "; expected " << expected << castRemedy(type, expected)
                    << " (C2)";
}

//===----------------------------------------------------------------------===//
// Counts of a feature
//===----------------------------------------------------------------------===//

LogicalResult CvmOp::verify() {
  auto type = tensorOf(getInput());
  if (type.getRank() >= 2 && type.getShape().back() >= 2)
    return success();
  return emitOpError() << "takes " << type
                       << "; expected rows that begin with a show and a click, "
                          "[b, ..., 2 or more] (C2)";
}

Value CvmOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  auto type = tensorOf(getInput());
  const int64_t axis = type.getRank() - 1, width = type.getShape().back();
  auto part = [&](int64_t offset, int64_t size) -> Value {
    return SliceOp::create(builder, getInput(), axis, offset, size);
  };
  auto logarithm = [&](int64_t offset) {
    Value count = compose.apply<StopGradientOp>(part(offset, 1));
    return compose.apply<Log1pOp>(count);
  };
  Value shows = logarithm(0);
  SmallVector<Value> parts{shows, compose.sub(logarithm(1), shows)};
  if (width > 2)
    parts.push_back(part(2, width - 2));
  return ConcatOp::create(builder, parts, axis);
}

//===----------------------------------------------------------------------===//
// Pairs of rows
//===----------------------------------------------------------------------===//

LogicalResult FactorizationOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  if (type.getRank() != 3)
    return emitOptionalError(location, "'nn.factorization' op takes ", type,
                             "; expected [b, fields, width] (C1)");
  types.push_back(
      RankedTensorType::get({type.getDimSize(0), 1}, type.getElementType()));
  return success();
}

Value FactorizationOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  auto type = tensorOf(getInput());
  auto sumRows = [&](Value rows) {
    return compose.reshape(compose.sum(rows, 1),
                           {type.getDimSize(0), type.getDimSize(2)});
  };
  Value ofSum = compose.square(sumRows(getInput()));
  Value ofRows = sumRows(compose.square(getInput()));
  return compose.mul(compose.sum(compose.sub(ofSum, ofRows), 1), 0.5);
}

LogicalResult PairwiseDotsOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  if (type.getRank() != 3 || type.getDimSize(1) < 2)
    return emitOptionalError(
        location, "'nn.pairwise_dots' op takes ", type,
        "; expected [b, fields, width] with two fields at least (C1)");
  const int64_t fields = type.getDimSize(1);
  const int64_t pairs =
      fields * (fields - 1) / 2 + (adaptor.getSelf() ? fields : 0);
  types.push_back(RankedTensorType::get({type.getDimSize(0), pairs},
                                        type.getElementType()));
  return success();
}

Value PairwiseDotsOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  auto type = tensorOf(getInput());
  const int64_t fields = type.getDimSize(1);
  Value dots = MatmulOp::create(builder, getInput(), getInput(),
                                /*transpose_lhs=*/false,
                                /*transpose_rhs=*/true);
  dots = compose.reshape(dots, {type.getDimSize(0), fields * fields});
  SmallVector<int64_t> pairs;
  for (int64_t i = 0; i < fields; ++i)
    for (int64_t j = 0; j < (getSelf() ? i + 1 : i); ++j)
      pairs.push_back(i * fields + j);
  return TakeOp::create(builder, dots, /*axis=*/1, pairs);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult CrossLayerOp::verify() {
  if (tensorOf(getInput()).getRank() == 2)
    return success();
  return emitOpError() << "crosses " << getInput().getType()
                       << "; expected [b, width] (C1)";
}

LogicalResult CrossLayerOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = tensorOf(getInput());
  const int64_t width = type.getDimSize(1);
  Type element = type.getElementType();
  if (failed(verifyDense(
          *this, symbols, getWeightAttr(),
          RankedTensorType::get({width, getVector() ? 1 : width}, element))))
    return failure();
  return verifyDense(*this, symbols, getBiasAttr(),
                     RankedTensorType::get({width}, element));
}

Value CrossLayerOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  auto type = tensorOf(getInput());
  Type element = type.getElementType();
  const int64_t width = type.getDimSize(1);
  const int64_t out = getVector() ? 1 : width;
  Value weight = ReadOp::create(
      builder, RankedTensorType::get({width, out}, element), getWeightAttr());
  Value bias = ReadOp::create(builder, RankedTensorType::get({width}, element),
                              getBiasAttr());
  Value product = MatmulOp::create(builder, getInput(), weight);
  Value crossed;
  if (getVector())
    crossed = compose.add(compose.mul(getFirst(), product), bias);
  else
    crossed = compose.mul(getFirst(), compose.add(product, bias));
  return compose.add(crossed, getInput());
}

LogicalResult CompressedInteractionOp::verify() {
  auto first = tensorOf(getFirst()), input = tensorOf(getInput());
  auto result = tensorOf(getResult());
  auto fits = [&](RankedTensorType type) {
    return type.getRank() == 3 && type.getDimSize(0) == first.getDimSize(0) &&
           type.getDimSize(2) == first.getDimSize(2) &&
           type.getElementType() == first.getElementType();
  };
  if (first.getRank() == 3 && fits(input) && fits(result))
    return success();
  return emitOpError() << "makes " << first << " and " << input << " to "
                       << result
                       << "; expected [b, fields, width], [b, rows, width] and "
                          "[b, out, width] (C1)";
}

LogicalResult
CompressedInteractionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto first = tensorOf(getFirst());
  const int64_t pairs =
      first.getDimSize(1) * tensorOf(getInput()).getDimSize(1);
  return verifyDense(
      *this, symbols, getWeightAttr(),
      RankedTensorType::get({pairs, tensorOf(getResult()).getDimSize(1)},
                            first.getElementType()));
}

Value CompressedInteractionOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  auto first = tensorOf(getFirst());
  const int64_t batch = first.getDimSize(0), width = first.getDimSize(2);
  const int64_t fields = first.getDimSize(1);
  const int64_t rows = tensorOf(getInput()).getDimSize(1);
  const int64_t out = tensorOf(getResult()).getDimSize(1);
  Value left = compose.reshape(getInput(), {batch, rows, 1, width});
  Value right = compose.reshape(getFirst(), {batch, 1, fields, width});
  Value pairs =
      compose.reshape(compose.mul(left, right), {batch, rows * fields, width});
  Value columns = compose.transpose(pairs, {0, 2, 1});
  auto type =
      RankedTensorType::get({batch, width, out}, first.getElementType());
  Value mixed = LinearOp::create(builder, type, columns, getWeightAttr(),
                                 /*bias=*/FlatSymbolRefAttr(),
                                 /*activation=*/StringAttr());
  return compose.transpose(mixed, {0, 2, 1});
}
