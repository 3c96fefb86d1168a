//===- NNSegmentOps.td - Ops on the rows of bags -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lookup without pooling gives a tensor whose first dimension counts ids, not
// samples. These ops convert between samples and the rows of their bags, or
// compute from row to row within a bag.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNSEGMENTOPS_TD
#define PDLC_DIALECT_NN_IR_NNSEGMENTOPS_TD

include "pdlc/Dialect/NN/IR/NNCompositeOps.td"
include "pdlc/Dialect/NN/IR/NNLoweredOps.td"

/// An op on bags. `operandRows` and `resultRows` are C++ expressions that say
/// what the first dimension of the operands and of the result counts: the ids
/// of a ragged value, or samples if null.
class NN_SegmentOp<string mnemonic, string operandRows, string resultRows,
                   list<Trait> traits = []>
    : NN_PureOp<mnemonic, !listconcat([NN_Rows, BagsOpInterface], traits)> {
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::getRowsOfOperand([[maybe_unused]] ::mlir::OpOperand &operand) {
      return }] # operandRows # [{;
    }
    ::mlir::Value $cppClass::getRowsOfResult() { return }] # resultRows # [{; }
  }];
  let hasVerifier = 1;
}

/// From rows to samples: [ids, ...] to [b, slots, ...].
class NN_RowsToBagsOp<string mnemonic, list<Trait> traits = []>
    : NN_SegmentOp<mnemonic, "getBags()", "{}", traits> {
  let arguments = (ins NN_FloatTensor:$rows, NN_Bags:$bags);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$rows `of` $bags attr-dict `:` functional-type(operands, results)";
}

def NN_SegmentSumOp : NN_RowsToBagsOp<"segment_sum", [NN_Differentiable]> {
  let summary = "Sum of the rows of each bag";
  let description = [{
    Rows are added in bag order, from +0. An empty bag gives zeros.

    Constraints:
    - (C1) Rows of shape [ids, ...], with the ids of the bags, give [b, slots,
      ...] of the same element type.

    Example:
    ```mlir
    %0 = nn.segment_sum %h of %c : (tensor<?x10xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x26x10xf32>
    ```
  }];
}

def NN_SegmentMaxOp : NN_RowsToBagsOp<"segment_max", [NN_Differentiable]> {
  let summary = "Elementwise maximum of the rows of each bag";
  let description = [{
    An empty bag gives zeros. NaN stays NaN. Elements that are equal to the
    maximum share the cotangent.

    Constraints:
    - (C1) Rows of shape [ids, ...], with the ids of the bags, give [b, slots,
      ...] of the same element type.

    Example:
    ```mlir
    %0 = nn.segment_max %h of %c : (tensor<?x10xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x26x10xf32>
    ```
  }];
}

class NN_SegmentReductionOp<string mnemonic, string summary_, string text>
    : NN_RowsToBagsOp<mnemonic, [NN_Composite, NN_InferTypeOfBags]> {
  let summary = summary_;
  let description = text # [{

    Constraints:
    - (C1) Rows of shape [ids, ...], with the ids of the bags, give [b, slots, ...]
      of their element type.

    Example:
    ```mlir
    %0 = nn.}] # mnemonic # [{ %h of %c : tensor<?x10xf32>, !nn.ragged<?x26x*xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$rows, NN_Ragged:$bags);
  let assemblyFormat = "$rows `of` $bags attr-dict `:` type(operands)";
}

def NN_SegmentMeanOp : NN_SegmentReductionOp<"segment_mean", "Mean of the rows of each bag",
  "The sum of the rows divided by their number. An empty bag gives zeros.">;
def NN_SegmentSqrtnOp : NN_SegmentReductionOp<"segment_sqrtn",
  "Sum of the rows of each bag, divided by the square root of their number",
  "An empty bag gives zeros.">;
def NN_SegmentFirstOp : NN_SegmentReductionOp<"segment_first", "First row of each bag",
  "An empty bag gives zeros.">;
def NN_SegmentLastOp : NN_SegmentReductionOp<"segment_last", "Last row of each bag",
  "An empty bag gives zeros.">;

def NN_SegmentRepeatOp : NN_SegmentOp<"segment_repeat", "{}", "getBags()", [NN_Differentiable,
    NN_MayMixFloats, NN_InferTypeOfBags]> {
  let summary = "Repeats the value of a bag for each of its rows";
  let description = [{
    The adjoint of `nn.segment_sum`.

    Constraints:
    - (C1) An input of shape [b, slots, ...], with the slots of the bags, gives
      [ids, ...] of the same element type.
    - (C2) `like` is given exactly if the bags are splits. It has one row for
      each id.
    - (C3) The ids of a ragged operand are those of a field, or `nn.same_bags`
      or `nn.id_arithmetic` computes them from these.

    Example:
    ```mlir
    %0 = nn.segment_repeat %q over %c : tensor<?x26x10xf32>, !nn.ragged<?x26x*xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_Bags:$bags,
    Optional<RankedTensorOf<[F32, F64, I64]>>:$like);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `over` $bags (`like` $like^)? attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

def NN_SegmentPositionsOp : NN_SegmentOp<"segment_positions", "{}", "getBags()", [StopsGradients]> {
  let summary = "Position of each row in its bag";
  let description = [{
    The first row of a bag has position 0, the next 1. With `from_end`, the last
    row has position 0.

    Constraints:
    - (C1) The result has shape [ids, 1].
    - (C2) `like` is given exactly if the bags are splits. It has one row for
      each id.
    - (C3) The ids of a ragged operand are those of a field, or `nn.same_bags`
      or `nn.id_arithmetic` computes them from these.

    Example:
    ```mlir
    %0 = nn.segment_positions %c : (!nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %1 = nn.segment_positions %c from_end : (!nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_Bags:$bags, Optional<RankedTensorOf<[F32, F64, I64]>>:$like,
    UnitAttr:$from_end);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $bags (`like` $like^)? (`from_end` $from_end^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_SegmentSizesOp : NN_SegmentOp<"segment_sizes", "{}", "{}", [StopsGradients]> {
  let summary = "Number of rows in each bag";
  let description = [{
    Returns the sizes as floats.

    Constraints:
    - (C1) The result has shape [b, slots, 1], with the slots of the bags.

    Example:
    ```mlir
    %0 = nn.segment_sizes %c : (!nn.ragged<?x26x*xi64>) -> tensor<?x26x1xf32>
    ```
  }];
  let arguments = (ins NN_Bags:$bags);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$bags attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

/// From rows to rows of the same shape.
class NN_WithinBagsOp<string mnemonic, list<Trait> traits = []>
    : NN_SegmentOp<mnemonic, "getBags()", "getBags()",
                   !listconcat([NN_InferTypeOfBags], traits)> {
  let results = (outs NN_FloatTensor:$result);
}

def NN_SegmentSoftmaxOp : NN_WithinBagsOp<"segment_softmax", [NN_Composite]> {
  let summary = "Softmax over the rows of each bag";
  let description = [{
    Works like `nn.softmax`, with the maximum and the sum of each bag. Columns
    are independent.

    Constraints:
    - (C1) Rows and result have one type, with one row for each id of the bags.

    Example:
    ```mlir
    %0 = nn.segment_softmax %s of %c : tensor<?x1xf32>, !nn.ragged<?x1x*xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$rows, NN_Ragged:$bags);
  let assemblyFormat = "$rows `of` $bags attr-dict `:` type(operands)";
}

def NN_SegmentShiftOp : NN_WithinBagsOp<"segment_shift", [NN_Differentiable]> {
  let summary = "Moves the rows of each bag by a number of positions";
  let description = [{
    Row i of a bag in the result is row i - by of that bag, or zeros if there is
    no such row. With a negative `by`, rows move towards the front. Concatenate
    several shifts (`nn.concat`) to build the input of a convolution over a
    sequence.

    Constraints:
    - (C1) Rows and result have one type, with one row for each id of the bags.
    - (C2) |by| < 2^31.

    Example:
    ```mlir
    %0 = nn.segment_shift %h of %c by 1 : tensor<?x10xf32>, !nn.ragged<?x1x*xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$rows, NN_Bags:$bags, I64Attr:$by);
  let assemblyFormat = [{
    $rows `of` $bags `by` $by attr-dict `:` type(operands)
  }];
}

def NN_SegmentWindowOp : NN_WithinBagsOp<"segment_window", [NN_Composite]> {
  let summary = "Each row joined with its neighbors in the same bag";
  let description = [{
    Row i of a bag in the result is the concatenation of rows i + first to i +
    last of that bag. Rows outside the bag are zeros. `nn.linear` of the result
    is a convolution over the sequence; `nn.segment_max` then selects its
    largest responses.

    Constraints:
    - (C1) Rows [ids, width], with the ids of the bags, give
      [ids, (last - first + 1) * width].
    - (C2) first <= last. Both are less than 2^31 from 0. There are at most 1024
      rows in all.

    Example:
    ```mlir
    %0 = nn.segment_window %h of %c from -1 to 1 : tensor<?x10xf32>, !nn.ragged<?x1x*xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$rows, NN_Ragged:$bags, I64Attr:$first, I64Attr:$last);
  let assemblyFormat = [{
    $rows `of` $bags `from` $first `to` $last attr-dict
    `:` type(operands)
  }];
}

def NN_SegmentReverseOp : NN_WithinBagsOp<"segment_reverse", [NN_Differentiable]> {
  let summary = "The rows of each bag in reverse order";
  let description = [{
    Keeps the order of the bags.

    Constraints:
    - (C1) Rows and result have one type, with one row for each id of the bags.

    Example:
    ```mlir
    %0 = nn.segment_reverse %h of %c : tensor<?x10xf32>, !nn.ragged<?x1x*xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$rows, NN_Bags:$bags);
  let assemblyFormat = "$rows `of` $bags attr-dict `:` type(operands)";
}

def NN_SegmentPadOp : NN_SegmentOp<"segment_pad", "getBags()", "{}", [NN_Differentiable]> {
  let summary = "Pads or truncates bags to one length";
  let description = [{
    Takes the first rows of each bag, up to the length, and appends zeros. With
    `from_end`, it takes the last rows and puts the zeros before them. To get a
    mask that is 1 for each row, pad a tensor of ones.

    Constraints:
    - (C1) Rows of shape [ids, ...], with the ids of the bags, give [b, slots,
      length, ...] of the same element type.

    Example:
    ```mlir
    %0 = nn.segment_pad %h of %c : (tensor<?x10xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x50x10xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$rows, NN_Bags:$bags, UnitAttr:$from_end);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $rows `of` $bags (`from_end` $from_end^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_SegmentUnpadOp : NN_SegmentOp<"segment_unpad", "{}", "getBags()", [NN_Differentiable,
    NN_MayMixFloats, NN_InferTypeOfBags]> {
  let summary = "The rows of padded bags";
  let description = [{
    The adjoint of `nn.segment_pad`. Rows of a bag that the padding had
    truncated are zero. With `from_end`, these are the first rows of the bag
    instead of the last ones.

    Constraints:
    - (C1) An input of shape [b, slots, length, ...], with the slots of the
      bags, gives [ids, ...] of the same element type.
    - (C2) `like` is given exactly if the bags are splits. It has one row for
      each id.
    - (C3) The ids of a ragged operand are those of a field, or `nn.same_bags`
      or `nn.id_arithmetic` computes them from these.

    Example:
    ```mlir
    %0 = nn.segment_unpad %p over %c : tensor<?x1x50x10xf32>, !nn.ragged<?x1x*xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_Bags:$bags,
    Optional<RankedTensorOf<[F32, F64, I64]>>:$like, UnitAttr:$from_end);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `over` $bags (`like` $like^)? (`from_end` $from_end^)? attr-dict
    `:` type(operands)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Recurrence
//===----------------------------------------------------------------------===//

/// The bags whose rows an operand of a recurrence has, or null for samples. The
/// operands before the bags are inputs, which have rows. The operands after the
/// bags are initial states, which count samples, and tensors without a dynamic
/// dimension.
defvar NN_RecurrenceRows = [{operand.getOperandNumber() > getBagsMutable().getOperandNumber()
        ? ::mlir::Value() : ::mlir::Value(getBags())}];

def NN_ScanOp : NN_SegmentOp<"scan", NN_RecurrenceRows, "getBags()", [NN_InferTypeOfBags, NN_Differentiable,
    NN_MayMixFloats, ReadsModel, AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<BodyOpInterface, ["getStateArguments"]>]> {
  let summary = "Recurrence over the rows of each bag";
  let description = [{
    The body computes one row. Its arguments are the row of each input, the
    states after the previous row, and the tensors of `with`. It yields the new
    states, then any further rows. The results are all yielded values, as rows
    of the bags. The state before the first row of a bag is the bag's entry of
    `init`, or zeros without `init`.

    The rows of a bag are processed from first to last, or from last to first
    with `from_end`. Nothing is padded, and the body is compiled once for bags
    of any length. `nn.gru` and `nn.lstm` are scans.

    For speed, compute everything that does not depend on a state before the
    scan. For example, a product with the inputs is then one product for all
    rows.

    Constraints:
    - (C1) There is at least one input. Inputs have shape [ids, ...] with the
      ids of the bags. The tensors of `with` have no dynamic dimension.
    - (C2) The arguments of the body are a row ([?, ...]) of each input, one or
      more states, and the tensors of `with`.
    - (C3) The body yields one value for each result, of its type: first the
      states, then the others. Each value is a row.
    - (C4) The body only computes. It contains no lookups, losses or metrics, no
      ops on bags, and no ops that mix rows.
    - (C5) The body uses its arguments, parameters and states, and no other
      value of the program.
    - (C6) `init` has a tensor for each state, or is absent. For a state [?,
      ...], the tensor is [b, slots, ...], with the slots of the bags.

    Example:
    ```mlir
    %h = nn.scan %x of %c init(%first) {
    ^bb0(%row: tensor<?x10xf32>, %before: tensor<?x10xf32>):
      %product = nn.linear %before, @u : (tensor<?x10xf32>) -> tensor<?x10xf32>
      %sum = nn.add %row, %product : tensor<?x10xf32>, tensor<?x10xf32>
      %after = nn.tanh %sum : tensor<?x10xf32>
      nn.yield %after : tensor<?x10xf32>
    } : tensor<?x10xf32>, !nn.ragged<?x1x*xi64>, tensor<?x1x10xf32>
    ```
  }];
  let arguments = (ins Variadic<NN_FloatTensor>:$inputs, NN_Bags:$bags,
    Variadic<NN_FloatTensor>:$init, Variadic<NN_FloatTensor>:$shared, UnitAttr:$from_end);
  let results = (outs Variadic<NN_FloatTensor>:$rows);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $inputs `of` $bags (`from_end` $from_end^)? (`init` `(` $init^ `)`)?
    (`with` `(` $shared^ `)`)? $body attr-dict `:` type(operands)
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Return the arguments of the body that are rows of inputs, and those that
    /// are tensors of `with`.
    ::llvm::ArrayRef<::mlir::BlockArgument> getInputArguments();
    ::llvm::ArrayRef<::mlir::BlockArgument> getSharedArguments();
    /// Returns the values that the body yields.
    ::mlir::OperandRange getYielded();
  }];
}

class NN_CellOp<string mnemonic, int gates, string summary_, string formula>
    : NN_SegmentOp<mnemonic, NN_RecurrenceRows, "getBags()", [NN_InferTypeOfBags, NN_Composite, ReadsModel,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = summary_;
  let description = formula # [{

    The operand `x` is the contribution of the inputs, computed by `nn.linear`,
    with the gates concatenated. `h` is the state before the row, `U` the weight
    and `b` the bias (zeros if it is absent). The initial states are those of
    `init`, or zeros. With `from_end`, the last row of a bag comes first. The
    order of the gates and the formulas are those of PyTorch.

    Phase `merged` turns the op into an `nn.scan`. `pdl-opt --nn-lower-model`
    prints it.

    Constraints:
    - (C1) From [ids, }] # gates # [{ n], with the ids of the bags, to [ids, n].
      The weight is an `nn.param` or `nn.state` [n, }] # gates # [{ n], and the
      bias one of [}] # gates # [{ n].
    - (C2) `init` has a tensor [b, slots, n] for each state, with the slots of
      the bags, or is absent.

    Example:
    ```mlir
    %h = nn.}] # mnemonic # [{ %x of %c, @u, @b : tensor<?x}] # gates # [{0xf32>, !nn.ragged<?x1x*xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$rows, NN_Ragged:$bags, Variadic<NN_FloatTensor>:$init,
    FlatSymbolRefAttr:$weight, OptionalAttr<FlatSymbolRefAttr>:$bias, UnitAttr:$from_end);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $rows `of` $bags `,` $weight (`,` $bias^)? (`from_end` $from_end^)?
    (`init` `(` $init^ `)`)? attr-dict `:` type(operands)
  }];
}

def NN_GRUOp : NN_CellOp<"gru", 3, "Gated recurrent units", [{
    `r = sigmoid(x_r + h U_r + b_r)`, `z = sigmoid(x_z + h U_z + b_z)`,
    `n = tanh(x_n + r (h U_n + b_n))`. The new state is `n + z (h - n)`.
  }]>;

def NN_LSTMOp : NN_CellOp<"lstm", 4, "Long short-term memory", [{
    `i = sigmoid(x_i + h U_i + b_i)`, `f = sigmoid(x_f + h U_f + b_f)`,
    `g = tanh(x_g + h U_g + b_g)`, `o = sigmoid(x_o + h U_o + b_o)`. There are
    two states: the new cell c is `f c + i g`, and the new h is `o tanh(c)`.
  }]>;

//===----------------------------------------------------------------------===//
// Bags of several fields
//===----------------------------------------------------------------------===//

def NN_SameBagsOp : NN_PureOp<"same_bags", [NN_SpelledOut, StopsGradients, NN_Rows,
    AllTypesMatch<["input", "result"]>,
    PredOpTrait<"input and like have as many bags a sample (C1)",
      CPred<"::llvm::cast<::pdlc::nn::RaggedType>($input.getType()).getShape() == "
            "::llvm::cast<::pdlc::nn::RaggedType>($like.getType()).getShape()">>]> {
  let summary = "Joins ids to the bags of another field";
  let description = [{
    Returns the ids or numbers of `input` as rows of the bags of `like`. Use it
    if several fields describe the same items, for example the items of a
    history and their properties. If the bags of two fields differ in length in
    a row of the data, this is a bad row (`--max-bad-rows`). If bags that the
    program computes differ in length, the program stops. The types may be
    written once if they are equal.

    Constraints:
    - (C1) Input and result have one type, and `like` has the same number of
      bags for each sample.

    Example:
    ```mlir
    %0 = nn.same_bags %weights like %items : !nn.ragged<?x1x*xf32>, !nn.ragged<?x1x*xi64>
    ```
  }];
  let arguments = (ins NN_Ragged:$input, NN_Ragged:$like);
  let results = (outs NN_Ragged:$result);
  let assemblyFormat = "$input `like` $like attr-dict `:` custom<TypeAndLike>(type($input), type($like))";
}

def NN_CheckBagsOp : NN_BodyOp<"check_bags", [MemoryEffects<[MemWrite]>, NN_BatchFirst,
    NN_FromMerged, PreparesStep, StopsGradients]> {
  let summary = "Stops the program if bags differ in length";
  let description = [{
    The form of `nn.same_bags` from phase `merged` on.

    Example:
    ```mlir
    nn.check_bags %splits, %expected
    ```
  }];
  let arguments = (ins NN_SplitTensor:$splits, NN_SplitTensor:$expected);
  let assemblyFormat = "$splits `,` $expected attr-dict";
}

#endif // PDLC_DIALECT_NN_IR_NNSEGMENTOPS_TD
