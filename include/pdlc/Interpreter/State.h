//===- State.h - Model state between steps ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERPRETER_STATE_H
#define PDLC_INTERPRETER_STATE_H

#include "pdlabi/abi/symbols.h"
#include "pdlabi/metrics/GroupedAreaUnderCurve.h"
#include "pdlabi/rounding.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Interpreter/Tensor.h"

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

namespace pdlc::interpreter {

/// A tensor that an optimizer keeps for a symbol.
struct Slot {
  std::string name;
  double initialValue = 0;
  /// If true, the slot has one element per row instead of the symbol's shape.
  bool isOfRow = false;
  /// If true, the initial value of the slot is the value of the symbol, and
  /// frozen programs read the slot instead of the value.
  bool isFrozen = false;
};

/// Initial values of a symbol: the random numbers of `pdlabi/philox.h`, keyed
/// by the seed, the symbol's name, the key of a row and the element's position.
class Initializer {
public:
  Initializer() = default;
  /// Creates the initializer of a symbol. `shape` is the shape of the symbol,
  /// or of a row for a table.
  Initializer(llvm::StringRef name, InitializerAttrInterface attribute,
              llvm::ArrayRef<int64_t> shape, uint64_t seed);
  /// Writes the `width` initial elements of the row for `key`.
  template <typename T> void fill(int64_t key, int64_t width, T *out) const;
  /// Returns the seed and the id of the symbol.
  pdlabi::RoundingDraws draws() const { return {seed, symbolId, 0}; }

private:
  pdl_initializer numbers = {PDL_INIT_CONSTANT, 0, 0};
  uint64_t seed = 0, symbolId = 0;
};

/// A dense tensor and its slots. Row slots come last and have shape [rows, 1].
/// An `nn.state` has no slots.
struct Parameter {
  Tensor value;
  std::vector<Slot> slots;
  std::vector<Tensor> slotValues;

  /// Returns the tensor that a program reads.
  const Tensor &read(bool frozen) const;
};

/// Feature admission and eviction of a table (see `nn.table`).
struct TableLife {
  /// Number of occurrences after which a key gets a row; 1 gives a row to each
  /// trained key. If the table admits keys by score, counts units of the score
  /// (pdlabi/admission.h) instead of occurrences.
  int64_t admitCount = 1;
  double admitProbability = 1;
  /// Admission by score: the minimum score, and the weight of each count in the
  /// score. Zero and empty if the table does not admit by score.
  double admitScore = 0;
  std::vector<double> countWeights;
  /// True if the table has the clause `shrink`, even if nothing updates it.
  bool shrinks = false;
  /// Number of updates per period. If 0, rows are never evicted.
  int64_t shrinkEvery = 0;
  int64_t shrinkUnseen = 0;
  /// Weights by slot. Empty if rows have no scores.
  std::vector<double> scoreWeights;
  double shrinkDecay = 1;
  std::optional<double> shrinkLeast;
};

/// Map from keys to rows. A row is the value followed by its slots, with row
/// slots last. Values stored in 16 bits are held here as f32.
class Table {
public:
  /// `life` defines admission and eviction. If `life.shrinkEvery` > 0, the last
  /// of `slots` must be the row slot of periods (PeriodSlot.h).
  Table(mlir::Type elementType, int64_t width, Initializer initializer,
        bool unknownIsZero, std::optional<nn::Storage> storage,
        std::vector<Slot> slots, TableLife life);

  int64_t width() const { return valueWidth; }
  /// Return the number of elements of a part of a row, and its offset. Part 0
  /// is the value, part 1 + s is slot s.
  int64_t partWidth(size_t part) const {
    return part > 0 && slotList[part - 1].isOfRow ? 1 : valueWidth;
  }
  int64_t partOffset(size_t part) const;
  mlir::Type elementType() const { return type; }
  llvm::ArrayRef<Slot> slots() const { return slotList; }

  /// Returns the row of `key`: its value, then the elements of each slot.
  /// Creates the row if it is new. The pointer stays valid for the lifetime of
  /// the table.
  template <typename T> T *row(int64_t key);
  /// Copies the value of `key` as a program reads it. `frozen` tells whether
  /// the program is frozen. Creates no row.
  template <typename T> void read(int64_t key, bool frozen, T *value) const;
  /// Rounds the elements of `value`, which was just set, to the nearest numbers
  /// that the table can store. Returns the index of the first element that
  /// became infinite, or -1 if none did.
  template <typename T> int64_t storeNearest(T *value) const;
  /// Rounds the elements of `value` stochastically, with the random numbers of
  /// the group's update number `update`. Returns true if all results are
  /// finite, or if the table rounds nothing.
  template <typename T>
  bool storeAtRandom(int64_t key, int64_t update, T *value) const;
  /// Returns the part that frozen programs read: 0 or 1 + s.
  size_t frozenPart() const;
  /// Returns true if the key has a row.
  bool contains(int64_t key) const { return index.count(key) != 0; }
  const TableLife &life() const { return ownLife; }
  /// Returns true if only updates create rows. Returns false if reads of
  /// training programs create them, too.
  bool makesRowsInUpdates() const {
    return ownLife.admitCount > 1 || ownLife.admitProbability < 1 ||
           ownLife.shrinks;
  }
  /// Return true if `key` has a row, or qualifies for a row in this update.
  /// `occurrences` is the number of its occurrences in the step, or its score
  /// in units if the table admits by score. `admit` also records the
  /// occurrences of a key that does not qualify yet; `getsRow` changes nothing.
  bool getsRow(int64_t key, double occurrences) const;
  bool admit(int64_t key, double occurrences);
  /// Sets the period of the row's last update to the current one.
  template <typename T> void noteUpdate(T *row) const;
  /// Mark the begin and the end of the group's update `number`; the first
  /// update is number 1. If a period ends with this update, `endUpdate` evicts
  /// rows that were not updated for too long, or whose score is too low. Counts
  /// and scores of keys without a row expire in the same way.
  void beginUpdate(int64_t number);
  void endUpdate(int64_t number);
  /// Resumes after `updates` updates. Rows count as updated now.
  void resume(int64_t updates);
  /// Decays the slots of a row at the end of a period. Returns true if the row
  /// must then be evicted.
  template <typename T> bool endPeriod(T *row) const;
  /// Returns the keys that have a row, in ascending signed order.
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
  /// State of a key without a row: the number of its occurrences or its score
  /// so far, and the period of the last occurrence.
  struct Waiting {
    int64_t occurrences = 0, period = 0;
  };
  std::unordered_map<int64_t, Waiting> waiting;
  std::unordered_map<int64_t, size_t> index;
  /// Rows never move, so that pointers to rows survive insertions.
  std::deque<Elements> rows;
};

/// Sums of one `nn.metric`, as defined in `pdlabi/metrics.h`.
class Metric {
public:
  explicit Metric(MetricAttrInterface kind);

  /// Adds samples in order. `labels` and `groups` are null if the metric has
  /// none. Null `weights` count as ones.
  void observe(const Tensor &predictions, const Tensor *labels,
               const Tensor *weights, const Tensor *groups);
  /// Returns NaN if nothing was observed; for AUC, also if a class is missing.
  double value() const;

private:
  int32_t kind;
  double parameter;
  std::vector<double> sums;
  /// Samples of a grouped metric.
  pdlabi::GroupedSamples samples;
};

/// The state of a module. Not thread-safe.
class State {
public:
  /// Returns the state before the first step.
  static State create(mlir::ModuleOp module, uint64_t seed);

  /// Replaces values, rows and slots by the contents of a file. Parameters are
  /// found by name, tables as `<table>.keys` and `<table>.values`, slots as
  /// `<symbol>.slot.<slot>`. The file must contain all parameters, and nothing
  /// that the module does not use. Tables and slots that are missing keep their
  /// initial values. 32-bit floats are widened if needed.
  ///
  /// Groups resume from the step counts in the metadata, `group.<group>.steps`.
  /// Slots without step counts cause a warning. Diagnoses at `module`.
  mlir::LogicalResult load(const NamedTensorsReader &file,
                           mlir::ModuleOp module);
  /// Writes the file that `load` reads, with keys in ascending order. Writes
  /// slots and step counts only if `withSlots`.
  mlir::LogicalResult dump(llvm::StringRef path, bool withSlots,
                           mlir::ModuleOp module);

  Parameter *findParameter(llvm::StringRef name);
  Table *findTable(llvm::StringRef name);
  /// Returns the table that holds the deferred embedding vectors of `table`;
  /// null if there is none.
  Table *findVector(llvm::StringRef table);
  Metric *findMetric(llvm::StringRef name);
  const std::map<std::string, Metric> &allMetrics() const { return metrics; }
  /// Returns the number of applied updates of the group.
  int64_t &stepsOf(llvm::StringRef group) { return groupSteps[group.str()]; }

private:
  mlir::LogicalResult loadSteps(const NamedTensorsReader &file,
                                mlir::ModuleOp module);

  uint64_t seed = 0;
  std::map<std::string, Parameter> parameters;
  std::map<std::string, Table> tables;
  /// Names of the tables that hold deferred embedding vectors, by the name of
  /// the original table in the model.
  std::map<std::string, std::string> vectors;
  std::map<std::string, Metric> metrics;
  std::map<std::string, int64_t> groupSteps;
};

} // namespace pdlc::interpreter

#endif // PDLC_INTERPRETER_STATE_H
