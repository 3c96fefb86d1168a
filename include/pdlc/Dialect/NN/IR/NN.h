//===- NN.h - The model dialect ---------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a user of dialect `nn` includes. Documentation of types,
// attributes and ops is in the .td files.
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

/// Reads and writes a number parameter of an attribute: a 64-bit float.
mlir::FailureOr<mlir::FloatAttr> parseNumber(mlir::AsmParser &parser);
void printNumber(mlir::AsmPrinter &printer, mlir::FloatAttr value);

/// Fails, at what `emitError` names, unless a metric of this pdl_metric_kind
/// can have this parameter.
mlir::LogicalResult
verifyMetric(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
             int32_t kind, double parameter);
/// How a model writes each metric, for messages: "#nn.auc<buckets = N>, ...".
std::string listMetrics();

/// The type of `value`, which is a tensor.
inline mlir::RankedTensorType tensorOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// The group that `symbol` is trained in; null for a symbol without group, for
/// anything but a parameter or table, and for null.
mlir::FlatSymbolRefAttr groupOf(mlir::Operation *symbol);

/// The type of what `symbol`, a parameter, a table or a state, holds: of a
/// table that of one row.
mlir::RankedTensorType heldTypeOf(mlir::Operation *symbol);

/// The type of the state that `user` names by `symbol`: a ranked tensor type of
/// a parameter or nn.state, the function type from key to row of a table, null
/// of anything else. In a function that may be a symbol that the function
/// takes.
mlir::Type stateSymbolType(mlir::Operation *user,
                           mlir::SymbolTableCollection &symbols,
                           mlir::FlatSymbolRefAttr symbol);

/// The type of the parameter or state named `symbol`; null if it is neither.
mlir::RankedTensorType denseSymbolType(mlir::Operation *user,
                                       mlir::SymbolTableCollection &symbols,
                                       mlir::FlatSymbolRefAttr symbol);

/// The type of the rows of the table named `symbol`; null if it is none.
mlir::RankedTensorType rowSymbolType(mlir::Operation *user,
                                     mlir::SymbolTableCollection &symbols,
                                     mlir::FlatSymbolRefAttr symbol);

/// Trait: the op stands in the body of a program.
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

/// Trait: operands may hold floats of both types. Of all other ops of which
/// BatchFirst holds, they hold floats of one type.
template <typename ConcreteType>
class MayMixFloats
    : public mlir::OpTrait::TraitBase<ConcreteType, MayMixFloats> {};

/// What a sentence adds that says `found` where `expected` is meant: the
/// remedy, where one would be the other if its floats were of the other type;
/// else nothing.
llvm::StringRef castRemedy(mlir::Type found, mlir::Type expected);

/// Refuses operands of which an op infers nothing: each is a tensor with a
/// dynamic dimension at most in front, or bags where `mayBeBags` says so; and,
/// but for MayMixFloats, floats of both types.
mlir::LogicalResult verifyOperandTypes(std::optional<mlir::Location> location,
                                       llvm::StringRef operation,
                                       mlir::ValueRange operands,
                                       bool mayBeBags);

/// Trait: the result types are those that the op infers.
mlir::LogicalResult verifyInferredTypes(mlir::Operation *op);
template <typename ConcreteType>
class InferredTypes
    : public mlir::OpTrait::TraitBase<ConcreteType, InferredTypes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyInferredTypes(op);
  }
};

/// The most elements that a tensor may have (of one sample, where it has a
/// batch): sizes in bytes never overflow.
inline constexpr int64_t kMaxElements = int64_t(1) << 40;

/// The number of elements, a dynamic dimension counting as one; fails above
/// kMaxElements.
mlir::FailureOr<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// The shape that two operands broadcast to as in NumPy, a dynamic first
/// dimension counting as equal to another; fails where they do not.
mlir::FailureOr<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

} // namespace pdlc::nn

#include "pdlc/Dialect/NN/IR/NNDialect.h.inc"
#include "pdlc/Dialect/NN/IR/NNEnums.h.inc"

namespace pdlc::nn {

/// Ids in bags: bag i holds those from entry i to entry i + 1 of `splits`.
struct Bags {
  /// `splits` is null where each bag holds one id.
  mlir::Value ids, splits;
};

/// The results of an `nn.unique`.
struct Deduplication {
  mlir::Value keys, inverse, keySplits, occurrences;

  bool operator==(const Deduplication &other) const = default;
};

/// One input of an `nn.pool`.
struct PoolInput {
  /// `splits` is null where each bag holds one id.
  mlir::Value ids, splits;
  Pooling pooling;
  /// In an `nn.pool_gradient`, that of the result; null where it is zero.
  mlir::Value cotangent = {};
};

/// A symbol that is trained, and the sum of its gradients.
struct SymbolGradient {
  mlir::FlatSymbolRefAttr symbol;
  mlir::Value gradient;
  /// Of a table, the key of each row of the gradient; null for a parameter.
  mlir::Value keys;
  /// Whether the runtime is told when the gradient is all written.
  bool isEarly = false;
};

/// What passes ask of a stage (`#nn.stage`).
struct StageProperties {
  Stage stage;
  /// Its ops work on ids and memory; nothing is written before they are done.
  bool mayFail = false;
  /// It waits for servers.
  bool receivesState = false;
  /// Servers get what it sends.
  bool sendsResults = false;
  /// Its ops are emitted as a function of the program.
  bool isFunction = false;
  /// Its buffers last until the step ends, so that later stages may read them.
  bool lastsForStep = false;
  /// It begins with the state as the step before it has left it, and ends with
  /// gradients and outputs.
  bool readsState = false;
  /// It writes state: what comes before has read it.
  bool writesState = false;

  bool needsServers() const { return receivesState || sendsResults; }
};

/// The stages, in the order in which they run.
llvm::ArrayRef<StageProperties> allStages();

/// Their names: "prepare, ... or apply".
std::string stageList();

} // namespace pdlc::nn

#define GET_ATTRDEF_CLASSES
#include "pdlc/Dialect/NN/IR/NNAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "pdlc/Dialect/NN/IR/NNTypes.h.inc"
#define GET_OP_CLASSES
#include "pdlc/Dialect/NN/IR/NNOps.h.inc"

namespace pdlc::nn {

/// The stage that an op of a program belongs to; null before phase `split`.
StageAttr stageOf(mlir::Operation *op);
void setStage(mlir::Operation *op, Stage stage);
/// For an op that leaves its program.
void removeStage(mlir::Operation *op);

/// The stream of the op that is number `ordinal`, from 0, of those called `op`
/// in `program` with its functions inlined. So a stream changes only if the
/// program gets, or loses, an op of that name before it.
uint64_t drawStreamOf(ProgramOp program, llvm::StringRef op, unsigned ordinal);

/// The op `nn.<activation>` on `input`.
mlir::Value createActivation(mlir::OpBuilder &builder, mlir::Location loc,
                             llvm::StringRef activation, mlir::Value input);

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_NN_H
