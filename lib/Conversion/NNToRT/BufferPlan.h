//===- BufferPlan.h - Memory of the tensors of a program --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_NNTORT_BUFFERPLAN_H
#define LIB_CONVERSION_NNTORT_BUFFERPLAN_H

#include "ArenaLayout.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Interfaces/StageOpInterface.h"

namespace pdlc {

using nn::stageOf;

/// Location of one tensor.
struct Home {
  enum Kind {
    None,      ///< No memory: a scalar of a loop, or only the size is used.
    Place,     ///< At a pointer of the step context.
    Arena,     ///< At offset number `arenaPlace` of the arena of `stage`.
    Allocated, ///< In memory that stage prepare allocates at run time.
    Constant   ///< In the constants of the program.
  };
  Kind kind = None;
  rt::Place place = rt::Place::worker;
  int64_t index = 0;
  nn::StageAttr stage;
  unsigned arenaPlace = 0;

  static Home ofKind(Kind kind);
  /// Returns a location at a pointer of the step context.
  static Home inContext(rt::Place place, int64_t index);
};

/// Some columns of a tensor that is viewed as a matrix with `row` elements in
/// each row: the `run` columns that start at column `offset`.
struct Columns {
  int64_t offset = 0, run = 0, row = 0;

  /// Returns true if there are no gaps between rows.
  bool isDense() const { return run == row; }
};

/// Location of the elements of a tensor: all of `root`, or some columns of it.
struct Part {
  mlir::Value root;
  std::optional<Columns> columns;
};

/// Returns the dimension d for which the dimensions from d on contain `run`
/// elements. If several dimensions qualify, because dimensions have size 1,
/// returns the lowest. Returns nothing if none does.
std::optional<unsigned> runDimension(llvm::ArrayRef<int64_t> shape,
                                     int64_t run);

/// Returns true if only `ops` use the value.
bool isInnerTo(llvm::ArrayRef<mlir::Operation *> ops, mlir::Value value);

/// Indices of tensors in the step context.
struct HomeNumbers {
  const ProgramSizes &sizes;
  /// Returns the index of a parameter or state in the descriptor.
  llvm::function_ref<int64_t(mlir::FlatSymbolRefAttr)> parameter;
};

/// Assigns a location to each tensor of a program. The lifetime of a tensor is
/// an interval of op positions; the bodies of an `nn.if` have positions one
/// after the other.
class BufferPlan {
public:
  /// If `joinsLoops` is false, no loops are fused.
  BufferPlan(nn::ProgramOp program, const HomeNumbers &numbers,
             bool joinsLoops);

  /// Returns the tensor of which `tensor` is all or some columns.
  Part locate(mlir::Value tensor) const;
  /// Returns the location of the tensor, or of the tensor that contains it.
  Home home(mlir::Value tensor) const {
    return homes.lookup(locate(tensor).root);
  }
  /// Returns the index of the offset (`ArenaLayout::getPlaces`) of the scratch
  /// memory of `op` in the arena of its stage.
  unsigned scratch(mlir::Operation *op) const { return scratches.at(op); }
  /// Returns the ops that one loop computes together with `op`, each after the
  /// ops whose results it reads; empty if `op` is in no loop. The loop is at
  /// the position of its last op. All ops are elementwise, with two exceptions:
  /// the last op may compute its operand in its own loop
  /// (`StageOpInterface::computesElements`), and in a loop over rows, ops may
  /// reduce a row.
  llvm::ArrayRef<mlir::Operation *> loopOf(mlir::Operation *op) const;
  /// If `op` is in a loop over rows, returns the steps of an iteration, which
  /// run one after the other. Each step is either one op that reduces a row, or
  /// a group of elementwise ops of one type.
  llvm::ArrayRef<llvm::SmallVector<mlir::Operation *>>
  rowStepsOf(mlir::Operation *op) const;
  /// Returns true if the op is computed later, in a loop at the position of
  /// another op.
  bool isFused(mlir::Operation *op) const {
    llvm::ArrayRef<mlir::Operation *> loop = loopOf(op);
    return !loop.empty() && loop.back() != op;
  }
  /// Returns true if the value has no buffer, because only the loop that
  /// computes it uses it. It is then a scalar in the loop or, in a loop over
  /// rows, one row of temporary memory.
  bool isScalar(mlir::Value value) const;

  /// Returns true if the op needs no code, because its result is a view of an
  /// operand.
  bool isView(mlir::Operation *op) const;
  /// Returns true if the elements of the operand are computed directly where
  /// its user would move them, so that the user moves nothing.
  bool isInPlace(mlir::OpOperand &operand) const {
    return inPlace.contains(&operand);
  }

  /// Returns the values that need memory while an op with bodies runs: its
  /// states, and the values that its bodies compute. For a scan, each of these
  /// values has memory for one row.
  llvm::SmallVector<mlir::Value> localsOf(BodyOpInterface owner) const;

  size_t fusedCount() const;
  size_t rowLoopCount() const { return rowSteps.size(); }
  size_t inPlaceCount() const { return inPlace.size(); }
  size_t repeatCount() const { return columnsOf.size() - inPlace.size(); }

  /// Returns the arena of a stage that is a function.
  const ArenaLayout &arena(nn::StageAttr stage) const {
    return arenas.at(stage);
  }
  /// Returns true if the size of a buffer is known before its stage runs, so
  /// that an arena can contain it. The number of ids of a field is known then;
  /// the number of ids that the stage itself creates is not.
  bool isPlannable(const Extent &extent) const;
  /// Returns the size of a stage's arena. `fields` is the number of fields that
  /// the program reads. All buffers of the arena must be plannable.
  rt::SizeAttr arenaSize(nn::StageAttr stage, unsigned fields) const;

private:
  /// A value or scratch memory with a lifetime.
  struct Tenant {
    mlir::Value value;          // The value, or null.
    mlir::Operation *scratchOf; // Op with intermediate results, or null.
  };
  struct Tenants {
    nn::StageAttr stage;
    llvm::SmallVector<Tenant> all;
    llvm::SmallVector<Lifetime> lifetimes;
    llvm::DenseSet<mlir::Value> known;

    void add(const Tenant &tenant, const Lifetime &lifetime) {
      all.push_back(tenant);
      lifetimes.push_back(lifetime);
    }
  };

  void findLoops(mlir::Block &body);
  bool canMoveTo(mlir::Operation *place, unsigned loop,
                 llvm::ArrayRef<mlir::Operation *> joined) const;
  void joinLoops(mlir::Operation *op);
  void takeLoop(StageOpInterface op);
  mlir::RankedTensorType rowsOf(llvm::ArrayRef<mlir::Operation *> loop) const;
  llvm::SmallVector<mlir::Operation *>
  findBefore(llvm::ArrayRef<mlir::Operation *> loop) const;
  bool isReadAfter(mlir::Operation *place, mlir::Value value,
                   llvm::ArrayRef<mlir::Operation *> joined) const;
  void joinRows(mlir::Operation *place);
  void placeGiven(nn::ProgramOp program, const HomeNumbers &numbers);
  void findColumns(mlir::Block &body);
  bool canRepeat(mlir::Operation *op, const Columns &columns) const;
  bool canWriteTo(mlir::OpOperand &operand, const Columns &columns) const;
  bool areRead(mlir::Value value, int64_t run,
               const mlir::OpOperand *except) const;
  void claimResults(nn::ProgramOp program);
  void numberOps(mlir::Block &body);
  void planArena(mlir::Block &body, nn::StageAttr stage);
  void addTenants(mlir::Block &body, Tenants &tenants) const;
  /// Returns the index of the field, among those that the program reads, whose
  /// ids are `ids`; -1 if they are computed.
  int64_t fieldOf(mlir::Value ids) const;
  unsigned position(mlir::Operation *op) const;
  unsigned endOf(mlir::Operation *op) const;
  /// Returns the position of the last code that reads an operand of `user`.
  unsigned lastRead(mlir::Operation *user) const;
  /// Returns the position of the last op of `stage` that reads one of the
  /// values, or `begin` if none does. If a later stage reads one of the values,
  /// returns a position after all ops.
  unsigned lastRead(llvm::ArrayRef<mlir::Value> values, nn::StageAttr stage,
                    unsigned begin) const;

  const ProgramSizes &sizes;
  const bool joinsLoops;
  /// Position of each op, and position of the last op in its bodies. Each op in
  /// the bodies of an `nn.if` has a position of its own. Ops in the body of a
  /// scan have none.
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> positions;
  /// Loops of fused ops, by loop number.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> loops;
  llvm::DenseMap<mlir::Operation *, unsigned> loopNumbers;
  /// Steps of loops over rows, by loop number.
  llvm::DenseMap<unsigned,
                 llvm::SmallVector<llvm::SmallVector<mlir::Operation *>>>
      rowSteps;
  /// Tensors that are some columns of another tensor.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, Columns>> columnsOf;
  llvm::DenseSet<mlir::OpOperand *> inPlace;
  llvm::DenseMap<mlir::Value, Home> homes;
  llvm::DenseMap<mlir::Operation *, unsigned> scratches;
  llvm::DenseMap<nn::StageAttr, ArenaLayout> arenas;
};

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_BUFFERPLAN_H
