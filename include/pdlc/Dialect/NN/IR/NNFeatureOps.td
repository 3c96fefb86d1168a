//===- NNFeatureOps.td - Ops on ids, ranks and types -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNFEATUREOPS_TD
#define PDLC_DIALECT_NN_IR_NNFEATUREOPS_TD

include "pdlc/Dialect/NN/IR/NNAttributes.td"
include "pdlc/Dialect/NN/IR/NNOpTraits.td"

def NN_BucketizeOp : NN_PureOp<"bucketize", [NN_InferType, StopsGradients]> {
  let summary = "The bucket that contains a number";
  let description = [{
    Returns the number of boundaries that are <= x. NaN falls into the last
    bucket.

    Constraints:
    - (C1) Boundaries are strictly ascending and finite.

    Example:
    ```mlir
    %0 = nn.bucketize %age boundaries [18.0, 25.0, 65.0] : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, DenseF64ArrayAttr:$boundaries);
  let results = (outs NN_IdTensor:$result);
  let assemblyFormat = "$input `boundaries` $boundaries attr-dict `:` type($input)";
}

def NN_CrossOp : NN_PureOp<"cross", [NN_InferTypeOfBags, StopsGradients]> {
  let summary = "Hashed feature cross of ids";
  let description = [{
    Hashes the ids of the operands, as little-endian bytes in operand order,
    with xxh64 and the seed `salt`. For bags, each bag of the result holds all
    combinations of ids; the ids of the last operand change fastest. With one
    operand, the op hashes the ids of a feature again. With a different salt for
    each feature, several features can then share a table.

    Constraints:
    - (C1) There is at least one operand, and all have shape [b, s]. If all are
      tensors, the result is a tensor. If one is ragged, the result is ragged.

    Example:
    ```mlir
    %0 = nn.cross %a, %b salt(1) : !nn.ragged<?x1x*xi64>, tensor<?x1xi64>
    ```
  }];
  let arguments = (ins Variadic<NN_Ids>:$inputs, DefaultValuedAttr<I64Attr, "0">:$salt);
  let results = (outs NN_Ids:$result);
  let assemblyFormat = [{
    $inputs (`salt` `(` $salt^ `)`)? attr-dict `:` type($inputs)
  }];
}

def NN_IdArithmeticOp : NN_PureOp<"id_arithmetic", [StopsGradients,
    AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<RowsOpInterface, ["leadsToOtherRows"]>]> {
  let summary = "Arithmetic of each id with one number";
  let description = [{
    `add` and `multiply` compute modulo 2^64. `quotient` and `remainder` use
    Euclidean division: the remainder is from 0 to number - 1, for negative ids
    too, and quotient * number + remainder is the id. Together, they split the
    ids of one feature into ids of two small tables, whose rows are multiplied
    or added (Shi et al., 2020). The remainder alone folds ids into buckets.

    Bags keep their lengths. A tensor that counts the ids of the input therefore
    also counts those of the result.

    Constraints:
    - (C1) Input and result have one type.
    - (C2) The divisor of `quotient` and `remainder` is above 0.

    Example:
    ```mlir
    %0 = nn.id_arithmetic remainder %c with 1000 : !nn.ragged<?x26x*xi64>
    %1 = nn.id_arithmetic add %d with 7 : tensor<?x2xi64>
    ```
  }];
  let arguments = (ins NN_IdOperationAttr:$kind, NN_Ids:$input, I64Attr:$number);
  let results = (outs NN_Ids:$result);
  let assemblyFormat = "$kind $input `with` $number attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def NN_TopKOp : NN_PureOp<"top_k", [StopsGradients, NN_InferType]> {
  let summary = "Positions of the largest numbers in a row";
  let description = [{
    Returns the positions of the `count` largest numbers of the last dimension,
    largest first. Among equal numbers, the earlier position comes first. NaN is
    never selected; if there are too few other numbers, the remaining positions
    are -1. `nn.gather` returns the numbers at these positions, or other data at
    them, with gradients.

    Constraints:
    - (C1) The input has rank 2 or more.
    - (C2) 1 <= count <= the last dimension, which is static.

    Example:
    ```mlir
    %0 = nn.top_k %x count 3 : tensor<?x10xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$count);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat = "$input `count` $count attr-dict `:` type($input)";
}

def NN_CumulativeSumOp : NN_PureOp<"cumulative_sum", [NN_Differentiable, SameOperandsAndResultType]> {
  let summary = "Running sums along the last dimension";
  let description = [{
    Element i of the result is the sum of the elements 0 to i of the last
    dimension. With `reversed`, it is the sum of the elements from i to the
    last. With `exclusive`, element i itself is left out. Each sum starts at +0
    and adds in ascending order. If an element is infinite or NaN, so are the
    sums that include it, but no others. To add the rows of bags in this way,
    use `nn.scan`.

    Constraints:
    - (C1) The input has rank 2 or more; its last dimension is static, and at most 1024.

    Example:
    ```mlir
    %0 = nn.cumulative_sum %x : tensor<?x8xf32>
    %1 = nn.cumulative_sum %x exclusive reversed : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, UnitAttr:$exclusive, UnitAttr:$reversed);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`exclusive` $exclusive^)? (`reversed` $reversed^)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def NN_GatherOp : NN_PureOp<"gather", [NN_DifferentiableSome, NN_InferType]> {
  let summary = "Entries of a sample's list at given positions";
  let description = [{
    Entry j of a sample's result is entry index[j] of its input. A position
    outside the list, such as -1, gives zeros. Entries are copied, so entries
    that are not selected may be infinite or NaN. A selected zero becomes +0.
    Gradients flow into the selected entries. If an entry is selected several
    times, its gradients are added in the order of the result.

    Constraints:
    - (C1) Input [b, n] or [b, n, d] and positions [b, k] give [b, k] or [b, k,
      d]. n is at most 4096.

    Example:
    ```mlir
    %0 = nn.gather %x at %best : tensor<?x10x8xf32>, tensor<?x3xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, RankedTensorOf<[I64]>:$index);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `at` $index attr-dict `:` type(operands)";
}

def NN_CastOp : NN_PureOp<"cast", [NN_DifferentiableSome,
    DeclareOpInterfaceMethods<RowsOpInterface, ["leadsToOtherRows"]>]> {
  let summary = "Conversion between ids and numbers, or between f32 and f64";
  let description = [{
    An id becomes the nearest float; ties go to the even one. A float is
    truncated to an id. Beyond 64 bits, it becomes the smallest or the largest
    id, and NaN becomes 0. These conversions have no gradient.

    f32 becomes the same number in f64. f64 becomes the nearest f32; ties go to
    the even one. Numbers that are too large become infinite, and those that are
    too small become 0. The gradient is cast back. All other ops compute with
    floats of one type, so only this op changes the float type. If a program is
    compiled in f64 throughout, these casts are removed.

    The ids of bags become one row each. So do the numbers of a ragged field of
    floats, unchanged. Such numbers often belong to the ids of another field,
    for example weights or watch times in seconds. `nn.same_bags` then joins the
    two fields.

    Constraints:
    - (C1) Input and result have different element types among ids, f32 and f64.
      Numbers of bags give rows of either float type.
    - (C2) Input and result have one shape. Bags give [ids, 1].
    - (C3) The ids or numbers of a ragged operand are those of a field, or
      computed from them by `nn.id_arithmetic`.

    Example:
    ```mlir
    %0 = nn.cast %class : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %1 = nn.cast %x : (tensor<?x4xf32>) -> tensor<?x4xi64>
    %2 = nn.cast %x : (tensor<?x4xf32>) -> tensor<?x4xf64>
    %3 = nn.cast %seconds : (!nn.ragged<?x1x*xf32>) -> tensor<?x1xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[RankedTensorOf<[F32, F64, I64]>, NN_Ragged]>:$input);
  let results = (outs RankedTensorOf<[F32, F64, I64]>:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, results)";
  let hasVerifier = 1;
}

#endif // PDLC_DIALECT_NN_IR_NNFEATUREOPS_TD
