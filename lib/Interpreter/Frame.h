//===- Frame.h - Values while a program runs --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_INTERPRETER_FRAME_H
#define LIB_INTERPRETER_FRAME_H

#include "pdlc/Interpreter/Interpreter.h"

#include <functional>

namespace pdlc::interpreter {

/// The values of one run of a program or function, and what it acts on.
class Frame {
public:
  Frame(State &state, StepResult &result, bool frozen)
      : stepState(state), stepResult(result), frozen(frozen) {}

  State &state() { return stepState; }
  StepResult &result() { return stepResult; }
  /// Whether the program only reads.
  bool isFrozen() const { return frozen; }

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
  State &stepState;
  StepResult &stepResult;
  bool frozen;
  /// Each by itself, so that a reference to one survives the next `set`.
  llvm::DenseMap<mlir::Value, std::unique_ptr<RuntimeValue>> values;
};

/// How each op is evaluated.
class Registry {
public:
  using Evaluator =
      std::function<mlir::LogicalResult(mlir::Operation *, Frame &)>;

  /// `function` reads the operands' values from the frame and sets the
  /// results'. It diagnoses at the op what the verifier cannot know.
  template <typename OpType>
  void add(mlir::LogicalResult (*function)(OpType, Frame &)) {
    evaluators[OpType::getOperationName()] = [function](mlir::Operation *op,
                                                        Frame &frame) {
      return function(llvm::cast<OpType>(op), frame);
    };
  }
  /// The same for an op that cannot fail.
  template <typename OpType> void add(void (*function)(OpType, Frame &)) {
    evaluators[OpType::getOperationName()] = [function](mlir::Operation *op,
                                                        Frame &frame) {
      function(llvm::cast<OpType>(op), frame);
      return mlir::success();
    };
  }

  /// Evaluates `op` and releases nothing: values live as long as the frame.
  mlir::LogicalResult evaluate(mlir::Operation *op, Frame &frame) const;

  /// All ops of the dialect.
  static const Registry &get();

private:
  llvm::StringMap<Evaluator> evaluators;
};

// One function for each file of this folder that evaluates ops.
void addElementwiseOps(Registry &registry);
void addShapeOps(Registry &registry);
void addReductionOps(Registry &registry);
void addMatrixOps(Registry &registry);
void addFeatureOps(Registry &registry);
void addLookupOps(Registry &registry);
void addStateOps(Registry &registry);
void addUpdateOps(Registry &registry);

} // namespace pdlc::interpreter

#endif // LIB_INTERPRETER_FRAME_H
