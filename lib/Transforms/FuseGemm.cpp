//===- FuseGemm.cpp - Products with what follows them -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNFUSEGEMM
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {
/// A product and the ops that its post-op list absorbs.
struct Chain {
  Value bias, mask;
  SmallVector<Attribute> posts;
  Operation *last;
};

struct FuseGemm : pdlc::impl::NNFuseGemmBase<FuseGemm> {
  void runOnOperation() override {
    fusedPosts = 0;
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      for (MatmulOp matmul :
           llvm::make_early_inc_range(program.getBody().getOps<MatmulOp>()))
        fuse(matmul);
    getOperation()->setAttr(NNDialect::kPhaseAttrName,
                            StringAttr::get(&getContext(), "fused"));
    reportStatistic(*this, getOperation(), numPosts, "posts-fused", fusedPosts);
  }

  PostOpAttr post(PostOp kind) { return PostOpAttr::get(&getContext(), kind); }

  /// Follows single uses from the product. A value with other users has to be
  /// stored anyway, so absorbing one of them would compute it twice.
  Chain follow(MatmulOp matmul) {
    Chain chain;
    chain.last = matmul;
    auto type = cast<RankedTensorType>(matmul.getType());
    while (chain.last->hasOneUse()) {
      Operation *user = *chain.last->user_begin();
      Value value = chain.last->getResult(0);
      if (auto add = dyn_cast<AddOp>(user);
          add && !chain.bias && chain.posts.empty() && add.getLhs() == value &&
          add.getType() == type && isBias(add.getRhs(), type)) {
        chain.bias = add.getRhs();
        chain.posts.push_back(post(PostOp::bias));
      } else if (isa<ReluOp>(user) &&
                 !llvm::is_contained(chain.posts, post(PostOp::relu)) &&
                 !chain.mask) {
        chain.posts.push_back(post(PostOp::relu));
      } else if (auto gradient = dyn_cast<ReluGradientOp>(user);
                 gradient && chain.posts.empty() &&
                 gradient.getCotangent() == value &&
                 gradient.getOutput() != value) {
        chain.mask = gradient.getOutput();
        chain.posts.push_back(post(PostOp::relu_gradient));
      } else {
        break;
      }
      chain.last = user;
    }
    return chain;
  }

  static bool isBias(Value value, RankedTensorType result) {
    return value.getType() == RankedTensorType::get({result.getDimSize(1)},
                                                    result.getElementType());
  }

  void fuse(MatmulOp matmul) {
    Chain chain = follow(matmul);
    // At the place of the last op absorbed, so that all operands are defined.
    OpBuilder builder(chain.last);
    SmallVector<Location> locations{matmul.getLoc(), chain.last->getLoc()};
    Value fused = GemmOp::create(
        builder, builder.getFusedLoc(locations), matmul.getType(),
        matmul.getLhs(), matmul.getRhs(), chain.bias, chain.mask,
        matmul.getTransposeLhsAttr(), matmul.getTransposeRhsAttr(),
        builder.getArrayAttr(chain.posts));
    chain.last->getResult(0).replaceAllUsesWith(fused);
    fusedPosts += chain.posts.size();
    for (Operation *op = chain.last; op;) {
      Operation *producer = nullptr;
      if (op != matmul)
        for (Value operand : op->getOperands())
          if (operand != chain.bias && operand != chain.mask)
            producer = operand.getDefiningOp();
      op->erase();
      op = producer;
    }
  }

  uint64_t fusedPosts = 0;
};
} // namespace
