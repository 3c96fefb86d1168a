//===- StageEmitter.h - Emit the body of a stage ----------------*- C++ -*-===//
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

/// State shared by all stages of a module.
struct ModuleContext {
  mlir::ModuleOp module;
  rt::DescriptorOrder order;
  rt::Numerics numerics;

  explicit ModuleContext(mlir::ModuleOp module)
      : module(module), order(module) {}
  /// Returns the function of that name. Declares it if necessary.
  mlir::func::FuncOp declare(llvm::StringRef name, mlir::FunctionType type);
  /// Returns the name `wanted`, followed by a number if the module already has
  /// a symbol of that name.
  std::string freeName(llvm::StringRef wanted);
  /// Adds a constant to the module and returns its name. Constants with the
  /// same elements are added once, even if their shapes differ.
  llvm::StringRef addConstant(mlir::DenseElementsAttr value);

private:
  unsigned constantCount = 0;
  /// Names by elements. The names are owned by the module.
  llvm::DenseMap<mlir::Attribute, llvm::StringRef> constants;
};

/// Emits one stage function. Each op emits its own code through
/// StageOpInterface; this class provides the builder, and access to memory and
/// sizes.
class StageEmitter {
public:
  StageEmitter(ModuleContext &module, nn::ProgramOp program,
               const ProgramSizes &sizes, const BufferPlan &plan,
               nn::StageAttr stage);

  /// Emits the function `@<program>_<stage>`. Returns null on failure.
  mlir::func::FuncOp emit();
  /// Emits one op if it needs code.
  mlir::LogicalResult emitOp(mlir::Operation *op);

  mlir::ImplicitLocOpBuilder builder;
  ModuleContext &module;
  const ProgramSizes &sizes;
  const BufferPlan &plan;

  mlir::Value index(int64_t value);
  /// Return a pointer or a number of the step context. It is loaded once, at
  /// the entry of the function.
  mlir::Value pointer(rt::Place place, int64_t index = 0);
  mlir::Value count(rt::Quantity quantity, int64_t index = 0);
  mlir::Value evaluate(const Extent &extent);

  /// Returns a view of the tensor's memory as `[first, shape...]`. The first
  /// dimension is static if `first` is. If the tensor is only some columns of
  /// another one, a dimension of the view must not contain elements from both
  /// sides of a gap.
  mlir::Value view(mlir::Value tensor, const Extent &first,
                   llvm::ArrayRef<int64_t> shape = {});
  /// Return the tensor's memory in its own shape, or as one dimension.
  mlir::Value view(mlir::Value tensor);
  mlir::Value flat(mlir::Value tensor);
  /// Returns the start address of a tensor without gaps.
  mlir::Value address(mlir::Value tensor);
  /// Binds the tensor to the memory `offset` bytes after `base`, from now on.
  void bind(mlir::Value tensor, mlir::Value base, mlir::Value offset) {
    bound[tensor] = {base, offset};
  }
  void unbind(mlir::Value tensor) { bound.erase(tensor); }
  /// Returns a view of an offset of the stage's arena.
  mlir::Value scratchView(unsigned place, const Extent &first,
                          mlir::Type element,
                          llvm::ArrayRef<int64_t> shape = {});
  mlir::Value viewAt(mlir::Value base, mlir::Value offset, const Extent &first,
                     llvm::ArrayRef<int64_t> shape, mlir::Type element,
                     std::optional<Columns> columns = std::nullopt);
  /// If the tensor has gaps in memory, returns the number of elements between
  /// two gaps; else nullopt.
  std::optional<int64_t> runOf(mlir::Value tensor) const;
  /// Allocates memory at run time for the `count` ids of `tensor`.
  void allocate(mlir::Value tensor, mlir::Value count);

  /// Creates a parallel loop over all points of the box [0, bounds) and calls
  /// `body` with a point to emit an iteration. Iterations must be independent.
  /// Without bounds, emits one iteration without a loop.
  void parallel(llvm::ArrayRef<mlir::Value> bounds,
                llvm::function_ref<void(mlir::ValueRange)> body);
  /// Creates a sequential loop over [0, count) that carries one value, first
  /// `initial`. `body` gets the index and the carried value and returns the
  /// next one. Returns the final value.
  mlir::Value
  ordered(mlir::Value count, mlir::Value initial,
          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body);
  mlir::Value load(mlir::Value memref, mlir::ValueRange indices);
  void store(mlir::Value value, mlir::Value memref, mlir::ValueRange indices);
  mlir::Value scalar(mlir::Type type, double value);
  /// Creates a parallel loop over all elements of the tensor. Calls `body` with
  /// a view of the tensor and the position of an element.
  void
  forElements(mlir::Value tensor,
              llvm::function_ref<void(mlir::Value, mlir::ValueRange)> body);
  void fill(mlir::Value tensor, mlir::Value scalar);
  /// Returns the address of an array of constants.
  mlir::Value constant(mlir::DenseElementsAttr value);
  /// Returns a view of f64 constants.
  mlir::Value numbers(llvm::ArrayRef<double> values);

  /// Emits a branch to `taken` or `otherwise`, and continues after them. Later
  /// code cannot use values that these two create, except those that the
  /// emitter creates at the entry of the function.
  mlir::LogicalResult
  branch(mlir::Value condition, llvm::function_ref<mlir::LogicalResult()> taken,
         llvm::function_ref<mlir::LogicalResult()> otherwise);
  /// Ends the stage with this status if it is not 0.
  void returnUnlessZero(mlir::Value status);

private:
  /// Adds a block after the current one and before the exit.
  mlir::Block *addBlock();
  void declareCallees();
  void emitOffsets(nn::StageAttr arena);
  void emitDeferred();
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int32_t>>
  findReadyGradients();
  void copyResults();
  void copyTo(mlir::Value tensor, rt::Place place, int64_t number);
  mlir::Value baseOf(const Home &home, mlir::Value tensor);
  /// Returns a pointer and an offset in bytes.
  std::pair<mlir::Value, mlir::Value> locate(mlir::Value tensor);
  mlir::Value idCount(mlir::Value ids);
  /// Builds a value in the entry block, where it dominates all other code.
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
  /// A std::map, because any number may be a key and a DenseMap reserves two.
  std::map<int64_t, mlir::Value> indices;
  /// Offsets in the arena of each stage.
  llvm::DenseMap<nn::StageAttr, llvm::SmallVector<mlir::Value>> offsetsOf;
};

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_STAGEEMITTER_H
