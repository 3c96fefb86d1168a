//===- NNCompositeOps.td - Ops that expand to other ops -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Common layers and losses that expand to a few other ops. Such an op needs
// only its types and its expansion (lib/Dialect/NN/Composite). Its adjoint,
// evaluation and lowering are those of the ops to which it expands.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNCOMPOSITEOPS_TD
#define PDLC_DIALECT_NN_IR_NNCOMPOSITEOPS_TD

include "pdlc/Dialect/NN/IR/NNOpTraits.td"

class NN_CompositeOp<string mnemonic, list<Trait> traits = []>
    : NN_PureOp<mnemonic, !listconcat([NN_Composite], traits)> {
  let results = (outs NN_FloatTensor:$result);
}

//===----------------------------------------------------------------------===//
// Normalization
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
    exp(x - m) / sum(exp(x - m)), where m is the maximum along the axis, so that
    no exponential overflows. No gradient passes through m; the gradient of the
    result is the same.}]>;
def NN_LogSoftmaxOp : NN_SoftmaxLikeOp<"log_softmax", "Logarithm of the softmax", [{
    x - m - log(sum(exp(x - m))), where m is the maximum along the axis.}]>;

def NN_LayerNormOp : NN_CompositeOp<"layer_norm", [AttrSizedOperandSegments, NN_InferType]> {
  let summary = "Rows with mean 0 and standard deviation 1, scaled and shifted";
  let description = [{
    Over the last dimension: (x - mean) / sqrt(mean((x - mean)^2) + epsilon),
    times `scale` and plus `shift`, if given (Ba et al., 2016).

    Constraints:
    - (C1) Input and result have one type of rank 2 or more.
    - (C2) Scale and shift are vectors with the size of the last dimension and
      the element type of the input.
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
    Each replica sums over its own batch, in the order of the samples, from +0.
    The result for a sample therefore depends on the other samples in the batch;
    docs/Modes.md describes this for each mode. For rows of bags, it is the sum
    over all rows.

    Constraints:
    - (C1) The input is [b, d, ...], with b the batch. The result is [d, ...].

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
  let summary = "Features with mean 0 and standard deviation 1 over the batch";
  let description = [{
    (x - mean) / sqrt(variance + epsilon), for each feature of the last
    dimension (Ioffe and Szegedy, 2015). Use separate ops for scale and shift.

    In a program with an `nn.minimize`, mean and variance are those of the
    replica's batch, including the middle dimensions, and gradients flow through
    them. `nn.accumulate` adds, for each sample, x to the state `mean` and (x -
    mean)^2 to the state `variance`. The variance is divided by the number of
    samples, not by that number minus 1.

    In all other programs, mean and variance are the values of these states. Put
    the states in a group with `rule(@moving_average) rate(0.1)`. This learning
    rate is 1 - momentum.

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
  let summary = "Features with mean 0 and standard deviation 1 over all data so far";
  let description = [{
    (x - sum / size) * sqrt(size / square_sum), for each feature, with the
    values of the three states before the step. Samples do not mix, and no
    gradient flows into the states. In a program with an `nn.minimize`,
    `nn.accumulate` adds, for each sample, 1 to `size`, x to `sum`, and (x - sum
    / size)^2 + epsilon to `square_sum`. Put the states in a group with
    `rule(@running_sum)`. `size` and `square_sum` must start above 0, for
    example at 1e4, with `sum` at 0.

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

def NN_L2NormalizeOp : NN_CompositeOp<"l2_normalize", [SameOperandsAndResultType]> {
  let summary = "Scales rows to length 1";
  let description = [{
    Over the last dimension: x / sqrt(max(sum(x^2), epsilon)). A row shorter
    than sqrt(epsilon) is divided by sqrt(epsilon).

    Constraints:
    - (C1) Operand and result have one type of rank 2 or more.
    - (C2) Epsilon is finite and > 0 in the element type.

    Example:
    ```mlir
    %0 = nn.l2_normalize %x : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, DefaultValuedAttr<F64Attr, "1.0e-12">:$epsilon);
  let assemblyFormat = "$input (`epsilon` $epsilon^)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def NN_CosineSimilarityOp : NN_CompositeOp<"cosine_similarity", [NN_InferType]> {
  let summary = "Cosine of the angle between rows";
  let description = [{
    Over the last dimension, which becomes a unit dimension: sum(a b) /
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
// Feature interactions
//===----------------------------------------------------------------------===//

def NN_FactorizationOp : NN_CompositeOp<"factorization", [NN_InferType]> {
  let summary = "Second-order term of a factorization machine";
  let description = [{
    Sums the dot products of all pairs of rows of a sample, in linear time: half
    the sum over the width of (sum of the rows)^2 - sum of (row^2) (Rendle,
    2010). The first-order term is a lookup of width 1, pooled and added.

    Constraints:
    - (C1) The input is [b, fields, width], and the result [b, 1].

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
    For each sample, the dot products of rows i and j < i, in the order (1, 0),
    (2, 0), (2, 1), and so on. This is the interaction of DLRM (Naumov et al.,
    2019). `self` adds the pairs with j = i.

    Constraints:
    - (C1) The input is [b, fields, width] with at least two fields, and the
      result [b, pairs].

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
  let summary = "A cross layer of a deep and cross network";
  let description = [{
    With a weight of type [width, width]: first * (input * weight + bias) +
    input, as in DCN v2 (Wang et al., 2021). With `vector` and a weight of type
    [width, 1]: first * (input * weight) + bias + input, as in DCN (Wang et al.,
    2017). `first` is the input of the first cross layer.

    Constraints:
    - (C1) First, input and result have one type [b, width].
    - (C2) The weight is an `nn.param` or `nn.state` of type [width, width], or
      [width, 1] with `vector`. The bias is one of type [width].

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
  let summary = "A layer of the compressed interaction network of xDeepFM";
  let description = [{
    Row h of the result is a weighted sum over all pairs of a row i of `first`
    and a row j of `input`. Each pair contributes its elementwise product,
    multiplied by weight[j * fields + i, h] (Lian et al., 2018). `first` holds
    the embeddings.

    Constraints:
    - (C1) First is [b, fields, width], input is [b, rows, width], and the
      result is [b, out, width].
    - (C2) The weight is an `nn.param` or `nn.state` of type [rows * fields,
      out].

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
  let summary = "1 at the position of a class, 0 elsewhere";
  let description = [{
    Converts class numbers, from 0 on, to the labels of
    `nn.softmax_cross_entropy`. A number that is not a class gives zeros, and
    therefore no loss. The op has no gradient.

    Constraints:
    - (C1) The input is [b, 1], and the result [b, classes].
    - (C2) There are at least two classes, and at most 2^24.

    Example:
    ```mlir
    %0 = nn.one_hot %y classes 8 : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$classes);
  let assemblyFormat = "$input `classes` $classes attr-dict `:` type($input)";
}

def NN_SoftmaxCrossEntropyOp : NN_CompositeOp<"softmax_cross_entropy", [MeasuresLoss, NN_InferType]> {
  let summary = "Log loss of the logits of several classes, for each sample";
  let description = [{
    -sum(labels * log_softmax(logits)) over the classes. Labels are the
    probabilities of the classes, which may differ from 0 and 1.

    Constraints:
    - (C1) Logits and labels have one type [b, classes]. The result is [b, 1].

    Example:
    ```mlir
    %l = nn.softmax_cross_entropy %z, %y : tensor<?x8xf32>, tensor<?x8xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_FloatTensor:$labels);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type(operands)";
}

def NN_CvmOp : NN_CompositeOp<"cvm", [SameOperandsAndResultType]> {
  let summary = "Logarithms of shows and clicks, followed by the rest of a row";
  let description = [{
    The first two numbers of a row count how often a feature was shown and
    clicked. They become log1p(show) and log1p(click) - log1p(show), and no
    gradient passes through them. The other numbers stay unchanged. To drop the
    counts, use `nn.slice`. The op of the same name in PaddlePaddle also updates
    the counts, through their gradient. This op does not; the counts come from
    the model or the data.

    Constraints:
    - (C1) Operand and result have one type.
    - (C2) The rank is 2 or more, and a row has at least two numbers.

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
    max(0, 1 - (2 label - 1) logit), for labels 0 and 1. The derivative at the
    margin is 0.}], "logits", "labels">;
def NN_BPRLossOp : NN_CompositeLossOp<"bpr_loss", "Bayesian personalized ranking", [{
    -log(sigmoid(positive - negative)), the negative log probability that the
    positive item ranks above the negative one (Rendle et al., 2009).}], "positive", "negative">;

def NN_RankLossOp : NN_CompositeOp<"rank_loss", [MeasuresLoss, SameOperandsAndResultType]> {
  let summary = "Log loss of the order of two items";
  let description = [{
    log(1 + exp(left - right)) - label (left - right). The label is the
    probability that the left item ranks above the right one (RankNet, Burges et
    al., 2005).

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
  let summary = "Squared error near 0, linear error beyond";
  let description = [{
    With d = |prediction - label|: d^2 / 2 for d up to delta, and delta (d -
    delta / 2) for larger d.

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
    -label log(p + epsilon) - (1 - label) log(1 - p + epsilon). If the logit is
    available, prefer `nn.sigmoid_cross_entropy`, which loses no digits.

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
