//===- NNDrawOps.cpp - Random numbers of samples --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/draws.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "llvm/Support/ScopedPrinter.h"
#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

uint64_t pdlc::nn::drawStreamOf(ProgramOp program, StringRef op,
                                unsigned ordinal) {
  const std::string name = program.getSymName().str() + "/" + op.str() + "/" +
                           std::to_string(ordinal);
  return pdlabi::drawStream(name);
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult DropoutOp::verify() {
  auto type = tensorOf(getInput());
  if (type.getRank() < 1 || !type.isDynamicDim(0))
    return emitOpError() << "draws for " << type
                         << "; expected a dynamic first dimension (C1)";
  const double rate = getRate().convertToDouble();
  if (rate >= 0 && rate < 1 &&
      std::isfinite(1.0f / static_cast<float>(1 - rate)))
    return success();
  return emitOpError() << "has the rate " << rate
                       << "; expected a probability that is below 1 (C2)";
}

Value DropoutOp::getFrozenValue() { return getInput(); }

//===----------------------------------------------------------------------===//
// Samplers
//===----------------------------------------------------------------------===//

/// Returns what is wrong with a range of ids; empty if the range is valid.
static std::string complainOfRange(int64_t first, int64_t end,
                                   Distribution distribution) {
  if (first >= end)
    return "draws ids from " + std::to_string(first) + " below " +
           std::to_string(end) + ", which are none (C2)";
  const uint64_t count = pdlabi::rangeSize(first, end);
  if (distribution == Distribution::log_uniform && count > uint64_t(1) << 48)
    return "draws log_uniform from " + std::to_string(count) +
           " ids; expected at most 2^48 (C2)";
  return "";
}

/// Returns what is wrong with `counts` and `power`; empty if they are valid.
static std::string complainOfCounts(int64_t first, int64_t end,
                                    Distribution distribution,
                                    std::optional<DenseIntElementsAttr> counts,
                                    std::optional<APFloat> power) {
  if (distribution != Distribution::counts)
    return counts || power ? ("draws " + stringifyDistribution(distribution) +
                              ", which knows no counts; write counts(...) (C3)")
                                 .str()
                           : "";
  if (!counts || !power)
    return "draws by counts, but has none; write counts(dense<[...]> : "
           "tensor<" +
           std::to_string(pdlabi::rangeSize(first, end)) +
           "xi64>) power(...), a count for each id (C3)";
  const uint64_t size = pdlabi::rangeSize(first, end);
  if (counts->getType().getRank() != 1 ||
      static_cast<uint64_t>(counts->getNumElements()) != size ||
      size > uint64_t(1) << 24)
    return "has counts " + llvm::to_string(Type(counts->getType())) + " for " +
           std::to_string(size) +
           " ids; expected one for each, at most 2^24 (C3)";
  bool isAbove = false;
  for (auto [k, count] : llvm::enumerate(counts->getValues<int64_t>())) {
    if (count < 0)
      return "has the count " + std::to_string(count) + " for id " +
             std::to_string(first + static_cast<int64_t>(k)) +
             "; expected how often it occurs (C3)";
    isAbove |= count > 0;
  }
  if (!isAbove)
    return "draws by counts that are all 0; expected one above (C3)";
  const double exponent = power->convertToDouble();
  if (!(exponent >= 0 && exponent <= 8))
    return "draws by counts to the power " + llvm::to_string(exponent) +
           "; expected 0 to 8 (C4)";
  return "";
}

/// Returns an error message for the distribution of `op`, which is an op or its
/// adaptor; empty if it is valid.
template <typename OpType>
static std::string complainOfDistribution(OpType op) {
  const auto first = static_cast<int64_t>(op.getFirst());
  const auto end = static_cast<int64_t>(op.getBehind());
  std::string complaint = complainOfRange(first, end, op.getDistribution());
  return complaint.empty() ? complainOfCounts(first, end, op.getDistribution(),
                                              op.getCounts(), op.getPower())
                           : complaint;
}

/// Returns the table that `write`, a function of draws.h, makes of the counts
/// of `op`. It has `numbers` entries for each count. Empty if `op` has no
/// counts.
template <typename OpType>
static std::vector<double>
tableOf(OpType op, void (*write)(const int64_t *, uint64_t, double, double *),
        size_t numbers) {
  if (op.getDistribution() != Distribution::counts)
    return {};
  auto values = op.getCounts()->template getValues<int64_t>();
  const std::vector<int64_t> counts(values.begin(), values.end());
  std::vector<double> table(numbers * counts.size());
  write(counts.data(), counts.size(), op.getPower()->convertToDouble(),
        table.data());
  return table;
}

std::vector<double> SampleOp::getDrawTable() {
  return tableOf(*this, pdlabi::writeDrawTable, 2);
}

std::vector<double> LogProbabilityOp::getLogarithms() {
  return tableOf(*this, pdlabi::logProbabilitiesOfCounts, 1);
}

LogicalResult SampleOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  const auto count = static_cast<int64_t>(adaptor.getCount());
  if (count < 1 || count > 65536)
    return emitOptionalError(location, "'nn.sample' op draws ", count,
                             " ids a sample; expected 1 to 65536 (C1)");
  std::string complaint = complainOfDistribution(adaptor);
  if (!complaint.empty())
    return emitOptionalError(location, "'nn.sample' op ", complaint);
  types.push_back(RankedTensorType::get({ShapedType::kDynamic, count},
                                        IntegerType::get(context, 64)));
  return success();
}

LogicalResult LogProbabilityOp::verify() {
  auto type = tensorOf(getIds());
  if (type.getRank() < 1 || !type.isDynamicDim(0) ||
      tensorOf(getResult()).getShape() != type.getShape())
    return emitOpError() << "gives " << getType() << " for " << type
                         << "; expected one shape with a dynamic first "
                            "dimension (C1)";
  std::string complaint = complainOfDistribution(*this);
  return complaint.empty() ? success() : emitOpError(complaint);
}

LogicalResult AccidentalHitsOp::verify() {
  auto own = tensorOf(getOwn()), drawn = tensorOf(getDrawn());
  if (own.getRank() == 2 && drawn.getRank() == 2 && own.isDynamicDim(0) &&
      drawn.isDynamicDim(0) &&
      tensorOf(getResult()).getShape() == drawn.getShape())
    return success();
  return emitOpError() << "compares " << own << " with " << drawn << " into "
                       << getType()
                       << "; expected own ids [b, n], drawn ones [b, m] and a "
                          "result [b, m] (C1)";
}

//===----------------------------------------------------------------------===//
// Losses of drawn ids
//===----------------------------------------------------------------------===//

/// One loss per sample, because a sample has one logit of its own.
#define PDL_INFER_OWN(OP)                                                      \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location>,   \
                                     Adaptor adaptor,                          \
                                     SmallVectorImpl<Type> &types) {           \
    types.push_back(adaptor.getOwn().getType());                               \
    return success();                                                          \
  }
PDL_INFER_OWN(SampledSoftmaxOp)
PDL_INFER_OWN(NCELossOp)
PDL_INFER_OWN(NegativeSamplingOp)
#undef PDL_INFER_OWN

template <typename OpType> static LogicalResult verifyLogits(OpType op) {
  auto own = tensorOf(op.getOwn()), drawn = tensorOf(op.getDrawn());
  if (own.getRank() != 2 || drawn.getRank() != 2 || !own.isDynamicDim(0) ||
      !drawn.isDynamicDim(0) || own.getDimSize(1) != 1 ||
      own.getElementType() != drawn.getElementType())
    return op.emitOpError() << "compares " << own << " with " << drawn
                            << "; expected logits [b, 1] and [b, n] (C1)";
  if (op.getHits() && op.getHits().getType() != drawn)
    return op.emitOpError()
           << "has hits " << op.getHits().getType() << " of logits " << drawn
           << "; expected one type (C2)";
  return success();
}

template <typename OpType> static LogicalResult verifyCorrected(OpType op) {
  if (failed(verifyLogits(op)))
    return failure();
  if (op.getOwnCorrection().getType() == op.getOwn().getType() &&
      op.getDrawnCorrection().getType() == op.getDrawn().getType())
    return success();
  return op.emitOpError() << "corrects " << op.getOwn().getType() << " and "
                          << op.getDrawn().getType() << " by "
                          << op.getOwnCorrection().getType() << " and "
                          << op.getDrawnCorrection().getType()
                          << "; expected the same types (C2)";
}

LogicalResult SampledSoftmaxOp::verify() { return verifyCorrected(*this); }
LogicalResult NCELossOp::verify() { return verifyCorrected(*this); }
LogicalResult NegativeSamplingOp::verify() { return verifyLogits(*this); }
