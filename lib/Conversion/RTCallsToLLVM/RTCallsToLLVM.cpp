//===- RTCallsToLLVM.cpp - Step context and calls of the runtime ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallBuilder.h"
#include "CombineRow.h"
#include "DeviceCalls.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "pdlc/Conversion/AbiLayout.h"
#include "pdlc/Conversion/Passes.h"
#include "pdlc/Dialect/RT/IR/RT.h"

namespace pdlc {
#define GEN_PASS_DEF_RTCALLSTOLLVM
#include "pdlc/Conversion/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

//===----------------------------------------------------------------------===//
// Step context
//===----------------------------------------------------------------------===//

namespace {

/// Location of a value in the step context: a member of an element of the array
/// `list`.
struct Member {
  int32_t list;                // Index in pdl_step_context.
  const abi::Struct *elements; // Null if the array contains pointers.
  int32_t member; // Index in `elements`; -1 for the address of the element.
};

} // namespace

#define CONTEXT_INDEX(NAME) PDLC_ABI_INDEX(pdl_step_context, NAME)

static Member memberOf(rt::Place place) {
  const abi::Struct &field = abi::layoutOf<pdl_field_data>();
  const abi::Struct &lookup = abi::layoutOf<pdl_lookup>();
  switch (place) {
  case rt::Place::worker:
    return {CONTEXT_INDEX(worker), nullptr, -1};
  case rt::Place::field_values:
    return {CONTEXT_INDEX(fields), &field,
            PDLC_ABI_INDEX(pdl_field_data, values)};
  case rt::Place::field_splits:
    return {CONTEXT_INDEX(fields), &field,
            PDLC_ABI_INDEX(pdl_field_data, splits)};
  case rt::Place::lookup:
    return {CONTEXT_INDEX(lookups), &lookup, -1};
  case rt::Place::lookup_inverse:
    return {CONTEXT_INDEX(lookups), &lookup,
            PDLC_ABI_INDEX(pdl_lookup, inverse)};
  case rt::Place::parameter:
    return {CONTEXT_INDEX(parameters), nullptr, 0};
  case rt::Place::gradient:
    return {CONTEXT_INDEX(gradients), nullptr, 0};
  case rt::Place::output:
    return {CONTEXT_INDEX(outputs), nullptr, 0};
  case rt::Place::loss_sum:
    return {CONTEXT_INDEX(loss_sum), nullptr, -1};
  case rt::Place::weight_sum:
    return {CONTEXT_INDEX(weight_sum), nullptr, -1};
  case rt::Place::metric:
    return {CONTEXT_INDEX(metrics), nullptr, 0};
  case rt::Place::prepare_arena:
    return {CONTEXT_INDEX(prepare_arena), nullptr, -1};
  case rt::Place::compute_arena:
    return {CONTEXT_INDEX(compute_arena), nullptr, -1};
  case rt::Place::draws:
    return {CONTEXT_INDEX(draws), nullptr, -1};
  case rt::Place::lookup_key_splits:
    return {CONTEXT_INDEX(lookups), &lookup,
            PDLC_ABI_INDEX(pdl_lookup, key_splits)};
  case rt::Place::lookup_occurrences:
    return {CONTEXT_INDEX(lookups), &lookup,
            PDLC_ABI_INDEX(pdl_lookup, occurrences)};
  case rt::Place::draws_samples:
    return {CONTEXT_INDEX(draws), &abi::layoutOf<pdl_draws>(),
            PDLC_ABI_INDEX(pdl_draws, samples)};
  }
  llvm_unreachable("all places are known");
}

static Value loadMember(CallBuilder &builder, Value context, int32_t member,
                        Type type) {
  Type step = abi::llvmType<pdl_step_context>(builder.op->getContext());
  Value address = builder.element(step, context, {0, member});
  return LLVM::LoadOp::create(builder.rewriter, builder.loc, type, address);
}

/// Returns a member of element `index` of an array: its value, loaded as
/// `type`. If the member is the element itself, returns the element's address.
static Value reach(CallBuilder &builder, Value context, Member member,
                   int64_t index, Type type) {
  Value list = loadMember(builder, context, member.list, builder.pointer);
  auto number = static_cast<int32_t>(index);
  Value address;
  if (!member.elements) {
    // The list consists of f64 numbers, one per objective.
    if (member.member < 0)
      return number ? builder.element(builder.rewriter.getF64Type(), list,
                                      {number})
                    : list;
    address = builder.element(builder.pointer, list, {number});
  } else {
    Type element = abi::llvmType(builder.op->getContext(), *member.elements);
    if (member.member < 0)
      return builder.element(element, list, {number});
    address = builder.element(element, list, {number, member.member});
  }
  return LLVM::LoadOp::create(builder.rewriter, builder.loc, type, address);
}

static Value lowerPointer(rt::PointerOp op, rt::PointerOp::Adaptor operands,
                          CallBuilder &builder) {
  return reach(builder, operands.getContext(), memberOf(op.getPlace()),
               op.getIndex(), builder.pointer);
}

static Value lowerCount(rt::CountOp op, rt::CountOp::Adaptor operands,
                        CallBuilder &builder) {
  Member member{CONTEXT_INDEX(lookups), &abi::layoutOf<pdl_lookup>(), 0};
  switch (op.getQuantity()) {
  case rt::Quantity::batch:
    return loadMember(builder, operands.getContext(), CONTEXT_INDEX(batch),
                      builder.i64);
  case rt::Quantity::field_values:
    member = {CONTEXT_INDEX(fields), &abi::layoutOf<pdl_field_data>(),
              PDLC_ABI_INDEX(pdl_field_data, value_count)};
    break;
  case rt::Quantity::lookup_keys:
    member.member = PDLC_ABI_INDEX(pdl_lookup, key_count);
    break;
  case rt::Quantity::lookup_occurrences:
    member.member = PDLC_ABI_INDEX(pdl_lookup, occurrence_count);
    break;
  case rt::Quantity::draws_seed:
    member = {CONTEXT_INDEX(draws), &abi::layoutOf<pdl_draws>(),
              PDLC_ABI_INDEX(pdl_draws, seed)};
    break;
  case rt::Quantity::draws_epoch:
    member = {CONTEXT_INDEX(draws), &abi::layoutOf<pdl_draws>(),
              PDLC_ABI_INDEX(pdl_draws, epoch)};
    break;
  }
  return reach(builder, operands.getContext(), member, op.getIndex(),
               builder.i64);
}

static Value lowerAddress(rt::AddressOp op, rt::AddressOp::Adaptor operands,
                          CallBuilder &builder) {
  return builder.element(builder.rewriter.getI8Type(), operands.getBase(),
                         {operands.getOffset()});
}

namespace {
struct ViewPattern : ConvertOpToLLVMPattern<rt::ViewOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(rt::ViewOp op, OpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    CallBuilder builder(op, rewriter);
    auto type = cast<MemRefType>(op.getResult().getType());
    Type converted = getTypeConverter()->convertType(type);
    if (!converted)
      return failure();
    Value address = builder.element(rewriter.getI8Type(), operands.getBase(),
                                    {operands.getOffset()});
    auto descriptor =
        MemRefDescriptor::poison(rewriter, op.getLoc(), converted);
    descriptor.setAllocatedPtr(rewriter, op.getLoc(), address);
    descriptor.setAlignedPtr(rewriter, op.getLoc(), address);
    descriptor.setConstantOffset(rewriter, op.getLoc(), 0);
    auto [strides, offset] = type.getStridesAndOffset();
    for (int64_t i = type.getRank(); i-- > 0;) {
      if (type.isDynamicDim(i))
        descriptor.setSize(rewriter, op.getLoc(), i, operands.getSize());
      else
        descriptor.setConstantSize(rewriter, op.getLoc(), i,
                                   type.getDimSize(i));
      descriptor.setConstantStride(rewriter, op.getLoc(), i, strides[i]);
    }
    rewriter.replaceOp(op, {descriptor});
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static Value lowerAllocate(rt::AllocateOp op, rt::AllocateOp::Adaptor operands,
                           CallBuilder &builder) {
  return builder.call("pdlrt_allocate", builder.pointer,
                      {operands.getWorker(), operands.getBytes()});
}

static Value lowerUnique(rt::UniqueOp op, rt::UniqueOp::Adaptor operands,
                         CallBuilder &builder) {
  SmallVector<Value> counts;
  for (Value ids : operands.getIds())
    counts.push_back(builder.size(ids, 0));
  return builder.call("pdlrt_unique", builder.i32,
                      {operands.getWorker(), builder.constant32(counts.size()),
                       builder.memories(operands.getIds()),
                       builder.array(counts), operands.getLookup()});
}

static Value lowerPull(rt::PullOp op, rt::PullOp::Adaptor operands,
                       CallBuilder &builder) {
  return builder.call("pdlrt_pull", builder.i32,
                      {operands.getWorker(), builder.constant32(op.getTable()),
                       operands.getLookup()});
}

static Value lowerBucketize(rt::BucketizeOp op,
                            rt::BucketizeOp::Adaptor operands,
                            CallBuilder &builder) {
  return builder.call("pdlrt_bucketize", {},
                      {builder.type(op.getValues()),
                       builder.size(operands.getValues(), 0),
                       builder.memory(operands.getValues()),
                       builder.size(operands.getBoundaries(), 0),
                       builder.memory(operands.getBoundaries()),
                       builder.memory(operands.getOut())});
}

static Value lowerCross(rt::CrossOp op, rt::CrossOp::Adaptor operands,
                        CallBuilder &builder) {
  return builder.call("pdlrt_cross", {},
                      {builder.size(operands.getOut(), 0),
                       builder.constant32(operands.getInputs().size()),
                       builder.memories(operands.getInputs()),
                       builder.constant64(op.getSalt()),
                       builder.memory(operands.getOut())});
}

/// Returns the number of bags. Splits have one more entry than there are bags.
static Value bagsOf(CallBuilder &builder, Value splits) {
  return LLVM::SubOp::create(builder.rewriter, builder.loc,
                             builder.size(splits, 0), builder.constant64(1));
}

static Value lowerCheckBags(rt::CheckBagsOp op,
                            rt::CheckBagsOp::Adaptor operands,
                            CallBuilder &builder) {
  return builder.call("pdlrt_check_bags", builder.i32,
                      {bagsOf(builder, operands.getSplits()),
                       builder.memory(operands.getSplits()),
                       builder.memory(operands.getExpected())});
}

static Value lowerCrossRaggedCount(rt::CrossRaggedCountOp op,
                                   rt::CrossRaggedCountOp::Adaptor operands,
                                   CallBuilder &builder) {
  return builder.call("pdlrt_cross_ragged_count", builder.i64,
                      {bagsOf(builder, operands.getSplits().front()),
                       builder.constant32(operands.getSplits().size()),
                       builder.memories(operands.getSplits())});
}

static Value lowerCrossRagged(rt::CrossRaggedOp op,
                              rt::CrossRaggedOp::Adaptor operands,
                              CallBuilder &builder) {
  return builder.call("pdlrt_cross_ragged", {},
                      {bagsOf(builder, operands.getOutSplits()),
                       builder.constant32(operands.getInputs().size()),
                       builder.memories(operands.getInputs()),
                       builder.memories(operands.getSplits()),
                       builder.constant64(op.getSalt()),
                       builder.memory(operands.getOut()),
                       builder.memory(operands.getOutSplits())});
}

static Value lowerSample(rt::SampleOp op, rt::SampleOp::Adaptor operands,
                         CallBuilder &builder) {
  return builder.call(
      "pdlrt_sample", {},
      {operands.getDraws(), builder.constant64(op.getStream()),
       builder.constant32(static_cast<int64_t>(op.getDistribution())),
       builder.constant64(op.getCount()), builder.constant64(op.getFirst()),
       builder.constant64(op.getBehind()), builder.memory(operands.getTable()),
       builder.memory(operands.getOut())});
}

static Value lowerLogProbability(rt::LogProbabilityOp op,
                                 rt::LogProbabilityOp::Adaptor operands,
                                 CallBuilder &builder) {
  return builder.call(
      "pdlrt_log_probability", builder.i32,
      {builder.type(op.getOut()),
       builder.constant32(static_cast<int64_t>(op.getDistribution())),
       builder.constant64(op.getFirst()), builder.constant64(op.getBehind()),
       builder.memory(operands.getLogarithms()),
       builder.size(operands.getIds(), 0), builder.memory(operands.getIds()),
       builder.memory(operands.getOut())});
}

static Value lowerGather(rt::GatherOp op, rt::GatherOp::Adaptor operands,
                         CallBuilder &builder) {
  Value out = operands.getOut();
  return builder.call("pdlrt_gather", {},
                      {builder.type(op.getOut()), operands.getLookup(),
                       builder.size(out, 1), builder.memory(out)});
}

namespace {
/// Bags of a matrix, or of its rows if the tensor has rank 3.
struct Bags {
  Value count, width, ofRow, rowStride;
};
} // namespace

static Bags bagsIn(CallBuilder &builder, MemRefType type, Value descriptor) {
  Value rows = builder.size(descriptor, 0);
  Value rowStride = builder.stride(descriptor, 0);
  if (type.getRank() == 2)
    return {rows, builder.size(descriptor, 1), builder.constant64(1),
            rowStride};
  Value ofRow = builder.size(descriptor, 1);
  Value count = LLVM::MulOp::create(builder.rewriter, builder.loc, rows, ofRow);
  return {count, builder.size(descriptor, 2), ofRow, rowStride};
}

static Value lowerPool(rt::PoolOp op, rt::PoolOp::Adaptor operands,
                       CallBuilder &builder) {
  Bags out = bagsIn(builder, op.getOut().getType(), operands.getOut());
  return builder.call(
      "pdlrt_pool", {},
      {builder.type(op.getOut()),
       builder.constant32(static_cast<int64_t>(op.getPooling())), out.count,
       out.width, builder.memory(operands.getRows()),
       builder.memory(operands.getInverse()),
       builder.memory(operands.getSplits()), out.ofRow, out.rowStride,
       builder.memory(operands.getOut())});
}

static Value lowerPoolGradient(rt::PoolGradientOp op,
                               rt::PoolGradientOp::Adaptor operands,
                               CallBuilder &builder) {
  Type input = abi::llvmType<pdl_pooled_input>(op.getContext());
  const size_t count = op.getKinds().size();
  Value inputs = builder.room(input, count);
  for (auto [index, pooling] :
       llvm::enumerate(op.getKinds().getAsRange<rt::PoolingAttr>())) {
    Value cotangent = operands.getCotangents()[index];
    Bags bags =
        bagsIn(builder, cast<MemRefType>(op.getCotangents()[index].getType()),
               cotangent);
    Value splits;
    const auto *bagged = llvm::find(op.getWithSplits(), int64_t(index));
    if (bagged != op.getWithSplits().end())
      splits = operands.getSplits()[bagged - op.getWithSplits().begin()];
    auto number = static_cast<int32_t>(index);
    auto set = [&](int32_t member, Value value) {
      LLVM::StoreOp::create(builder.rewriter, builder.loc, value,
                            builder.element(input, inputs, {number, member}));
    };
    set(PDLC_ABI_INDEX(pdl_pooled_input, pooling),
        builder.constant32(static_cast<int64_t>(pooling.getValue())));
    set(PDLC_ABI_INDEX(pdl_pooled_input, first), operands.getFirsts()[index]);
    set(PDLC_ABI_INDEX(pdl_pooled_input, bag_count), bags.count);
    set(PDLC_ABI_INDEX(pdl_pooled_input, cotangent), builder.memory(cotangent));
    set(PDLC_ABI_INDEX(pdl_pooled_input, row_bags), bags.ofRow);
    set(PDLC_ABI_INDEX(pdl_pooled_input, row_stride), bags.rowStride);
    set(PDLC_ABI_INDEX(pdl_pooled_input, splits), builder.memory(splits));
  }
  return builder.call(
      "pdlrt_pool_gradient", {},
      {builder.type(op.getOut()), operands.getLookup(),
       builder.size(operands.getOut(), 1), builder.constant32(count), inputs,
       builder.memory(operands.getBagOf()), builder.memory(operands.getOut())});
}

static Value lowerGemm(rt::GemmOp op, rt::GemmOp::Adaptor operands,
                       CallBuilder &builder) {
  Type post = abi::llvmType<pdl_post>(op.getContext());
  size_t count = op.getPosts().size();
  Value posts = count ? builder.room(post, count) : builder.null();
  for (auto [index, attribute] :
       llvm::enumerate(op.getPosts().getAsRange<rt::PostOpAttr>())) {
    rt::PostOp kind = attribute.getValue();
    Value operand;
    if (kind == rt::PostOp::bias)
      operand = operands.getBias();
    else if (kind == rt::PostOp::relu_gradient)
      operand = operands.getMask();
    auto number = static_cast<int32_t>(index);
    auto set = [&](int32_t member, Value value) {
      LLVM::StoreOp::create(builder.rewriter, builder.loc, value,
                            builder.element(post, posts, {number, member}));
    };
    set(PDLC_ABI_INDEX(pdl_post, kind),
        builder.constant32(static_cast<int64_t>(kind)));
    set(PDLC_ABI_INDEX(pdl_post, operand), builder.memory(operand));
  }
  Value out = operands.getOut();
  return builder.call(
      "pdlrt_gemm", {},
      {operands.getWorker(), builder.type(op.getOut()),
       builder.constant32(static_cast<int64_t>(op.getProduct())),
       builder.constant32(op.getTransposeLhs()),
       builder.constant32(op.getTransposeRhs()), builder.size(out, 0),
       builder.size(out, 1),
       builder.size(operands.getLhs(), op.getTransposeLhs() ? 0 : 1),
       builder.memory(operands.getLhs()), builder.memory(operands.getRhs()),
       builder.memory(out), builder.stride(out, 0), builder.constant32(count),
       posts});
}

static Value lowerBatchGemm(rt::BatchGemmOp op,
                            rt::BatchGemmOp::Adaptor operands,
                            CallBuilder &builder) {
  Value out = operands.getOut();
  return builder.call(
      "pdlrt_batch_gemm", {},
      {operands.getWorker(), builder.type(op.getOut()),
       builder.constant32(op.getTransposeLhs()),
       builder.constant32(op.getTransposeRhs()), builder.size(out, 0),
       builder.size(out, 1), builder.size(out, 2),
       builder.size(operands.getLhs(), op.getTransposeLhs() ? 1 : 2),
       builder.memory(operands.getLhs()), builder.memory(operands.getRhs()),
       builder.memory(out)});
}

static Value lowerInBatchLogSumExp(rt::InBatchLogSumExpOp op,
                                   rt::InBatchLogSumExpOp::Adaptor operands,
                                   CallBuilder &builder) {
  Value users = operands.getUsers();
  return builder.call(
      "pdlrt_in_batch_log_sum_exp", {},
      {operands.getWorker(), builder.type(op.getOut()),
       builder.constant32(static_cast<int64_t>(op.getNumerics())),
       builder.size(users, 0), builder.size(users, 1), builder.memory(users),
       builder.memory(operands.getItems()),
       builder.memory(operands.getCorrection()),
       builder.memory(operands.getIds()), builder.memory(operands.getScratch()),
       builder.memory(operands.getOut())});
}

static Value lowerInBatchGradient(rt::InBatchGradientOp op,
                                  rt::InBatchGradientOp::Adaptor operands,
                                  CallBuilder &builder) {
  Value users = operands.getUsers();
  return builder.call(
      "pdlrt_in_batch_gradient", {},
      {operands.getWorker(), builder.type(op.getOut()),
       builder.constant32(static_cast<int64_t>(op.getNumerics())),
       builder.constant32(static_cast<int64_t>(op.getSide())),
       builder.size(users, 0), builder.size(users, 1), builder.memory(users),
       builder.memory(operands.getItems()),
       builder.memory(operands.getCorrection()),
       builder.memory(operands.getIds()), builder.memory(operands.getSums()),
       builder.memory(operands.getCotangent()),
       builder.memory(operands.getScratch()),
       builder.memory(operands.getOut())});
}

static Value lowerDropout(rt::DropoutOp op, rt::DropoutOp::Adaptor operands,
                          CallBuilder &builder) {
  Value splits = operands.getSplits();
  return builder.call("pdlrt_dropout", {},
                      {operands.getDraws(), builder.constant64(op.getStream()),
                       builder.type(op.getOut()),
                       builder.constantF64(op.getRate().convertToDouble()),
                       builder.size(operands.getOut(), 1),
                       splits ? bagsOf(builder, splits) : builder.constant64(0),
                       builder.memory(splits),
                       builder.memory(operands.getValues()),
                       builder.memory(operands.getOut())});
}

static Value lowerReduceRows(rt::ReduceRowsOp op,
                             rt::ReduceRowsOp::Adaptor operands,
                             CallBuilder &builder) {
  return builder.call("pdlrt_reduce_rows", {},
                      {builder.type(op.getOut()),
                       builder.constant32(static_cast<int64_t>(op.getKind())),
                       operands.getRows(), operands.getWidth(),
                       builder.memory(operands.getValues()),
                       builder.memory(operands.getOut())});
}

static Value lowerLossSum(rt::LossSumOp op, rt::LossSumOp::Adaptor operands,
                          CallBuilder &builder) {
  return builder.call("pdlrt_loss_sum", {},
                      {builder.type(op.getValues()),
                       builder.size(operands.getValues(), 0),
                       builder.memory(operands.getValues()),
                       builder.memory(operands.getWeights()), operands.getSum(),
                       operands.getWeightSum()});
}

static Value lowerObserve(rt::ObserveOp op, rt::ObserveOp::Adaptor operands,
                          CallBuilder &builder) {
  const auto width = [&](Value matrix) {
    return builder.constant64(
        matrix ? cast<MemRefType>(matrix.getType()).getDimSize(1) : 0);
  };
  return builder.call(
      "pdlrt_observe", {},
      {builder.type(op.getPredictions()),
       builder.constant32(op.getKind().getAbiKind()),
       builder.constantF64(op.getKind().getAbiParameter()),
       builder.size(operands.getPredictions(), 0), width(op.getPredictions()),
       builder.memory(operands.getPredictions()), width(op.getLabels()),
       builder.memory(operands.getLabels()),
       builder.memory(operands.getWeights()), operands.getMetric()});
}

static Value lowerObserveGroups(rt::ObserveGroupsOp op,
                                rt::ObserveGroupsOp::Adaptor operands,
                                CallBuilder &builder) {
  return builder.call("pdlrt_observe_groups", {},
                      {operands.getWorker(), builder.type(op.getPredictions()),
                       builder.constant32(op.getIndex()),
                       builder.size(operands.getPredictions(), 0),
                       builder.memory(operands.getPredictions()),
                       builder.memory(operands.getLabels()),
                       builder.memory(operands.getGroups()),
                       builder.memory(operands.getWeights()),
                       operands.getMetric()});
}

static Value lowerGradientReady(rt::GradientReadyOp op,
                                rt::GradientReadyOp::Adaptor operands,
                                CallBuilder &builder) {
  return builder.call(
      "pdlrt_gradient_ready", {},
      {operands.getWorker(), builder.constant32(op.getUpdate())});
}

static Value lowerRunLoop(rt::RunLoopOp op, rt::RunLoopOp::Adaptor operands,
                          CallBuilder &builder) {
  ConversionPatternRewriter &rewriter = builder.rewriter;
  auto module = op->getParentOfType<ModuleOp>();
  // Takes the function as a constant. Its later conversion to LLVM turns the
  // constant into the address of the function.
  auto callee = module.lookupSymbol<func::FuncOp>(op.getCallee());
  Value function = func::ConstantOp::create(
      rewriter, builder.loc, callee.getFunctionType(), op.getCalleeAttr());
  Value address = UnrealizedConversionCastOp::create(rewriter, builder.loc,
                                                     builder.pointer, function)
                      .getResult(0);
  std::string text = op.getName().str();
  text.push_back('\0');
  const std::string symbol = (op.getName() + ".name").str();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol);
  if (!global) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(
        rewriter, op.getLoc(),
        LLVM::LLVMArrayType::get(rewriter.getI8Type(), text.size()),
        /*isConstant=*/true, LLVM::Linkage::Private, symbol,
        rewriter.getStringAttr(text));
  }
  Value name =
      LLVM::AddressOfOp::create(rewriter, builder.loc, builder.pointer, symbol);
  return builder.call("pdlrt_run_loop", {},
                      {name, operands.getTurns(),
                       builder.constant64(op.getBytes()), address,
                       operands.getArguments()});
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct RTCallsToLLVM : pdlc::impl::RTCallsToLLVMBase<RTCallsToLLVM> {
  void runOnOperation() override;
};
} // namespace

void RTCallsToLLVM::runOnOperation() {
  LLVMTypeConverter converter(&getContext());
  RewritePatternSet patterns(&getContext());
  LLVMConversionTarget target(getContext());
  patterns.add<ViewPattern>(converter);
  populateCombineRowPattern(converter, patterns);
  target.addIllegalOp<rt::ViewOp, rt::CombineRowOp>();
  // Addresses of functions, until functions are converted to LLVM.
  target.addLegalOp<func::ConstantOp, UnrealizedConversionCastOp>();
  CallLowerings lowerings{converter, patterns, target};
  addDeviceCalls(lowerings);
  lowerings.add(lowerPointer);
  lowerings.add(lowerCount);
  lowerings.add(lowerAddress);
  lowerings.add(lowerAllocate);
  lowerings.add(lowerUnique);
  lowerings.add(lowerPull);
  lowerings.add(lowerBucketize);
  lowerings.add(lowerCross);
  lowerings.add(lowerCheckBags);
  lowerings.add(lowerSample);
  lowerings.add(lowerLogProbability);
  lowerings.add(lowerCrossRaggedCount);
  lowerings.add(lowerCrossRagged);
  lowerings.add(lowerGather);
  lowerings.add(lowerPool);
  lowerings.add(lowerPoolGradient);
  lowerings.add(lowerGemm);
  lowerings.add(lowerBatchGemm);
  lowerings.add(lowerInBatchLogSumExp);
  lowerings.add(lowerInBatchGradient);
  lowerings.add(lowerDropout);
  lowerings.add(lowerReduceRows);
  lowerings.add(lowerLossSum);
  lowerings.add(lowerObserve);
  lowerings.add(lowerObserveGroups);
  lowerings.add(lowerGradientReady);
  lowerings.add(lowerRunLoop);
  if (failed(
          applyPartialConversion(getOperation(), target, std::move(patterns))))
    signalPassFailure();
}
