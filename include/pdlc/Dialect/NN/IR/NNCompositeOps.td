//===- NNCompositeOps.td - Ops that others can say -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers and losses of the field that are a few other ops. Each has its types and
// the ops that it becomes in lib/Dialect/NN/Composite, and nothing else: adjoint,
// evaluation and code are those of the ops that it is made of.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNCOMPOSITEOPS_TD
#define PDLC_DIALECT_NN_IR_NNCOMPOSITEOPS_TD

include "pdlc/Dialect/NN/IR/NNComputeOps.td"

class NN_CompositeOp<string mnemonic, list<Trait> traits = []>
    : NN_PureOp<mnemonic, !listconcat([NN_Composite], traits)> {
  let results = (outs NN_FloatTensor:$result);
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

class NN_SoftmaxLikeOp<string mnemonic, string summary_, string formula>
    : NN_CompositeOp<mnemonic, [SameOperandsAndResultType]> {
  let summary = summary_;
  let description = formula # [{

    Constraints:
    - (C1) Operand and result have one type.
    - (C2) The axis is a static dimension.

    Example:
    ```mlir
    %0 = nn.}] # mnemonic # [{ %x axis 1 : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$axis);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def NN_SoftmaxOp : NN_SoftmaxLikeOp<"softmax", "Positive numbers that add up to 1", [{
    exp(x - m) / sum(exp(x - m)), with m the maximum along the axis: no exponential
    overflows. No gradient passes through m, which changes nothing.}]>;
def NN_LogSoftmaxOp : NN_SoftmaxLikeOp<"log_softmax", "Logarithm of the softmax", [{
    x - m - log(sum(exp(x - m))), with m the maximum along the axis.}]>;

def NN_LayerNormOp : NN_CompositeOp<"layer_norm", [AttrSizedOperandSegments, NN_InferType]> {
  let summary = "Rows of mean 0 and deviation 1, scaled and shifted";
  let description = [{
    Over the last dimension: (x - mean) / sqrt(mean((x - mean)^2) + epsilon), times
    `scale`, plus `shift`, where given (Ba et al., 2016).

    Constraints:
    - (C1) Input and result have one type of rank 2 or more.
    - (C2) Scale and shift are vectors of the last dimension's size and of the
      input's element type.
    - (C3) Epsilon is finite and > 0 in the element type.

    Example:
    ```mlir
    %0 = nn.layer_norm %x scale %g shift %b : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, Optional<NN_FloatTensor>:$scale,
    Optional<NN_FloatTensor>:$shift, DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let assemblyFormat = [{
    $input (`scale` $scale^)? (`shift` $shift^)? (`epsilon` $epsilon^)? attr-dict
    `:` type(operands)
  }];
  let hasVerifier = 1;
}

def NN_BatchSumOp : NN_CompositeOp<"batch_sum", [NN_InferType, MixesSamples]> {
  let summary = "Sum over the samples of a replica's batch";
  let description = [{
    Each replica sums over its own batch, in the order of the samples, from +0: a
    sample's result depends on what else is in the batch. Each mode says in
    docs/Modes.md what that is. Of rows of bags it is the sum over all rows.

    Constraints:
    - (C1) The input is [b, d, ...], with b the batch; the result is [d, ...].

    Example:
    ```mlir
    %0 = nn.batch_sum %x : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def NN_BatchNormOp : NN_BodyOp<"batch_norm", [NN_BatchFirst, NN_Composite, MixesSamples,
    NN_Rows, SameOperandsAndResultType, ReadsModel, AccumulatesState,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Features of mean 0 and deviation 1 over the batch";
  let description = [{
    (x - mean) / sqrt(variance + epsilon), for each feature of the last dimension
    (Ioffe and Szegedy, 2015); `scale` and `shift` are ops of their own.

    In a program with an `nn.minimize` mean and variance are those of the replica's
    batch (over the middle dimensions too), through which gradients flow, and
    `nn.accumulate` adds, for each sample, x to the state `mean` and (x - mean)^2 to
    the state `variance`: the variance is divided by the number of samples, not by
    one less. In all other programs mean and variance are those states'. They are in
    a group with `rule(@moving_average) rate(0.1)`; the rate is 1 - momentum.

    Constraints:
    - (C1) Input and result have one type [b, ..., n], with b the batch.
    - (C2) The states are two `nn.param` of a group, of type [n].
    - (C3) Epsilon is finite and > 0 in the element type.

    Example:
    ```mlir
    %0 = nn.batch_norm %x mean @mean variance @variance : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, FlatSymbolRefAttr:$mean,
    FlatSymbolRefAttr:$variance, DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `mean` $mean `variance` $variance (`epsilon` $epsilon^)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def NN_DataNormOp : NN_BodyOp<"data_norm", [NN_BatchFirst, NN_Composite, NN_Rows,
    SameOperandsAndResultType, ReadsModel, AccumulatesState,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Features of mean 0 and deviation 1 over the data seen so far";
  let description = [{
    (x - sum / size) * sqrt(size / square_sum), for each feature, with what the three
    states held before the step: samples do not mix, and no gradient flows into the
    states. In a program with an `nn.minimize`, `nn.accumulate` adds, for each
    sample, 1 to `size`, x to `sum`, and (x - sum / size)^2 + epsilon to
    `square_sum`. They are in a group with `rule(@running_sum)`, and start above 0:
    1e4, 0 and 1e4, say.

    Constraints:
    - (C1) Input and result have one type [b, n], with b the batch.
    - (C2) The states are three `nn.param` of a group, of type [n].
    - (C3) Epsilon is finite and > 0 in the element type.

    Example:
    ```mlir
    %0 = nn.data_norm %x size @size sum @sum square_sum @squares : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, FlatSymbolRefAttr:$size,
    FlatSymbolRefAttr:$sum, FlatSymbolRefAttr:$square_sum,
    DefaultValuedAttr<F64Attr, "1.0e-4">:$epsilon);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `size` $size `sum` $sum `square_sum` $square_sum (`epsilon` $epsilon^)? attr-dict
    `:` type($input)
  }];
  let hasVerifier = 1;
}

def NN_L2NormaliseOp : NN_CompositeOp<"l2_normalise", [SameOperandsAndResultType]> {
  let summary = "Rows of length 1";
  let description = [{
    Over the last dimension: x / sqrt(max(sum(x^2), epsilon)). A row that is shorter
    than sqrt(epsilon) is divided by that.

    Constraints:
    - (C1) Operand and result have one type of rank 2 or more.
    - (C2) Epsilon is finite and > 0 in the element type.

    Example:
    ```mlir
    %0 = nn.l2_normalise %x : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, DefaultValuedAttr<F64Attr, "1.0e-12">:$epsilon);
  let assemblyFormat = "$input (`epsilon` $epsilon^)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def NN_CosineSimilarityOp : NN_CompositeOp<"cosine_similarity", [NN_InferType]> {
  let summary = "The cosine of the angle between rows";
  let description = [{
    Over the last dimension, of which a unit remains: sum(a b) /
    sqrt(max(sum(a^2), epsilon)) / sqrt(max(sum(b^2), epsilon)).

    Constraints:
    - (C1) Both operands have one type of rank 2 or more.
    - (C2) Epsilon is finite and > 0 in the element type.

    Example:
    ```mlir
    %0 = nn.cosine_similarity %user, %item : tensor<?x64xf32>, tensor<?x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
    DefaultValuedAttr<F64Attr, "1.0e-12">:$epsilon);
  let assemblyFormat = [{
    $lhs `,` $rhs (`epsilon` $epsilon^)? attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Interactions of features
//===----------------------------------------------------------------------===//

def NN_FactorizationOp : NN_CompositeOp<"factorization", [NN_InferType]> {
  let summary = "Second order of a factorization machine";
  let description = [{
    The sum over all pairs of rows of a sample of their dot products, in linear
    time: half the sum over the width of (sum of the rows)^2 - sum of (row^2)
    (Rendle, 2010). The first order is a lookup of width 1, pooled and added.

    Constraints:
    - (C1) The input is [b, fields, width], the result [b, 1].

    Example:
    ```mlir
    %0 = nn.factorization %e : tensor<?x26x10xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def NN_PairwiseDotsOp : NN_CompositeOp<"pairwise_dots", [NN_InferType]> {
  let summary = "Dot products of all pairs of rows";
  let description = [{
    Of each sample, rows i and j < i, in the order (1, 0), (2, 0), (2, 1), ...: the
    interaction of DLRM (Naumov et al., 2019). With `self`, also j = i.

    Constraints:
    - (C1) The input is [b, fields, width] with two fields at least, the result
      [b, pairs].

    Example:
    ```mlir
    %0 = nn.pairwise_dots %e : tensor<?x27x16xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, UnitAttr:$self);
  let assemblyFormat = "$input (`self` $self^)? attr-dict `:` type($input)";
}

def NN_CrossLayerOp : NN_CompositeOp<"cross_layer", [ReadsModel, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A layer of a deep and cross network";
  let description = [{
    With a weight of type [width, width]: first * (input * weight + bias) + input, as
    in DCN v2 (Wang et al., 2021). With `vector` and a weight of type [width, 1]:
    first * (input * weight) + bias + input, as in DCN (Wang et al., 2017). `first` is
    what the first of these layers got.

    Constraints:
    - (C1) First, input and result have one type [b, width].
    - (C2) The weight is an `nn.param` or `nn.state` of type [width, width], or
      [width, 1] with `vector`, the bias one of type [width].

    Example:
    ```mlir
    %1 = nn.cross_layer %x, %x, @w1, @b1 : tensor<?x64xf32>
    %2 = nn.cross_layer %x, %1, @w2, @b2 : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$first, NN_FloatTensor:$input,
    FlatSymbolRefAttr:$weight, FlatSymbolRefAttr:$bias, UnitAttr:$vector);
  let assemblyFormat = [{
    $first `,` $input `,` $weight `,` $bias (`vector` $vector^)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}
def NN_CompressedInteractionOp : NN_CompositeOp<"compressed_interaction", [ReadsModel,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A layer of xDeepFM's compressed interaction network";
  let description = [{
    Row h of the result is, element by element, the sum over all pairs of a row i of
    `first` and a row j of `input` of weight[j * fields + i, h] times their product
    (Lian et al., 2018). `first` holds the embeddings.

    Constraints:
    - (C1) First is [b, fields, width], input [b, rows, width], the result
      [b, out, width].
    - (C2) The weight is an `nn.param` or `nn.state` of type [rows * fields, out].

    Example:
    ```mlir
    %1 = nn.compressed_interaction %e, %e, @w1 : (tensor<?x26x10xf32>, tensor<?x26x10xf32>) -> tensor<?x32x10xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$first, NN_FloatTensor:$input, FlatSymbolRefAttr:$weight);
  let assemblyFormat = [{
    $first `,` $input `,` $weight attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

def NN_OneHotOp : NN_CompositeOp<"one_hot", [NN_InferType]> {
  let summary = "1 at the place of a class, 0 elsewhere";
  let description = [{
    Labels of `nn.softmax_cross_entropy` from classes that data give as numbers, from
    0 on. A number that is no class gives zeros, and then no loss. It has no gradient.

    Constraints:
    - (C1) The input is [b, 1], the result [b, classes].
    - (C2) There are at least two classes, and at most 2^24.

    Example:
    ```mlir
    %0 = nn.one_hot %y classes 8 : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$classes);
  let assemblyFormat = "$input `classes` $classes attr-dict `:` type($input)";
}

def NN_CumulativeSumOp : NN_CompositeOp<"cumulative_sum", [SameOperandsAndResultType]> {
  let summary = "Sums of all that stands before";
  let description = [{
    Element i of the last dimension is the sum of the elements 0 to i, added in ascending order;
    with `exclusive` without i itself; with `reversed` of the elements from i to the
    last. It is a product with a matrix of ones and zeros: all elements of a row are finite.
    Of the rows of bags, `nn.scan` adds.

    Constraints:
    - (C1) The input has rank 2 or more; its last dimension is static, and at most 1024.

    Example:
    ```mlir
    %0 = nn.cumulative_sum %x : tensor<?x8xf32>
    %1 = nn.cumulative_sum %x exclusive reversed : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, UnitAttr:$exclusive, UnitAttr:$reversed);
  let assemblyFormat = [{
    $input (`exclusive` $exclusive^)? (`reversed` $reversed^)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def NN_SoftmaxCrossEntropyOp : NN_CompositeOp<"softmax_cross_entropy", [MeasuresLoss, NN_InferType]> {
  let summary = "Log loss of logits of several classes, sample by sample";
  let description = [{
    -sum(labels * log_softmax(logits)) over the classes. Labels are the classes'
    probabilities, which need not be 0 and 1.

    Constraints:
    - (C1) Logits and labels have one type [b, classes], the result is [b, 1].

    Example:
    ```mlir
    %l = nn.softmax_cross_entropy %z, %y : tensor<?x8xf32>, tensor<?x8xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_FloatTensor:$labels);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type(operands)";
}

def NN_CvmOp : NN_CompositeOp<"cvm", [SameOperandsAndResultType]> {
  let summary = "Shows and clicks as logarithms, beside the rest of a row";
  let description = [{
    The first two numbers of a row count how often a feature was shown and clicked:
    they become log1p(show) and log1p(click) - log1p(show), and no gradient passes
    through them. What stands behind them stays. Without the two, a row is its
    `nn.slice`. PaddlePaddle's op of this name writes the counts of the sample to
    where their gradient would be; here counts are the model's or the data's.

    Constraints:
    - (C1) Operand and result have one type.
    - (C2) Rank 2 or more, and at least two numbers in a row.

    Example:
    ```mlir
    %0 = nn.cvm %e : tensor<?x26x11xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

class NN_CompositeLossOp<string mnemonic, string summary_, string formula,
                         string first, string second>
    : NN_CompositeOp<mnemonic, [MeasuresLoss, SameOperandsAndResultType]> {
  let summary = summary_;
  let description = formula # [{

    Constraints:
    - (C1) Operands and result have one type.

    Example:
    ```mlir
    %l = nn.}] # mnemonic # [{ %a, %b : tensor<?x1xf32>
    ```
  }];
  let arguments = !dag(ins, [NN_FloatTensor, NN_FloatTensor], [first, second]);
  let assemblyFormat = "$" # first # " `,` $" # second # " attr-dict `:` type($" # first # ")";
}

def NN_HingeLossOp : NN_CompositeLossOp<"hinge_loss", "Distance from the margin", [{
    max(0, 1 - (2 label - 1) logit), with labels 0 and 1; the derivative at the margin
    is 0.}], "logits", "labels">;
def NN_BPRLossOp : NN_CompositeLossOp<"bpr_loss", "Bayesian personalised ranking", [{
    -log(sigmoid(positive - negative)): how unlikely it is that the positive item
    stands above the negative one (Rendle et al., 2009).}], "positive", "negative">;

def NN_RankLossOp : NN_CompositeOp<"rank_loss", [MeasuresLoss, SameOperandsAndResultType]> {
  let summary = "Log loss of which of two items stands above the other";
  let description = [{
    log(1 + exp(left - right)) - label (left - right): the label says how probable it
    is that the left one does (RankNet, Burges et al., 2005).

    Constraints:
    - (C1) Operands and result have one type.

    Example:
    ```mlir
    %l = nn.rank_loss %left, %right, %y : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$left, NN_FloatTensor:$right, NN_FloatTensor:$labels);
  let assemblyFormat = "$left `,` $right `,` $labels attr-dict `:` type($left)";
}

def NN_HuberLossOp : NN_CompositeOp<"huber_loss", [MeasuresLoss, SameOperandsAndResultType]> {
  let summary = "Squared near 0, linear far from it";
  let description = [{
    With d = |prediction - label|: d^2 / 2 up to delta, delta (d - delta / 2) from
    there on.

    Constraints:
    - (C1) Operands and result have one type.
    - (C2) Delta is finite and > 0 in the element type.

    Example:
    ```mlir
    %l = nn.huber_loss %p, %y delta 0.5 : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$predictions, NN_FloatTensor:$labels,
    DefaultValuedAttr<F64Attr, "1.0">:$delta);
  let assemblyFormat = "$predictions `,` $labels (`delta` $delta^)? attr-dict `:` type($predictions)";
  let hasVerifier = 1;
}

def NN_LogLossOp : NN_CompositeOp<"log_loss", [MeasuresLoss, SameOperandsAndResultType]> {
  let summary = "Log loss of a probability";
  let description = [{
    -label log(p + epsilon) - (1 - label) log(1 - p + epsilon). Where the logit is at
    hand `nn.sigmoid_cross_entropy` loses no digits.

    Constraints:
    - (C1) Operands and result have one type.
    - (C2) Epsilon is finite and > 0 in the element type.

    Example:
    ```mlir
    %l = nn.log_loss %p, %y : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$predictions, NN_FloatTensor:$labels,
    DefaultValuedAttr<F64Attr, "1.0e-4">:$epsilon);
  let assemblyFormat = "$predictions `,` $labels (`epsilon` $epsilon^)? attr-dict `:` type($predictions)";
  let hasVerifier = 1;
}

#endif // PDLC_DIALECT_NN_IR_NNCOMPOSITEOPS_TD
