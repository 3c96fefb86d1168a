//===- BufferPlan.h - Where the tensors of a program live -------*- C++ -*-===//
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

/// Where one tensor lives.
struct Home {
  enum Kind {
    None,      ///< nowhere: a scalar of a loop, or only its size is used
    Place,     ///< at a pointer of the step context
    Arena,     ///< at place `arenaPlace` of the arena of `stage`
    Allocated, ///< in memory that stage prepare asked for
    Constant   ///< in the program's constants
  };
  Kind kind = None;
  rt::Place place = rt::Place::worker;
  int64_t index = 0;
  nn::StageAttr stage;
  unsigned arenaPlace = 0;

  static Home ofKind(Kind kind);
  /// At a pointer of the step context.
  static Home inContext(rt::Place place, int64_t index);
};

/// Some columns of a tensor that is taken as a matrix: of each row of `row`
/// elements the `run` elements from `offset` on.
struct Columns {
  int64_t offset = 0, run = 0, row = 0;

  /// Whether nothing lies between one row and the next.
  bool isDense() const { return run == row; }
};

/// Where the elements of a tensor are: all elements of `root`, or some of its
/// columns.
struct Part {
  mlir::Value root;
  std::optional<Columns> columns;
};

/// The dimension from which on the elements of the type are `run` neighbours:
/// the least, if several of size 1 leave a choice.
std::optional<unsigned> runDimension(llvm::ArrayRef<int64_t> shape,
                                     int64_t run);

/// Whether nobody but `ops` reads the value.
bool isInnerTo(llvm::ArrayRef<mlir::Operation *> ops, mlir::Value value);

/// What ops number their places in the step context by.
struct HomeNumbers {
  const ProgramSizes &sizes;
  /// The descriptor's index of a parameter or state.
  llvm::function_ref<int64_t(mlir::FlatSymbolRefAttr)> parameter;
};

/// Assigns each tensor of a program a home. The body of a program is
/// straight-line code, so a lifetime is an interval of op positions.
class BufferPlan {
public:
  /// `joinsLoops`: whether loops of several ops are wanted.
  BufferPlan(nn::ProgramOp program, const HomeNumbers &numbers,
             bool joinsLoops);

  /// What the tensor is all, or some columns, of.
  Part locate(mlir::Value tensor) const;
  /// The home of what the tensor is all, or some columns, of.
  Home home(mlir::Value tensor) const {
    return homes.lookup(locate(tensor).root);
  }
  /// The place in the compute arena of the intermediate results of `op`.
  unsigned scratch(mlir::Operation *op) const { return scratches.at(op); }
  /// The ops that one loop computes, each behind what it reads: `op`, and those
  /// that are fused with it. The loop stands in the place of the last. All are
  /// elementwise but that one, which may be an op that reads what the others
  /// compute, and alone does so; or it is a loop over rows.
  llvm::ArrayRef<mlir::Operation *> loopOf(mlir::Operation *op) const;
  /// If the loop of the op is one over rows: the steps of a turn, one after the
  /// other. Each is one op that combines a row, or elementwise ops of one type.
  llvm::ArrayRef<llvm::SmallVector<mlir::Operation *>>
  rowStepsOf(mlir::Operation *op) const;
  /// Whether another op's loop computes the op, further down.
  bool isFused(mlir::Operation *op) const {
    llvm::ArrayRef<mlir::Operation *> loop = loopOf(op);
    return !loop.empty() && loop.back() != op;
  }
  /// Whether the value has no buffer: it is a scalar of the one loop that
  /// computes and uses it, or one row of it is there at a time.
  bool isScalar(mlir::Value value) const;

  /// Whether the op's results are where its operands are: it needs no code.
  bool isView(mlir::Operation *op) const;
  /// Whether the operand is written by who makes it to where its user would
  /// move it.
  bool isInPlace(mlir::OpOperand &operand) const {
    return inPlace.contains(&operand);
  }

  /// What needs memory while an op with bodies runs: its states, and what the
  /// bodies compute (those of a scan, for one row).
  llvm::SmallVector<mlir::Value> localsOf(BodyOpInterface owner) const;

  size_t fusedCount() const;
  size_t rowLoopCount() const { return rowSteps.size(); }
  size_t inPlaceCount() const { return inPlace.size(); }
  size_t repeatCount() const { return columnsOf.size() - inPlace.size(); }

  /// The arena of a stage that is a function.
  const ArenaLayout &arena(nn::StageAttr stage) const {
    return arenas.at(stage);
  }
  /// Whether an arena can have room for it: the ids of a field are counted
  /// before a stage runs, those that a stage makes are not.
  bool isPlannable(const Extent &extent) const;
  /// The bytes of the stage's arena in a program of so many fields; all that it
  /// has is plannable.
  rt::SizeAttr arenaSize(nn::StageAttr stage, unsigned fields) const;

private:
  /// What needs memory for a time.
  struct Tenant {
    mlir::Value value;          // or
    mlir::Operation *scratchOf; // an op's intermediate results
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
  bool isReadBehind(mlir::Operation *place, mlir::Value value,
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
  /// The program's field whose ids these are; -1 if they are no field's.
  int64_t fieldOf(mlir::Value ids) const;
  unsigned position(mlir::Operation *op) const;
  unsigned endOf(mlir::Operation *op) const;
  /// Where the last code stands that reads an operand of `user`.
  unsigned lastRead(mlir::Operation *user) const;
  /// Where the last op of `stage` stands that reads one of the values.
  unsigned lastRead(llvm::ArrayRef<mlir::Value> values, nn::StageAttr stage,
                    unsigned begin) const;

  const ProgramSizes &sizes;
  const bool joinsLoops;
  /// By op, the numbers of itself and of the last op of its bodies. Ops of a
  /// choice have numbers of their own, since only one of its bodies runs.
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> positions;
  /// Those of ops that other ops' loops read or write are joined into one.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> loops;
  llvm::DenseMap<mlir::Operation *, unsigned> loopNumbers;
  /// By number of the loop.
  llvm::DenseMap<unsigned,
                 llvm::SmallVector<llvm::SmallVector<mlir::Operation *>>>
      rowSteps;
  /// What is not all of another tensor, but some columns.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, Columns>> columnsOf;
  llvm::DenseSet<mlir::OpOperand *> inPlace;
  llvm::DenseMap<mlir::Value, Home> homes;
  llvm::DenseMap<mlir::Operation *, unsigned> scratches;
  llvm::DenseMap<nn::StageAttr, ArenaLayout> arenas;
};

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_BUFFERPLAN_H
