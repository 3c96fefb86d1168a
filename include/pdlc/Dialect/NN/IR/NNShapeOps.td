//===- NNShapeOps.td - Ops that change shapes -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNSHAPEOPS_TD
#define PDLC_DIALECT_NN_IR_NNSHAPEOPS_TD

include "pdlc/Dialect/NN/IR/NNAttributes.td"
include "pdlc/Dialect/NN/IR/NNOpTraits.td"

def NN_ConcatOp : NN_PureOp<"concat", [NN_Differentiable, NN_InferType]> {
  let summary = "Tensors joined along an axis";
  let description = [{
    Concatenates float tensors, or tensors of ids, along an axis.

    Constraints:
    - (C1) There is at least one operand. Ranks and element types agree, and 0 <
      axis < rank.
    - (C2) All dimensions except the axis agree.

    Example:
    ```mlir
    %0 = nn.concat %a, %b axis 1 : tensor<?x4xf32>, tensor<?x2xf32>
    ```
  }];
  let arguments = (ins Variadic<RankedTensorOf<[F32, F64, I64]>>:$inputs, I64Attr:$axis);
  let results = (outs RankedTensorOf<[F32, F64, I64]>:$result);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` type($inputs)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def NN_SliceOp : NN_PureOp<"slice", [NN_Differentiable, NN_InferType]> {
  let summary = "A range of one axis";
  let description = [{
    Copies the indices from offset to offset + size - 1 of an axis.

    Constraints:
    - (C1) 0 < axis < rank (or 0 <= axis for a static tensor).
    - (C2) 0 <= offset, 0 < size, offset + size <= the dimension.

    Example:
    ```mlir
    %0 = nn.slice %x axis 1 offset 4 size 2 : tensor<?x6xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64, I64]>:$input, I64Attr:$axis,
    I64Attr:$offset, I64Attr:$size);
  let results = (outs RankedTensorOf<[F32, F64, I64]>:$result);
  let assemblyFormat = [{
    $input `axis` $axis `offset` $offset `size` $size attr-dict `:` type($input)
  }];
  let hasFolder = 1;
}

def NN_TransposeOp : NN_PureOp<"transpose", [NN_Differentiable, NN_InferType]> {
  let summary = "Dimensions in another order";
  let description = [{
    Dimension i of the result is dimension permutation[i] of the input.

    Constraints:
    - (C1) The permutation names each dimension of the input once.
    - (C2) A dynamic first dimension stays the first.

    Example:
    ```mlir
    %0 = nn.transpose %x permutation [0, 2, 1] : tensor<?x26x10xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64, I64]>:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs RankedTensorOf<[F32, F64, I64]>:$result);
  let assemblyFormat = [{
    $input `permutation` $permutation attr-dict `:` type($input)
  }];
  let hasFolder = 1;
}

def NN_TakeOp : NN_PureOp<"take", [NN_Differentiable, NN_InferType]> {
  let summary = "Fixed positions of one axis, in any order";
  let description = [{
    Along the axis, entry i of the result is entry positions[i] of the input, or
    zeros if the position is -1. An entry may be taken several times, or never.

    Constraints:
    - (C1) 0 < axis < rank (or 0 <= axis for a static tensor).
    - (C2) There is at least one position. Each position is -1, or at least 0
      and below the dimension.

    Example:
    ```mlir
    %0 = nn.take %x axis 1 at [3, 0, -1] : tensor<?x4xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64, I64]>:$input, I64Attr:$axis,
    DenseI64ArrayAttr:$positions);
  let results = (outs RankedTensorOf<[F32, F64, I64]>:$result);
  let assemblyFormat = [{
    $input `axis` $axis `at` $positions attr-dict `:` type($input)
  }];
}

def NN_ReshapeOp : NN_PureOp<"reshape", [NN_Differentiable, NN_MayMixSamples]> {
  let summary = "The same elements in another shape";
  let description = [{
    Keeps the elements and their order.

    Constraints:
    - (C1) Element types agree.
    - (C2) A dynamic first dimension stays the first dimension, and the product
      of the other dimensions agrees. From phase `merged` on, tensors of ids may
      instead be flattened together with the first dimension.

    Example:
    ```mlir
    %0 = nn.reshape %x : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64, I64]>:$input);
  let results = (outs RankedTensorOf<[F32, F64, I64]>:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// Returns true if the op could take `input` as its operand (C2).
    bool canTake(::mlir::Value input);
  }];
}

def NN_FlattenOp : NN_PureOp<"flatten", [NN_InferType, NN_Composite]> {
  let summary = "Joins all dimensions from one on";
  let description = [{
    A shorthand for a reshape. Phase `merged` turns it into `nn.reshape`.

    Constraints:
    - (C1) 0 < from < rank.

    Example:
    ```mlir
    %0 = nn.flatten %x from 1 : tensor<?x26x10xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64, I64]>:$input, I64Attr:$from);
  let results = (outs RankedTensorOf<[F32, F64, I64]>:$result);
  let assemblyFormat = "$input `from` $from attr-dict `:` type($input)";
  let hasFolder = 1;
}

def NN_BroadcastOp : NN_PureOp<"broadcast", [NN_MayMixFloats,
    DeclareOpInterfaceMethods<ElementwiseOpInterface, ["getNumElementOperands"]>,
    NN_DifferentiableSome]> {
  let summary = "Repeats a tensor along dimensions of size 1 and new ones";
  let description = [{
    The elements may be numbers or ids. If the result has a dynamic first
    dimension and the input has none, the result gets the size of the first
    dimension of `like`. The elements of `like` are not used.

    Constraints:
    - (C1) The shape of the input broadcasts to that of the result.
    - (C2) The first dimension of the result is dynamic only if that of the
      input is dynamic, or if `like` is given and has a dynamic first dimension.

    Example:
    ```mlir
    %0 = nn.broadcast %x like %y : (tensor<?x1xf32>, tensor<?x26xf32>) -> tensor<?x26xf32>
    %1 = nn.broadcast %ids like %y : (tensor<1000xi64>, tensor<?x26xf32>) -> tensor<?x1000xi64>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64, I64]>:$input,
    Optional<RankedTensorOf<[F32, F64, I64]>>:$like);
  let results = (outs RankedTensorOf<[F32, F64, I64]>:$result);
  let assemblyFormat = "$input (`like` $like^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_ReduceOp : NN_PureOp<"reduce", [NN_Differentiable, NN_InferType, NN_MayMixSamples]> {
  let summary = "Sum, mean or maximum over axes";
  let description = [{
    Sums have a fixed order. If the axes are the last ones, element j of a row
    goes to lane j mod 16. Lanes start at +0, and a tree 8-4-2-1 joins them.
    Otherwise, elements are added in ascending order from +0. `mean` divides the
    sum by the number of elements. `max` divides its cotangent equally among the
    elements that are the maximum.

    Constraints:
    - (C1) Axes are in ascending order, distinct and within the rank.
    - (C2) `keep` keeps the axes as unit dimensions.
    - (C3) In phase `model`, the axes contain no dynamic dimension, so samples
      do not mix. The exception is `mixing`, which `nn.batch_sum` sets.

    Example:
    ```mlir
    %0 = nn.reduce sum %x axes [1] : tensor<?x26x10xf32>
    ```
  }];
  let arguments = (ins NN_ReductionAttr:$kind, NN_FloatTensor:$input,
    DenseI64ArrayAttr:$axes, UnitAttr:$keep, UnitAttr:$mixing);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $kind $input `axes` $axes (`keep` $keep^)? (`mixing` $mixing^)? attr-dict `:` type($input)
  }];
  let extraClassDeclaration = [{
    /// Returns true if the axes are the last ones, so that a row is contiguous.
    bool reducesRows();
  }];
}

#endif // PDLC_DIALECT_NN_IR_NNSHAPEOPS_TD
