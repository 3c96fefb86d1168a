//===- NNDrawOps.td - Random numbers of samples -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that draw, and losses of what was drawn. What is drawn is a function of the
// seed, the epoch, the op's stream, the sample and the element (pdlabi/draws.h): of
// no batch, replica, thread or server. A model need not name streams: nn-lower-model
// numbers ops of one name through a program, with its functions inlined.
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
  let summary = "Some elements, drawn at random, are zero";
  let description = [{
    An element is +0 with the probability `rate`, else it is multiplied by
    1 / (1 - rate), rounded to the element type (Srivastava et al., 2014). The
    gradient draws the same elements again. In a program that is frozen it is the
    identity. Rows of bags say whose: then a sample's elements are those of all its
    rows, in order.

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
  let summary = "Ids drawn at random, for each sample its own";
  let description = [{
    `count` ids a sample, each by itself, so that one may come twice, from those with
    first <= id < behind. `uniform`: all alike. `log_uniform`: id first + k with the
    probability log((k + 2) / (k + 1)) / log(behind - first + 1), which suits ids that
    are numbered by falling frequency. `counts(#seen) power(0.75)`: id first + k with a
    probability in proportion to the 0.75th power of count k of `#seen`, so never if
    that is 0; power 1 draws ids as often as they were counted, power 0 all that were.
    A frozen program draws, too, with its own seed.

    Constraints:
    - (C1) 1 <= count <= 65536; the result is [b, count].
    - (C2) first < behind; `log_uniform` has at most 2^48 ids.
    - (C3) With `counts`, and with nothing else, there is a list of counts: one for each
      id, at most 2^24, none below 0, and one above.
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
    /// The table of `pdlrt_sample`; empty unless by counts.
    ::std::vector<double> getDrawTable();
  }];
}

def NN_LogProbabilityOp : NN_PureOp<"log_probability", [PreparesStep, StopsGradients]> {
  let summary = "How probable it is that nn.sample draws an id";
  let description = [{
    The logarithm of the probability with which one draw gives the id. A batch with an
    id that is never drawn, as it is none of the range or has a count of 0, stops the
    program.

    Constraints:
    - (C1) The result has the shape of the ids, whose first dimension is dynamic.
    - (C2) As `nn.sample` (C2).
    - (C3) As `nn.sample` (C3).
    - (C4) As `nn.sample` (C4).

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
    /// The table of `pdlrt_log_probability`; empty unless by counts.
    ::std::vector<double> getLogarithms();
  }];
}

def NN_AccidentalHitsOp : NN_PureOp<"accidental_hits", [StopsGradients]> {
  let summary = "1 where an id that was drawn is one of the sample's own, else 0";
  let description = [{
    Constraints:
    - (C1) Own ids are [b, n], drawn ones [b, m], the result is [b, m].

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
// Losses of what was drawn
//===----------------------------------------------------------------------===//

class NN_SampledLossOp<string mnemonic, string summary_, string formula, string example>
    : NN_CompositeOp<mnemonic, [MeasuresLoss, NN_InferType]> {
  let summary = summary_;
  let description = formula # [{

    Constraints:
    - (C1) Logits of the sample's own id are [b, 1], those of the ids that were drawn
      [b, n]; the result is [b, 1].
    - (C2) Corrections have the types of the logits that they correct, hits that of
      the logits of the ids that were drawn.

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
  "Log loss of the sample's own id among some that were drawn", [{
    -log_softmax, at the own id, of the own logit and those of the ids that were drawn,
    each less its `nn.log_probability` (Jean et al., 2015). With `hits`
    (`nn.accidental_hits`) an id that is the sample's own counts once.}]>;

def NN_NCELossOp : NN_CorrectedLossOp<"nce_loss", "Noise-contrastive estimation", [{
    softplus(-s) of the own id, and softplus(s) of each that was drawn, summed, with
    s = logit - log_probability - log(n) (Gutmann and Hyvarinen, 2010; Mnih and Teh,
    2012). With `hits` (`nn.accidental_hits`) an id that is the sample's own adds
    nothing.}]>;

def NN_NegativeSamplingOp : NN_SampledLossOp<"negative_sampling",
  "Log loss of the sample's own id against some that were drawn", [{
    softplus(-logit) of the own id, and softplus(logit) of each that was drawn, summed
    (Mikolov et al., 2013). With `hits` (`nn.accidental_hits`) an id that is the
    sample's own adds nothing.}], [{ %z, %zn hits %h
      : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>}]> {
  let arguments = (ins NN_FloatTensor:$own, NN_FloatTensor:$drawn, Optional<NN_FloatTensor>:$hits);
  let assemblyFormat = [{
    $own `,` $drawn (`hits` $hits^)? attr-dict `:` type(operands)
  }];
}

#endif // PDLC_DIALECT_NN_IR_NNDRAWOPS_TD
