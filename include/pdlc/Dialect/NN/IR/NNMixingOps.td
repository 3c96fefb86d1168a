//===- NNMixingOps.td - In-batch negatives -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that use the other samples of a batch as negatives. In every mode, they mix
// the samples of one replica's batch (trait MixesSamples).
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNMIXINGOPS_TD
#define PDLC_DIALECT_NN_IR_NNMIXINGOPS_TD

include "pdlc/Dialect/NN/IR/NNCompositeOps.td"
include "pdlc/Dialect/NN/IR/NNLoweredOps.td"

def NN_RotateOp : NN_PureOp<"rotate", [MixesSamples, NN_Differentiable, SameOperandsAndResultType]> {
  let summary = "Gives each sample the row of another sample of the batch";
  let description = [{
    Row i of the result is row (i + by) mod b, where b is the number of rows of
    the replica's batch. Items of other samples can thus serve as negatives, as
    often as they occur in the data. If b divides `by`, each sample gets its own
    row.

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
  let summary = "Softmax log loss of each user's own item among the items of the batch";
  let description = [{
    For sample i, the loss is log(sum over j of exp(s(i, j))) - s(i, i), with
    the score s(i, j) = users[i] . items[j] - correction[j]. The items of the
    other samples in the replica's batch are therefore the negatives.
    `correction` is the log probability that an item is in a batch; without it,
    frequent items are negatives too often (Yi et al., 2019). No gradient passes
    to it. With `ids`, an item that equals the sample's own item is not a
    negative. Memory grows with the size of the batch, not with its square.

    Constraints:
    - (C1) Users and items have one type [b, width]. The result is [b, 1] of
      their element type.
    - (C2) A correction is [b, 1] of their element type. Ids are [b, 1].

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
  let summary = "Log of the sum of the exponentials of a user's scores";
  let description = [{
    log(sum over j of exp(s(i, j))), with the scores of `nn.in_batch_softmax`,
    without those that are not negatives of i. A score is one chain of fused
    multiply-adds over the width, in ascending order from +0, minus the
    correction. The maximum m and the sum over j have the order of sums over
    last dimensions: m + log(sum of exp(s - m)).

    Constraints:
    - (C1) As for `nn.in_batch_softmax` (C1).
    - (C2) As for `nn.in_batch_softmax` (C2).

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
    Let w(i, j) = from[i] * exp(s(i, j) - sums[i]), or 0 if j is not a negative
    of i. The gradient with respect to the users is the sum over j of w(i, j)
    items[j]. With `of items`, it is the sum over i of w(i, j) users[i]. Each
    element is one chain of fused multiply-adds over the samples, in ascending
    order from +0.

    Constraints:
    - (C1) As for `nn.in_batch_softmax` (C1). The result has the type of the
      users.
    - (C2) As for `nn.in_batch_softmax` (C2).
    - (C3) `sums` is the result of the forward op, and `from` its cotangent.
      Both are [b, 1] of the users' element type.

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
