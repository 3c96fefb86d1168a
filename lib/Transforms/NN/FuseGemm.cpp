//===- FuseGemm.cpp - Fuse products with post-ops -------------------------===//
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

  bool has(PostOp kind) const {
    return llvm::is_contained(posts, PostOpAttr::get(last->getContext(), kind));
  }
  /// Returns true if the runtime supports these post-ops followed by `kind`.
  bool accepts(PostOp kind) const {
    switch (kind) {
    case PostOp::bias:
    case PostOp::relu_gradient:
      return posts.empty();
    case PostOp::relu:
      return !has(PostOp::relu) && !has(PostOp::relu_gradient);
    }
    llvm_unreachable("all post-ops are known");
  }
  void absorb(Operation *op, PostOperation post) {
    posts.push_back(PostOpAttr::get(op->getContext(), post.kind));
    if (post.kind == PostOp::bias)
      bias = post.operand;
    else if (post.kind == PostOp::relu_gradient)
      mask = post.operand;
    last = op;
  }
};

struct FuseGemm : pdlc::impl::NNFuseGemmBase<FuseGemm> {
  using NNFuseGemmBase::NNFuseGemmBase;

  void runOnOperation() override {
    fusedPosts = 0;
    SmallVector<MatmulOp> products, ofRows;
    getOperation().walk([&](MatmulOp matmul) {
      // Products of a single row become loops.
      (matmul->getParentOfType<ScanOp>() ? ofRows : products).push_back(matmul);
    });
    for (MatmulOp matmul : products)
      fuse(matmul);
    for (MatmulOp matmul : ofRows)
      transposeOnce(matmul);
    getOperation()->setAttr(NNDialect::kPhaseAttrName,
                            StringAttr::get(&getContext(), "fused"));
    reportStatistic(*this, getOperation(), numPosts, "posts-fused", fusedPosts);
  }

  /// Collects the ops after a product that can become post-ops of it. Stops at
  /// a value with several users: it must be stored, so making one of the users
  /// a post-op would compute the value twice.
  Chain follow(MatmulOp matmul) const {
    Chain chain;
    chain.last = matmul;
    while (postOps && chain.last->hasOneUse()) {
      auto user = dyn_cast<ElementwiseOpInterface>(*chain.last->user_begin());
      std::optional<PostOperation> post =
          user ? user.asPostOp(chain.last->getResult(0)) : std::nullopt;
      if (!post || !chain.accepts(post->kind))
        break;
      chain.absorb(user, *post);
    }
    return chain;
  }

  void fuse(MatmulOp matmul) {
    Chain chain = follow(matmul);
    // Insert at the last absorbed op, so that all operands are defined.
    OpBuilder builder(chain.last);
    SmallVector<Location> locations{matmul.getLoc(), chain.last->getLoc()};
    Value fused = GemmOp::create(
        builder, builder.getFusedLoc(locations), matmul.getType(),
        matmul.getLhs(), matmul.getRhs(), chain.bias, chain.mask,
        matmul.getTransposeLhsAttr(), matmul.getTransposeRhsAttr(),
        builder.getArrayAttr(chain.posts), /*compute=*/ComputeAttr());
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

  /// If a product in a scan uses a matrix of all rows transposed, transposes
  /// the matrix once, before the scan.
  static void transposeOnce(MatmulOp matmul) {
    auto scan = dyn_cast<ScanOp>(matmul->getParentOp());
    auto argument = dyn_cast<BlockArgument>(matmul.getRhs());
    if (!scan || !argument || !matmul.getTransposeRhs())
      return;
    ArrayRef<BlockArgument> shared = scan.getSharedArguments();
    const auto *found = llvm::find(shared, argument);
    if (found == shared.end())
      return;
    OpBuilder builder(scan);
    Value transposed = TransposeOp::create(
        builder, matmul.getLoc(), scan.getShared()[found - shared.begin()],
        ArrayRef<int64_t>{1, 0});
    scan.getSharedMutable().append(transposed);
    Value added = scan.getBody().front().addArgument(transposed.getType(),
                                                     matmul.getLoc());
    matmul.getRhsMutable().assign(added);
    matmul.setTransposeRhs(false);
  }

  uint64_t fusedPosts = 0;
};
} // namespace
