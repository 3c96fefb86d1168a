//===- State.h - What a model owns between steps ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERPRETER_STATE_H
#define PDLC_INTERPRETER_STATE_H

#include "pdlabi/abi.h"
#include "pdlabi/metrics/GroupedAreaUnderCurve.h"
#include "pdlabi/rounding.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Interpreter/Tensor.h"

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

namespace pdlc::interpreter {

/// A tensor that an optimizer keeps beside a symbol.
struct Slot {
  std::string name;
  double initialValue = 0;
  /// Whether it has one element for each row instead of the symbol's shape.
  bool isOfRow = false;
  /// Whether it begins as the value, and frozen programs read it instead.
  bool isFrozen = false;
};

/// How the elements of a symbol start: the numbers of `pdlabi/philox.h`, keyed
/// by the seed, the symbol's name, a row's key and the element's position.
class Initializer {
public:
  Initializer() = default;
  /// Of a symbol of shape `shape`; for a table that is the shape of a row.
  Initializer(llvm::StringRef name, InitializerAttrInterface attribute,
              llvm::ArrayRef<int64_t> shape, uint64_t seed);
  /// Writes the `width` initial elements of the row of `key`.
  template <typename T> void fill(int64_t key, int64_t width, T *out) const;
  /// The seed and the id of the symbol.
  pdlabi::RoundingDraws draws() const { return {seed, symbolId, 0}; }

private:
  pdl_initializer numbers = {PDL_INIT_CONSTANT, 0, 0};
  uint64_t seed = 0, symbolId = 0;
};

/// A dense tensor and its slots; those of rows, behind the others, have shape
/// [rows, 1]. `nn.state` has no slots.
struct Parameter {
  Tensor value;
  std::vector<Slot> slots;
  std::vector<Tensor> slotValues;

  /// What a program reads.
  const Tensor &read(bool frozen) const;
};

/// When keys of a table get and lose their rows (`nn.table`).
struct TableLife {
  /// The occurrences that a row takes; 1: each key that is trained has one.
  /// Or the units of a score (pdlabi/admission.h).
  int64_t admitCount = 1;
  double admitProbability = 1;
  /// Of a table that admits keys by a score, that score and the weights by
  /// count; else they are empty.
  double admitScore = 0;
  std::vector<double> countWeights;
  /// Whether the table has the clause `shrink`, even if nothing updates it.
  bool shrinks = false;
  /// Updates in a period; 0: no row goes.
  int64_t shrinkEvery = 0;
  int64_t shrinkUnseen = 0;
  /// By slot; empty: there are no scores.
  std::vector<double> scoreWeights;
  double shrinkDecay = 1;
  std::optional<double> shrinkLeast;
};

/// A map from keys to rows; a row is the value followed by its slots, those of
/// rows behind the others. Values that are stored in 16 bits are here as the
/// f32 that these widen to.
class Table {
public:
  /// `life`: when keys get and lose their rows. A table that shrinks has a row
  /// slot behind those of its rule (PeriodSlot.h).
  Table(mlir::Type elementType, int64_t width, Initializer initializer,
        bool unknownIsZero, std::optional<nn::Storage> storage,
        std::vector<Slot> slots, TableLife life);

  int64_t width() const { return valueWidth; }
  /// Elements that part 0 of a row, its value, or 1 + s, slot s, has; and where
  /// they begin.
  int64_t partWidth(size_t part) const {
    return part > 0 && slotList[part - 1].isOfRow ? 1 : valueWidth;
  }
  int64_t partOffset(size_t part) const;
  mlir::Type elementType() const { return type; }
  llvm::ArrayRef<Slot> slots() const { return slotList; }

  /// The row of `key`: its value, then each slot's elements. It is created
  /// if it is new. The pointer is valid for good.
  template <typename T> T *row(int64_t key);
  /// Copies what a program, frozen or not, sees as the value of `key`; creates
  /// nothing.
  template <typename T> void read(int64_t key, bool frozen, T *value) const;
  /// Rounds a row's value, which was just set, to the nearest one that can be
  /// stored; -1, or the first element that is too large.
  template <typename T> int64_t storeNearest(T *value) const;
  /// Rounds it at random, as update `update` of its group does. Whether it is
  /// finite then.
  template <typename T>
  bool storeAtRandom(int64_t key, int64_t update, T *value) const;
  /// The part that frozen programs read: 0 or 1 + s.
  size_t frozenPart() const;
  /// Whether the key has a row.
  bool contains(int64_t key) const { return index.count(key) != 0; }
  const TableLife &life() const { return ownLife; }
  /// Whether updates alone make rows, and not reads of training programs.
  bool makesRowsInUpdates() const {
    return ownLife.admitCount > 1 || ownLife.admitProbability < 1 ||
           ownLife.shrinks;
  }
  /// Whether a key that an update is of, and that occurs so often in its step,
  /// or scores so many units, has a row or gets one now; and the same, noting
  /// that it did.
  bool getsRow(int64_t key, double occurrences) const;
  bool admit(int64_t key, double occurrences);
  /// The row's period of its last update is that of this one.
  template <typename T> void noteUpdate(T *row) const;
  /// An update of the group, 1 for the first, begins, and has been applied: at
  /// the end of a period rows go that were not updated for long.
  void beginUpdate(int64_t number);
  void endUpdate(int64_t number);
  /// So many updates were applied before: rows count as updated now.
  void resume(int64_t updates);
  /// At the end of a period: a row's slots decay; whether the row goes.
  template <typename T> bool endPeriod(T *row) const;
  /// The keys that have a row, ascending as signed integers.
  std::vector<int64_t> keys() const;

private:
  mlir::Type type;
  int64_t valueWidth;
  Initializer initializer;
  bool unknownIsZero;
  std::optional<nn::Storage> storage;
  std::vector<Slot> slotList;
  TableLife ownLife;
  int64_t currentPeriod = 0;
  /// How often a key without a row has occurred, or what it has scored, and the
  /// period of the last time.
  struct Waiting {
    int64_t occurrences = 0, period = 0;
  };
  std::unordered_map<int64_t, Waiting> waiting;
  std::unordered_map<int64_t, size_t> index;
  /// Rows never move, so that a pointer to one survives the next insertion.
  std::deque<Elements> rows;
};

/// The sums of one `nn.metric`, as `pdlabi/metrics.h` defines them.
class Metric {
public:
  explicit Metric(MetricAttrInterface kind);

  /// Adds samples, in order. `labels` is null where the metric has none, and so
  /// are `groups`; null `weights` are ones.
  void observe(const Tensor &predictions, const Tensor *labels,
               const Tensor *weights, const Tensor *groups);
  /// NaN where nothing was observed (AUC: where one of the classes is missing).
  double value() const;

private:
  int32_t kind;
  double parameter;
  std::vector<double> sums;
  /// Of a metric of groups.
  pdlabi::GroupedSamples samples;
};

/// All state of a module. Not thread-safe.
class State {
public:
  /// The state before the first step.
  static State create(mlir::ModuleOp module, uint64_t seed);

  /// Replaces values, rows and slots by those of a file: parameters by name,
  /// `<table>.keys` with `<table>.values`, `<symbol>.slot.<slot>`. The file
  /// must hold all parameters and nothing that the module has no use for;
  /// tables and slots that it lacks keep their initial values. 32-bit floats
  /// are widened where need be. Groups go on from the step counts of its
  /// metadata, `group.<group>.steps`; slots without them are warned of.
  /// Diagnoses at `module`.
  mlir::LogicalResult load(const SafetensorsReader &file,
                           mlir::ModuleOp module);
  /// Writes what `load` reads, keys ascending; slots and step counts only if
  /// `withSlots`.
  mlir::LogicalResult dump(llvm::StringRef path, bool withSlots,
                           mlir::ModuleOp module);

  Parameter *findParameter(llvm::StringRef name);
  Table *findTable(llvm::StringRef name);
  /// What has the columns that rows of the table get later; null if there are
  /// none.
  Table *findVector(llvm::StringRef table);
  Metric *findMetric(llvm::StringRef name);
  const std::map<std::string, Metric> &allMetrics() const { return metrics; }
  /// How many updates of the group have been applied.
  int64_t &stepsOf(llvm::StringRef group) { return groupSteps[group.str()]; }

private:
  mlir::LogicalResult loadSteps(const SafetensorsReader &file,
                                mlir::ModuleOp module);

  uint64_t seed = 0;
  std::map<std::string, Parameter> parameters;
  std::map<std::string, Table> tables;
  /// The names of tables of vectors, by that of the table in the model.
  std::map<std::string, std::string> vectors;
  std::map<std::string, Metric> metrics;
  std::map<std::string, int64_t> groupSteps;
};

} // namespace pdlc::interpreter

#endif // PDLC_INTERPRETER_STATE_H
