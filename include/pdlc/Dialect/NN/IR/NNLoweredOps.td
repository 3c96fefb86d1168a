//===- NNLoweredOps.td - Ops of the phases after model -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNLOWEREDOPS_TD
#define PDLC_DIALECT_NN_IR_NNLOWEREDOPS_TD

include "pdlc/Dialect/NN/IR/NNComputeOps.td"

def NN_FromMerged : StandsFrom<"Merged", "nn-lower-model makes it">;
def NN_FromGradient : StandsFrom<"Gradient", "nn-autodiff makes it">;

//===----------------------------------------------------------------------===//
// Phase `merged`: explicit lookups and products
//===----------------------------------------------------------------------===//

def NN_UniqueOp : NN_PureOp<"unique", [NN_FromMerged, StopsGradients, PreparesStep]> {
  let summary = "Deduplicates the ids of all lookups of one table";
  let description = [{
    The inputs, flat, are taken one after the other. `keys` are the distinct ids
    in order of first occurrence. `inverse` maps each occurrence to its key.
    `occurrences`, cut by `key_splits`, lists for each key its occurrences,
    ascending: the inverse in compressed row form.

    Constraints:
    - (C1) At least one input; all `tensor<?xi64>`.

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
    /// The results, which travel together.
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
    Constraints:
    - (C1) The symbol is an `nn.table` whose row is the result's row.
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
  let summary = "What a checkpoint and a program must have in common";
  let description = [{
    The model in named parts, each with its value as a text: in full where it is
    short, else as a digest. A checkpoint keeps them, so that a program that does
    not fit can say what differs. Three lists:

    - `state`: what anybody needs who reads values: type and shape of each
      symbol, and how the keys of the tables that are trained come from fields.
    - `optimizer`: what else a training keeps: slots, and which groups count steps.
    - `training`: what the next step depends on besides: rules, rates, schedules,
      regularizers, clips, first values of rows, fields, the losses.

    The digest of the first two is the fingerprint of the layout of state, that of
    the third the fingerprint of training. Metrics, frozen programs and names of
    the model, of values, rules, schedules and functions are in none.

    Constraints:
    - (C1) The value of each part is a string.
    - (C2) A module has one.

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
    One input, and one result, for each input of the `nn.unique` that made
    `inverse`: its ids (their number says where in `inverse` the next input
    begins), the splits of its bags (bags + 1 entries; without `bags` each bag
    holds one id), and how the rows of a bag become one. Result i has shape
    [bags of input i, width] with bags = all bags of the batch; a reshape gives
    [b, s, width].

    Constraints:
    - (C1) At least one input; each has a pooling and a result, and splits
      exactly if it has bags.
    - (C2) Each result is `tensor<?xWxT>` with W and T of the rows.
    - (C3) `inverse`, `key_splits`, `occurrences` and the ids are those of one
      `nn.unique`; the rows are those of its keys.

    Example:
    ```mlir
    %e:2 = nn.pool %rows[%inverse, %key_splits, %occurrences] of (%ids bags(%s) mean, %country sum)
      : (tensor<?x10xf32>) -> (tensor<?x10xf32>, tensor<?x10xf32>)
    ```
  }];
  // The generic form of an op of phase `merged` is a part of the digest by which
  // a checkpoint knows the losses of its program: these names stay. `getInputs`
  // is what reads them.
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
    /// One for each result; none has a cotangent.
    ::llvm::SmallVector<::pdlc::nn::PoolInput> getInputs();
    /// What the nn.unique made of the ids (C3).
    ::pdlc::nn::Deduplication getDeduplication();
  }];
}

def NN_CountPooledOp : NN_BodyOp<"count_pooled", [MemoryEffects<[MemWrite]>, StopsGradients,
    StandsIn<"Merged", "nn-lower-model makes it", "Merged", "nn-autodiff makes it a part of gradients">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Adds values of bags to the counts of their rows";
  let description = [{
    What becomes of `nn.count`: the bags are those of `pooled`, a result of `nn.pool`
    whose values do not matter; each row of `values` is added to the counts of the rows
    of the table that its bag names, in the order of the rule's counts.

    Constraints:
    - (C1) The symbol is an `nn.table`.
    - (C2) `pooled` is [bags, width of the table], a result of an `nn.pool` of its rows
      (checked by `nn-merge-lookups`); values are [bags, counts], of its element type.

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
  let summary = "The gradient of pooling with respect to the rows";
  let description = [{
    The inputs are those of the `nn.pool`, each with the cotangent of its result
    (`from`). Row u is the sum, from +0, over the occurrences of key u in
    ascending order (inputs in order) of the cotangent of the occurrence's bag,
    divided for `mean` by the bag's size and for `sqrtn` by its root. An input
    without cotangent adds nothing.

    Constraints:
    - (C1) At least one input; each has a pooling, splits exactly if it has bags,
      and a cotangent exactly if it says so.
    - (C2) The result and each cotangent are `tensor<?xWxT>`; the result has one
      row for each key.
    - (C3) As `nn.pool` (C3).

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
    /// Those of the nn.pool, with cotangents.
    ::llvm::SmallVector<::pdlc::nn::PoolInput> getInputs();
    /// What the nn.unique made of the ids (C3).
    ::pdlc::nn::Deduplication getDeduplication();
  }];
}

def NN_CrossBagsOp : NN_PureOp<"cross_bags", [SameVariadicOperandSize, NN_FromMerged, StopsGradients,
    PreparesStep]> {
  let summary = "The cross of bags, as ids and splits";
  let description = [{
    Phase `merged`'s form of `nn.cross` with ragged operands: the ids of each
    operand are cut by its splits, all into the same number of bags.

    Constraints:
    - (C1) At least one operand; each is ids and splits.

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
    /// The operands.
    ::llvm::SmallVector<::pdlc::nn::Bags> getBags();
    /// The results.
    ::pdlc::nn::Bags getCrossed() { return {getResult(), getResultSplits()}; }
  }];
}

def NN_SingleBagsOp : NN_PureOp<"single_bags", [NN_FromMerged, StopsGradients]> {
  let summary = "The splits of bags that hold one id each";
  let description = [{
    0, 1, 2, ...: where a tensor of ids meets bags in a cross.

    Constraints:
    - (C1) ids are flat.

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
  let summary = "Matrix products side by side";
  let description = [{
    What `nn.matmul` of tensors of higher rank becomes: one product for each index
    of the first dimension. Each element is one chain of fused multiply-adds over k,
    ascending, from +0.

    Constraints:
    - (C1) Rank-3 operands of one element type and one first dimension; after
      transposition m x k times k x n.

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
  let summary = "output <= 0 ? +0 : cotangent";
  let description = [{
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
  let summary = "Zeros before and behind, along one axis";
  let description = [{
    The adjoint of `nn.slice`, which is its adjoint.

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
  let summary = "What nn.minimize asks for, with its gradients";
  let description = [{
    Stands between `nn-autodiff` and `nn-expand-updates`: the losses, and for
    each symbol that they reach the gradient of their weighted sum.

    Constraints:
    - (C1) Each symbol has a gradient, and the keys of its rows exactly if it is
      a table.
    - (C2) Each group is an `nn.group`; each symbol is an `nn.param` or an
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
    /// In order of the module's symbols.
    ::llvm::SmallVector<::pdlc::nn::SymbolGradient> getSymbolGradients();
  }];
}

def NN_LossSumOp : NN_PureOp<"loss_sum", [NN_FromGradient]> {
  let summary = "Weighted sum of losses, and sum of weights, in f64";
  let description = [{
    In sample order; without weights each sample weighs 1.

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
    Each gradient is divided by the weight, rounded to its element type, then
    widened and squared in f64. One partial for each unit of 64 consecutive rows
    of a parameter (a vector is one unit), element j of a unit to lane j mod 16,
    lanes joined by a tree 8-4-2-1; one partial for each logical shard of a
    table, keys ascending, likewise; partials are added in order of symbol and
    unit. Counts behind the gradients of a table's rows (`nn.update`) are no part of it.

    Constraints:
    - (C1) Each symbol is a parameter or table; it has a gradient, and the keys
      of its rows exactly if it is a table.

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
    /// In the order in which their partials are added.
    ::llvm::SmallVector<::pdlc::nn::SymbolGradient> getSymbolGradients();
  }];
}

def NN_OnceOp : NN_BodyOp<"once", [NN_FromGradient, AppliesStep,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "What an update needs once for a group and step";
  let description = [{
    Counts one step of the group, and computes in f64 the scalars that its
    updates share; each result is rounded once to the element type. Region
    arguments: the step (1 at the first update), the summed weight, the squared
    norm of the clip (0 without one); and where the group's rate is divided by it,
    the number of pushers (`nn.group`). Schedule, clip factor and the rule's
    `once` region are spelled out in it.

    The list behind `->` names the scalars: `weight` is the summed weight,
    `clip_factor` what the clip multiplies gradients by, and a text what messages
    call a scalar that the rule's `once` yields; those stand in its order.

    Constraints:
    - (C1) The symbol is an `nn.group`; `norm` is given exactly if it has a clip.
    - (C2) Three f64 arguments, and one more exactly if the group has `rate_over`; as
      many f64 values yielded as names and as results; results have rank 0.
    - (C3) The ops of `nn.rule` (C2).
    - (C4) One scalar is the weight, and is what the region yields of its
      argument; one is the clip factor exactly if there is a `norm`.

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
    /// The region's arguments.
    ::mlir::BlockArgument getStepArgument() { return getBody().getArgument(0); }
    ::mlir::BlockArgument getWeightArgument() { return getBody().getArgument(1); }
    ::mlir::BlockArgument getSquaredNormArgument() { return getBody().getArgument(2); }
    /// Null where it does not ask for the number of pushers.
    ::mlir::BlockArgument getPushersArgument() {
      return getBody().getNumArguments() > 3 ? getBody().getArgument(3)
                                             : ::mlir::BlockArgument();
    }

    /// What `scalar`, one of the results, is.
    ::pdlc::nn::ScalarAttr getNameOf(::mlir::Value scalar);
    /// The summed weight.
    ::mlir::Value getWeightScalar();
    /// Null where the group has no clip.
    ::mlir::Value getClipFactorScalar();
    /// What the rule's region `once` yields, in its order.
    ::llvm::SmallVector<::mlir::Value> getRuleScalars();
  }];
}

def NN_UpdateOp : NN_BodyOp<"update", [AttrSizedOperandSegments, NN_FromGradient, AppliesStep,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Applies one group's rule to one symbol";
  let description = [{
    For each element of the parameter, or of the touched rows of the table
    (`keys`; all rows with a zero gradient for the others if the group says
    `untouched(dense)`), the region computes the new value and slots from the
    value, the summed gradient, the slots, and the group's scalars. Division by
    the weight, clip, regularizer and rule are spelled out in it. If the rule
    reduces over rows, or the parameter, its regions `sum` and `row` or `param`
    (`nn.rule`) stand before `each`. Behind the gradient of each row of a table may
    stand its counts (`nn.count`), as many as `counts` says, and with `admitting` behind
    these how often its key occurred, by which the table admits it. With `seen`, regions `each`
    and `sum` get behind the gradient the value on which it was computed. In one process
    that is the value.

    Constraints:
    - (C1) The symbol is a parameter or table of a group; `keys` is given
      exactly for tables, and is what the program has pulled their rows by
      (checked by `nn-verify-phase`).
    - (C2) The gradient has the parameter's type, or one row for each key, of the
      table's width and the counts. It is `admitting` exactly if the table admits keys by
      count.
    - (C3) `each` has 2 (with `seen` 3) + slots + scalars + (yields of `row` behind its row
      slots) arguments of the symbol's element type and yields 1 + slots values of it.
    - (C4) The ops of `nn.rule` (C2).
    - (C5) `sum` and `row` are both there or neither; `sum` has 2 (with `seen` 3) + slots +
      scalars arguments of the element type and yields f64 values; `row` has 1 + (yields of
      `sum`) arguments of f64, then row slots + counts + scalars of the element type, and
      yields the row slots and any other values, all of the element type. `param` is of
      a parameter, and has no row slots. Without `row` there are no counts.

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
    /// The arguments of `each`: the value, the summed gradient, the value that was
    /// seen, if it asks for that, the slots, one for each of `scalars`, one for each
    /// scalar of the row.
    ::mlir::BlockArgument getValueArgument() { return getEach().getArgument(0); }
    ::mlir::BlockArgument getSumArgument() { return getEach().getArgument(1); }
    /// How many arguments stand before the slots.
    unsigned getNumInputs() { return getSeen() ? 3 : 2; }
    ::llvm::ArrayRef<::mlir::BlockArgument> getSlotArguments();
    ::llvm::ArrayRef<::mlir::BlockArgument> getScalarArguments();
    ::llvm::ArrayRef<::mlir::BlockArgument> getRowScalarArguments();
    /// The arguments that stand for an operand, one in each region; none for an
    /// operand that is no scalar.
    ::llvm::SmallVector<::mlir::BlockArgument> getArgumentsOf(::mlir::OpOperand &operand);

    /// Whether it reduces over rows, or (`getWhole`) over a parameter.
    bool hasRow() { return !getRow().empty(); }
    /// Sums over a row, and row slots: none without regions `sum` and `row`.
    unsigned getNumSums();
    unsigned getNumRowSlots();
    /// The arguments of `row`: the width, the sums, the row slots, the counts, one for
    /// each of `scalars`.
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
  let summary = "Matrix product with what follows it";
  let description = [{
    `nn.matmul` followed by post-ops on each element, in order: `bias` adds
    bias[n]; `relu`; `relu_gradient` gives mask[m, n] <= 0 ? +0 : x. With `compute`,
    both factors are rounded to that type first; docs/Numerics.md says which sums follow.

    Constraints:
    - (C1) As `nn.matmul` (C1).
    - (C2) Each post-op at most once; `bias` is given (type [n]) exactly if
      listed, `mask` (the result's type) exactly if `relu_gradient` is listed.
    - (C3) `compute` is bf16, and the elements are f32.

    Example:
    ```mlir
    %0 = nn.gemm %x, %w bias(%b) post [bias, relu] compute bf16
      : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
    Optional<NN_FloatTensor>:$bias, Optional<NN_FloatTensor>:$mask,
    UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, NN_PostOpArrayAttr:$posts,
    OptionalAttr<TypeAttr>:$compute);
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
