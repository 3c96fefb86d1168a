//===- NNAttributes.td - Attributes of the model dialect -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNATTRIBUTES_TD
#define PDLC_DIALECT_NN_IR_NNATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "pdlc/Dialect/NN/IR/NNDialect.td"
include "pdlc/Interfaces/ModelAttrInterfaces.td"

class NN_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<NN_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}
class NN_Initializer<string name, string mnemonic, list<string> methods = []>
    : NN_Attr<name, mnemonic, [DeclareAttrInterfaceMethods<InitializerAttrInterface, methods>]>;
class NN_Regularizer<string name, string mnemonic>
    : NN_Attr<name, mnemonic, [DeclareAttrInterfaceMethods<RegularizerAttrInterface>]>;
// A metric. `kind` is that of its implementation in pdlabi/metrics/.
// `parameter` is the C++ expression of its parameter.
class NN_Metric<string name, string mnemonic, string kind, string parameter = "0.0">
    : NN_Attr<name, mnemonic, [DeclareAttrInterfaceMethods<MetricAttrInterface>]> {
  string abiMethods = [{
    int32_t $cppClass::getAbiKind() const { return }] # kind # [{; }
    double $cppClass::getAbiParameter() const { return }] # parameter # [{; }
  }];
  let extraClassDefinition = abiMethods;
}
// A metric with an integer parameter, which is written as `count = N`.
class NN_CountedMetric<string name, string mnemonic, string kind, string count, string getter>
    : NN_Metric<name, mnemonic, kind, "static_cast<double>(" # getter # "())"> {
  let parameters = !dag(ins, ["int64_t"], [count]);
  let assemblyFormat = "`<` `" # count # "` `=` $" # count # " `>`";
  let genVerifyDecl = 1;
  let extraClassDefinition = abiMethods # [{
    ::llvm::LogicalResult $cppClass::verify(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, int64_t count) {
      return verifyMetric(emitError, }] # kind # [{, static_cast<double>(count));
    }
  }];
}

// A number. It is kept as a 64-bit float attribute and written without its
// type.
def NN_Number : AttrOrTypeParameter<"::mlir::FloatAttr", "number"> {
  let parser = "::pdlc::nn::parseNumber($_parser)";
  let printer = "::pdlc::nn::printNumber($_printer, $_self)";
}

class NN_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::pdlc::nn";
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

def NN_ZerosAttr : NN_Initializer<"Zeros", "zeros"> {
  let summary = "Initializes every element with zero";
}

def NN_ConstantInitAttr : NN_Initializer<"ConstantInit", "constant"> {
  let summary = "Initializes every element with one value";
  let parameters = (ins NN_Number:$value);
  let assemblyFormat = "`<` $value `>`";
}

def NN_UniformAttr : NN_Initializer<"Uniform", "uniform"> {
  let summary = "Uniform in [low, high), from 24 random bits";
  let parameters = (ins NN_Number:$low, NN_Number:$high);
  let assemblyFormat = "`<` $low `,` $high `>`";
  let genVerifyDecl = 1;
}

def NN_NormalAttr : NN_Initializer<"Normal", "normal"> {
  let summary = "Normal distribution with a mean and a standard deviation";
  let parameters = (ins NN_Number:$mean, NN_Number:$deviation);
  let assemblyFormat = "`<` $mean `,` $deviation `>`";
  let genVerifyDecl = 1;
}

def NN_TruncatedNormalAttr : NN_Initializer<"TruncatedNormal", "truncated_normal"> {
  let summary = "Normal distribution, truncated at two standard deviations";
  let description = [{
    Draws from the normal distribution with this mean and standard deviation,
    restricted to numbers within two deviations of the mean. `deviation` is that
    of the distribution before truncation; the standard deviation of the drawn
    numbers is 0.88 times as large. Each number is computed from 24 random bits
    with the inverse of the distribution function.
  }];
  let parameters = (ins NN_Number:$mean, NN_Number:$deviation);
  let assemblyFormat = "`<` $mean `,` $deviation `>`";
  let genVerifyDecl = 1;
}

def NN_XavierAttr : NN_Initializer<"Xavier", "xavier", ["getNeededRank"]> {
  let summary = "Uniform in [-b, b), b = sqrt(6 / (fan in + fan out))";
  let description = [{
    Glorot and Bengio, 2010. It is for parameters of shape [in, out]. A table
    row of n elements counts as [1, n].
  }];
}

def NN_XavierNormalAttr : NN_Initializer<"XavierNormal", "xavier_normal", ["getNeededRank"]> {
  let summary = "Normal distribution with mean 0 and variance 2 / (fan in + fan out)";
  let description = [{
    Glorot and Bengio, 2010. The fans are those of `#nn.xavier`.
  }];
}

def NN_Fan : NN_Enum<"Fan", "fan of a layer", [
  I32EnumAttrCase<"in", 0, "fan_in">, I32EnumAttrCase<"out", 1, "fan_out">]>;

// An initializer with the variance 2 / fan (He et al., 2015).
class NN_Msra<string name, string mnemonic, string summary_>
    : NN_Initializer<name, mnemonic, ["getNeededRank"]> {
  let summary = summary_;
  let description = [{
    He et al., 2015, for layers that are followed by rectifiers. With `fan_in`,
    the variance of values stays constant from layer to layer; with `fan_out`,
    the variance of gradients does. The fans are those of `#nn.xavier`.
  }];
  let parameters = (ins EnumParameter<NN_Fan>:$fan);
  let assemblyFormat = "`<` $fan `>`";
}
def NN_MsraUniformAttr : NN_Msra<"MsraUniform", "msra_uniform",
  "Uniform in [-b, b), b = sqrt(6 / fan)">;
def NN_MsraNormalAttr : NN_Msra<"MsraNormal", "msra_normal",
  "Normal with mean 0 and variance 2 / fan">;

//===----------------------------------------------------------------------===//
// Hashes, regularizers, metrics
//===----------------------------------------------------------------------===//

def NN_HashAttr : NN_Attr<"Hash", "hash"> {
  let summary = "Hash function from a text to a key";
  let description = [{
    - `#nn.hash<xxh64, salt = slot>`: xxh64 of the bytes of the text without
      blanks at its ends, seeded with the position of the feature slot. The same
      text in two feature slots gives two keys.
    - `#nn.hash<xxh64, salt = 7>`: the same, with one seed for all slots.
    - `#nn.hash<none>`: the text is a decimal integer, which is the key.
  }];
  // `saltBySlot` and `salt` are mutually exclusive.
  let parameters = (ins "bool":$xxh64, "bool":$saltBySlot, "uint64_t":$salt);
  let hasCustomAssemblyFormat = 1;
}

def NN_L2Attr : NN_Regularizer<"L2", "l2"> {
  let summary = "Adds coefficient * value to the gradient";
  let parameters = (ins NN_Number:$coefficient);
  let assemblyFormat = "`<` $coefficient `>`";
  let genVerifyDecl = 1;
}

def NN_L1Attr : NN_Regularizer<"L1", "l1"> {
  let summary = "Adds coefficient * sign(value) to the gradient";
  let parameters = (ins NN_Number:$coefficient);
  let assemblyFormat = "`<` $coefficient `>`";
  let genVerifyDecl = 1;
}

def NN_AucAttr : NN_CountedMetric<"Auc", "auc", "PDL_METRIC_AUC", "buckets", "getBuckets"> {
  let summary = "Area under the ROC curve, computed from a histogram";
}

def NN_GroupedAucAttr : NN_Metric<"GroupedAuc", "grouped_auc", "PDL_METRIC_GROUPED_AUC"> {
  let summary = "Mean area under the ROC curve over groups of samples";
  let description = [{
    Computes the exact area under the ROC curve of each group, such as all
    samples of a user. The area is the total weight of the correctly ordered
    pairs of a positive and a negative sample, divided by the total weight of
    all such pairs. Pairs with equal predictions count half. The value of the
    metric is the mean over the groups that have labels of both kinds. In this
    mean, a group has the total weight of its samples. Reports state how many
    groups have labels of only one kind. Only the order of predictions matters,
    so they may be any finite numbers, including logits.

    The process that observes the samples keeps them until the epoch ends. Each
    sample uses 33 bytes: 25 when it is observed, and 8 more for sorting.
    `--max-grouped-samples` limits their number.
  }];
}

def NN_LogLossAttr : NN_Metric<"LogLoss", "log_loss", "PDL_METRIC_LOG_LOSS"> {
  let summary = "Mean log loss of the predictions";
}

def NN_CopcAttr : NN_Metric<"Copc", "copc", "PDL_METRIC_COPC"> {
  let summary = "Clicks over predicted clicks";
  let description = [{
    The weighted sum of the labels divided by the weighted sum of the
    predictions. Labels may be any numbers; they are not compared with 0.5.
  }];
}

def NN_MeanAttr : NN_Metric<"Mean", "mean", "PDL_METRIC_MEAN"> {
  let summary = "Mean of one value for each sample";
  let description = [{
    Averages any value, for example a loss: `nn.observe @loss(%l)` in a program
    that evaluates. It takes no labels.
  }];
}

def NN_MaeAttr : NN_Metric<"Mae", "mae", "PDL_METRIC_MAE"> {
  let summary = "Mean absolute error of the predictions";
}

def NN_RmseAttr : NN_Metric<"Rmse", "rmse", "PDL_METRIC_RMSE"> {
  let summary = "Root of the mean squared error of the predictions";
}

def NN_AccuracyAttr : NN_Metric<"Accuracy", "accuracy", "PDL_METRIC_ACCURACY", "getThreshold().getValueAsDouble()"> {
  let summary = "Share of predictions on the correct side of a threshold";
  let description = [{
    `#nn.accuracy<threshold = 0.5>`: a prediction above the threshold is correct
    if the label is above 0.5. Any other prediction is correct if the label is
    not above 0.5. For logits, use the threshold 0.
  }];
  let parameters = (ins NN_Number:$threshold);
  let assemblyFormat = "`<` `threshold` `=` $threshold `>`";
  let genVerifyDecl = 1;
  let extraClassDefinition = abiMethods # [{
    ::llvm::LogicalResult $cppClass::verify(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, ::mlir::FloatAttr threshold) {
      return verifyMetric(emitError, PDL_METRIC_ACCURACY, threshold.getValueAsDouble());
    }
  }];
}

def NN_BucketErrorAttr : NN_CountedMetric<"BucketError", "bucket_error", "PDL_METRIC_BUCKET_ERROR", "buckets", "getBuckets"> {
  let summary = "Mean relative error of predicted click rates";
  let description = [{
    Works like the metric of the same name in PaddlePaddle. Samples are counted
    in a histogram of their predictions. All predictions of a bucket count as
    the lower bound of the bucket. Adjacent buckets are joined into spans of at
    most 0.01, until a span has enough samples to determine its click rate with
    a relative error below 0.05. The error of such a span is `|clicks /
    predicted clicks - 1|`, weighted by its number of samples. If no span has
    enough samples, the metric has no value.
  }];
}

def NN_AccuracyAtAttr : NN_CountedMetric<"AccuracyAt", "accuracy_at", "PDL_METRIC_ACCURACY_AT", "k", "getK"> {
  let summary = "Share of lists with a relevant item among the first k";
  let description = [{
    Each sample of a ranked-list metric is a list of n items. Its predictions
    are the scores of the items, [b, n]. Its labels are the relevance of each
    item, [b, n], or the position of the only relevant item, [b, 1]. Items are
    ranked by descending score, and items with equal scores by position. An item
    is relevant if its label is above 0.5. A position that is not a whole number
    from 0 to n - 1 stands for an item outside the list.

    With one relevant item, this metric is the accuracy of a classification into
    n classes, or a hit rate.
  }];
}

def NN_RecallAtAttr : NN_CountedMetric<"RecallAt", "recall_at", "PDL_METRIC_RECALL_AT", "k", "getK"> {
  let summary = "Mean share of a list's relevant items that are among the first k";
  let description = [{
    A ranked-list metric, see `#nn.accuracy_at`. A list without relevant items
    counts as 0.
  }];
}

def NN_NdcgAtAttr : NN_CountedMetric<"NdcgAt", "ndcg_at", "PDL_METRIC_NDCG_AT", "k", "getK"> {
  let summary = "Mean normalized discounted cumulative gain of the first k items";
  let description = [{
    A ranked-list metric, see `#nn.accuracy_at`. The gain of an item is the
    numeric value of its label, or 0 if the label is negative. To use the gain
    2^y - 1, compute it in the model. The discount of an item with i items
    ranked before it is 1 / log2(i + 2). A list whose maximum gain is 0 counts
    as 0.
  }];
}

def NN_MrrAttr : NN_Metric<"Mrr", "mrr", "PDL_METRIC_MRR"> {
  let summary = "Mean reciprocal rank of the first relevant item of a list";
  let description = [{
    A ranked-list metric, see `#nn.accuracy_at`. The first rank is 1. A list
    without relevant items counts as 0.
  }];
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class NN_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<NN_Dialect, info, mnemonic>;

def NN_Pooling : NN_Enum<"Pooling", "pooling of the rows of a bag", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
  I32EnumAttrCase<"sqrtn", 2>]>;
def NN_PoolingAttr : NN_EnumAttr<NN_Pooling, "pooling">;

def NN_BatchSide : NN_Enum<"BatchSide", "side of an in-batch product", [
  I32EnumAttrCase<"users", 0>, I32EnumAttrCase<"items", 1>]>;
def NN_BatchSideAttr : NN_EnumAttr<NN_BatchSide, "batch_side">;

def NN_Distribution : NN_Enum<"Distribution", "distribution of drawn ids", [
  I32EnumAttrCase<"uniform", 0>, I32EnumAttrCase<"log_uniform", 1>,
  I32EnumAttrCase<"counts", 2>]>;
def NN_DistributionAttr : NN_EnumAttr<NN_Distribution, "distribution">;

def NN_IdOperation : NN_Enum<"IdOperation", "arithmetic operation on ids", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"multiply", 1>,
  I32EnumAttrCase<"quotient", 2>, I32EnumAttrCase<"remainder", 3>]>;
def NN_IdOperationAttr : NN_EnumAttr<NN_IdOperation, "id_operation">;

def NN_ScalarRole : NN_Enum<"ScalarRole", "role of a scalar in the updates of its group", [
  I32EnumAttrCase<"weight", 0>, I32EnumAttrCase<"clip_factor", 1>,
  I32EnumAttrCase<"rule", 2>]>;

def NN_ScalarAttr : NN_Attr<"Scalar", "scalar"> {
  let summary = "Role of a scalar in the updates of its group";
  let description = [{
    An update computes its scalars once for each group and step, before it
    changes parameters and rows.

    - `#nn.scalar<weight>`: the sum of the weights of all samples of the step.
      The update divides the gradient sums by it.
    - `#nn.scalar<clip_factor>`: the factor by which a clip multiplies the
      gradients.
    - `#nn.scalar<rule, "rate">`: a value that the optimizer rule computes in
      its region `once`. The text is the name of the value in error messages.
  }];
  let parameters = (ins EnumParameter<NN_ScalarRole>:$role,
    OptionalParameter<"::mlir::StringAttr", "of a scalar of the rule">:$name);
  let assemblyFormat = "`<` $role (`,` $name^)? `>`";
  let genVerifyDecl = 1;
}

def NN_Reduction : NN_Enum<"Reduction", "reduction of elements", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
  I32EnumAttrCase<"max", 2>]>;
def NN_ReductionAttr : NN_EnumAttr<NN_Reduction, "reduction">;

def NN_ClipKind : NN_Enum<"ClipKind", "kind of gradient clip", [
  I32EnumAttrCase<"global_norm", 0>, I32EnumAttrCase<"norm", 1>,
  I32EnumAttrCase<"value", 2>]>;
def NN_ClipKindAttr : NN_EnumAttr<NN_ClipKind, "clip_kind">;

def NN_Untouched : NN_Enum<"Untouched", "treatment of rows without a gradient", [
  I32EnumAttrCase<"lazy", 0>, I32EnumAttrCase<"dense", 1>]>;
def NN_UntouchedAttr : NN_EnumAttr<NN_Untouched, "untouched">;

def NN_Merge : NN_Enum<"Merge", "combination of the gradients of several steps", [
  I32EnumAttrCase<"mean", 0>, I32EnumAttrCase<"sum", 1>]>;
def NN_MergeAttr : NN_EnumAttr<NN_Merge, "merge">;

def NN_RateOver : NN_Enum<"RateOver", "divisor of the learning rate of a group", [
  I32EnumAttrCase<"pushers", 0>]>;
def NN_RateOverAttr : NN_EnumAttr<NN_RateOver, "rate_over">;

def NN_RulePurpose : NN_Enum<"RulePurpose", "purpose of a rule", [
  I32EnumAttrCase<"gradients", 0>, I32EnumAttrCase<"states", 1>,
  I32EnumAttrCase<"averages", 2>, I32EnumAttrCase<"delays", 3>]>;
def NN_RulePurposeAttr : NN_EnumAttr<NN_RulePurpose, "rule_purpose">;

def NN_Unknown : NN_Enum<"Unknown", "value that a frozen program reads for an unknown key", [
  I32EnumAttrCase<"initial", 0>, I32EnumAttrCase<"zero", 1>]>;
def NN_UnknownAttr : NN_EnumAttr<NN_Unknown, "unknown">;

def NN_Storage : NN_Enum<"Storage", "storage type of the values of a table", [
  I32EnumAttrCase<"bf16", 1>, I32EnumAttrCase<"f16", 2>]>;
def NN_StorageAttr : NN_EnumAttr<NN_Storage, "storage">;

def NN_Compute : NN_Enum<"Compute", "parts of the factors of a product", [
  I32EnumAttrCase<"bf16", 1>, I32EnumAttrCase<"bf16x3", 2>, I32EnumAttrCase<"bf16x6", 3>]>;
def NN_ComputeAttr : NN_EnumAttr<NN_Compute, "compute">;

def NN_PostOp : NN_Enum<"PostOp", "elementwise operation after a matrix product", [
  I32EnumAttrCase<"bias", 1>, I32EnumAttrCase<"relu", 2>,
  I32EnumAttrCase<"relu_gradient", 3>]>;
def NN_PostOpAttr : NN_EnumAttr<NN_PostOp, "post">;

def NN_Stage : NN_Enum<"Stage", "the part of a step that an op belongs to", [
  I32EnumAttrCase<"prepare", 0>, I32EnumAttrCase<"receive", 1>,
  I32EnumAttrCase<"compute", 2>, I32EnumAttrCase<"send", 3>,
  I32EnumAttrCase<"apply", 4>]>;
def NN_StageAttr : NN_EnumAttr<NN_Stage, "stage"> {
  let summary = "The part of a step that an op belongs to";
  let description = [{
    The attribute `stage` of ops in a program, from phase `split` on. Passes
    query its properties and do not compare names:

    | stage | contents | may fail | servers take part | becomes a function | lifetime of its buffers |
    |---|---|---|---|---|---|
    | `prepare` | ids, and the rows that they name | yes | | yes | the step |
    | `receive` | the state that the previous step left | | yes | | |
    | `compute` | losses and gradients | | | yes | the stage |
    | `send` | the data that servers merge | | yes | | |
    | `apply` | the update, the only stage that writes state | | | | |

    Stages run in this order. An op never waits for an op of a later stage.

    Example:
    ```mlir
    %0 = nn.relu %x {stage = #nn.stage<compute>} : tensor<?x4xf32>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
  let extraClassDeclaration = [{
    const ::pdlc::nn::StageProperties &getProperties() const;
    bool runsAfter(::pdlc::nn::StageAttr other) const {
      return getValue() > other.getValue();
    }
  }];
}
def NN_PostOpArrayAttr : TypedArrayAttrBase<NN_PostOpAttr, "array of post-ops">;

#endif // PDLC_DIALECT_NN_IR_NNATTRIBUTES_TD
