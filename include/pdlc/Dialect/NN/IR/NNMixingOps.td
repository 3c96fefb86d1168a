//===- NNMixingOps.td - Samples of one batch beside each other -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The other samples of a batch as negative examples. These ops mix the samples of
// one replica's batch, in every mode (trait MixesSamples).
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNMIXINGOPS_TD
#define PDLC_DIALECT_NN_IR_NNMIXINGOPS_TD

include "pdlc/Dialect/NN/IR/NNCompositeOps.td"
include "pdlc/Dialect/NN/IR/NNLoweredOps.td"

def NN_RotateOp : NN_PureOp<"rotate", [MixesSamples, NN_Differentiable, SameOperandsAndResultType]> {
  let summary = "The row of the sample that stands some places further in the batch";
  let description = [{
    Row i of the result is row (i + by) mod b, with b the rows of the replica's batch:
    items of other samples as negatives, as often as they occur in the data. A batch
    whose b divides `by` meets itself.

    Constraints:
    - (C1) Operand and result have one type, whose first dimension is dynamic.
    - (C2) `by` is between -(2^31 - 1) and 2^31 - 1.

    Example:
    ```mlir
    %other = nn.rotate %item by 1 : tensor<?x64xf32>
    %ids = nn.rotate %item_id by 1 : tensor<?x1xi64>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64, I64]>:$input, I64Attr:$by);
  let results = (outs RankedTensorOf<[F32, F64, I64]>:$result);
  let assemblyFormat = "$input `by` $by attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def NN_InBatchSoftmaxOp : NN_CompositeOp<"in_batch_softmax", [AttrSizedOperandSegments, MixesSamples,
    NN_InferType]> {
  let summary = "How unlikely each user's own item is among the items of the batch";
  let description = [{
    Of sample i, with the score s(i, j) = users[i] . items[j] - correction[j]:
    log(sum over j of exp(s(i, j))) - s(i, i). So the items of the other samples of
    the replica's batch are the negatives. `correction` is the logarithm of how
    probable it is that an item is in a batch, which would make frequent items
    negatives too often (Yi et al., 2019); no gradient passes to it. With `ids` an
    item that equals the sample's own is none of its negatives. Memory grows with the
    batch, not with its square.

    Constraints:
    - (C1) Users and items have one type [b, width], the result is [b, 1] of their
      element type.
    - (C2) A correction is [b, 1] of their element type; ids are [b, 1].

    Example:
    ```mlir
    %l = nn.in_batch_softmax %u, %v correction %q ids %item
      : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x1xf32>, tensor<?x1xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$users, NN_FloatTensor:$items,
    Optional<NN_FloatTensor>:$correction, Optional<NN_IdTensor>:$ids);
  let assemblyFormat = [{
    $users `,` $items (`correction` $correction^)? (`ids` $ids^)? attr-dict
    `:` type(operands)
  }];
  let hasVerifier = 1;
}

def NN_InBatchLogSumExpOp : NN_PureOp<"in_batch_log_sum_exp", [AttrSizedOperandSegments, MixesSamples, NN_InferType,
    NN_FromMerged, NN_DifferentiableSome]> {
  let summary = "Logarithm of the sum of the exponentials of a user's scores";
  let description = [{
    log(sum over j of exp(s(i, j))), with the scores of `nn.in_batch_softmax`, less
    those that are no negatives of i. A score is one chain of fused multiply-adds
    over the width, ascending, from +0, less the correction; maximum and sum over j
    have the order of sums over last dimensions: m + log(sum of exp(s - m)).

    Constraints:
    - (C1) As `nn.in_batch_softmax` (C1).
    - (C2) As `nn.in_batch_softmax` (C2).

    Example:
    ```mlir
    %0 = nn.in_batch_log_sum_exp %u, %v : tensor<?x64xf32>, tensor<?x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$users, NN_FloatTensor:$items,
    Optional<NN_FloatTensor>:$correction, Optional<NN_IdTensor>:$ids);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $users `,` $items (`correction` $correction^)? (`ids` $ids^)? attr-dict
    `:` type(operands)
  }];
  let hasVerifier = 1;
}

def NN_InBatchGradientOp : NN_PureOp<"in_batch_gradient", [AttrSizedOperandSegments, MixesSamples, NN_InferType,
    NN_FromGradient]> {
  let summary = "The gradient of nn.in_batch_log_sum_exp";
  let description = [{
    With w(i, j) = from[i] * exp(s(i, j) - sums[i]), and 0 where j is no negative of
    i: with respect to the users, the sum over j of w(i, j) items[j]; `of items`, the
    sum over i of w(i, j) users[i]. Each element is one chain of fused multiply-adds
    over the samples, ascending, from +0.

    Constraints:
    - (C1) As `nn.in_batch_softmax` (C1); the result has the users' type.
    - (C2) As `nn.in_batch_softmax` (C2).
    - (C3) `sums`, which is the result of the forward op, and `from`, which is its
      cotangent, are [b, 1] of the users' element type.

    Example:
    ```mlir
    %du = nn.in_batch_gradient of users %u, %v sums %s from %d
      : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x1xf32>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_BatchSideAttr:$side, NN_FloatTensor:$users, NN_FloatTensor:$items,
    Optional<NN_FloatTensor>:$correction, Optional<NN_IdTensor>:$ids,
    NN_FloatTensor:$sums, NN_FloatTensor:$cotangent);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    `of` $side $users `,` $items (`correction` $correction^)? (`ids` $ids^)?
    `sums` $sums `from` $cotangent attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

#endif // PDLC_DIALECT_NN_IR_NNMIXINGOPS_TD
