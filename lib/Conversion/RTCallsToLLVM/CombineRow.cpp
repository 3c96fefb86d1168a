//===- CombineRow.cpp - Reduce a row inside of a loop ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CombineRow.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include <numeric>

using namespace mlir;
using namespace pdlc;

namespace {

/// Number of lanes, fixed as in Kernels/Reduce.cpp.
constexpr int64_t kLanes = 16;

/// Builds code that reduces the elements of a row like `pdlrt_reduce_rows`.
class RowBuilder {
public:
  RowBuilder(OpBuilder &builder, Location loc, rt::Reduction kind, Type element,
             Value row, int64_t width)
      : builder(builder), loc(loc), kind(kind), element(element), row(row),
        width(width) {}
  Value build();

private:
  VectorType vectorOf(int64_t lanes) { return VectorType::get(lanes, element); }
  Value load(int64_t begin, int64_t count);
  Value shuffle(Value a, Value b, ArrayRef<int32_t> mask) {
    return LLVM::ShuffleVectorOp::create(builder, loc, a, b, mask);
  }
  Value extract(Value vector, int64_t lane) {
    return LLVM::ExtractElementOp::create(builder, loc, vector, number(lane));
  }
  Value number(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                    builder.getI32IntegerAttr(value));
  }
  Value zeros() {
    VectorType type = vectorOf(kLanes);
    return LLVM::ConstantOp::create(
        builder, loc, type,
        DenseElementsAttr::get(cast<ShapedType>(Type(type)),
                               Attribute(builder.getFloatAttr(element, 0.0))));
  }
  Value loadLanes(int64_t begin, Value rest);
  Value combine(Value a, Value b);

  OpBuilder &builder;
  Location loc;
  rt::Reduction kind;
  Type element;
  Value row;
  int64_t width;
};

} // namespace

/// Adds, or returns the maximum of a and b: a if a > b or a is NaN, else b.
Value RowBuilder::combine(Value a, Value b) {
  if (kind != rt::Reduction::max)
    return LLVM::FAddOp::create(builder, loc, a, b);
  Value larger =
      LLVM::FCmpOp::create(builder, loc, LLVM::FCmpPredicate::ogt, a, b);
  Value isNan =
      LLVM::FCmpOp::create(builder, loc, LLVM::FCmpPredicate::uno, a, a);
  Value keeps = LLVM::OrOp::create(builder, loc, larger, isNan);
  return LLVM::SelectOp::create(builder, loc, keeps, a, b);
}

/// Loads one element, or several adjacent ones as a vector.
Value RowBuilder::load(int64_t begin, int64_t count) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value from =
      LLVM::GEPOp::create(builder, loc, pointer, element, row,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(begin)});
  // Rows are aligned like elements, not like vectors.
  return LLVM::LoadOp::create(builder, loc,
                              count == 1 ? element : Type(vectorOf(count)),
                              from, element.getIntOrFloatBitWidth() / 8);
}

/// Loads up to kLanes elements from `begin` on. Loads vectors of 2^k elements,
/// which need no mask. In lanes without an element, the result has the value of
/// `rest`.
Value RowBuilder::loadLanes(int64_t begin, Value rest) {
  if (width - begin >= kLanes)
    return load(begin, kLanes);
  Value lanes = rest;
  int64_t at = 0;
  for (int64_t count = kLanes / 2; count > 0; count /= 2) {
    if (width - begin - at < count)
      continue;
    Value piece = load(begin + at, count);
    if (count == 1) {
      lanes =
          LLVM::InsertElementOp::create(builder, loc, lanes, piece, number(at));
      break;
    }
    SmallVector<int32_t> widen(kLanes), blend(kLanes);
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const bool isOfPiece = lane >= at && lane < at + count;
      widen[lane] = isOfPiece ? lane - at : 0;
      blend[lane] = isOfPiece ? kLanes + lane : lane;
    }
    lanes = shuffle(lanes, shuffle(piece, piece, widen), blend);
    at += count;
  }
  return lanes;
}

Value RowBuilder::build() {
  Value lanes;
  int64_t begin = 0;
  if (kind == rt::Reduction::max) {
    // Lanes without an element repeat the first element.
    Value first = LLVM::PoisonOp::create(builder, loc, vectorOf(kLanes));
    first = LLVM::InsertElementOp::create(builder, loc, first, load(0, 1),
                                          number(0));
    first = shuffle(first, first, SmallVector<int32_t>(kLanes, 0));
    lanes = loadLanes(0, first);
    begin = kLanes;
  } else {
    lanes = zeros();
  }
  for (; begin < width; begin += kLanes) {
    if (width - begin >= kLanes) {
      lanes = combine(lanes, load(begin, kLanes));
      continue;
    }
    // Lanes without a further element must keep their value. For a sum, zeros
    // do this: adding +0 changes only -0, and no lane is -0.
    Value rest = kind == rt::Reduction::max ? lanes : zeros();
    lanes = combine(lanes, loadLanes(begin, rest));
  }
  for (int64_t half = kLanes / 2; half > 1; half /= 2) {
    SmallVector<int32_t> low(half), high(half);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), half);
    lanes = combine(shuffle(lanes, lanes, low), shuffle(lanes, lanes, high));
  }
  Value combined = combine(extract(lanes, 0), extract(lanes, 1));
  if (kind != rt::Reduction::mean)
    return combined;
  Value count = LLVM::ConstantOp::create(
      builder, loc, element,
      builder.getFloatAttr(element, static_cast<double>(width)));
  return LLVM::FDivOp::create(builder, loc, combined, count);
}

namespace {
struct CombineRowPattern : ConvertOpToLLVMPattern<rt::CombineRowOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(rt::CombineRowOp op, OpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<MemRefType>(op.getRows().getType());
    SmallVector<Value> indices(operands.getIndices());
    indices.push_back(LLVM::ConstantOp::create(
        rewriter, op.getLoc(), getIndexType(), rewriter.getIndexAttr(0)));
    Value row = getStridedElementPtr(rewriter, op.getLoc(), type,
                                     operands.getRows(), indices);
    RowBuilder builder(rewriter, op.getLoc(), op.getKind(),
                       type.getElementType(), row, type.getShape().back());
    rewriter.replaceOp(op, builder.build());
    return success();
  }
};
} // namespace

void pdlc::populateCombineRowPattern(const LLVMTypeConverter &converter,
                                     RewritePatternSet &patterns) {
  patterns.add<CombineRowPattern>(converter);
}
