//===- UpdateOps.cpp - What is applied after a step -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "ScalarProgram.h"

#include "pdlabi/hash.h"
#include "pdlabi/norm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

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

template <typename T>
static void addTableNorm(const Tensor &gradient, ArrayRef<int64_t> keys,
                         double weight, double &total) {
  const T *elements = gradient.get<T>().data();
  int64_t width = gradient.count(1, gradient.rank());
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(pdlabi::shardOfKey(keys[a]), keys[a]) <
           std::pair(pdlabi::shardOfKey(keys[b]), keys[b]);
  });
  for (size_t i = 0; i < order.size();) {
    pdlabi::SquaredNormUnit unit;
    auto shard = pdlabi::shardOfKey(keys[order[i]]);
    for (; i < order.size() && pdlabi::shardOfKey(keys[order[i]]) == shard; ++i)
      unit.add(elements + order[i] * width, width, weight);
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
        addTableNorm<T>(gradient, frame.tensor(symbol.keys).get<int64_t>(),
                        weight, total);
      else
        addParameterNorm<T>(gradient, weight, total);
    });
  }
  frame.set(op.getResult(), Tensor({}, std::vector<double>{total}));
}

//===----------------------------------------------------------------------===//
// Scalars of a group
//===----------------------------------------------------------------------===//

/// Without weight in a step, what the weight divides is not updated.
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

/// The rule of one symbol, applied element by element.
template <typename T> class ElementRule {
public:
  ElementRule(ScalarProgram &program, UpdateOp op)
      : program(program), sum(program.argument(op.getSumArgument())) {
    state.push_back(program.argument(op.getValueArgument()));
    for (BlockArgument slot : op.getSlotArguments())
      state.push_back(program.argument(slot));
  }

  void setScalar(BlockArgument argument, T value) {
    in(*program.argument(argument)) = value;
  }
  /// Whether all new values, those of slots too, are finite.
  bool isFinite() const { return finite; }
  /// `places[0]` points to the value, `places[1 + s]` to slot s.
  void apply(ArrayRef<T *> places, int64_t element, T gradient) {
    for (auto [argument, place] : llvm::zip_equal(state, places))
      in(*argument) = place[element];
    in(*sum) = gradient;
    program.run();
    for (size_t i = 0; i < places.size(); ++i) {
      Scalar result = *program.result(i);
      places[i][element] = in(result);
      finite &= std::isfinite(in(result));
    }
  }

private:
  static T &in(Scalar &scalar) {
    if constexpr (std::is_same_v<T, double>)
      return scalar.f64;
    else
      return scalar.f32;
  }
  ScalarProgram &program;
  /// Registers: the summed gradient; the value and the slots.
  Scalar *sum;
  SmallVector<Scalar *> state;
  bool finite = true;
};

} // namespace

template <typename T>
static void updateParameter(Parameter &parameter, const Tensor &gradient,
                            ElementRule<T> &rule) {
  SmallVector<T *> state{parameter.value.get<T>().data()};
  for (Tensor &slot : parameter.slotValues)
    state.push_back(slot.get<T>().data());
  const std::vector<T> &sums = gradient.get<T>();
  for (size_t i = 0; i < sums.size(); ++i)
    rule.apply(state, i, sums[i]);
}

template <typename T>
static void updateRow(Table &table, int64_t key, const T *gradient,
                      ElementRule<T> &rule) {
  T *row = table.row<T>(key);
  SmallVector<T *> state;
  for (size_t i = 0; i <= table.slots().size(); ++i)
    state.push_back(row + i * table.width());
  for (int64_t i = 0; i < table.width(); ++i)
    rule.apply(state, i, gradient ? gradient[i] : T(0));
}

template <typename T>
static void updateTable(Table &table, ArrayRef<int64_t> keys,
                        const Tensor &gradient, bool untouchedDense,
                        ElementRule<T> &rule) {
  const T *sums = gradient.get<T>().data();
  for (size_t i = 0; i < keys.size(); ++i)
    updateRow(table, keys[i], sums + i * table.width(), rule);
  if (!untouchedDense)
    return;
  std::vector<int64_t> touched(keys.begin(), keys.end());
  std::sort(touched.begin(), touched.end());
  for (int64_t key : table.keys())
    if (!std::binary_search(touched.begin(), touched.end(), key))
      updateRow<T>(table, key, nullptr, rule);
}

/// Whether the symbol's group updates rows without a gradient too.
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
  FailureOr<ScalarProgram> program = ScalarProgram::compile(op.getEach());
  if (failed(program))
    return failure();
  size_t slots = table ? table->slots().size() : parameter->slots.size();
  if (program->resultCount() != 1 + slots)
    return op.emitOpError() << "yields " << program->resultCount()
                            << " values, but " << op.getSymbolAttr() << " has "
                            << slots << " slots beside its value";
  const Tensor &gradient = frame.tensor(op.getGradient());
  bool finite = true;
  dispatchFloat(op.getGradient().getType(), [&](auto zero) {
    using T = decltype(zero);
    ElementRule<T> rule(*program, op);
    for (auto [scalar, argument] :
         llvm::zip_equal(op.getScalars(), op.getScalarArguments()))
      rule.setScalar(argument, frame.tensor(scalar).get<T>()[0]);
    if (table)
      updateTable(*table, frame.tensor(op.getKeys()).get<int64_t>(), gradient,
                  isUntouchedDense(op), rule);
    else
      updateParameter(*parameter, gradient, rule);
    finite = rule.isFinite();
  });
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
