//===- NNElementwiseOps.td - Elementwise ops and constants -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNELEMENTWISEOPS_TD
#define PDLC_DIALECT_NN_IR_NNELEMENTWISEOPS_TD

include "pdlc/Dialect/NN/IR/NNOpTraits.td"

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
  "sin(x) for |x| up to 2^24. Larger values give NaN, because floats are too coarse "
  "there to represent an angle.">;
def NN_CosOp : NN_UnaryOp<"cos", "Cosine",
  "cos(x) for |x| up to 2^24. Larger values give NaN, because floats are too coarse "
  "there to represent an angle.">;
def NN_SigmoidOp : NN_UnaryOp<"sigmoid", "Logistic function", "1 / (1 + exp(-x)).">;
def NN_ReluOp : NN_UnaryOp<"relu", "Rectifier",
  "x <= 0 ? +0 : x. NaN stays NaN; the derivative at 0 is 0.",
  NN_Differentiable, NN_ElementwisePostOp>;
def NN_GeluOp : NN_UnaryOp<"gelu", "Gaussian error linear unit, by tanh", [{
    x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). This form of Hendrycks and
    Gimpel (2016) does not use erf, and is within 5e-4 of x times the normal
    distribution function. In PyTorch, it is approximate='tanh'.}]>;
def NN_ErfOp : NN_UnaryOp<"erf", "Error function", [{
    2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x, by the rational
    approximations of Cody (1969).}]>;
def NN_GeluErfOp : NN_UnaryOp<"gelu_erf", "Gaussian error linear unit, by erf", [{
    x / 2 (1 + erf(x / sqrt(2))), which is x times the normal distribution
    function, computed with `nn.erf`. In PyTorch, it is approximate='none', the
    default. `nn.gelu` is the form by tanh.}]>;
def NN_SignedLog1pOp : NN_UnaryOp<"signed_log1p", "sign(x) log1p(|x|)",
  "Compresses the range of counts that may be negative.">;
def NN_FloorOp : NN_UnaryOp<"floor", "Rounds down to a whole number",
  "The derivative is 0.", NN_DifferentiableSome>;
def NN_RsqrtOp : NN_UnaryOp<"rsqrt", "Reciprocal square root",
  "1 / sqrt(x), both correctly rounded.">;
def NN_SoftplusOp : NN_UnaryOp<"softplus", "Smooth rectifier",
  "log(1 + exp(x)), computed as max(x, 0) + log1p(exp(-|x|)).">;
def NN_SwishOp : NN_UnaryOp<"swish", "Sigmoid linear unit",
  "x sigmoid(x). Also known as SiLU; swish of Ramachandran et al. (2017) with beta = 1.">;
def NN_HardSigmoidOp : NN_UnaryOp<"hard_sigmoid", "Piecewise linear sigmoid", [{
    min(max(x + 3, 0), 6) / 6, as in PyTorch. The derivative is 0 at -3 and at 3.
    The op of PaddlePaddle has 0.2 instead of 1/6.}]>;

/// An op of one operand with numeric attributes.
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

def NN_LeakyReluOp : NN_NumberedUnaryOp<"leaky_relu", "Rectifier with a slope for negative numbers",
  "x > 0 ? x : slope x. The derivative at 0 is the slope.",
  (ins DefaultValuedAttr<F64Attr, "0.01">:$slope), "(`slope` $slope^)?", "slope 0.1",
  "The slope is finite.">;
def NN_EluOp : NN_NumberedUnaryOp<"elu", "Exponential linear unit",
  "x > 0 ? x : alpha (exp(x) - 1). The derivative at 0 is alpha.",
  (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha), "(`alpha` $alpha^)?", "alpha 0.5",
  "Alpha is finite.">;
def NN_ClampOp : NN_NumberedUnaryOp<"clamp", "Limits numbers to an interval",
  "min(max(x, lower), upper). NaN stays NaN; the derivative at the bounds is 1.",
  (ins F64Attr:$lower, F64Attr:$upper), "`from` $lower `to` $upper", "from 0.0 to 6.0",
  "The bounds are not NaN, and the lower one is not above the upper one.">;
def NN_PowOp : NN_NumberedUnaryOp<"pow", "Power with a fixed exponent", [{
    x^exponent, like pow in C: NaN for a negative x unless the exponent is a whole
    number. f32 is computed in f64 and rounded once. For x^2, a product is
    faster.}],
  (ins F64Attr:$exponent), "`exponent` $exponent", "exponent 1.5",
  "The exponent is finite.">;

def NN_StopGradientOp : NN_UnaryOp<"stop_gradient", "Identity that blocks gradients",
  "x. The cotangent is zero.", NN_DifferentiableSome>;

class NN_BinaryOp<string mnemonic, string summary_, string formula,
                  Trait differentiable = NN_Differentiable,
                  Trait elementwise = NN_Elementwise>
    : NN_PureOp<mnemonic, [elementwise, differentiable, NN_InferType]> {
  let summary = summary_;
  let description = formula # [{ Shapes broadcast as in NumPy: they are
    aligned at the last dimension, and missing or unit dimensions are repeated.

    Constraints:
    - (C1) The element types agree, and the shapes broadcast to that of the
      result.
    - (C2) A dynamic dimension is aligned with a dynamic, a unit or a missing
      dimension.

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
  "The larger number; NaN if either is NaN. Equal operands get half of the cotangent each.">;
def NN_MinOp : NN_BinaryOp<"min", "Smaller of two",
  "The smaller number; NaN if either is NaN. Equal operands get half of the cotangent each.">;
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
  let summary = "One of two values, by a condition";
  let description = [{
    condition != 0 ? yes : no. Comparisons such as `nn.greater` compute the
    condition. NaN counts as true. The value that is not selected has no effect
    and gets no gradient. Shapes broadcast as in `nn.add`.

    Constraints:
    - (C1) The element types agree, and the shapes broadcast to that of the
      result.
    - (C2) A dynamic dimension is aligned with a dynamic, a unit or a missing
      dimension.

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

def NN_StandardizeOp : NN_PureOp<"standardize", [
    DeclareOpInterfaceMethods<ElementwiseOpInterface, ["getScalarConstants"]>,
    SameOperandsAndResultType, NN_Differentiable]> {
  let summary = "(x - mean) / deviation, with fixed numbers";
  let description = [{
    Standardizes each column with a fixed mean and standard deviation, for
    example those of the training data.

    Constraints:
    - (C1) `mean` and `deviation` have one entry for each element of the last
      dimension, which is static. Deviations are > 0.

    Example:
    ```mlir
    %0 = nn.standardize %x mean [38.6, 1.0e5] deviation [13.6, 2.0e5] : tensor<?x2xf32>
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
    Holds numbers or ids. Ids are 64-bit integers of any value, such as the keys
    of a catalog that `nn.broadcast` repeats for each sample. Use `nn.state` for
    larger tensors, and for tensors that come from outside the model.

    If f32 cannot represent a number exactly, `exact` keeps it as written until
    the element type is fixed. A program that is compiled in f64 then computes
    with 0.1, not with the nearest f32. From phase `merged` on, there is no
    `exact`.

    Constraints:
    - (C1) The value has the type of the result, which is static.
    - (C2) The value has at most 2^24 elements.
    - (C3) `exact`, if given, has the shape of the value and elements of type
      f64. Rounded, it is the value.

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

#endif // PDLC_DIALECT_NN_IR_NNELEMENTWISEOPS_TD
