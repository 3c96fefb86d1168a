//===- NNControlOps.td - What a program does, and what not -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNCONTROLOPS_TD
#define PDLC_DIALECT_NN_IR_NNCONTROLOPS_TD

include "pdlc/Dialect/NN/IR/NNComputeOps.td"

def NN_IfOp : NN_PureOp<"if", [NN_InferType, NN_DifferentiableSome, ReadsModel, IsolatedFromAbove,
    SingleBlock, NN_MayMixFloats, DeclareOpInterfaceMethods<BodyOpInterface>]> {
  let summary = "One of two ways to compute values";
  let description = [{
    Where the condition, one number, is not 0 (NaN counts as true), the first body
    runs, else the second one; the other one costs nothing, and what it would have
    computed has no effect. Both take the tensors of `with`, and yield the results.

    The condition is one number: a state that the program keeps, as a rule, and what
    comparisons make of it; no gradient flows into it. One that is made of a batch, such
    as `nn.batch_sum`, chooses for each replica by itself. A counter of steps (`rule(@step_counter)`) is such a
    state, so that a model trains differently from some step on. Rows of a batch
    choose one by one with `nn.select`.

    The gradient is an `nn.if` of the same condition. What its bodies need of values
    computed here, they compute again: the price is one more pass through the body
    that is taken, and through bodies within it one for each that they stand in. Parameters that only the other body reads have gradients of zeros.

    Constraints:
    - (C1) The condition has one element, and no dynamic dimension.
    - (C2) The arguments of both bodies are the tensors of `with`.
    - (C3) Both bodies yield the results' types. If one has a dynamic dimension, so
      has a tensor of `with`: that many rows.
    - (C4) The bodies compute: no lookups, draws, metrics or `nn.minimize`, no ops on
      bags, and none that mixes samples.
    - (C5) The bodies use their arguments, parameters and states, and no other value of
      the program.

    Example:
    ```mlir
    %z = nn.if %late with(%h) {
    ^bb0(%x: tensor<?x8xf32>):
      %deep = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x8xf32>) -> tensor<?x8xf32>
      nn.yield %deep : tensor<?x8xf32>
    } else {
    ^bb0(%x: tensor<?x8xf32>):
      nn.yield %x : tensor<?x8xf32>
    } : tensor<1xf32>, tensor<?x8xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$condition, Variadic<NN_FloatTensor>:$inputs);
  let results = (outs Variadic<NN_FloatTensor>:$values);
  let regions = (region SizedRegion<1>:$taken, SizedRegion<1>:$otherwise);
  let assemblyFormat = [{
    $condition (`with` `(` $inputs^ `)`)? $taken `else` $otherwise attr-dict
    `:` type(operands)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether bodies may hold the op (C4).
    static bool mayHold(::mlir::Operation &op);
  }];
}

#endif // PDLC_DIALECT_NN_IR_NNCONTROLOPS_TD
