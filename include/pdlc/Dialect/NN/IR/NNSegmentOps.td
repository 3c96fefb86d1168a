//===- NNSegmentOps.td - Rows of bags -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lookup without pooling gives a tensor whose first dimension counts ids, not
// samples. These ops lead from samples to the rows of their bags and back, and
// from row to row of one bag.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNSEGMENTOPS_TD
#define PDLC_DIALECT_NN_IR_NNSEGMENTOPS_TD

include "pdlc/Dialect/NN/IR/NNCompositeOps.td"
include "pdlc/Dialect/NN/IR/NNLoweredOps.td"

/// An op of bags: what its operands and its result count, rows of the bags or
/// samples (null).
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
  let summary = "The sum of the rows of each bag";
  let description = [{
    Rows are added in bag order, from +0; an empty bag gives zeros.

    Constraints:
    - (C1) Rows of shape [ids, ...], with the ids of the bags, give [b, slots, ...]
      of their element type.

    Example:
    ```mlir
    %0 = nn.segment_sum %h of %c : (tensor<?x10xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x26x10xf32>
    ```
  }];
}

def NN_SegmentMaxOp : NN_RowsToBagsOp<"segment_max", [NN_Differentiable]> {
  let summary = "The largest elements of the rows of each bag";
  let description = [{
    An empty bag gives zeros. NaN survives. Equal elements share the cotangent.

    Constraints:
    - (C1) Rows of shape [ids, ...], with the ids of the bags, give [b, slots, ...]
      of their element type.

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

def NN_SegmentMeanOp : NN_SegmentReductionOp<"segment_mean", "The mean of the rows of each bag",
  "Their sum divided by their number; an empty bag gives zeros.">;
def NN_SegmentSqrtnOp : NN_SegmentReductionOp<"segment_sqrtn",
  "The sum of the rows of each bag, divided by the root of their number",
  "An empty bag gives zeros.">;
def NN_SegmentFirstOp : NN_SegmentReductionOp<"segment_first", "The first row of each bag",
  "An empty bag gives zeros.">;
def NN_SegmentLastOp : NN_SegmentReductionOp<"segment_last", "The last row of each bag",
  "An empty bag gives zeros.">;

def NN_SegmentRepeatOp : NN_SegmentOp<"segment_repeat", "{}", "getBags()", [NN_Differentiable,
    NN_MayMixFloats, NN_InferTypeOfBags]> {
  let summary = "What belongs to a bag, for each of its rows";
  let description = [{
    The adjoint of `nn.segment_sum`.

    Constraints:
    - (C1) An input of shape [b, slots, ...], with the slots of the bags, gives
      [ids, ...] of its element type.
    - (C2) `like` is there exactly if bags are splits: it has one row for each id.
    - (C3) The ids of a ragged operand are those of a field.

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
  let summary = "Where in its bag each row is";
  let description = [{
    0 for the first one, 1 for the next; with `from_end` 0 for the last one.

    Constraints:
    - (C1) The result has shape [ids, 1].
    - (C2) `like` is there exactly if bags are splits: it has one row for each id.
    - (C3) The ids of a ragged operand are those of a field.

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
  let summary = "How many rows each bag has";
  let description = [{
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
  let summary = "Positive numbers that add up to 1 over the rows of each bag";
  let description = [{
    For each column by itself; as `nn.softmax`, with the maximum and the sum of the
    bag.

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
  let summary = "The row that stands some rows before, in the same bag";
  let description = [{
    Row i of a bag of the result is row i - by of that bag; zeros where there is
    none. With `by` below 0 rows move towards the front. Shifts side by side
    (`nn.concat`) are what a convolution over a sequence multiplies.

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
  let summary = "Each row beside its neighbours in the same bag";
  let description = [{
    Row i of a bag of the result is rows i + first to i + last of that bag, side by
    side; zeros where there is none. `nn.linear` of it is a convolution over the
    sequence, `nn.segment_max` of that its largest responses.

    Constraints:
    - (C1) Rows [ids, width], with the ids of the bags, give [ids, (last - first + 1)
      * width].
    - (C2) first <= last, both less than 2^31 from 0, at most 1024 rows in all.

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
  let summary = "The rows of each bag, the last one first";
  let description = [{
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
  let summary = "Bags of one length, filled up with zeros";
  let description = [{
    The first rows of each bag, or its last ones with `from_end`, up to the length;
    zeros behind them, or before them with `from_end`. What is 1 where there is a
    row is the same of a tensor of ones.

    Constraints:
    - (C1) Rows of shape [ids, ...], with the ids of the bags, give [b, slots,
      length, ...] of their element type.

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
  let summary = "The rows of bags that were filled up";
  let description = [{
    The adjoint of `nn.segment_pad`: a row that is not among the first ones of its
    bag, or the last ones with `from_end`, is zero.

    Constraints:
    - (C1) An input of shape [b, slots, length, ...], with the slots of the bags,
      gives [ids, ...] of its element type.
    - (C2) `like` is there exactly if bags are splits: it has one row for each id.
    - (C3) The ids of a ragged operand are those of a field.

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

/// What an operand of a recurrence counts: behind the bags stand first states,
/// of samples, and what has no dynamic dimension.
defvar NN_RecurrenceRows = [{operand.getOperandNumber() > getBagsMutable().getOperandNumber()
        ? ::mlir::Value() : ::mlir::Value(getBags())}];

def NN_ScanOp : NN_SegmentOp<"scan", NN_RecurrenceRows, "getBags()", [NN_InferTypeOfBags, NN_Differentiable,
    NN_MayMixFloats, ReadsModel, AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<BodyOpInterface, ["getStateArguments"]>]> {
  let summary = "From row to row of each bag, with a state";
  let description = [{
    The body is what one row does. Its arguments are the row of each input, the
    states as the row before left them, and the tensors of `with` as they are. It
    yields the states behind the row, then any further rows. The results are all of
    them, as rows of the bags. Before the first row of a bag a state is what `init`
    has for the bag; zeros without `init`.

    Rows of a bag follow each other from its first to its last, with `from_end`
    from its last to its first. Nothing is padded, and a body is compiled once,
    however long bags are. `nn.gru` and `nn.lstm` are scans.

    What does not depend on a state is better done before: a product with the
    inputs is one for all rows then.

    Constraints:
    - (C1) There are inputs, of shape [ids, ...] with the ids of the bags; the
      tensors of `with` have no dynamic dimension.
    - (C2) The arguments of the body are a row ([?, ...]) of each input, one or more
      states, and the tensors of `with`.
    - (C3) The body yields as many as there are results, of their types: first the
      states, then others. Each is a row.
    - (C4) The body computes: no lookups, losses or metrics, no ops on bags, and none
      that mixes rows.
    - (C5) The body uses its arguments, parameters and states, and no other value of
      the program.
    - (C6) `init` has a tensor for each state or is left out: of a state [?, ...] it
      is [b, slots, ...], with the slots of the bags.

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
    /// The arguments of the body, by what they are.
    ::llvm::ArrayRef<::mlir::BlockArgument> getInputArguments();
    ::llvm::ArrayRef<::mlir::BlockArgument> getSharedArguments();
    /// What the body yields.
    ::mlir::OperandRange getYielded();
  }];
}

class NN_CellOp<string mnemonic, int gates, string summary_, string formula>
    : NN_SegmentOp<mnemonic, NN_RecurrenceRows, "getBags()", [NN_InferTypeOfBags, NN_Composite, ReadsModel,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = summary_;
  let description = formula # [{

    The operand is what the inputs contribute, `nn.linear` of them, with the gates
    side by side; `h` is the state before the row, `U` the weight and `b` the bias
    (zeros, if it is left out). The first states are those of `init`, or zeros. With `from_end` the last row of a bag
    comes first. The order of gates and the formulas are those of PyTorch.

    Phase `merged` turns it into an `nn.scan`, which `pdl-opt --nn-lower-model` prints.

    Constraints:
    - (C1) From [ids, }] # gates # [{ n], with the ids of the bags, to [ids, n]; the
      weight is an `nn.param` or `nn.state` [n, }] # gates # [{ n], the bias one of [}] # gates # [{ n].
    - (C2) `init` has a tensor [b, slots, n] for each state, with the slots of the bags, or
      is left out.

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
    r = sigmoid(x_r + h U_r + b_r), z = sigmoid(x_z + h U_z + b_z),
    n = tanh(x_n + r (h U_n + b_n)); the state becomes n + z (h - n).
  }]>;

def NN_LSTMOp : NN_CellOp<"lstm", 4, "Long short-term memory", [{
    i = sigmoid(x_i + h U_i + b_i), f = sigmoid(x_f + h U_f + b_f),
    g = tanh(x_g + h U_g + b_g), o = sigmoid(x_o + h U_o + b_o); the cell c, a second
    state, becomes f c + i g, and h becomes o tanh(c).
  }]>;

//===----------------------------------------------------------------------===//
// Bags of several fields
//===----------------------------------------------------------------------===//

def NN_SameBagsOp : NN_PureOp<"same_bags", [NN_SpelledOut, StopsGradients, NN_Rows,
    AllTypesMatch<["input", "result"]>,
    PredOpTrait<"input and like have as many bags a sample (C1)",
      CPred<"::llvm::cast<::pdlc::nn::RaggedType>($input.getType()).getShape() == "
            "::llvm::cast<::pdlc::nn::RaggedType>($like.getType()).getShape()">>]> {
  let summary = "Ids whose bags are as long as others";
  let description = [{
    The ids or numbers of `input`, as rows of the bags of `like`: items of a history,
    and what is known of each of them, come as several fields. A batch in which the
    bags differ in length stops the program. The type of `like` may be left out if one.

    Constraints:
    - (C1) Input and result have one type, and `like` as many bags a sample.

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
  let summary = "Stops the program where bags differ in length";
  let description = [{
    Phase `merged`'s form of `nn.same_bags`.

    Example:
    ```mlir
    nn.check_bags %splits, %expected
    ```
  }];
  let arguments = (ins NN_SplitTensor:$splits, NN_SplitTensor:$expected);
  let assemblyFormat = "$splits `,` $expected attr-dict";
}

#endif // PDLC_DIALECT_NN_IR_NNSEGMENTOPS_TD
