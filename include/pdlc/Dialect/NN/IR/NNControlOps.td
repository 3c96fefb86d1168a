//===- NNControlOps.td - Choices in a program -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNCONTROLOPS_TD
#define PDLC_DIALECT_NN_IR_NNCONTROLOPS_TD

include "pdlc/Dialect/NN/IR/NNOpTraits.td"

def NN_IfOp : NN_PureOp<"if", [NN_InferType, NN_DifferentiableSome, ReadsModel, IsolatedFromAbove,
    SingleBlock, NN_MayMixFloats, DeclareOpInterfaceMethods<BodyOpInterface>]> {
  let summary = "Runs one of two bodies, by a condition";
  let description = [{
    If the condition is not 0, the first body runs, otherwise the second one.
    NaN counts as true. The other body costs nothing and has no effect. Both
    bodies take the tensors of `with` and yield the results.

    The condition is one number. Usually it is computed from a state of the
    program by comparisons; no gradient flows into it. With a counter of steps
    (`rule(@step_counter)`), a model can train differently from some step on. If
    the condition depends on the batch, for example through `nn.batch_sum`, each
    replica chooses separately. To choose for each sample, use `nn.select`.

    The gradient is an `nn.if` with the same condition. Its bodies compute again
    the values that they need from these bodies. This costs one more pass
    through the body that runs; a nested body is repeated once for each body
    that contains it. Parameters that only the other body reads have zero
    gradients.

    Constraints:
    - (C1) The condition has one element and no dynamic dimension.
    - (C2) The arguments of both bodies are the tensors of `with`.
    - (C3) Both bodies yield the types of the results. If a result has a dynamic
      dimension, so has a tensor of `with`, which determines the number of rows.
    - (C4) The bodies only compute. They contain no lookups, draws, metrics or
      `nn.minimize`, no ops on bags, and no ops that mix samples.
    - (C5) The bodies use their arguments, parameters and states, and no other
      value of the program.

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
    /// Returns true if the bodies may contain the op (C4).
    static bool mayHold(::mlir::Operation &op);
  }];
}

#endif // PDLC_DIALECT_NN_IR_NNCONTROLOPS_TD
