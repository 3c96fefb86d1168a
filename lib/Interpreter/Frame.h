//===- Frame.h - Values of a running program --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_INTERPRETER_FRAME_H
#define LIB_INTERPRETER_FRAME_H

#include "pdlc/Interfaces/InterpretableOpInterface.h"
#include "pdlc/Interpreter/Interpreter.h"

#include <map>

namespace pdlc::interpreter {

/// State shared by all frames of one step.
struct StepContext {
  State &state;
  StepResult &result;
  nn::ProgramOp program;
  const Draws &draws;
  /// Number of ops that have drawn random numbers so far, by op name. Used only
  /// in phase `model`, in which ops have no random streams yet.
  std::map<std::string, unsigned> drawingOps = {};
};

/// Values of one run of a program or function, and access to the step.
class Frame {
public:
  explicit Frame(StepContext &step) : stepContext(step) {}

  StepContext &step() { return stepContext; }
  State &state() { return stepContext.state; }
  StepResult &result() { return stepContext.result; }
  /// Returns true if the program only reads state.
  bool isFrozen() const { return stepContext.program.getFrozen(); }
  const Draws &draws() const { return stepContext.draws; }
  /// Returns the random stream of an op. In phase `model`, returns the stream
  /// that `nn-lower-model` would assign to it. This requires one call for each
  /// op of the program, in program order.
  uint64_t streamOf(DrawingOpInterface op);

  /// Symbols passed to the running function, by its symbol parameters.
  using Symbols = llvm::DenseMap<mlir::StringAttr, mlir::StringAttr>;
  void setSymbols(Symbols newSymbols) { symbols = std::move(newSymbols); }
  const Symbols &takenSymbols() const { return symbols; }
  /// Returns the name in the model for a symbol that an op names.
  mlir::StringAttr symbol(mlir::FlatSymbolRefAttr named) const {
    mlir::StringAttr given = symbols.lookup(named.getAttr());
    return given ? given : named.getAttr();
  }

  const RuntimeValue &value(mlir::Value value) const {
    return *values.find(value)->second;
  }
  bool isRagged(mlir::Value value) const {
    return llvm::isa<nn::RaggedType>(value.getType());
  }
  const Tensor &tensor(mlir::Value key) const {
    return *std::get_if<Tensor>(&value(key));
  }
  const Ragged &ragged(mlir::Value key) const {
    return *std::get_if<Ragged>(&value(key));
  }
  void set(mlir::Value key, RuntimeValue value) {
    values[key] = std::make_unique<RuntimeValue>(std::move(value));
  }

private:
  StepContext &stepContext;
  Symbols symbols;
  /// Allocated separately, so that references survive the next `set`.
  llvm::DenseMap<mlir::Value, std::unique_ptr<RuntimeValue>> values;
};

/// Evaluates `op`. Releases nothing: values live as long as the frame.
mlir::LogicalResult evaluate(mlir::Operation *op, Frame &frame);

/// Returns the elements of an attribute as a tensor. Their type must be one
/// that tensors support.
Tensor tensorFrom(mlir::DenseElementsAttr elements);

/// Applies an elementwise op to `operands` instead of its own operands. The
/// element type is that of the op's result.
mlir::FailureOr<Tensor>
evaluateElements(ElementwiseOpInterface op,
                 llvm::ArrayRef<const Tensor *> operands);

/// Evaluates a composite op by the ops that replace it. Fails if this use of
/// the op does not expand to other ops.
mlir::LogicalResult evaluateComposite(CompositeOpInterface op, Frame &frame);

/// Implementation of InterpretableOpInterface that calls `function(op, frame)`.
/// `function` returns a LogicalResult, or void if it cannot fail.
template <typename OpType, auto function>
struct EvaluatedBy
    : InterpretableOpInterface::ExternalModel<EvaluatedBy<OpType, function>,
                                              OpType> {
  mlir::LogicalResult interpret(mlir::Operation *op, Frame &frame) const {
    using Result = decltype(function(llvm::cast<OpType>(op), frame));
    if constexpr (std::is_void_v<Result>) {
      function(llvm::cast<OpType>(op), frame);
      return mlir::success();
    } else {
      return function(llvm::cast<OpType>(op), frame);
    }
  }
};

template <typename OpType, auto function>
void attachEvaluator(mlir::MLIRContext &context) {
  OpType::template attachInterface<EvaluatedBy<OpType, function>>(context);
}

// One function per file of this folder that evaluates ops.
void attachElementwiseOps(mlir::MLIRContext &context);
void attachCompositeOps(mlir::MLIRContext &context);
void attachControlOps(mlir::MLIRContext &context);
void attachSegmentOps(mlir::MLIRContext &context);
void attachShapeOps(mlir::MLIRContext &context);
void attachReductionOps(mlir::MLIRContext &context);
void attachMatrixOps(mlir::MLIRContext &context);
void attachDrawOps(mlir::MLIRContext &context);
void attachMixingOps(mlir::MLIRContext &context);
void attachFeatureOps(mlir::MLIRContext &context);
void attachLookupOps(mlir::MLIRContext &context);
void attachStateOps(mlir::MLIRContext &context);
void attachUpdateOps(mlir::MLIRContext &context);

} // namespace pdlc::interpreter

#endif // LIB_INTERPRETER_FRAME_H
