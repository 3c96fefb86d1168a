//===- NNLookupOps.td - Ops that read named state -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNLOOKUPOPS_TD
#define PDLC_DIALECT_NN_IR_NNLOOKUPOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "pdlc/Dialect/NN/IR/NNAttributes.td"
include "pdlc/Dialect/NN/IR/NNOpTraits.td"

//===----------------------------------------------------------------------===//
// Lookup and linear layers: named state, phase `model` only
//===----------------------------------------------------------------------===//

def NN_LookupOp : NN_BodyOp<"lookup", [NN_BatchFirst, NN_Composite, ReadsModel,
    DeclareOpInterfaceMethods<RowsOpInterface, ["leadsToOtherRows"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Rows of a table, pooled by bag or one by one";
  let description = [{
    Looks up every id and pools the rows of each bag: `sum`, `mean` (the sum
    divided by the size of the bag) or `sqrtn` (the sum divided by the square
    root of the size). An empty bag gives zeros. Rows are added in bag order. If
    the ids are a tensor, each id is a bag of its own.

    With `none`, rows are not pooled: the result has one row for each id of the
    bags, in their order, for example to read a history. The first dimension of
    the result then counts ids and not samples. An op can combine only tensors
    whose first dimensions count the same things. The ops named `nn.segment_...`
    convert between samples and rows.

    `weights` has one number for each id of the bags. Each row is multiplied by
    its weight before the rows are added. `mean` then divides by the sum of the
    weights in the bag, and `sqrtn` by the square root of the sum of their
    squares. If the divisor is 0, the sum is not divided. Weights have gradients
    like rows. They may be computed from fields, for example by `nn.cast`, or
    looked up.

    Phase `merged` turns all lookups of one table into `nn.unique`, `nn.pull`
    and `nn.pool`. A lookup with weights becomes a lookup without pooling and
    sums of its rows.

    Constraints:
    - (C1) The symbol is an `nn.table`.
    - (C2) Ids of shape [b, s] give a result of shape [b, s, width]. The first
      dimension b is the batch (dynamic); in a tensor, it may also be rows of
      bags. Bags without pooling give a result of shape [ids, width].
    - (C3) Ids depend only on fields and constants, not on parameters, states or
      tables.
    - (C4) If ids are looked up without pooling or with weights, they are the
      ids of a field, or computed from them by `nn.id_arithmetic`.
    - (C5) Weights require bags and a pooling. They have shape [ids, 1] and the
      element type of the result.

    Example:
    ```mlir
    %e = nn.lookup @emb[%c] pool(sum) : (!nn.ragged<?x26x*xi64>) -> tensor<?x26x10xf32>
    %h = nn.lookup @emb[%c] pool(none) : (!nn.ragged<?x26x*xi64>) -> tensor<?x10xf32>
    %m = nn.lookup @emb[%c] weights(%w) pool(mean) : (!nn.ragged<?x26x*xi64>, tensor<?x1xf32>) -> tensor<?x26x10xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$table, NN_Ids:$ids,
    Optional<NN_FloatTensor>:$weights, OptionalAttr<NN_PoolingAttr>:$pooling);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $table `[` $ids `]` (`weights` `(` $weights^ `)`)?
    `pool` `(` custom<LookupPooling>($pooling) `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_LinearOp : NN_BodyOp<"linear", [NN_BatchFirst, NN_Composite, ReadsModel,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "activation(input * weight + bias)";
  let description = [{
    Computes each output element as one chain of fused multiply-adds over the
    input features, in ascending order from +0. Then it adds the bias and
    applies the activation. The activation is `none`, or the name, without
    `nn.`, of any elementwise op with one operand and no attributes.

    Phase `merged` replaces the op with `nn.read`, `nn.matmul`, `nn.add` and the
    activation.

    Constraints:
    - (C1) The input is [b, ..., in], and the result [b, ..., out]. The weight
      is an `nn.param` or `nn.state` of type [in, out]. The bias is one of type
      [out].
    - (C2) The activation is `none` or such an op.

    Example:
    ```mlir
    %h = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x273xf32>) -> tensor<?x400xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, FlatSymbolRefAttr:$weight,
    OptionalAttr<FlatSymbolRefAttr>:$bias,
    OptionalAttr<StrAttr>:$activation);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`,` $bias^)? (`act` `(` custom<Activation>($activation)^ `)`)? attr-dict
    `:` functional-type($input, results)
  }];
  let hasVerifier = 1;
}

def NN_ReadOp : NN_BodyOp<"read", [MemoryEffects<[MemRead]>, StopsGradients,
    ReadsModel,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a parameter or state at program entry";
  let description = [{
    Reads the value from before the step. Updates of the same step are not
    visible.

    Constraints:
    - (C1) The symbol is an `nn.param` or `nn.state` of the result type.

    Example:
    ```mlir
    %w = nn.read @w1 : tensor<273x400xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$symbol attr-dict `:` type($result)";
}

#endif // PDLC_DIALECT_NN_IR_NNLOOKUPOPS_TD
