//===- UpdateOps.cpp - Updates at the end of a step -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "ScalarProgram.h"

#include "pdlabi/admission.h"
#include "pdlabi/hash.h"
#include "pdlabi/norm.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

/// Returns what the update adds to the record of a key that has no row yet.
/// `sum` is the gradient of the key, followed by its counts. If the table
/// admits by count, this is the number of occurrences, which is the last of
/// `stride` numbers. If it admits by score, it is the score of the counts, in
/// units.
template <typename T>
static double countOf(const Table &table, const T *sum, int64_t stride) {
  const TableLife &life = table.life();
  if (life.countWeights.empty())
    return sum[stride - 1];
  double score = 0;
  for (auto [number, weight] : llvm::enumerate(life.countWeights))
    if (weight != 0)
      score += weight * static_cast<double>(sum[table.width() + number]);
  return static_cast<double>(pdlabi::scoreUnits(score, life.admitScore));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

template <typename T>
static void addParameterNorm(const Tensor &gradient, double weight,
                             double &total) {
  const T *elements = gradient.get<T>().data();
  int64_t rows = gradient.rank() <= 1 ? 1 : gradient.dim(0);
  int64_t width = gradient.count() / rows;
  for (int64_t row = 0; row < rows; row += pdlabi::rowsInNormUnit) {
    pdlabi::SquaredNormUnit unit;
    unit.add(elements + row * width,
             std::min<int64_t>(pdlabi::rowsInNormUnit, rows - row) * width,
             weight);
    total += unit.partial();
  }
}

/// Adds the squared norm of a table's gradient to `total`. Only rows that the
/// step will update contribute. Counts that follow a gradient are ignored.
template <typename T>
static void addTableNorm(const Tensor &gradient, const Table &table,
                         ArrayRef<int64_t> keys, double weight, double &total) {
  const T *elements = gradient.get<T>().data();
  const int64_t stride = gradient.count(1, gradient.rank());
  std::vector<size_t> order;
  for (size_t i = 0; i < keys.size(); ++i)
    if (table.getsRow(keys[i], countOf(table, elements + i * stride, stride)))
      order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(pdlabi::shardOfKey(keys[a]), keys[a]) <
           std::pair(pdlabi::shardOfKey(keys[b]), keys[b]);
  });
  for (size_t i = 0; i < order.size();) {
    pdlabi::SquaredNormUnit unit;
    auto shard = pdlabi::shardOfKey(keys[order[i]]);
    for (; i < order.size() && pdlabi::shardOfKey(keys[order[i]]) == shard; ++i)
      unit.add(elements + order[i] * stride, table.width(), weight);
    total += unit.partial();
  }
}

static void evaluateSquaredNorm(SquaredNormOp op, Frame &frame) {
  double weight = frame.tensor(op.getWeight()).get<double>()[0];
  double total = 0;
  for (const SymbolGradient &symbol : op.getSymbolGradients()) {
    const Tensor &gradient = frame.tensor(symbol.gradient);
    dispatchFloat(symbol.gradient.getType(), [&](auto zero) {
      using T = decltype(zero);
      if (symbol.keys)
        addTableNorm<T>(
            gradient, *frame.state().findTable(symbol.symbol.getValue()),
            frame.tensor(symbol.keys).get<int64_t>(), weight, total);
      else
        addParameterNorm<T>(gradient, weight, total);
    });
  }
  frame.set(op.getResult(), Tensor({}, std::vector<double>{total}));
}

//===----------------------------------------------------------------------===//
// Scalars of a group
//===----------------------------------------------------------------------===//

/// Returns true if the summed weight of the step is 0. Then the group, whose
/// gradients are divided by this weight, is not updated.
static bool isSkipped(OnceOp op, Frame &frame) {
  return frame.tensor(op.getWeight()).get<double>()[0] == 0;
}

static LogicalResult evaluateOnce(OnceOp op, Frame &frame) {
  if (isSkipped(op, frame))
    return success();
  FailureOr<ScalarProgram> program = ScalarProgram::compile(op.getBody());
  if (failed(program))
    return failure();
  int64_t step = ++frame.state().stepsOf(op.getGroup());
  program->argument(op.getStepArgument())->f64 = static_cast<double>(step);
  program->argument(op.getWeightArgument())->f64 =
      frame.tensor(op.getWeight()).get<double>()[0];
  program->argument(op.getSquaredNormArgument())->f64 =
      op.getNorm() ? frame.tensor(op.getNorm()).get<double>()[0] : 0.0;
  // A single process merges the gradients of its replicas.
  if (BlockArgument senders = op.getSendersArgument())
    program->argument(senders)->f64 = 1;
  program->run();
  bool finite = true;
  for (auto [index, result] : llvm::enumerate(op.getScalars())) {
    double value = program->result(index)->f64;
    dispatchFloat(result.getType(), [&](auto zero) {
      using T = decltype(zero);
      finite &= std::isfinite(static_cast<T>(value));
      frame.set(result, Tensor({}, std::vector<T>{static_cast<T>(value)}));
    });
  }
  if (!finite)
    return op.emitError() << "group @" << op.getGroup()
                          << " gives its rule a number that is not finite at "
                             "its update "
                          << step
                          << ": look at the rate, the schedule and the "
                             "hyper-parameters, and at extreme gradients under "
                             "a clip";
  return success();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

namespace {

/// One compiled region of a rule.
template <typename T> class RuleRegion {
public:
  static FailureOr<RuleRegion> compile(Region &region) {
    FailureOr<ScalarProgram> program = ScalarProgram::compile(region);
    if (failed(program))
      return failure();
    return RuleRegion(std::move(*program), region.getNumArguments());
  }

  /// Set arguments and get results of the element type.
  void setArgument(size_t number, T value) {
    Scalar &argument = *program.argument(number);
    if constexpr (std::is_same_v<T, double>)
      argument.f64 = value;
    else
      argument.f32 = value;
  }
  T result(size_t number) {
    if constexpr (std::is_same_v<T, double>)
      return program.result(number)->f64;
    else
      return program.result(number)->f32;
  }
  /// Set arguments and get results that are always f64.
  void setWideArgument(size_t number, double value) {
    program.argument(number)->f64 = value;
  }
  double wideResult(size_t number) { return program.result(number)->f64; }
  size_t argumentCount() const { return arguments; }
  size_t resultCount() const { return program.resultCount(); }
  void run() { program.run(); }

private:
  RuleRegion(ScalarProgram program, size_t arguments)
      : program(std::move(program)), arguments(arguments) {}
  ScalarProgram program;
  size_t arguments;
};

/// Addresses of a row: `state[0]` is the value, `state[1 + s]` is slot s, and
/// `rowSlots[s]` is the element of row slot s.
template <typename T> struct RowPlaces {
  SmallVector<T *> state, rowSlots;
};

/// Rule of one symbol, applied row by row.
template <typename T> class RowRule {
public:
  static FailureOr<RowRule> compile(UpdateOp op) {
    RowRule rule;
    auto each = RuleRegion<T>::compile(op.getEach());
    if (failed(each))
      return failure();
    rule.each.emplace(std::move(*each));
    rule.rowScalars = op.getRowScalarArguments().size();
    rule.counts = op.getCounts();
    rule.inputs = op.getNumInputs();
    if (!op.hasRow())
      return rule;
    auto sum = RuleRegion<T>::compile(op.getSum());
    auto row = RuleRegion<T>::compile(op.getRow());
    if (failed(sum) || failed(row))
      return failure();
    rule.sum.emplace(std::move(*sum));
    rule.row.emplace(std::move(*row));
    return rule;
  }

  /// Returns the number of written values per element: value and slots.
  size_t stateCount() const { return each->resultCount(); }
  /// Sets the group's scalars.
  void setScalars(ArrayRef<T> values) {
    for (auto [number, value] : llvm::enumerate(values)) {
      each->setArgument(
          each->argumentCount() - rowScalars - values.size() + number, value);
      for (auto *region : {&sum, &row})
        if (*region)
          (*region)->setArgument(
              (*region)->argumentCount() - values.size() + number, value);
    }
  }
  /// Returns true if all new values are finite, including slots.
  bool isFinite() const { return finite; }
  void noteFinite(bool isFinite) { finite &= isFinite; }

  /// Applies the rule to a row. `gradient` is followed by the counts of the
  /// row; null stands for a gradient and counts of zeros.
  void apply(const RowPlaces<T> &places, int64_t width, const T *gradient) {
    if (row)
      applyRow(places, width, gradient);
    for (int64_t i = 0; i < width; ++i) {
      load(*each, places, i, gradient);
      each->run();
      for (auto [number, place] : llvm::enumerate(places.state))
        write(place[i], each->result(number));
    }
  }

private:
  void load(RuleRegion<T> &region, const RowPlaces<T> &places, int64_t element,
            const T *gradient) const {
    region.setArgument(0, places.state.front()[element]);
    region.setArgument(1, gradient ? gradient[element] : T(0));
    // A single process has no delay, so the seen value is the current one.
    if (inputs > 2)
      region.setArgument(2, places.state.front()[element]);
    for (size_t s = 1; s < places.state.size(); ++s)
      region.setArgument(inputs - 1 + s, places.state[s][element]);
  }
  void write(T &place, T value) {
    place = value;
    finite &= std::isfinite(value);
  }

  /// Computes the regions `sum` and `row`. In the sums over the row, element j
  /// is added to lane j mod 16, and a tree 8-4-2-1 joins the lanes.
  void applyRow(const RowPlaces<T> &places, int64_t width, const T *gradient) {
    constexpr size_t laneCount = 16;
    const size_t sums = sum->resultCount(), slots = places.rowSlots.size();
    std::vector<double> lanes(sums * laneCount);
    for (int64_t i = 0; i < width; ++i) {
      load(*sum, places, i, gradient);
      sum->run();
      for (size_t s = 0; s < sums; ++s)
        lanes[s * laneCount + i % laneCount] += sum->wideResult(s);
    }
    row->setWideArgument(0, static_cast<double>(width));
    for (size_t s = 0; s < sums; ++s) {
      double *own = lanes.data() + s * laneCount;
      for (size_t half = laneCount / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; ++i)
          own[i] += own[i + half];
      row->setWideArgument(1 + s, own[0]);
    }
    for (size_t s = 0; s < slots; ++s)
      row->setArgument(1 + sums + s, *places.rowSlots[s]);
    for (size_t c = 0; c < counts; ++c)
      row->setArgument(1 + sums + slots + c,
                       gradient ? gradient[width + c] : T(0));
    row->run();
    for (size_t s = 0; s < slots; ++s)
      write(*places.rowSlots[s], row->result(s));
    for (size_t s = 0; s < rowScalars; ++s)
      each->setArgument(each->argumentCount() - rowScalars + s,
                        row->result(slots + s));
  }

  std::optional<RuleRegion<T>> sum, row, each;
  size_t rowScalars = 0, counts = 0, inputs = 2;
  bool finite = true;
};

} // namespace

template <typename T>
static void updateParameter(Parameter &parameter, const Tensor &gradient,
                            bool whole, RowRule<T> &rule) {
  const int64_t rows = gradient.rank() <= 1 || whole ? 1 : gradient.dim(0);
  const int64_t width = gradient.count() / rows;
  for (int64_t row = 0; row < rows; ++row) {
    RowPlaces<T> places;
    places.state.push_back(parameter.value.get<T>().data() + row * width);
    for (auto [slot, values] :
         llvm::zip_equal(parameter.slots, parameter.slotValues))
      if (slot.isOfRow)
        places.rowSlots.push_back(values.template get<T>().data() + row);
      else
        places.state.push_back(values.template get<T>().data() + row * width);
    rule.apply(places, width, gradient.get<T>().data() + row * width);
  }
}

/// Returns the slots of a table that belong to its rule.
static ArrayRef<Slot> ruleSlots(const Table &table) {
  return table.slots().drop_back(table.life().shrinkEvery > 0);
}

template <typename T>
static void updateRow(Table &table, int64_t key, int64_t number,
                      const T *gradient, RowRule<T> &rule) {
  T *row = table.row<T>(key);
  RowPlaces<T> places;
  const size_t parts = ruleSlots(table).size();
  for (size_t part = 0; part <= parts; ++part)
    (part > 0 && table.slots()[part - 1].isOfRow ? places.rowSlots
                                                 : places.state)
        .push_back(row + table.partOffset(part));
  rule.apply(places, table.width(), gradient);
  rule.noteFinite(table.storeAtRandom(key, number, row));
  if (gradient)
    table.noteUpdate(row);
}

/// Updates rows without a gradient.
template <typename T>
static void updateOthers(Table &table, ArrayRef<int64_t> keys, int64_t number,
                         RowRule<T> &rule) {
  std::vector<int64_t> touched(keys.begin(), keys.end());
  std::sort(touched.begin(), touched.end());
  for (int64_t key : table.keys())
    if (!std::binary_search(touched.begin(), touched.end(), key))
      updateRow<T>(table, key, number, nullptr, rule);
}

template <typename T>
static void updateTable(Table &table, ArrayRef<int64_t> keys, int64_t number,
                        const Tensor &gradient, bool untouchedDense,
                        RowRule<T> &rule) {
  const T *sums = gradient.get<T>().data();
  const int64_t stride = gradient.count(1, gradient.rank());
  table.beginUpdate(number);
  for (size_t i = 0; i < keys.size(); ++i) {
    const T *sum = sums + i * stride;
    if (table.admit(keys[i], countOf(table, sum, stride)))
      updateRow(table, keys[i], number, sum, rule);
  }
  if (untouchedDense)
    updateOthers<T>(table, keys, number, rule);
  table.endUpdate(number);
}

/// Returns the number of the current update of the symbol's group, from 1 on.
/// Returns 0 if the update has no scalar of an `nn.once`, which counts the
/// steps.
static int64_t updateNumber(UpdateOp op, Frame &frame) {
  for (Value scalar : op.getScalars())
    if (auto once = scalar.getDefiningOp<OnceOp>())
      return frame.state().stepsOf(once.getGroup());
  return 0;
}

/// Returns true if the symbol's group also updates rows without a gradient.
static bool isUntouchedDense(UpdateOp op) {
  auto table =
      SymbolTable::lookupNearestSymbolFrom<TableOp>(op, op.getSymbolAttr());
  if (!table || !table.getGroupAttr())
    return false;
  auto group =
      SymbolTable::lookupNearestSymbolFrom<GroupOp>(op, table.getGroupAttr());
  return group && group.getUntouched() == Untouched::dense;
}

static LogicalResult evaluateUpdate(UpdateOp op, Frame &frame) {
  for (Value scalar : op.getScalars())
    if (auto once = scalar.getDefiningOp<OnceOp>();
        once && isSkipped(once, frame))
      return success();
  Parameter *parameter = frame.state().findParameter(op.getSymbol());
  Table *table = frame.state().findTable(op.getSymbol());
  if (!parameter && !table)
    return op.emitOpError() << "updates " << op.getSymbolAttr()
                            << ", which is neither a parameter nor a table";
  const ArrayRef<Slot> slots =
      table ? ruleSlots(*table) : ArrayRef<Slot>(parameter->slots);
  const auto rowSlots = static_cast<size_t>(
      llvm::count_if(slots, [](const Slot &slot) { return slot.isOfRow; }));
  const Tensor &gradient = frame.tensor(op.getGradient());
  bool finite = true, compiled = true, fits = true;
  dispatchFloat(op.getGradient().getType(), [&](auto zero) {
    using T = decltype(zero);
    FailureOr<RowRule<T>> rule = RowRule<T>::compile(op);
    if (!(compiled = succeeded(rule)))
      return;
    if (!(fits = rule->stateCount() == 1 + slots.size() - rowSlots &&
                 op.getNumRowSlots() == rowSlots))
      return;
    SmallVector<T> scalars;
    for (Value scalar : op.getScalars())
      scalars.push_back(frame.tensor(scalar).get<T>()[0]);
    rule->setScalars(scalars);
    if (table)
      updateTable(*table, frame.tensor(op.getKeys()).get<int64_t>(),
                  updateNumber(op, frame), gradient, isUntouchedDense(op),
                  *rule);
    else
      updateParameter(*parameter, gradient, op.getWhole(), *rule);
    finite = rule->isFinite();
  });
  if (!compiled)
    return failure();
  if (!fits)
    return op.emitOpError()
           << "yields " << op.getSlotArguments().size() + 1 << " values, but "
           << op.getSymbolAttr() << " has " << slots.size() - rowSlots
           << " slots next to its value, and " << rowSlots << " row slots";
  if (!finite)
    return op.emitError() << "the update made a value or slot of "
                          << op.getSymbolAttr()
                          << " that is not finite: lower the rate, clip the "
                             "gradients, or look for a division by zero in the "
                             "rule";
  return success();
}

void interpreter::attachUpdateOps(MLIRContext &context) {
  attachEvaluator<SquaredNormOp, evaluateSquaredNorm>(context);
  attachEvaluator<OnceOp, evaluateOnce>(context);
  attachEvaluator<UpdateOp, evaluateUpdate>(context);
}
