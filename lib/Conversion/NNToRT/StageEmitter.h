//===- StageEmitter.h - Writes the body of one stage ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_NNTORT_STAGEEMITTER_H
#define LIB_CONVERSION_NNTORT_STAGEEMITTER_H

#include "BufferPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "pdlc/Dialect/RT/IR/DescriptorOrder.h"
#include <map>

namespace pdlc {

/// What all stages of a module share.
struct ModuleContext {
  mlir::ModuleOp module;
  rt::DescriptorOrder order;
  rt::Numerics numerics;

  explicit ModuleContext(mlir::ModuleOp module)
      : module(module), order(module) {}
  /// The function of that name, declared if it is not yet.
  mlir::func::FuncOp declare(llvm::StringRef name, mlir::FunctionType type);
  /// `wanted`, or with a number behind it where a symbol of the model has that
  /// name.
  std::string freeName(llvm::StringRef wanted);
  /// The name of the constant with these elements, whatever their shape: equal
  /// ones of all programs are one.
  llvm::StringRef addConstant(mlir::DenseElementsAttr value);

private:
  unsigned constantCount = 0;
  /// By their elements; names are owned by the module.
  llvm::DenseMap<mlir::Attribute, llvm::StringRef> constants;
};

/// Emits one stage function: owns the insertion point, and knows how to reach
/// memory and sizes. Ops emit themselves (StageOpInterface).
class StageEmitter {
public:
  StageEmitter(ModuleContext &module, nn::ProgramOp program,
               const ProgramSizes &sizes, const BufferPlan &plan,
               nn::StageAttr stage);

  /// Emits the function `@<program>_<stage>`; null where it failed.
  mlir::func::FuncOp emit();
  /// Emits one op, if it needs code.
  mlir::LogicalResult emitOp(mlir::Operation *op);

  mlir::ImplicitLocOpBuilder builder;
  ModuleContext &module;
  const ProgramSizes &sizes;
  const BufferPlan &plan;

  mlir::Value index(int64_t value);
  /// A pointer or number of the step context, read once a function.
  mlir::Value pointer(rt::Place place, int64_t index = 0);
  mlir::Value count(rt::Quantity quantity, int64_t index = 0);
  mlir::Value evaluate(const Extent &extent);

  /// The tensor's memory as `[first, shape...]`; the first dimension is static
  /// if the extent is. If the tensor is some columns of another one, no
  /// dimension may join elements that have a gap between them.
  mlir::Value view(mlir::Value tensor, const Extent &first,
                   llvm::ArrayRef<int64_t> shape = {});
  /// ... in its own shape, or as one dimension.
  mlir::Value view(mlir::Value tensor);
  mlir::Value flat(mlir::Value tensor);
  /// Where the elements of the tensor, which has no gaps, begin.
  mlir::Value address(mlir::Value tensor);
  /// From here on the elements of the tensor are so many bytes behind `base`.
  void bind(mlir::Value tensor, mlir::Value base, mlir::Value offset) {
    bound[tensor] = {base, offset};
  }
  void unbind(mlir::Value tensor) { bound.erase(tensor); }
  /// A view of a place in the stage's arena.
  mlir::Value scratchView(unsigned place, const Extent &first,
                          mlir::Type element,
                          llvm::ArrayRef<int64_t> shape = {});
  mlir::Value viewAt(mlir::Value base, mlir::Value offset, const Extent &first,
                     llvm::ArrayRef<int64_t> shape, mlir::Type element,
                     std::optional<Columns> columns = std::nullopt);
  /// How many elements of the tensor stand between two gaps; nullopt if it has
  /// none.
  std::optional<int64_t> runOf(mlir::Value tensor) const;
  /// Asks for memory for `count` ids, known only now, of `tensor`.
  void allocate(mlir::Value tensor, mlir::Value count);

  /// Independent turns, one for each point below `bounds`; the body gets the
  /// point. Without bounds there is one turn and no loop.
  void parallel(llvm::ArrayRef<mlir::Value> bounds,
                llvm::function_ref<void(mlir::ValueRange)> body);
  /// A loop over [0, count) whose turns follow each other: it carries one value
  /// from turn to turn.
  mlir::Value
  ordered(mlir::Value count, mlir::Value initial,
          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body);
  mlir::Value load(mlir::Value memref, mlir::ValueRange indices);
  void store(mlir::Value value, mlir::Value memref, mlir::ValueRange indices);
  mlir::Value scalar(mlir::Type type, double value);
  /// Independent turns for all elements of the tensor; the body gets its view,
  /// and where in it an element is.
  void
  forElements(mlir::Value tensor,
              llvm::function_ref<void(mlir::Value, mlir::ValueRange)> body);
  void fill(mlir::Value tensor, mlir::Value scalar);
  /// The address of an array of constants.
  mlir::Value constant(mlir::DenseElementsAttr value);
  /// A view of f64 constants.
  mlir::Value numbers(llvm::ArrayRef<double> values);

  /// Emits `taken` or `otherwise`, and goes on behind both. What they emit is
  /// not seen from there, but for what the emitter reads at entry.
  mlir::LogicalResult
  branch(mlir::Value condition, llvm::function_ref<mlir::LogicalResult()> taken,
         llvm::function_ref<mlir::LogicalResult()> otherwise);
  /// Ends the stage with this status if it is not 0.
  void returnUnlessZero(mlir::Value status);

private:
  /// A new block behind the one that is written, before the exit.
  mlir::Block *addBlock();
  void declareCallees();
  void emitOffsets(nn::StageAttr arena);
  void emitDeferred();
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int32_t>>
  findReadyGradients();
  void copyResults();
  void copyTo(mlir::Value tensor, rt::Place place, int64_t number);
  mlir::Value baseOf(const Home &home, mlir::Value tensor);
  /// A pointer and a number of bytes behind it.
  std::pair<mlir::Value, mlir::Value> locate(mlir::Value tensor);
  mlir::Value idCount(mlir::Value ids);
  /// Builds a value in the entry block, where it dominates everything.
  template <typename BuildFn> mlir::Value atEntry(BuildFn build);

  nn::ProgramOp program;
  nn::StageAttr stage;
  mlir::Value context;
  mlir::func::FuncOp function;
  llvm::DenseMap<std::pair<unsigned, int64_t>, mlir::Value> pointers, counts;
  mlir::Operation *lastOfEntry = nullptr;
  mlir::Block *exit = nullptr;
  llvm::DenseMap<mlir::Value, mlir::Value> idCounts, allocated;
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, mlir::Value>> bound;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
  /// Any number may be a key: a DenseMap keeps two for itself.
  std::map<int64_t, mlir::Value> indices;
  /// By stage, where the places of its arena are.
  llvm::DenseMap<nn::StageAttr, llvm::SmallVector<mlir::Value>> offsetsOf;
};

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_STAGEEMITTER_H
