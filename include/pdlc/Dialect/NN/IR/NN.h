//===- NN.h - The model dialect ---------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Includes everything that a user of dialect `nn` needs. The .td files document
// types, attributes and ops.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NN_H
#define PDLC_DIALECT_NN_IR_NN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pdlc/Interfaces/DifferentiableOpInterface.h"
#include "pdlc/Interfaces/ElementwiseOpInterface.h"
#include "pdlc/Interfaces/ModelAttrInterfaces.h"
#include "pdlc/Interfaces/ProgramOpInterfaces.h"

namespace pdlc::nn {

/// Parses and prints a number parameter of an attribute, a 64-bit float.
mlir::FailureOr<mlir::FloatAttr> parseNumber(mlir::AsmParser &parser);
void printNumber(mlir::AsmPrinter &printer, mlir::FloatAttr value);

/// Fails if a metric of this pdl_metric_kind cannot have this parameter.
/// Reports the error through `emitError`.
mlir::LogicalResult
verifyMetric(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
             int32_t kind, double parameter);
/// Lists how a model writes each metric: "#nn.auc<buckets = N>, ...". Used in
/// messages.
std::string listMetrics();

/// Returns the type of `value`, which must be a tensor.
inline mlir::RankedTensorType tensorOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Returns the group that trains `symbol`. Returns null if `symbol` is null,
/// has no group, or is neither a parameter nor a table.
mlir::FlatSymbolRefAttr groupOf(mlir::Operation *symbol);

/// Returns the type of the contents of `symbol`, which is a parameter, a table
/// or a state. For a table, this is the type of one row.
mlir::RankedTensorType heldTypeOf(mlir::Operation *symbol);

/// Returns the type of the state that `symbol` names in `user`: the ranked
/// tensor type of a parameter or nn.state, or the function type from key to row
/// of a table. Returns null for anything else. Inside a function, `symbol` may
/// be a symbol parameter of that function.
mlir::Type stateSymbolType(mlir::Operation *user,
                           mlir::SymbolTableCollection &symbols,
                           mlir::FlatSymbolRefAttr symbol);

/// Returns the type of the parameter or state named `symbol`; null if `symbol`
/// names neither.
mlir::RankedTensorType denseSymbolType(mlir::Operation *user,
                                       mlir::SymbolTableCollection &symbols,
                                       mlir::FlatSymbolRefAttr symbol);

/// Returns the type of the rows of the table named `symbol`; null if `symbol`
/// does not name a table.
mlir::RankedTensorType rowSymbolType(mlir::Operation *user,
                                     mlir::SymbolTableCollection &symbols,
                                     mlir::FlatSymbolRefAttr symbol);

/// Trait: the op may only occur in the body of a program.
template <typename ConcreteType>
class InProgram : public mlir::OpTrait::TraitBase<ConcreteType, InProgram> {};

/// Trait: only the first dimension of each tensor may be dynamic.
mlir::LogicalResult verifyBatchFirst(mlir::Operation *op);
template <typename ConcreteType>
class BatchFirst : public mlir::OpTrait::TraitBase<ConcreteType, BatchFirst> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyBatchFirst(op);
  }
};

/// Trait: the float operands may have different types (f32 and f64). All float
/// operands of any other op with trait BatchFirst must have the same type.
template <typename ConcreteType>
class MayMixFloats
    : public mlir::OpTrait::TraitBase<ConcreteType, MayMixFloats> {};

/// Returns a hint to append to an error message that reports `found` instead of
/// `expected`. The hint suggests a cast if the two tensor types differ only in
/// their float type. Otherwise it is empty.
llvm::StringRef castRemedy(mlir::Type found, mlir::Type expected);

/// Checks the operands before an op infers its types. Each operand must be a
/// tensor in which only the first dimension is dynamic, or bags if `mayBeBags`.
/// Mixed float types are allowed only for ops with MayMixFloats.
mlir::LogicalResult verifyOperandTypes(std::optional<mlir::Location> location,
                                       llvm::StringRef operation,
                                       mlir::ValueRange operands,
                                       bool mayBeBags);

/// Trait: the result types equal the types that the op infers.
mlir::LogicalResult verifyInferredTypes(mlir::Operation *op);
template <typename ConcreteType>
class InferredTypes
    : public mlir::OpTrait::TraitBase<ConcreteType, InferredTypes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyInferredTypes(op);
  }
};

/// Maximum number of elements of a tensor, counted per sample if it has a batch
/// dimension. The limit ensures that sizes in bytes do not overflow.
inline constexpr int64_t kMaxElements = int64_t(1) << 40;

/// Returns the number of elements. A dynamic dimension counts as one. Fails if
/// the number exceeds kMaxElements.
mlir::FailureOr<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// Returns the shape to which two operands broadcast, with NumPy's rules. A
/// dynamic first dimension counts as equal to any other. Fails if the shapes do
/// not broadcast.
mlir::FailureOr<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

} // namespace pdlc::nn

#include "pdlc/Dialect/NN/IR/NNDialect.h.inc"
#include "pdlc/Dialect/NN/IR/NNEnums.h.inc"

namespace pdlc::nn {

/// Bags of ids. Bag i holds the ids from `splits[i]` to `splits[i + 1]`.
struct Bags {
  /// `splits` is null if each bag holds one id.
  mlir::Value ids, splits;
};

/// Results of an `nn.unique`.
struct Deduplication {
  mlir::Value keys, inverse, keySplits, occurrences;

  bool operator==(const Deduplication &other) const = default;
};

/// One input of an `nn.pool`.
struct PoolInput {
  /// `splits` is null if each bag holds one id.
  mlir::Value ids, splits;
  Pooling pooling;
  /// Cotangent of the result, in an `nn.pool_gradient`. Null if it is zero.
  mlir::Value cotangent = {};
};

/// A trained symbol and the sum of its gradients.
struct SymbolGradient {
  mlir::FlatSymbolRefAttr symbol;
  mlir::Value gradient;
  /// Key of each row of the gradient of a table. Null for a parameter.
  mlir::Value keys;
  /// If true, the runtime is notified as soon as the gradient is complete.
  bool isEarly = false;
};

/// Properties of a stage (`#nn.stage`) that passes query.
struct StageProperties {
  Stage stage;
  /// If true, ops of the stage may fail. They work on ids and memory. An op
  /// that fails has not written state.
  bool mayFail = false;
  /// If true, the stage waits for messages from servers.
  bool receivesState = false;
  /// If true, the stage sends results to servers.
  bool sendsResults = false;
  /// If true, the ops of the stage are emitted as a function of the program.
  bool isFunction = false;
  /// If true, buffers of the stage live until the step ends, so that later
  /// stages can read them.
  bool lastsForStep = false;
  /// If true, the stage reads the state as the previous step left it, and
  /// produces gradients and outputs.
  bool readsState = false;
  /// If true, the stage writes state. When it starts, all earlier stages of the
  /// step have finished reading state.
  bool writesState = false;

  bool needsServers() const { return receivesState || sendsResults; }
};

/// Returns the stages in execution order.
llvm::ArrayRef<StageProperties> allStages();

/// Lists the names of the stages: "prepare, ... or apply".
std::string stageList();

} // namespace pdlc::nn

#define GET_ATTRDEF_CLASSES
#include "pdlc/Dialect/NN/IR/NNAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "pdlc/Dialect/NN/IR/NNTypes.h.inc"
#define GET_OP_CLASSES
#include "pdlc/Dialect/NN/IR/NNOps.h.inc"

namespace pdlc::nn {

/// Returns the stage of an op of a program; null before phase `split`.
StageAttr stageOf(mlir::Operation *op);
void setStage(mlir::Operation *op, Stage stage);
/// Removes the stage attribute, for an op that moves out of its program.
void removeStage(mlir::Operation *op);

/// Returns the random stream of an op. `ordinal` is the position of the op,
/// from 0, among all ops named `op` in `program` after inlining. Therefore a
/// stream changes only if an op of the same name is added or removed before it.
uint64_t drawStreamOf(ProgramOp program, llvm::StringRef op, unsigned ordinal);

/// Creates the op `nn.<activation>` on `input`.
mlir::Value createActivation(mlir::OpBuilder &builder, mlir::Location loc,
                             llvm::StringRef activation, mlir::Value input);

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_NN_H
