//===- NNTrainingOps.td - Losses, metrics, training -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNTRAININGOPS_TD
#define PDLC_DIALECT_NN_IR_NNTRAININGOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "pdlc/Dialect/NN/IR/NNOpTraits.td"

def NN_SigmoidCrossEntropyOp : NN_PureOp<"sigmoid_cross_entropy",
    [NN_Elementwise, MeasuresLoss, SameOperandsAndResultType, NN_Differentiable]> {
  let summary = "Log loss of a logit for each sample";
  let description = [{
    max(z, 0) - z y + log1p(exp(-|z|)).

    Constraints:
    - (C1) Logits, labels and result have one type.

    Example:
    ```mlir
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_FloatTensor:$labels);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits)";
}

def NN_SquaredErrorOp : NN_PureOp<"squared_error",
    [NN_Elementwise, MeasuresLoss, SameOperandsAndResultType, NN_Differentiable]> {
  let summary = "(prediction - label)^2, element by element";
  let description = [{
    Computes the squared error without a factor 1/2.

    Constraints:
    - (C1) Predictions, labels and result have one type.

    Example:
    ```mlir
    %l = nn.squared_error %p, %y : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$predictions, NN_FloatTensor:$labels);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$predictions `,` $labels attr-dict `:` type($predictions)";
}

def NN_ObserveOp : NN_BodyOp<"observe", [StopsGradients, AttrSizedOperandSegments, MemoryEffects<[MemWrite]>, NN_BatchFirst,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Adds the samples of a batch to a metric";
  let description = [{
    Each sample counts with its weight, or once if there are no weights.

    Constraints:
    - (C1) The symbol is an `nn.metric`.
    - (C2) Predictions are [b, 1], with b the batch: one value for each sample.
      For a metric of ranked lists, they are scores [b, n] with n > 1: one list
      for each sample.
    - (C3) Labels are given if the metric compares predictions with labels. They
      are absent if it takes one value for each sample (`#nn.mean`). They have
      the type of the predictions. For ranked lists, they may also be [b, 1],
      the position of the only relevant item.
    - (C4) Weights are [b, 1], with the element type of the predictions.
    - (C5) A group is given exactly if the metric is one of groups of samples
      (`#nn.grouped_auc`). It is [b, 1] ids.

    The type of the labels is written only if it differs from that of the
    predictions. The types of weights and group are never written.

    Example:
    ```mlir
    nn.observe @auc(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @gauc(%p, %y) group %user weight %w : tensor<?x1xf32>
    nn.observe @loss(%l) : tensor<?x1xf32>
    nn.observe @ndcg(%scores, %relevance) : tensor<?x100xf32>
    nn.observe @recall(%scores, %position) weight %w : tensor<?x100xf32>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$metric, NN_FloatTensor:$predictions,
    Optional<NN_FloatTensor>:$labels, Optional<NN_FloatTensor>:$weights,
    Optional<AnyRankedTensor>:$group);
  let assemblyFormat = [{
    $metric `(` $predictions (`,` $labels^)? `)` (`group` $group^)? (`weight` $weights^)? attr-dict
    `:` custom<ObserveTypes>(ref($labels), ref($weights), ref($group), type($predictions), type($labels), type($weights), type($group))
  }];
  let hasVerifier = 1;
}

def NN_AccumulateOp : NN_BodyOp<"accumulate", [MemoryEffects<[MemWrite]>, StopsGradients, NN_BatchFirst, AccumulatesState,
    StandsUntil<"Merged", "nn-autodiff replaces it by updates">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Adds values of samples to a state";
  let description = [{
    Computes two sums over the samples of a step: of weight times value, and of
    the weights. Without weights, each sample has weight 1. The state is an
    `nn.param` of a group. The sums are merged over replicas like gradients, and
    applied once by the rule of the group. Instead of a gradient, this rule gets
    the mean, or the sum if it is `undivided`. The rules `@moving_average` and
    `@running_sum` are made for this purpose. In all other respects, the group
    behaves as if an `nn.minimize` of its own trained it.

    An `nn.read` of the state in the same program returns the value from before
    the step. No gradient flows into it.

    Constraints:
    - (C1) The symbol is an `nn.param` of a group. Values are [b, d, ...], with
      b the batch and [d, ...] the shape of the state, and have its element
      type.
    - (C2) Weights are [b, 1], with the element type of the values.
    - (C3) A program accumulates into a state once. The weights are the same for
      all states of a group, and no `nn.minimize` trains that group (checked by
      `nn-autodiff`).
    - (C4) The program has an `nn.minimize`.

    Example:
    ```mlir
    nn.accumulate @mean(%x) weight %w : tensor<?x8xf32>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$state, NN_FloatTensor:$values,
    Optional<NN_FloatTensor>:$weights);
  let assemblyFormat = [{
    $state `(` $values `)` (`weight` $weights^)? attr-dict `:`
    type($values) (`,` type($weights)^)?
  }];
  let hasVerifier = 1;
}

def NN_CountOp : NN_BodyOp<"count", [MemoryEffects<[MemWrite]>, StopsGradients, NN_BatchFirst, ReadsModel,
    StandsUntil<"Model", "nn-lower-model replaces it by nn.count_pooled">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Adds values of samples to the counts of their rows";
  let description = [{
    For each row that a step updates, sums the values of the samples that
    contain the row's id. If a sample contains an id twice, it counts twice. A
    rule with `counts(...)` gets these sums. They are merged over replicas and
    applied once, together with the gradients, but neither divided by the summed
    weight nor clipped. A batch without weight updates nothing and counts
    nothing. A row that was counted but has no gradient is updated with zeros.

    Constraints:
    - (C1) The symbol is an `nn.table`. The program minimizes losses that depend
      on it (checked by `nn-autodiff`).
    - (C2) Ids have shape [b, s], or are bags. Values have shape [b, 1], with b
      the batch, and the element type of the table.
    - (C3) Ids depend only on fields and constants, like those of `nn.lookup`.
    - (C4) Each count of the rule of the table's group is named exactly once.
      There are no other names (checked by `nn-lower-model`).
    - (C5) The program has an `nn.minimize`.

    Example:
    ```mlir
    nn.count @emb[%c] show(%one) click(%label) : !nn.ragged<?x26x*xi64>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$table, NN_Ids:$ids,
    Variadic<NN_FloatTensor>:$values, StrArrayAttr:$names);
  let assemblyFormat = [{
    $table `[` $ids `]` custom<NamedOperands>($names, $values) attr-dict `:`
    custom<OneTypeOf>(type($ids), type($values), ref($values))
  }];
  let hasVerifier = 1;
}

def NN_MinimizeOp : NN_BodyOp<"minimize", [MemoryEffects<[MemWrite]>, StopsGradients, NN_BatchFirst,
    StandsUntil<"Merged", "nn-autodiff replaces it by updates">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Trains the named groups on per-sample losses";
  let description = [{
    The loss of a step is the weighted sum of the samples' losses divided by the
    sum of their weights, over all replicas. Without weights, each sample has
    weight 1.

    A program may minimize several losses, each over its own groups. For each
    loss, symbols of the other groups are constants, and gradients are divided
    by the weights of that loss. If no sample of a step has weight in a loss,
    its groups are not updated. The first loss is that of the program.

    Constraints:
    - (C1) Losses and weights have one type of shape [b, 1], with b the batch:
      one value for each sample.
    - (C2) Each group is an `nn.group`, named once.
    - (C3) At least one symbol of each group contributes to the losses.
    - (C4) Weights do not depend on trained symbols.
    - (C5) No other `nn.minimize` of the program trains one of the groups, or a
      group with the same joint clip.

    Example:
    ```mlir
    nn.minimize %l weight %w over [@dense, @sparse] : tensor<?x1xf32>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$losses, Optional<NN_FloatTensor>:$weights,
    FlatSymbolRefArrayAttr:$groups);
  let assemblyFormat = [{
    $losses (`weight` $weights^)? `over` custom<SymbolList>($groups) attr-dict `:`
    type($losses) (`,` type($weights)^)?
  }];
  let hasVerifier = 1;
}

#endif // PDLC_DIALECT_NN_IR_NNTRAININGOPS_TD
