//===- NNLoweredOps.td - Ops of the phases after model -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNLOWEREDOPS_TD
#define PDLC_DIALECT_NN_IR_NNLOWEREDOPS_TD

include "pdlc/Dialect/NN/IR/NNOpTraits.td"

def NN_FromMerged : StandsFrom<"Merged", "nn-lower-model makes it">;
def NN_FromGradient : StandsFrom<"Gradient", "nn-autodiff makes it">;

//===----------------------------------------------------------------------===//
// Phase `merged`: explicit lookups and products
//===----------------------------------------------------------------------===//

def NN_UniqueOp : NN_PureOp<"unique", [NN_FromMerged, StopsGradients, PreparesStep]> {
  let summary = "Deduplicates the ids of all lookups of one table";
  let description = [{
    Processes the inputs one after the other, as flat tensors. `keys` are the
    distinct ids in order of first occurrence. `inverse` maps each occurrence to
    its key. `occurrences`, split by `key_splits`, lists the occurrences of each
    key in ascending order; it is the inverse in compressed row form.

    Constraints:
    - (C1) There is at least one input, and all are `tensor<?xi64>`.

    Example:
    ```mlir
    %keys, %inverse, %key_splits, %occurrences = nn.unique %a, %b
    ```
  }];
  let arguments = (ins Variadic<NN_KeyTensor>:$ids);
  let results = (outs NN_KeyTensor:$keys, NN_SplitTensor:$inverse,
    NN_SplitTensor:$key_splits, NN_SplitTensor:$occurrences);
  let assemblyFormat = "$ids attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the results as one value.
    ::pdlc::nn::Deduplication getDeduplication() {
      return {getKeys(), getInverse(), getKeySplits(), getOccurrences()};
    }
  }];
}

def NN_PullOp : NN_BodyOp<"pull", [MemoryEffects<[MemRead]>, NN_BatchFirst,
    NN_FromMerged, PreparesStep, StopsGradients,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The rows of distinct keys, as at program entry";
  let description = [{
    Reads the rows that the table has for the keys.

    Constraints:
    - (C1) The symbol is an `nn.table` whose row is the row of the result.
    - (C2) The keys are a result of `nn.unique`.

    Example:
    ```mlir
    %rows = nn.pull @emb[%keys] : tensor<?x10xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$table, NN_KeyTensor:$keys);
  let results = (outs NN_FloatTensor:$rows);
  let assemblyFormat = "$table `[` $keys `]` attr-dict `:` type($rows)";
  let hasVerifier = 1;
}

def NN_FingerprintOp : NN_Op<"fingerprint", [HasParent<"::mlir::ModuleOp">, SharedByRoles,
    StandsFrom<"Merged", "nn-fingerprint makes it">]> {
  let summary = "The properties that a checkpoint and a program must share";
  let description = [{
    Describes the model in named parts. The value of each part is a text: the
    full text if it is short, else a digest. A checkpoint stores the parts, so
    that a program that does not fit can report what differs. There are three
    lists:

    - `state`: the properties that every reader of values needs: type and shape
      of each symbol, and how the keys of trained tables are computed from
      fields.
    - `optimizer`: the other state of a training: slots, and the groups that
      count steps.
    - `training`: everything else that determines the next step: rules, learning
      rates, schedules, regularizers, clips, initial values of rows, fields, and
      losses.

    The digest of the first two lists is the layout fingerprint, and the digest
    of the third is the training fingerprint. No list contains metrics, frozen
    programs, or the names of the model, of fields, values, rules, schedules
    and functions.

    Constraints:
    - (C1) The value of each part is a string.
    - (C2) A module has one `nn.fingerprint`.

    Example:
    ```mlir
    nn.fingerprint state {
      "shape of @w" = "f32 [13, 1]"
    } optimizer {
      "groups with steps" = "@dense"
    } training {
      "group of @w" = "@dense",
      "rate of group @dense" = "0.1"
    }
    ```
  }];
  let arguments = (ins DictionaryAttr:$state, DictionaryAttr:$optimizer,
    DictionaryAttr:$training);
  let assemblyFormat = [{
    `state` custom<Parts>($state) `optimizer` custom<Parts>($optimizer)
    `training` custom<Parts>($training) attr-dict
  }];
  let hasVerifier = 1;
}

def NN_PoolOp : NN_PureOp<"pool", [NN_DifferentiableSome, AttrSizedOperandSegments,
    NN_FromMerged, ReadsModel]> {
  let summary = "Pools rows by bag, for every input of nn.unique";
  let description = [{
    Has one input and one result for each input of the `nn.unique` that computed
    `inverse`. An input consists of:

    - its ids; their number determines where the next input begins in `inverse`;
    - the splits of its bags (bags + 1 entries); without `bags`, each bag holds
      one id;
    - the pooling of the rows of a bag.

    Result i has shape [bags of input i, width], where bags counts all bags of
    the batch. A reshape gives [b, s, width].

    Constraints:
    - (C1) There is at least one input. Each has a pooling and a result, and has
      splits exactly if it has bags.
    - (C2) Each result is `tensor<?xWxT>` with W and T of the rows.
    - (C3) `inverse`, `key_splits`, `occurrences` and the ids are those of one
      `nn.unique`. The rows are those of its keys.

    Example:
    ```mlir
    %e:2 = nn.pool %rows[%inverse, %key_splits, %occurrences] of (%ids bags(%s) mean, %country sum)
      : (tensor<?x10xf32>) -> (tensor<?x10xf32>, tensor<?x10xf32>)
    ```
  }];
  // Do not rename these operands: a checkpoint identifies the losses of its
  // program by a digest that includes the generic form of the ops of phase
  // `merged`. `getInputs` returns the operands as a list of inputs.
  let arguments = (ins NN_FloatTensor:$rows, NN_SplitTensor:$inverse,
    NN_SplitTensor:$key_splits, NN_SplitTensor:$occurrences,
    Variadic<NN_KeyTensor>:$ids, Variadic<NN_SplitTensor>:$splits,
    TypedArrayAttrBase<NN_PoolingAttr, "array of poolings">:$poolings,
    DenseBoolArrayAttr:$bagged);
  let results = (outs Variadic<NN_FloatTensor>:$pooled);
  let assemblyFormat = [{
    $rows `[` $inverse `,` $key_splits `,` $occurrences `]` `of`
    custom<PoolInputs>($ids, $splits, $poolings, $bagged) attr-dict
    `:` functional-type($rows, $pooled)
  }];
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$rows, "const ::pdlc::nn::Deduplication &":$deduplication,
                   "::llvm::ArrayRef<::pdlc::nn::PoolInput>":$inputs)>
  ];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns one input for each result. None of them has a cotangent.
    ::llvm::SmallVector<::pdlc::nn::PoolInput> getInputs();
    /// Returns the results of the nn.unique of the ids (C3).
    ::pdlc::nn::Deduplication getDeduplication();
  }];
}

def NN_CountPooledOp : NN_BodyOp<"count_pooled", [MemoryEffects<[MemWrite]>, StopsGradients,
    StandsIn<"Merged", "nn-lower-model makes it", "Merged", "nn-autodiff makes it a part of gradients">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Adds values of bags to the counts of their rows";
  let description = [{
    Replaces `nn.count` in `nn-lower-model`. `pooled` is a result of `nn.pool`,
    and identifies the bags; its elements are not read. Row i of `values`
    belongs to bag i. It is added to the counts of the table rows of each id in
    that bag, in the order of the rule's counts.

    Constraints:
    - (C1) The symbol is an `nn.table`.
    - (C2) `pooled` is [bags, width of the table], a result of an `nn.pool` of
      the table's rows (checked by `nn-merge-lookups`). Values are [bags,
      counts], of its element type.

    Example:
    ```mlir
    nn.count_pooled @emb of %e by %values : tensor<?x10xf32>, tensor<?x2xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$table, NN_FloatTensor:$pooled,
    NN_FloatTensor:$values);
  let assemblyFormat = [{
    $table `of` $pooled `by` $values attr-dict `:` type($pooled) `,` type($values)
  }];
  let hasVerifier = 1;
}

def NN_PoolGradientOp : NN_PureOp<"pool_gradient", [AttrSizedOperandSegments, NN_FromGradient]> {
  let summary = "Gradient of pooling with respect to the rows";
  let description = [{
    The inputs are those of the `nn.pool`, each with the cotangent of its result
    (`from`). Row u is a sum over the occurrences of key u, in ascending order
    (inputs in order), from +0. Each occurrence adds the cotangent of its bag.
    For `mean`, it is divided by the size of the bag, and for `sqrtn` by the
    square root of the size. An input without cotangent adds nothing.

    Constraints:
    - (C1) There is at least one input. Each has a pooling, has splits exactly
      if it has bags, and has a cotangent exactly if it says so.
    - (C2) The result and each cotangent are `tensor<?xWxT>`. The result has one
      row for each key.
    - (C3) As for `nn.pool` (C3).

    Example:
    ```mlir
    %g = nn.pool_gradient [%inverse, %key_splits, %occurrences] of (%ids bags(%s) mean from %de, %country sum)
      : (tensor<?x10xf32>) -> tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Variadic<NN_FloatTensor>:$cotangents, NN_SplitTensor:$inverse,
    NN_SplitTensor:$key_splits, NN_SplitTensor:$occurrences,
    Variadic<NN_KeyTensor>:$ids, Variadic<NN_SplitTensor>:$splits,
    TypedArrayAttrBase<NN_PoolingAttr, "array of poolings">:$poolings,
    DenseBoolArrayAttr:$bagged, DenseBoolArrayAttr:$present);
  let results = (outs NN_FloatTensor:$gradient);
  let assemblyFormat = [{
    `[` $inverse `,` $key_splits `,` $occurrences `]` `of`
    custom<PoolGradientInputs>($ids, $splits, $cotangents, $poolings, $bagged, $present) attr-dict
    `:` functional-type($cotangents, $gradient)
  }];
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Type":$gradient, "const ::pdlc::nn::Deduplication &":$deduplication,
                   "::llvm::ArrayRef<::pdlc::nn::PoolInput>":$inputs)>
  ];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the inputs of the nn.pool, with cotangents.
    ::llvm::SmallVector<::pdlc::nn::PoolInput> getInputs();
    /// Returns the results of the nn.unique of the ids (C3).
    ::pdlc::nn::Deduplication getDeduplication();
  }];
}

def NN_CrossBagsOp : NN_PureOp<"cross_bags", [SameVariadicOperandSize, NN_FromMerged, StopsGradients,
    PreparesStep]> {
  let summary = "Feature cross of bags, as ids and splits";
  let description = [{
    The form of `nn.cross` with ragged operands from phase `merged` on. The
    splits of each operand cut its ids into bags. All operands have the same
    number of bags.

    Constraints:
    - (C1) There is at least one operand. Each consists of ids and splits.

    Example:
    ```mlir
    %ids, %splits = nn.cross_bags (%a bags(%sa), %b bags(%sb)) salt(1)
    ```
  }];
  let arguments = (ins Variadic<NN_KeyTensor>:$ids, Variadic<NN_SplitTensor>:$splits,
    DefaultValuedAttr<I64Attr, "0">:$salt);
  let results = (outs NN_KeyTensor:$result, NN_SplitTensor:$result_splits);
  let assemblyFormat = [{
    custom<BagList>($ids, $splits) (`salt` `(` $salt^ `)`)? attr-dict
  }];
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::llvm::ArrayRef<::pdlc::nn::Bags>":$bags, "int64_t":$salt)>
  ];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the operands.
    ::llvm::SmallVector<::pdlc::nn::Bags> getBags();
    /// Returns the results.
    ::pdlc::nn::Bags getCrossed() { return {getResult(), getResultSplits()}; }
  }];
}

def NN_SingleBagsOp : NN_PureOp<"single_bags", [NN_FromMerged, StopsGradients]> {
  let summary = "Splits of bags that hold one id each";
  let description = [{
    Returns 0, 1, 2, and so on. Used if a cross combines a tensor of ids with
    bags.

    Constraints:
    - (C1) The ids are flat.

    Example:
    ```mlir
    %splits = nn.single_bags %ids
    ```
  }];
  let arguments = (ins NN_KeyTensor:$ids);
  let results = (outs NN_SplitTensor:$splits);
  let assemblyFormat = "$ids attr-dict";
}

def NN_BatchMatmulOp : NN_PureOp<"batch_matmul", [NN_FromMerged, NN_Differentiable, NN_InferType]> {
  let summary = "One matrix product for each index of the first dimension";
  let description = [{
    Replaces `nn.matmul` of tensors of higher rank. Each element is one chain of
    fused multiply-adds over k, in ascending order from +0.

    Constraints:
    - (C1) The operands have rank 3, one element type and one first dimension.
      After transposition, they are m x k and k x n.

    Example:
    ```mlir
    %0 = nn.batch_matmul %a, %a transposed : tensor<?x27x16xf32>, tensor<?x27x16xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs, UnitAttr:$transpose_lhs,
    UnitAttr:$transpose_rhs);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)?
    attr-dict `:` type(operands)
  }];
}

def NN_ReluGradientOp : NN_PureOp<"relu_gradient", [NN_ElementwisePostOp, StopsGradients, SameOperandsAndResultType]> {
  let summary = "Gradient of nn.relu";
  let description = [{
    output <= 0 ? +0 : cotangent, where `output` is the result of `nn.relu`.

    Constraints:
    - (C1) Operands and result have one type.

    Example:
    ```mlir
    %0 = nn.relu_gradient %d, %y : tensor<?x400xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$cotangent, NN_FloatTensor:$output);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $output attr-dict `:` type($cotangent)";
}

def NN_PadOp : NN_PureOp<"pad", [NN_InferType, NN_Differentiable]> {
  let summary = "Adds zeros before and after, along one axis";
  let description = [{
    The adjoint of `nn.slice`; the adjoint of this op is `nn.slice`.

    Constraints:
    - (C1) 0 <= axis < rank, the axis is static, low >= 0, high >= 0.

    Example:
    ```mlir
    %0 = nn.pad %x axis 1 low 4 high 0 : tensor<?x2xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$axis, I64Attr:$low, I64Attr:$high);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `axis` $axis `low` $low `high` $high attr-dict `:` type($input)
  }];
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Phase `gradient`: the update, made explicit
//===----------------------------------------------------------------------===//

def NN_ApplyGradientsOp : NN_BodyOp<"apply_gradients", [MemoryEffects<[MemWrite]>,
    StandsIn<"Gradient", "nn-autodiff makes it", "Merged", "nn-expand-updates spells it out">,
    AttrSizedOperandSegments, NN_BatchFirst, NN_MayMixFloats,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The updates of nn.minimize, with their gradients";
  let description = [{
    Exists between `nn-autodiff` and `nn-expand-updates`. It holds the losses,
    and the gradient of their weighted sum for each symbol that they depend on.

    Constraints:
    - (C1) Each symbol has a gradient, and has the keys of its rows exactly if
      it is a table.
    - (C2) Each group is an `nn.group`. Each symbol is an `nn.param` or an
      `nn.table` of one of them.

    Example:
    ```mlir
    nn.apply_gradients %l {@w1 = %g0 : tensor<4x1xf32>, @emb[%k] = %g1 : tensor<?x10xf32>}
      over [@dense, @sparse] : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$losses, Optional<NN_FloatTensor>:$weights,
    FlatSymbolRefArrayAttr:$symbols, Variadic<NN_FloatTensor>:$gradients,
    Variadic<NN_KeyTensor>:$keys, DenseBoolArrayAttr:$keyed,
    FlatSymbolRefArrayAttr:$groups);
  let assemblyFormat = [{
    $losses (`weight` $weights^)?
    custom<SymbolGradients>($symbols, $gradients, type($gradients), $keys, $keyed)
    `over` custom<SymbolList>($groups) attr-dict `:` type($losses) (`,` type($weights)^)?
  }];
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$losses, "::mlir::Value":$weights,
                   "::llvm::ArrayRef<::pdlc::nn::SymbolGradient>":$gradients,
                   "::mlir::ArrayAttr":$groups)>
  ];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the gradients in the order of the module's symbols.
    ::llvm::SmallVector<::pdlc::nn::SymbolGradient> getSymbolGradients();
  }];
}

def NN_LossSumOp : NN_PureOp<"loss_sum", [NN_FromGradient]> {
  let summary = "Weighted sum of losses and sum of weights, in f64";
  let description = [{
    Adds in the order of the samples. Without weights, each sample has weight 1.

    Constraints:
    - (C1) Losses and weights have one type of shape [b, 1].

    Example:
    ```mlir
    %sum, %weight = nn.loss_sum %l : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$losses, Optional<NN_FloatTensor>:$weights);
  let results = (outs NN_Scalar64:$sum, NN_Scalar64:$weight);
  let assemblyFormat = [{
    $losses (`weight` $weights^)? attr-dict `:`
    type($losses) (`,` type($weights)^)?
  }];
  let hasVerifier = 1;
}

def NN_SquaredNormOp : NN_PureOp<"squared_norm", [AttrSizedOperandSegments, NN_FromGradient, AppliesStep,
    NN_MayMixFloats,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Joint squared norm of divided gradients, in f64";
  let description = [{
    Divides each gradient by the weight, rounds it to its element type, then
    widens and squares it in f64. The summation order is fixed:

    - A parameter has one partial sum for each unit of 64 consecutive rows; a
      vector is one unit. Element j of a unit goes to lane j mod 16, and a tree
      8-4-2-1 joins the lanes.
    - A table has one partial sum for each logical shard, with keys in ascending
      order and the same lanes.
    - Partial sums are added in order of symbol and unit.

    Counts after the gradients of a table's rows (`nn.update`) are not part of
    the norm.

    Constraints:
    - (C1) Each symbol is a parameter or table. It has a gradient, and has the
      keys of its rows exactly if it is a table.

    Example:
    ```mlir
    %n = nn.squared_norm {@w1 = %g0 : tensor<4x1xf32>, @emb[%k] = %g1 : tensor<?x10xf32>} weight(%sum)
    ```
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$symbols, Variadic<NN_FloatTensor>:$gradients,
    Variadic<NN_KeyTensor>:$keys, DenseBoolArrayAttr:$keyed, NN_Scalar64:$weight);
  let results = (outs NN_Scalar64:$result);
  let assemblyFormat = [{
    custom<SymbolGradients>($symbols, $gradients, type($gradients), $keys, $keyed)
    `weight` `(` $weight `)` attr-dict
  }];
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::llvm::ArrayRef<::pdlc::nn::SymbolGradient>":$gradients,
                   "::mlir::Value":$weight)>
  ];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the gradients in the order in which their partial sums are
    /// added.
    ::llvm::SmallVector<::pdlc::nn::SymbolGradient> getSymbolGradients();
  }];
}

def NN_OnceOp : NN_BodyOp<"once", [NN_FromGradient, AppliesStep,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The scalars of an update, computed once for a group and step";
  let description = [{
    Counts one step of the group, and computes in f64 the scalars that its
    updates share. Each result is rounded once to the element type. The region
    contains the schedule, the clip factor and the region `once` of the rule.
    Its arguments are:

    - the step (1 at the first update);
    - the summed weight;
    - the squared norm of the clip (0 without a clip);
    - with `rate_over` only, the number that divides the learning rate of the
      group (`nn.group`).

    The list after `->` names the results. `weight` is the summed weight, and
    `clip_factor` the factor by which the clip multiplies gradients. A text
    stands for a result of the rule's region `once`, and is its name in
    messages. The texts have the order of these results.

    Constraints:
    - (C1) The symbol is an `nn.group`. `norm` is given exactly if the group has
      a clip.
    - (C2) The region has three f64 arguments, and one more exactly if the group
      has `rate_over`. It yields as many f64 values as there are names and
      results. Results have rank 0.
    - (C3) The region contains the ops of `nn.rule` (C2).
    - (C4) One scalar is the weight; the region yields its weight argument for
      it. One scalar is the clip factor exactly if there is a `norm`.

    Example:
    ```mlir
    %s:2 = nn.once @dense weight(%sum) -> (weight, "rate") {
    ^bb0(%step: f64, %weight: f64, %squared_norm: f64):
      %rate = arith.constant 1.000000e-03 : f64
      nn.yield %weight, %rate : f64, f64
    } : tensor<f32>, tensor<f32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$group, NN_Scalar64:$weight, Optional<NN_Scalar64>:$norm,
    TypedArrayAttrBase<NN_ScalarAttr, "array of scalars">:$names);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<NN_Scalar>:$scalars);
  let assemblyFormat = [{
    $group `weight` `(` $weight `)` (`norm` `(` $norm^ `)`)? `->` custom<ScalarNames>($names)
    $body attr-dict `:` type($scalars)
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The arguments of the region.
    ::mlir::BlockArgument getStepArgument() { return getBody().getArgument(0); }
    ::mlir::BlockArgument getWeightArgument() { return getBody().getArgument(1); }
    ::mlir::BlockArgument getSquaredNormArgument() { return getBody().getArgument(2); }
    /// Returns the argument for the number of workers or trainers that divides
    /// the learning rate, or null if there is none.
    ::mlir::BlockArgument getSendersArgument() {
      return getBody().getNumArguments() > 3 ? getBody().getArgument(3)
                                             : ::mlir::BlockArgument();
    }

    /// Returns the role of `scalar`, which is one of the results.
    ::pdlc::nn::ScalarAttr getNameOf(::mlir::Value scalar);
    /// Returns the summed weight.
    ::mlir::Value getWeightScalar();
    /// Returns the clip factor, or null if the group has no clip.
    ::mlir::Value getClipFactorScalar();
    /// Returns the results of the rule's region `once`, in its order.
    ::llvm::SmallVector<::mlir::Value> getRuleScalars();
  }];
}

def NN_UpdateOp : NN_BodyOp<"update", [AttrSizedOperandSegments, NN_FromGradient, AppliesStep,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Applies the rule of a group to one symbol";
  let description = [{
    Updates each element of a parameter, or of the touched rows of a table
    (`keys`). If the group says `untouched(dense)`, all other rows are updated
    with a zero gradient. The region computes the new value and slots from the
    value, the summed gradient, the slots, and the scalars of the group. It
    contains the division by the weight, the clip, the regularizers and the
    rule. If the rule reduces over rows or over the parameter, its regions `sum`
    and `row` or `param` (`nn.rule`) precede `each`.

    The gradient of a table row may be followed by:

    - the counts of the row (`nn.count`), as many as `counts` says;
    - with `admitting`, the number of occurrences of its key, by which the table
      admits keys.

    With `seen`, regions `each` and `sum` get one more argument after the
    gradient: the value on which the gradient was computed. In one process, that
    is the current value.

    Constraints:
    - (C1) The symbol is a parameter or table of a group. `keys` is given
      exactly for tables, and is the tensor by which the program has pulled
      their rows (checked by `nn-verify-phase`).
    - (C2) The gradient has the type of the parameter. For a table, it has one
      row for each key, which holds the width of the table and the counts. It is
      `admitting` exactly if the table admits keys by count.
    - (C3) `each` has 2 (with `seen` 3) + slots + scalars + (yields of `row`
      after its row slots) arguments of the symbol's element type, and yields
      1 + slots values of it.
    - (C4) The regions contain the ops of `nn.rule` (C2).
    - (C5) Either both `sum` and `row` exist, or neither. `sum` has 2 (with
      `seen` 3) + slots + scalars arguments of the element type, and yields f64
      values. `row` has 1 + (yields of `sum`) arguments of f64, then row slots +
      counts + scalars of the element type. It yields the row slots and any
      other values, all of the element type. `param` requires a parameter, and
      has no row slots. Without `row` there are no counts.

    Example:
    ```mlir
    nn.update @w1 gradient(%g) scalars(%weights, %step_size) {
    ^bb0(%value: f32, %sum: f32, %weight: f32, %rate: f32):
      %g1 = arith.divf %sum, %weight : f32
      %0 = arith.mulf %rate, %g1 : f32
      %1 = arith.subf %value, %0 : f32
      nn.yield %1 : f32
    } : tensor<273x400xf32>, tensor<f32>, tensor<f32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, Optional<NN_KeyTensor>:$keys,
    NN_FloatTensor:$gradient, DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$counts,
    Variadic<NN_Scalar>:$scalars, UnitAttr:$whole, UnitAttr:$seen, UnitAttr:$admitting);
  let regions = (region SizedRegion<1>:$each, AnyRegion:$sum, AnyRegion:$row);
  let assemblyFormat = [{
    $symbol (`keys` `(` $keys^ `)`)? `gradient` `(` $gradient `)` (`counts` $counts^)? (`admitting` $admitting^)? (`seen` $seen^)?
    `scalars` `(` $scalars `)` (`sum` $sum^ custom<RowRegion>($row, $whole) `each`)? $each attr-dict `:` type($gradient) (`,` type($scalars)^)?
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The arguments of `each`: the value, the summed gradient, with `seen` the
    /// value on which the gradient was computed, the slots, one for each of
    /// `scalars`, one for each scalar of the row.
    ::mlir::BlockArgument getValueArgument() { return getEach().getArgument(0); }
    ::mlir::BlockArgument getSumArgument() { return getEach().getArgument(1); }
    /// Returns the number of arguments before the slots.
    unsigned getNumInputs() { return getSeen() ? 3 : 2; }
    ::llvm::ArrayRef<::mlir::BlockArgument> getSlotArguments();
    ::llvm::ArrayRef<::mlir::BlockArgument> getScalarArguments();
    ::llvm::ArrayRef<::mlir::BlockArgument> getRowScalarArguments();
    /// Returns the arguments that stand for a scalar operand, one in each
    /// region. For any other operand, returns none.
    ::llvm::SmallVector<::mlir::BlockArgument> getArgumentsOf(::mlir::OpOperand &operand);

    /// Returns true if the update reduces over rows, or over a parameter
    /// (`getWhole`).
    bool hasRow() { return !getRow().empty(); }
    /// Return the number of sums over a row, and of row slots. Both are 0
    /// without regions `sum` and `row`.
    unsigned getNumSums();
    unsigned getNumRowSlots();
    /// The arguments of `row`: the width, the sums, the row slots, the counts,
    /// one for each of `scalars`.
    ::mlir::BlockArgument getWidthArgument() { return getRow().getArgument(0); }
    ::llvm::ArrayRef<::mlir::BlockArgument> getRowSums();
    ::llvm::ArrayRef<::mlir::BlockArgument> getRowSlotArguments();
    ::llvm::ArrayRef<::mlir::BlockArgument> getCountArguments();
  }];
}

//===----------------------------------------------------------------------===//
// Phase `fused`
//===----------------------------------------------------------------------===//

def NN_GemmOp : NN_PureOp<"gemm", [AttrSizedOperandSegments,
    StandsFrom<"Fused", "nn-fuse-gemm makes it">]> {
  let summary = "Matrix product with elementwise post-ops";
  let description = [{
    Computes `nn.matmul`, then applies post-ops to each element, in order.
    `bias` adds bias[n]. `relu` computes `nn.relu`. `relu_gradient` computes
    mask[m, n] <= 0 ? +0 : x. With `compute bf16`, both factors are first
    rounded to bf16. With `bf16x3` and `bf16x6`, the product is a sum of three
    or six products of their bf16 parts. docs/Numerics.md describes the sums.

    Constraints:
    - (C1) As for `nn.matmul` (C1).
    - (C2) Each post-op occurs at most once. `bias` is given (type [n]) exactly
      if it is listed, and `mask` (the type of the result) exactly if
      `relu_gradient` is listed.
    - (C3) With `compute`, the elements are f32.

    Example:
    ```mlir
    %0 = nn.gemm %x, %w bias(%b) post [bias, relu] compute bf16
      : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
    Optional<NN_FloatTensor>:$bias, Optional<NN_FloatTensor>:$mask,
    UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, NN_PostOpArrayAttr:$posts,
    OptionalAttr<NN_ComputeAttr>:$compute);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)?
    (`bias` `(` $bias^ `)`)? (`mask` `(` $mask^ `)`)? `post` custom<PostOps>($posts)
    (`compute` $compute^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // PDLC_DIALECT_NN_IR_NNLOWEREDOPS_TD
