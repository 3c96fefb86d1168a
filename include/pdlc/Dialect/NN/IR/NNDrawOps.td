//===- NNDrawOps.td - Random numbers of samples -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that draw random numbers, and losses over drawn ids. The result of a draw
// depends only on the seed, the epoch, the op's random stream, the sample and
// the element (pdlabi/draws.h). It does not depend on batches, replicas,
// threads or servers. A model need not define streams: after inlining,
// nn-lower-model assigns one to each op that draws.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNDRAWOPS_TD
#define PDLC_DIALECT_NN_IR_NNDRAWOPS_TD

include "pdlc/Dialect/NN/IR/NNCompositeOps.td"

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

def NN_DropoutOp : NN_PureOp<"dropout", [NN_InferTypeOfBags,
    DeclareOpInterfaceMethods<DrawingOpInterface, ["getFrozenValue"]>, BagsOpInterface,
    NN_Rows, NN_Differentiable]> {
  let summary = "Sets random elements to zero";
  let description = [{
    An element becomes +0 with the probability `rate`. Otherwise it is
    multiplied by 1 / (1 - rate), rounded to the element type (Srivastava et
    al., 2014). The gradient draws the same elements again. In a frozen program,
    the op is the identity. For rows of bags, `of` names the bags; the elements
    of a sample are then those of all its rows, in order.

    Constraints:
    - (C1) Input and result have one type, whose first dimension is dynamic.
    - (C2) 0 <= rate < 1, and 1 / (1 - rate) is finite in f32.

    Example:
    ```mlir
    %0 = nn.dropout %x rate(0.5) : tensor<?x400xf32>
    %1 = nn.dropout %h of %history rate(0.1) : tensor<?x64xf32>, !nn.ragged<?x1x*xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, Optional<NN_Bags>:$bags, F64Attr:$rate,
    OptionalAttr<I64Attr>:$stream);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`of` $bags^)? `rate` `(` $rate `)` (`stream` `(` $stream^ `)`)? attr-dict
    `:` type(operands)
  }];
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::getRowsOfOperand(::mlir::OpOperand &) { return getBags(); }
    ::mlir::Value $cppClass::getRowsOfResult() { return getBags(); }
  }];
}

//===----------------------------------------------------------------------===//
// Samplers
//===----------------------------------------------------------------------===//

def NN_SampleOp : NN_PureOp<"sample", [DrawingOpInterface, NN_InferType, StopsGradients]> {
  let summary = "Random ids, drawn for each sample";
  let description = [{
    Draws `count` ids for each sample, independently and with replacement, from
    those with `first <= id < behind`. The distribution is one of the following.

    `uniform`: all ids have the same probability.

    `log_uniform`: id `first + k` has the probability
    `log((k + 2) / (k + 1)) / log(behind - first + 1)`. It suits ids that are
    numbered by decreasing frequency.

    `counts(#seen) power(0.75)`: the probability of id `first + k` is proportional
    to count k of `#seen`, raised to the power 0.75. Ids with count 0 are never
    drawn. Power 1 draws ids in proportion to their counts, and power 0 gives
    all counted ids the same probability.

    A frozen program also draws ids, as in epoch 0.

    Constraints:
    - (C1) 1 <= count <= 65536. The result is [b, count].
    - (C2) `first < behind`. `log_uniform` has at most 2^48 ids.
    - (C3) A list of counts is given exactly with `counts`. It has one count for
      each id, at most 2^24. No count is below 0, and at least one is above 0.
    - (C4) 0 <= power <= 8.

    Example:
    ```mlir
    %n = nn.sample 5 from 0 below 50000 log_uniform : tensor<?x5xi64>
    %e = nn.lookup @item[%n] pool(sum) : (tensor<?x5xi64>) -> tensor<?x5x64xf32>
    %c = nn.sample 2 from 0 below 4 counts(dense<[90, 40, 0, 7]> : tensor<4xi64>) power(0.75) : tensor<?x2xi64>
    ```
  }];
  let arguments = (ins I64Attr:$count, I64Attr:$first, I64Attr:$behind,
    NN_DistributionAttr:$distribution, OptionalAttr<I64ElementsAttr>:$counts,
    OptionalAttr<F64Attr>:$power, OptionalAttr<I64Attr>:$stream);
  let results = (outs NN_IdTensor:$result);
  let assemblyFormat = [{
    $count `from` $first `below` $behind $distribution
    (`(` $counts^ `)` `power` `(` $power `)`)? (`stream` `(` $stream^ `)`)? attr-dict
    `:` type($result)
  }];
  let extraClassDeclaration = [{
    /// Returns the argument `table` of `pdlrt_sample`
    /// (`pdlabi::writeDrawTable`). Empty unless the distribution is `counts`.
    ::std::vector<double> getDrawTable();
  }];
}

def NN_LogProbabilityOp : NN_PureOp<"log_probability", [PreparesStep, StopsGradients]> {
  let summary = "Log probability that nn.sample draws an id";
  let description = [{
    Returns the logarithm of the probability that one draw gives the id. An id
    that is out of range or has a count of 0 is never drawn, and has no
    logarithm. If the ids come from fields, directly or through `nn.slice`,
    `nn.concat` and `nn.reshape`, a row with such an id is a bad row, which
    `--max-bad-rows` allows. If the model computes the ids, such an id stops the
    program.

    Constraints:
    - (C1) The result has the shape of the ids, whose first dimension is
      dynamic.
    - (C2) As for `nn.sample` (C2).
    - (C3) As for `nn.sample` (C3).
    - (C4) As for `nn.sample` (C4).

    Example:
    ```mlir
    %q = nn.log_probability %item from 0 below 50000 log_uniform : (tensor<?x1xi64>) -> tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_IdTensor:$ids, I64Attr:$first, I64Attr:$behind,
    NN_DistributionAttr:$distribution, OptionalAttr<I64ElementsAttr>:$counts,
    OptionalAttr<F64Attr>:$power);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $ids `from` $first `below` $behind $distribution
    (`(` $counts^ `)` `power` `(` $power `)`)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the argument `logarithms` of `pdlrt_log_probability`. Empty
    /// unless the distribution is `counts`.
    ::std::vector<double> getLogarithms();
  }];
}

def NN_AccidentalHitsOp : NN_PureOp<"accidental_hits", [StopsGradients]> {
  let summary = "1 if a drawn id is one of the sample's own ids, else 0";
  let description = [{
    The losses over drawn ids take the result as `hits`.

    Constraints:
    - (C1) Own ids are [b, n], drawn ids [b, m], and the result is [b, m].

    Example:
    ```mlir
    %h = nn.accidental_hits %item, %n : (tensor<?x1xi64>, tensor<?x5xi64>) -> tensor<?x5xf32>
    ```
  }];
  let arguments = (ins NN_IdTensor:$own, NN_IdTensor:$drawn);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$own `,` $drawn attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Losses over drawn ids
//===----------------------------------------------------------------------===//

class NN_SampledLossOp<string mnemonic, string summary_, string formula, string example>
    : NN_CompositeOp<mnemonic, [MeasuresLoss, NN_InferType]> {
  let summary = summary_;
  let description = formula # [{

    Constraints:
    - (C1) The logits of the sample's own id are [b, 1], and those of the drawn
      ids [b, n]. The result is [b, 1].
    - (C2) Corrections have the types of the logits that they correct. Hits have
      the type of the logits of the drawn ids.

    Example:
    ```mlir
    %l = nn.}] # mnemonic # example # [{
    ```
  }];
  let hasVerifier = 1;
}

class NN_CorrectedLossOp<string mnemonic, string summary_, string formula>
    : NN_SampledLossOp<mnemonic, summary_, formula, [{ %z, %zn correction %q, %qn hits %h
      : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>}]> {
  let arguments = (ins NN_FloatTensor:$own, NN_FloatTensor:$drawn, NN_FloatTensor:$own_correction,
    NN_FloatTensor:$drawn_correction, Optional<NN_FloatTensor>:$hits);
  let assemblyFormat = [{
    $own `,` $drawn `correction` $own_correction `,` $drawn_correction (`hits` $hits^)? attr-dict
    `:` type(operands)
  }];
}

def NN_SampledSoftmaxOp : NN_CorrectedLossOp<"sampled_softmax",
  "Softmax log loss of the sample's own id among drawn ids", [{
    -log_softmax, at the own id, over the logits of the own id and of the drawn
    ids. The `nn.log_probability` of each id is subtracted from its logit first
    (Jean et al., 2015). With `hits` (`nn.accidental_hits`), a drawn id that
    equals the own id does not count again.}]>;

def NN_NCELossOp : NN_CorrectedLossOp<"nce_loss", "Noise-contrastive estimation", [{
    The sum of softplus(-s) of the own id and softplus(s) of each drawn id, where
    s = logit - log_probability - log(n) (Gutmann and Hyvarinen, 2010; Mnih and
    Teh, 2012). With `hits` (`nn.accidental_hits`), a drawn id that equals the
    own id adds nothing.}]>;

def NN_NegativeSamplingOp : NN_SampledLossOp<"negative_sampling",
  "Log loss of the sample's own id against drawn ids", [{
    The sum of softplus(-logit) of the own id and softplus(logit) of each drawn
    id (Mikolov et al., 2013). With `hits` (`nn.accidental_hits`), a drawn id
    that equals the own id adds nothing.}], [{ %z, %zn hits %h
      : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>}]> {
  let arguments = (ins NN_FloatTensor:$own, NN_FloatTensor:$drawn, Optional<NN_FloatTensor>:$hits);
  let assemblyFormat = [{
    $own `,` $drawn (`hits` $hits^)? attr-dict `:` type(operands)
  }];
}

#endif // PDLC_DIALECT_NN_IR_NNDRAWOPS_TD
