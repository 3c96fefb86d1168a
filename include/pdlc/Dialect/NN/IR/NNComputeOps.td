//===- NNComputeOps.td - Computation in a model -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNCOMPUTEOPS_TD
#define PDLC_DIALECT_NN_IR_NNCOMPUTEOPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pdlc/Dialect/NN/IR/NNAttributes.td"
include "pdlc/Dialect/NN/IR/NNTypes.td"
include "pdlc/Interfaces/DifferentiableOpInterface.td"
include "pdlc/Interfaces/ElementwiseOpInterface.td"

// Only the first dimension of each tensor operand and result may be dynamic.
def NN_BatchFirst : NativeOpTrait<"BatchFirst"> { let cppNamespace = "::pdlc::nn"; }

def NN_Elementwise : DeclareOpInterfaceMethods<ElementwiseOpInterface>;
// ... that the runtime's matrix products know as a post-op.
def NN_ElementwisePostOp : DeclareOpInterfaceMethods<ElementwiseOpInterface, ["asPostOp"]>;

def NN_Differentiable :
  DeclareOpInterfaceMethods<DifferentiableOpInterface, ["getResiduals"]>;
def NN_DifferentiableSome :
  DeclareOpInterfaceMethods<DifferentiableOpInterface, ["isDifferentiable", "getResiduals"]>;

// Infers result types from an op's adaptor, where text is parsed, too: the text has
// the types of operands alone. Operands are tensors of which BatchFirst holds, and
// bags, where `mayBeBags` says so. The trait says what is wrong with result types in
// one sentence, so the interface's own check, which would add a second one, finds
// nothing.
class NN_InferredTypes<string mayBeBags> : NativeOpTrait<"InferredTypes", [], [{
    static ::llvm::LogicalResult
    inferReturnTypes(::mlir::MLIRContext *context,
                     std::optional<::mlir::Location> location, Adaptor adaptor,
                     ::llvm::SmallVectorImpl<::mlir::Type> &types);
    static ::llvm::LogicalResult
    refineReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location>,
                      ::mlir::ValueRange, ::mlir::DictionaryAttr,
                      ::mlir::OpaqueProperties, ::mlir::RegionRange,
                      ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::llvm::success();
    }
  }], [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      if (failed(::pdlc::nn::verifyOperandTypes(location, getOperationName(), operands,
                                                /*mayBeBags=*/}] # mayBeBags # [{)))
        return ::mlir::failure();
      return inferReturnTypes(context, location,
                              Adaptor(operands, attributes, properties, regions), types);
    }
  }]> {
  let cppNamespace = "::pdlc::nn";
}
class NN_InferTypeFrom<string mayBeBags> : TraitList<[
  DeclareOpInterfaceMethods<InferTypeOpInterface>, NN_InferredTypes<mayBeBags>]>;
def NN_InferType : NN_InferTypeFrom<"false">;
def NN_InferTypeOfBags : NN_InferTypeFrom<"true">;

def NN_SpelledOut : StandsUntil<"Model", "nn-lower-model spells it out">;
def NN_SaysItself : DeclareOpInterfaceMethods<CompositeOpInterface>;
// ... as the ops that CompositeOpInterface builds.
def NN_Composite : TraitList<[NN_SpelledOut, NN_SaysItself]>;
def NN_MayMixSamples : DeclareOpInterfaceMethods<SampleMixingOpInterface>;

def NN_Rows : DeclareOpInterfaceMethods<RowsOpInterface>;
// Operands may hold floats of both types: each stands for itself, or only counts rows.
def NN_MayMixFloats : NativeOpTrait<"MayMixFloats"> { let cppNamespace = "::pdlc::nn"; }

class NN_PureOp<string mnemonic, list<Trait> traits = []>
    : NN_BodyOp<mnemonic, !listconcat([Pure, NN_BatchFirst], traits)>;

//===----------------------------------------------------------------------===//
// Lookup and linear layers: named state, phase `model` only
//===----------------------------------------------------------------------===//

def NN_LookupOp : NN_BodyOp<"lookup", [NN_BatchFirst, NN_Composite, ReadsModel,
    DeclareOpInterfaceMethods<RowsOpInterface, ["leadsToOtherRows"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Rows of a table, pooled by bag or one by one";
  let description = [{
    Looks every id up and pools the rows of each bag: `sum`, `mean` (sum divided
    by the bag's size) or `sqrtn` (divided by its root). An empty bag gives
    zeros. Rows are added in bag order. A tensor of ids is a tensor of bags of
    one id each.

    With `none` there is one row for each id of the bags, in their order: a history
    as it is. The first dimension of the result counts ids then; ops keep to tensors
    that count the same, and those named `nn.segment_...` lead from samples to
    their rows and back.

    With `weights`, one number for each id of the bags, rows are multiplied by theirs
    before they are added; `mean` divides by the sum of the bag's weights, `sqrtn` by
    the root of the sum of their squares. Where that divisor is 0 nothing is
    divided. Weights have gradients like rows: they may be computed from fields, as
    by `nn.cast`, or looked up.

    Phase `merged` turns all lookups of one table into `nn.unique`, `nn.pull`
    and `nn.pool`, those with weights into a lookup without pooling and sums of its
    rows.

    Constraints:
    - (C1) The symbol is an `nn.table`.
    - (C2) Ids of shape [b, s], with b the batch (dynamic), or, of a tensor, rows of
      bags, give a result of shape [b, s, width]; bags without pooling one of shape
      [ids, width].
    - (C3) Ids derive from fields and constants alone, not from parameters, states
      or tables.
    - (C4) Ids that are looked up without pooling, or with weights, are those of a
      field, or what `nn.id_arithmetic` makes of them.
    - (C5) Weights stand with bags and a pooling, and have shape [ids, 1] and the
      result's element type.

    Example:
    ```mlir
    %e = nn.lookup @emb[%c] pool(sum) : (!nn.ragged<?x26x*xi64>) -> tensor<?x26x10xf32>
    %h = nn.lookup @emb[%c] pool(none) : (!nn.ragged<?x26x*xi64>) -> tensor<?x10xf32>
    %m = nn.lookup @emb[%c] weights(%w) pool(mean) : (!nn.ragged<?x26x*xi64>, tensor<?x1xf32>) -> tensor<?x26x10xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$table, NN_Ids:$ids,
    Optional<NN_FloatTensor>:$weights, OptionalAttr<NN_PoolingAttr>:$pooling);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $table `[` $ids `]` (`weights` `(` $weights^ `)`)?
    `pool` `(` custom<LookupPooling>($pooling) `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_LinearOp : NN_BodyOp<"linear", [NN_BatchFirst, NN_Composite, ReadsModel,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "activation(input * weight + bias)";
  let description = [{
    Each output element is one chain of fused multiply-adds over the input
    features, ascending, from +0; then the bias; then the activation: any
    elementwise op of one operand and no attributes, by its name without `nn.`;
    or `none`.

    Phase `merged` turns it into `nn.read`, `nn.matmul`, `nn.add` and the activation.

    Constraints:
    - (C1) The input is [b, ..., in], the weight an `nn.param` or `nn.state` of type
      [in, out], the bias one of type [out], the result [b, ..., out].
    - (C2) The activation is such an op.

    Example:
    ```mlir
    %h = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x273xf32>) -> tensor<?x400xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, FlatSymbolRefAttr:$weight,
    OptionalAttr<FlatSymbolRefAttr>:$bias,
    OptionalAttr<StrAttr>:$activation);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`,` $bias^)? (`act` `(` custom<Activation>($activation)^ `)`)? attr-dict
    `:` functional-type($input, results)
  }];
  let hasVerifier = 1;
}

def NN_ReadOp : NN_BodyOp<"read", [MemoryEffects<[MemRead]>, StopsGradients,
    ReadsModel,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a parameter or state at program entry";
  let description = [{
    Constraints:
    - (C1) The symbol is an `nn.param` or `nn.state` of the result type.

    Example:
    ```mlir
    %w = nn.read @w1 : tensor<273x400xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$symbol attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

class NN_UnaryOp<string mnemonic, string summary_, string formula,
                 Trait differentiable = NN_Differentiable,
                 Trait elementwise = NN_Elementwise>
    : NN_PureOp<mnemonic, [elementwise, SameOperandsAndResultType, differentiable]> {
  let summary = summary_;
  let description = formula # [{

    Constraints:
    - (C1) Operand and result have one type.

    Example:
    ```mlir
    %0 = nn.}] # mnemonic # [{ %x : tensor<?x13xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def NN_NegOp : NN_UnaryOp<"neg", "Negation", "-x.">;
def NN_AbsOp : NN_UnaryOp<"abs", "Absolute value", "|x|; the derivative at 0 is 0.">;
def NN_SignOp : NN_UnaryOp<"sign", "Sign", "-1, 0 or 1; NaN stays NaN; the derivative is 0.",
  NN_DifferentiableSome>;
def NN_ExpOp : NN_UnaryOp<"exp", "Exponential", "e^x.">;
def NN_LogOp : NN_UnaryOp<"log", "Natural logarithm", "log(x).">;
def NN_Log1pOp : NN_UnaryOp<"log1p", "Logarithm of 1 + x", "log(1 + x).">;
def NN_SqrtOp : NN_UnaryOp<"sqrt", "Square root", "Correctly rounded.">;
def NN_TanhOp : NN_UnaryOp<"tanh", "Hyperbolic tangent", "tanh(x).">;
def NN_SinOp : NN_UnaryOp<"sin", "Sine",
  "sin(x), for |x| up to 2^24; NaN beyond, where a float is no angle any more.">;
def NN_CosOp : NN_UnaryOp<"cos", "Cosine",
  "cos(x), for |x| up to 2^24; NaN beyond, where a float is no angle any more.">;
def NN_SigmoidOp : NN_UnaryOp<"sigmoid", "Logistic function", "1 / (1 + exp(-x)).">;
def NN_ReluOp : NN_UnaryOp<"relu", "Rectifier",
  "x <= 0 ? +0 : x. NaN survives; the derivative at 0 is 0.",
  NN_Differentiable, NN_ElementwisePostOp>;
def NN_GeluOp : NN_UnaryOp<"gelu", "Gaussian error linear unit, by tanh", [{
    x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): the form of Hendrycks and
    Gimpel (2016) that needs no erf, within 5e-4 of x times the normal
    distribution function. PyTorch has it as approximate='tanh'.}]>;
def NN_ErfOp : NN_UnaryOp<"erf", "Error function", [{
    2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x, by the rational
    approximations of Cody (1969).}]>;
def NN_GeluErfOp : NN_UnaryOp<"gelu_erf", "Gaussian error linear unit, by erf", [{
    x / 2 (1 + erf(x / sqrt(2))): x times the normal distribution function, as
    `nn.erf` gives it. PyTorch has it as approximate='none', which is its default;
    `nn.gelu` is the form by tanh.}]>;
def NN_SignedLog1pOp : NN_UnaryOp<"signed_log1p", "sign(x) log1p(|x|)",
  "Tames counts that may be negative.">;
def NN_FloorOp : NN_UnaryOp<"floor", "Largest whole number that is not larger",
  "The derivative is 0.", NN_DifferentiableSome>;
def NN_RsqrtOp : NN_UnaryOp<"rsqrt", "Reciprocal square root",
  "1 / sqrt(x), both correctly rounded.">;
def NN_SoftplusOp : NN_UnaryOp<"softplus", "Smooth rectifier",
  "log(1 + exp(x)), computed as max(x, 0) + log1p(exp(-|x|)).">;
def NN_SwishOp : NN_UnaryOp<"swish", "Sigmoid linear unit",
  "x sigmoid(x): SiLU, the form of Ramachandran et al. (2017) with beta = 1.">;
def NN_HardSigmoidOp : NN_UnaryOp<"hard_sigmoid", "Piecewise linear sigmoid", [{
    min(max(x + 3, 0), 6) / 6, as in PyTorch; the derivative is 0 at -3 and at 3.
    Paddle's has 0.2 for 1/6.}]>;

/// An op of one operand with numbers of its own.
class NN_NumberedUnaryOp<string mnemonic, string summary_, string formula, dag numbers,
                         string clauses, string example, string constraint>
    : NN_PureOp<mnemonic, [NN_Elementwise, SameOperandsAndResultType, NN_Differentiable]> {
  let summary = summary_;
  let description = formula # [{

    Constraints:
    - (C1) Operand and result have one type.
    - (C2) }] # constraint # [{

    Example:
    ```mlir
    %0 = nn.}] # mnemonic # " %x " # example # [{ : tensor<?x13xf32>
    ```
  }];
  let arguments = !con((ins NN_FloatTensor:$input), numbers);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input " # clauses # " attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def NN_LeakyReluOp : NN_NumberedUnaryOp<"leaky_relu", "Rectifier that lets a part through",
  "x > 0 ? x : slope x. The derivative at 0 is the slope.",
  (ins DefaultValuedAttr<F64Attr, "0.01">:$slope), "(`slope` $slope^)?", "slope 0.1",
  "The slope is finite.">;
def NN_EluOp : NN_NumberedUnaryOp<"elu", "Exponential linear unit",
  "x > 0 ? x : alpha (exp(x) - 1). The derivative at 0 is alpha.",
  (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha), "(`alpha` $alpha^)?", "alpha 0.5",
  "Alpha is finite.">;
def NN_ClampOp : NN_NumberedUnaryOp<"clamp", "Within two bounds",
  "min(max(x, lower), upper). NaN survives; the derivative at the bounds is 1.",
  (ins F64Attr:$lower, F64Attr:$upper), "`from` $lower `to` $upper", "from 0.0 to 6.0",
  "The bounds are no NaN, and the lower one is not above the upper one.">;
def NN_PowOp : NN_NumberedUnaryOp<"pow", "Power with a fixed exponent", [{
    x^exponent, as C's pow: NaN for a negative x unless the exponent is whole. f32
    is computed in f64 and rounded once. For x^2 a product is faster.}],
  (ins F64Attr:$exponent), "`exponent` $exponent", "exponent 1.5",
  "The exponent is finite.">;

def NN_StopGradientOp : NN_UnaryOp<"stop_gradient", "Identity that gradients do not pass",
  "x; the cotangent is zero.", NN_DifferentiableSome>;

class NN_BinaryOp<string mnemonic, string summary_, string formula,
                  Trait differentiable = NN_Differentiable,
                  Trait elementwise = NN_Elementwise>
    : NN_PureOp<mnemonic, [elementwise, differentiable, NN_InferType]> {
  let summary = summary_;
  let description = formula # [{ Shapes broadcast as in NumPy: aligned at the
    last dimension, a missing or unit dimension is repeated.

    Constraints:
    - (C1) The element types agree and the shapes broadcast to the result's.
    - (C2) A dynamic dimension meets a dynamic one, a unit or a missing one.

    Example:
    ```mlir
    %0 = nn.}] # mnemonic # [{ %a, %b : tensor<?x4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type(operands)";
}

def NN_AddOp : NN_BinaryOp<"add", "Sum", "a + b.", NN_Differentiable,
  NN_ElementwisePostOp>;
def NN_SubOp : NN_BinaryOp<"sub", "Difference", "a - b.">;
def NN_MulOp : NN_BinaryOp<"mul", "Product", "a * b.">;
def NN_DivOp : NN_BinaryOp<"div", "Quotient", "a / b.">;
def NN_MaxOp : NN_BinaryOp<"max", "Larger of two",
  "The larger; NaN if either is NaN. Equal operands share the cotangent by halves.">;
def NN_MinOp : NN_BinaryOp<"min", "Smaller of two",
  "The smaller; NaN if either is NaN. Equal operands share the cotangent by halves.">;
def NN_EqualOp : NN_BinaryOp<"equal", "1 where equal, else 0",
  "a == b ? 1 : 0, with derivative 0.", NN_DifferentiableSome>;
def NN_GreaterOp : NN_BinaryOp<"greater", "1 where greater, else 0",
  "a > b ? 1 : 0, with derivative 0.", NN_DifferentiableSome>;

def NN_GreaterEqualOp : NN_BinaryOp<"greater_equal", "1 where greater or equal, else 0",
  "a >= b ? 1 : 0, with derivative 0; 0 if either is NaN.", NN_DifferentiableSome>;
def NN_LessOp : NN_BinaryOp<"less", "1 where less, else 0",
  "a < b ? 1 : 0, with derivative 0; 0 if either is NaN.", NN_DifferentiableSome>;
def NN_LessEqualOp : NN_BinaryOp<"less_equal", "1 where less or equal, else 0",
  "a <= b ? 1 : 0, with derivative 0; 0 if either is NaN.", NN_DifferentiableSome>;
def NN_NotEqualOp : NN_BinaryOp<"not_equal", "1 where not equal, else 0",
  "a == b ? 0 : 1, with derivative 0; 1 if either is NaN.", NN_DifferentiableSome>;

def NN_SelectOp : NN_PureOp<"select", [NN_Elementwise, NN_DifferentiableSome, NN_InferType]> {
  let summary = "One of two values";
  let description = [{
    condition != 0 ? yes : no, where comparisons such as `nn.greater` make the
    condition; NaN counts as true. The value that is not taken has no effect, and
    no gradient. Shapes broadcast as in `nn.add`.

    Constraints:
    - (C1) The element types agree and the shapes broadcast to the result's.
    - (C2) A dynamic dimension meets a dynamic one, a unit or a missing one.

    Example:
    ```mlir
    %0 = nn.select %c, %a, %b : tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$condition, NN_FloatTensor:$yes, NN_FloatTensor:$no);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $condition `,` $yes `,` $no attr-dict `:` type(operands)
  }];
}

def NN_StandardiseOp : NN_PureOp<"standardise", [
    DeclareOpInterfaceMethods<ElementwiseOpInterface, ["getScalarConstants"]>,
    SameOperandsAndResultType, NN_Differentiable]> {
  let summary = "(x - mean) / deviation, with fixed numbers";
  let description = [{
    Constraints:
    - (C1) `mean` and `deviation` have one entry each for every element of the
      last dimension, which is static; deviations are > 0.

    Example:
    ```mlir
    %0 = nn.standardise %x mean [38.6, 1.0e5] deviation [13.6, 2.0e5] : tensor<?x2xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, DenseF64ArrayAttr:$mean, DenseF64ArrayAttr:$deviation);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `mean` $mean `deviation` $deviation attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def NN_ConstantOp : NN_PureOp<"constant", [ConstantLike, StopsGradients, AllTypesMatch<["value", "result"]>]> {
  let summary = "A constant";
  let description = [{
    Numbers, or ids: 64-bit integers of any value, such as the keys of a catalogue that
    `nn.broadcast` repeats for each sample. Larger tensors, and those that come from outside,
    are `nn.state`.

    A number that f32 does not hold exactly is kept as written, in `exact`,
    until the element type is settled: a program that is compiled in f64
    computes with 0.1, not with the f32 that is nearest to it. Phase `merged`
    has no `exact`.

    Constraints:
    - (C1) The value has the result's type, which is static.
    - (C2) It has at most 2^24 elements.
    - (C3) `exact`, where given, has the value's shape and elements of type f64,
      and rounds to the value.

    Example:
    ```mlir
    %0 = nn.constant dense<0.5> : tensor<4xf32>
    %1 = nn.constant dense<[7, -3]> : tensor<2xi64>
    ```
  }];
  let arguments = (ins ElementsAttr:$value,
    OptionalAttr<ElementsAttr>:$exact);
  let results = (outs RankedTensorOf<[F32, F64, I64]>:$result);
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getType(), value, {});
  }]>];
  let assemblyFormat = "custom<ConstantValue>($value, $exact) attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def NN_MatmulOp : NN_PureOp<"matmul", [NN_Differentiable, NN_InferType, NN_MayMixSamples,
    NN_SaysItself]> {
  let summary = "Matrix product";
  let description = [{
    Of the last two dimensions of each operand. Dimensions before them are equal,
    and there is one product for each of their indices; or the right operand is one
    matrix for all of them. Each element is one chain of fused multiply-adds over k,
    ascending, from +0.

    Phase `merged` has products of two matrices, and `nn.batch_matmul`.

    Constraints:
    - (C1) Operands of one element type; after transposition m x k times k x n; if k
      is dynamic in one it is in the other.
    - (C2) Dimensions before the last two agree, or the right operand has none and
      the left one is not transposed.

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

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

def NN_ConcatOp : NN_PureOp<"concat", [NN_Differentiable, NN_InferType]> {
  let summary = "Tensors side by side";
  let description = [{
    Joins float tensors, or tensors of ids, along an axis.

    Constraints:
    - (C1) At least one operand; ranks and element types agree; 0 < axis < rank.
    - (C2) All dimensions but the axis agree.

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
  let summary = "Indices of one axis, in any order";
  let description = [{
    Index i of the result's axis is index positions[i] of the input's, and zero where
    that is -1. An index may be taken several times, or never.

    Constraints:
    - (C1) 0 < axis < rank (or 0 <= axis for a static tensor).
    - (C2) At least one position; each is -1, or at least 0 and below the dimension.

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
    Constraints:
    - (C1) Element types agree.
    - (C2) A dynamic first dimension stays the first dimension (or, for tensors
      of ids from phase `merged` on, is flattened with the rest), and the
      product of the other dimensions agrees.

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
    /// Whether the op could have `input`'s shape before it (C2).
    bool canTake(::mlir::Value input);
  }];
}

def NN_FlattenOp : NN_PureOp<"flatten", [NN_InferType, NN_Composite]> {
  let summary = "Joins the dimensions from one on";
  let description = [{
    A reshape that is easy to write; phase `merged` turns it into `nn.reshape`.

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
  let summary = "Repeats unit and missing dimensions";
  let description = [{
    Repeats numbers or ids. Without `like` the result is static. With a dynamic first
    dimension the size is that of `like`, which holds numbers or ids.

    Constraints:
    - (C1) The input's shape broadcasts to the result's.
    - (C2) The result's first dimension is dynamic only if `like` is given and
      has a dynamic first dimension, or the input's is dynamic.

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
    Order of the sums: if the axes are the last ones, element j of a row goes to
    lane j mod 16, lanes start at +0, and a tree 8-4-2-1 joins them; otherwise
    elements are added in ascending order from +0. `mean` divides the sum by the
    number of elements. `max` shares its cotangent among equal elements.

    Constraints:
    - (C1) Axes ascend, are distinct and within the rank.
    - (C2) `keep` leaves unit dimensions in place of the axes.
    - (C3) In phase `model` the axes do not contain a dynamic dimension: samples
      do not mix, except with `mixing`, which `nn.batch_sum` becomes.

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
    /// Whether the axes are the last ones, so that a row is contiguous.
    bool reducesRows();
  }];
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

def NN_BucketizeOp : NN_PureOp<"bucketize", [NN_InferType, StopsGradients]> {
  let summary = "The bucket that a number falls into";
  let description = [{
    The number of boundaries that are <= x; NaN falls into the last bucket.

    Constraints:
    - (C1) Boundaries strictly ascend and are finite.

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
  let summary = "A hashed cross of id features";
  let description = [{
    xxh64, seeded with `salt`, of the operands' little-endian keys in operand
    order. With bags, each bag of the result holds every combination, the last
    operand fastest. One operand gives a re-hash, which keeps the ids of several
    features apart in one table.

    Constraints:
    - (C1) At least one operand, all of shape [b, s]; tensors give a tensor; as
      soon as one is ragged, so is the result.

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
  let summary = "Ids, each computed with one number";
  let description = [{
    `add` and `multiply` are modulo 2^64. `quotient` and `remainder` are those of
    Euclid: the remainder is from 0 to number - 1 for ids below 0, too, and
    quotient * number + remainder is the id. The two make, of one feature, the ids of
    two small tables whose rows are multiplied or added (Shi et al., 2020); the
    remainder alone folds ids into buckets.

    Bags keep their lengths, so that what counts the ids of the input counts those
    of the result.

    Constraints:
    - (C1) Input and result have one type.
    - (C2) What `quotient` and `remainder` divide by is above 0.

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
  let summary = "Where the largest numbers of a row are";
  let description = [{
    The positions of the `count` largest numbers of the last dimension, the largest
    first; of equal ones the first comes first. NaN is none of them: where there are too
    few others, positions are -1. `nn.gather` gives the numbers, or what belongs
    to them, with gradients.

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

def NN_GatherOp : NN_PureOp<"gather", [NN_DifferentiableSome, NN_InferType]> {
  let summary = "Entries of a sample's list, by their places";
  let description = [{
    Entry j of a sample's result is entry index[j] of its input; a place that is none, such
    as -1, gives zeros. Entries are copied: what is not taken may be infinite or NaN. A zero
    that is taken is +0. Gradients flow into the entries that are taken; of one that is
    taken several times they add up, in the order of the result.

    Constraints:
    - (C1) From [b, n] or [b, n, d] and places [b, k] to [b, k] or [b, k, d], with n at most
      4096.

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
  let summary = "Ids as numbers, numbers as ids, and floats of the other type";
  let description = [{
    An id becomes the float that is nearest to it, the even one of two. A float
    loses what is behind the point; beyond 64 bits it becomes the least or the
    largest id, and NaN becomes 0. Either way there is no gradient.

    f32 becomes the same number in f64, f64 the f32 that is nearest to it, the even one
    of two: what is too large becomes infinite, what is too small 0. The gradient is
    cast back. All other ops compute with floats of one type, so that it is this op
    that says where a model changes from one to the other. In a program that is
    compiled in f64 throughout, such casts go.

    The ids of bags become a row each, and so do, as they are, the numbers of a ragged
    field of floats: what belongs to the ids of another field, such as their weights
    or seconds of watching, once `nn.same_bags` has joined the two.

    Constraints:
    - (C1) Input and result hold different things: ids, f32 or f64; numbers of bags
      give rows of either float type.
    - (C2) They have one shape; bags give [ids, 1].
    - (C3) The ids or numbers of a ragged operand are those of a field, or what
      `nn.id_arithmetic` makes of them.

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

//===----------------------------------------------------------------------===//
// Losses, metrics, training
//===----------------------------------------------------------------------===//

def NN_SigmoidCrossEntropyOp : NN_PureOp<"sigmoid_cross_entropy",
    [NN_Elementwise, MeasuresLoss, SameOperandsAndResultType, NN_Differentiable]> {
  let summary = "Log loss of a logit, sample by sample";
  let description = [{
    max(z, 0) - z y + log1p(exp(-|z|)).

    Constraints:
    - (C1) Logits, labels and result have one type.

    Example:
    ```mlir
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_FloatTensor:$labels);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits)";
}

def NN_SquaredErrorOp : NN_PureOp<"squared_error",
    [NN_Elementwise, MeasuresLoss, SameOperandsAndResultType, NN_Differentiable]> {
  let summary = "(prediction - label)^2, element by element";
  let description = [{
    Constraints:
    - (C1) Predictions, labels and result have one type.

    Example:
    ```mlir
    %l = nn.squared_error %p, %y : tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$predictions, NN_FloatTensor:$labels);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$predictions `,` $labels attr-dict `:` type($predictions)";
}

def NN_ObserveOp : NN_BodyOp<"observe", [StopsGradients, AttrSizedOperandSegments, MemoryEffects<[MemWrite]>, NN_BatchFirst,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Feeds a metric";
  let description = [{
    A sample counts as often as its weight says, once without weights.

    Constraints:
    - (C1) The symbol is an `nn.metric`.
    - (C2) Predictions are [b, 1], with b the batch: one value for each sample.
      Of a metric of ranked lists they are scores [b, n], with n > 1: one list.
    - (C3) Labels stand where the metric compares predictions with labels, and
      not where it takes one value a sample (`#nn.mean`). They have the
      predictions' type; of ranked lists they may also be [b, 1], which is the
      position of the only relevant item.
    - (C4) Weights are [b, 1], of the predictions' element type.
    - (C5) A group stands where the metric is one of groups of samples
      (`#nn.grouped_auc`), and not elsewhere: [b, 1] ids.

    The labels' type is written where it is not that of the predictions, those of
    weights and group never.

    Example:
    ```mlir
    nn.observe @auc(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @gauc(%p, %y) group %user weight %w : tensor<?x1xf32>
    nn.observe @loss(%l) : tensor<?x1xf32>
    nn.observe @ndcg(%scores, %relevance) : tensor<?x100xf32>
    nn.observe @recall(%scores, %position) weight %w : tensor<?x100xf32>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$metric, NN_FloatTensor:$predictions,
    Optional<NN_FloatTensor>:$labels, Optional<NN_FloatTensor>:$weights,
    Optional<AnyRankedTensor>:$group);
  let assemblyFormat = [{
    $metric `(` $predictions (`,` $labels^)? `)` (`group` $group^)? (`weight` $weights^)? attr-dict
    `:` custom<ObserveTypes>(ref($labels), ref($weights), ref($group), type($predictions), type($labels), type($weights), type($group))
  }];
  let hasVerifier = 1;
}

def NN_AccumulateOp : NN_BodyOp<"accumulate", [MemoryEffects<[MemWrite]>, StopsGradients, NN_BatchFirst, AccumulatesState,
    StandsUntil<"Merged", "nn-autodiff replaces it by updates">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Adds values of samples to a state";
  let description = [{
    Of a state, an `nn.param` of a group, sums over the samples of a step are formed
    and merged over replicas like gradients: of weight times value, and of the
    weights; without weights each sample weighs 1. They are applied once, by the
    group's rule, to which the mean (the sum, where the rule says `undivided`) comes
    in the place of a gradient: `@moving_average` and `@running_sum` are made for
    that. In all else it is as if the group were trained by an `nn.minimize` of its
    own.

    An `nn.read` of the state in the same program gives the value from before the
    step. No gradient flows into it.

    Constraints:
    - (C1) The symbol is an `nn.param` of a group; values are [b, d, ...], with b the
      batch and [d, ...] the state's shape, of its element type.
    - (C2) Weights are [b, 1], of the values' element type.
    - (C3) A program accumulates once into a state, with the same weights into all
      states of a group, which no `nn.minimize` trains (checked by `nn-autodiff`).
    - (C4) The program has an `nn.minimize`.

    Example:
    ```mlir
    nn.accumulate @mean(%x) weight %w : tensor<?x8xf32>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$state, NN_FloatTensor:$values,
    Optional<NN_FloatTensor>:$weights);
  let assemblyFormat = [{
    $state `(` $values `)` (`weight` $weights^)? attr-dict `:`
    type($values) (`,` type($weights)^)?
  }];
  let hasVerifier = 1;
}

def NN_CountOp : NN_BodyOp<"count", [MemoryEffects<[MemWrite]>, StopsGradients, NN_BatchFirst, ReadsModel,
    StandsUntil<"Model", "nn-lower-model replaces it by nn.count_pooled">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Adds values of samples to the counts of their rows";
  let description = [{
    A rule with `counts(...)` is given, of each row that a step updates, sums of
    values of the samples whose ids the row belongs to: an id that a sample has twice
    counts twice. Sums are merged over replicas like gradients and applied with them,
    once; they are neither divided by the summed weight nor clipped. A batch without
    weight updates nothing, and counts nothing. Without gradient a row that was counted is
    updated too, with zeros.

    Constraints:
    - (C1) The symbol is an `nn.table`; the program minimizes losses that depend on it
      (checked by `nn-autodiff`).
    - (C2) Ids of shape [b, s] or bags; values of shape [b, 1], with b the batch, of
      the table's element type.
    - (C3) Ids derive from fields and constants alone, as those of `nn.lookup`.
    - (C4) Each count of the rule of the table's group is named once, and nothing else
      (checked by `nn-lower-model`).
    - (C5) The program has an `nn.minimize`.

    Example:
    ```mlir
    nn.count @emb[%c] show(%one) click(%label) : !nn.ragged<?x26x*xi64>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$table, NN_Ids:$ids,
    Variadic<NN_FloatTensor>:$values, StrArrayAttr:$names);
  let assemblyFormat = [{
    $table `[` $ids `]` custom<NamedOperands>($names, $values) attr-dict `:`
    custom<OneTypeOf>(type($ids), type($values), ref($values))
  }];
  let hasVerifier = 1;
}

def NN_MinimizeOp : NN_BodyOp<"minimize", [MemoryEffects<[MemWrite]>, StopsGradients, NN_BatchFirst,
    StandsUntil<"Merged", "nn-autodiff replaces it by updates">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Trains the named groups on per-sample losses";
  let description = [{
    The loss of a step is the weighted sum of the samples' losses divided by the
    sum of their weights, over all replicas; without weights each sample weighs 1.

    A program may minimize several losses, each over groups of its own: for each
    one, symbols of the other groups are constants, its gradients are divided by its
    own weights, and a step whose samples have no weight in it leaves its groups
    alone. The first one's loss is that of the program.

    Constraints:
    - (C1) Losses and weights have one type of shape [b, 1], with b the batch:
      one value for each sample.
    - (C2) Each group is an `nn.group`, named once.
    - (C3) At least one symbol of each group contributes to the losses.
    - (C4) Weights do not depend on trained symbols.
    - (C5) No other `nn.minimize` of the program trains one of the groups, nor one
      with the same joint clip.

    Example:
    ```mlir
    nn.minimize %l weight %w over [@dense, @sparse] : tensor<?x1xf32>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$losses, Optional<NN_FloatTensor>:$weights,
    FlatSymbolRefArrayAttr:$groups);
  let assemblyFormat = [{
    $losses (`weight` $weights^)? `over` custom<SymbolList>($groups) attr-dict `:`
    type($losses) (`,` type($weights)^)?
  }];
  let hasVerifier = 1;
}

#endif // PDLC_DIALECT_NN_IR_NNCOMPUTEOPS_TD
