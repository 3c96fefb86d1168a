//===- NNProductOps.td - Matrix products -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNPRODUCTOPS_TD
#define PDLC_DIALECT_NN_IR_NNPRODUCTOPS_TD

include "pdlc/Dialect/NN/IR/NNOpTraits.td"

def NN_MatmulOp : NN_PureOp<"matmul", [NN_Differentiable, NN_InferType, NN_MayMixSamples,
    NN_SaysItself]> {
  let summary = "Matrix product";
  let description = [{
    Multiplies matrices in the last two dimensions of the operands. The
    dimensions before them are equal, and there is one product for each of their
    indices. Alternatively, the right operand is one matrix that all products
    share. Each element is one chain of fused multiply-adds over k, in ascending
    order from +0.

    From phase `merged` on, there are only products of two matrices and
    `nn.batch_matmul`.

    Constraints:
    - (C1) The operands have one element type. After transposition, they are m x
      k and k x n. If k is dynamic in one, it is dynamic in the other.
    - (C2) The dimensions before the last two agree. Alternatively, the right
      operand has none, and the left one is not transposed.

    Example:
    ```mlir
    %0 = nn.matmul %x, %w : tensor<?x273xf32>, tensor<273x400xf32>
    %1 = nn.matmul %x transposed, %d : tensor<?x273xf32>, tensor<?x400xf32>
    %2 = nn.matmul %e, %e transposed : tensor<?x27x16xf32>, tensor<?x27x16xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
    UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)? attr-dict
    `:` type(operands)
  }];
}

#endif // PDLC_DIALECT_NN_IR_NNPRODUCTOPS_TD
